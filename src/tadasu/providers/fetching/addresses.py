"""Which addresses may be fetched: from the text of a URL to the IP address that a connection is made to.

A URL is read strictly: what browsers forgive (back slashes, line breaks, numbers as hosts, percent signs in names) is
refused, for every such form is a disguise sooner than a mistake. The IP addresses that a name stands for are checked in
`checked_ip`, at the moment when the connection is made (see transport.py), never earlier.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import idna

from tadasu.providers.fetching.refusals import Refused, Why

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

LONGEST_URL = 2048
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\<>\"^`{|}\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_INSIDE_NAMES = (
    "localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
    "in-addr.arpa", "ip6.arpa", "test", "invalid", "onion",
)  # fmt: skip

_SPECIAL_V4 = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
"""IANA's special-purpose addresses, beside what `ipaddress` knows: its list differs between versions of Python."""
_METADATA = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "169.254.169.254", "fd00:ec2::254")))
"""Cloud machines ask these for their own credentials; the first is Azure's and looks public."""
_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    ipaddress.ip_network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)  # Teredo, ORCHID and benchmarks; documentation; 6to4; AS112; documentation
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_INSIDE_NETS = tuple(
    ipaddress.ip_network(net)
    for net in ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)


@dataclass(frozen=True, slots=True)
class Address:
    """A URL taken apart. `host` is ASCII in lower case, an IPv6 address without brackets; `target` begins with /."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host as a Host header has it: with the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme and authority."""
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        return self.origin + self.target


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """What may be fetched.

    Args:
        ports: ports that may be asked.
        private_hosts: hosts on our own network that may be fetched all the same, as ``name`` or ``name:port`` (then
            with that port). Link-local, metadata and multicast addresses stay forbidden to them too.
        allow: domain suffixes; where there are any, nothing else is fetched.
        deny: domain suffixes that are never fetched; they win over `allow`.
    """

    ports: frozenset[int] = frozenset({80, 443})
    private_hosts: frozenset[str] = frozenset()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    _inside: frozenset[tuple[str, int | None]] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inside", frozenset(map(_host_and_port, self.private_hosts)))

    def read(self, url: str) -> Address:
        """`url` where it may be fetched, as far as its text says; raises Refused."""
        address = parse(url)
        if not self._may_name(address):
            raise Refused(Why.ADDRESS, f"{address.host} is not a public host")
        if address.port not in self.ports and (address.host, address.port) not in self._inside:
            raise Refused(Why.PORT, f"port {address.port} is not allowed")
        if any(_within(address.host, domain) for domain in self.deny):
            raise Refused(Why.DENIED, f"{address.host} is on the deny list")
        if self.allow and not any(_within(address.host, domain) for domain in self.allow):
            raise Refused(Why.DENIED, f"{address.host} is not on the allow list")
        return address

    def private(self, host: str, port: int) -> bool:
        """Whether `host` may lie on our own network."""
        return (host, None) in self._inside or (host, port) in self._inside

    def checked_ip(self, text: str, *, host: str, port: int) -> IpAddress:
        """`text`, an answer of DNS for `host`, as an address that may be connected to; raises Refused."""
        try:
            ip = ipaddress.ip_address(text)
        except ValueError:
            raise Refused(Why.ADDRESS, f"{host} stands for something that is no IP address") from None
        if is_public(ip) or (self.private(host, port) and _is_inside(ip)):
            return ip
        raise Refused(Why.ADDRESS, f"{host} stands for {ip}, which is not a public address")

    def _may_name(self, address: Address) -> bool:
        if self.private(address.host, address.port):
            return True
        try:
            return is_public(ipaddress.ip_address(address.host))
        except ValueError:
            return "." in address.host and not any(_within(address.host, name) for name in _INSIDE_NAMES)


def is_public(ip: IpAddress) -> bool:
    """Whether `ip` is one of a public host: global, unicast, for no special purpose, and no tunnel to one that is not.

    >>> [is_public(ipaddress.ip_address(text)) for text in ("93.184.215.14", "10.0.0.1", "::ffff:93.184.215.14")]
    [True, False, False]
    """
    if ip in _METADATA:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not any(ip in net for net in _SPECIAL_V4)
    if ip in _NAT64:  # how a network without IPv4 reaches those who have only that
        return is_public(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return ip in _UNICAST_V6 and ip.is_global and not any(ip in net for net in _SPECIAL_V6)


def _is_inside(ip: IpAddress) -> bool:
    return ip not in _METADATA and any(ip in net for net in _INSIDE_NETS)


def parse(url: str) -> Address:
    """`url` taken apart and in one spelling; raises Refused where it is no plain http(s) address."""
    url = url.strip(" \t\r\n")
    if len(url) > LONGEST_URL:
        raise Refused(Why.ADDRESS, f"longer than {LONGEST_URL} characters")
    if _FORBIDDEN.search(url):
        raise Refused(Why.ADDRESS, "characters that no address holds")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused(Why.ADDRESS, "it cannot be read") from None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise Refused(Why.SCHEME, "only http and https are fetched")
    if "@" in parts.netloc:
        raise Refused(Why.ADDRESS, "a user name before the host")
    if port == 0 or parts.netloc.endswith(":"):
        raise Refused(Why.ADDRESS, "no proper port")
    return Address(scheme, _host(parts), port or _DEFAULT_PORTS[scheme], _target(parts))


def joined(base: Address, location: str) -> str:
    """Where a redirect from `base` leads, as a URL still to be checked."""
    try:
        return urljoin(str(base), location.strip(" \t\r\n"))
    except ValueError:
        raise Refused(Why.REDIRECT, "it leads to no address") from None


def domain_of(host: str) -> str:
    """The domain that counts for the cap: two labels, three below such as ``co.jp``.

    >>> domain_of("news.example.co.jp"), domain_of("www.example.com"), domain_of("127.0.0.1")
    ('example.co.jp', 'example.com', '127.0.0.1')
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        labels = host.split(".")
    # No list of public suffixes: this errs only for domains right below one that is not of this form.
    second = {"ac", "co", "com", "ed", "edu", "go", "gov", "gr", "lg", "ne", "net", "or", "org"}
    size = 3 if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in second else 2
    return ".".join(labels[-size:])


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if "[" in parts.netloc or "]" in parts.netloc:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise Refused(Why.ADDRESS, "no proper IPv6 address") from None
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, std3_rules=False).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise Refused(Why.ADDRESS, "a host name that stands for nothing") from None
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.match(label) for label in labels):
        raise Refused(Why.ADDRESS, "no proper host name")
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        # Browsers and C libraries take 2130706433, 0x7f.1 and 0177.0.0.1 for IPv4 addresses; nobody means well by them.
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise Refused(Why.ADDRESS, "a number in disguise for a host") from None
    return host


def _target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._[]")
    path = path if path.startswith("/") else f"/{path}"
    return f"{path}?{query}" if query else path


def _within(host: str, domain: str) -> bool:
    domain = domain.strip().lower().removeprefix("*.").strip(".")
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return False
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def _host_and_port(entry: str) -> tuple[str, int | None]:
    entry = entry.strip().lower()
    bare = entry.strip("[]")
    try:
        return str(ipaddress.ip_address(bare)), None
    except ValueError:
        pass
    host, colon, port = entry.rpartition(":")
    if colon and port.isascii() and port.isdigit():
        return host.strip("[]"), int(port)
    return entry, None
