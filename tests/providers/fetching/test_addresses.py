"""Which addresses may be fetched: a hundred disguises of those that may not."""

from __future__ import annotations

import ipaddress

import pytest

from tadasu.providers.fetching.addresses import Address, AddressPolicy, domain_of, is_public, joined, parse
from tadasu.providers.fetching.refusals import Refused, Why

BY_TEXT = {
    "loopback": "http://127.0.0.1/",
    "loopback, another": "http://127.9.8.7/",
    "loopback IPv6": "http://[::1]/",
    "loopback IPv6 long": "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "unspecified": "http://0.0.0.0/",
    "unspecified IPv6": "http://[::]/",
    "private 10": "http://10.0.0.1/",
    "private 172": "http://172.16.5.4/",
    "private 192": "http://192.168.1.1/",
    "carrier NAT": "http://100.64.0.1/",
    "link-local": "http://169.254.1.1/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "metadata, Azure": "http://168.63.129.16/",
    "metadata, Alibaba": "http://100.100.100.200/",
    "metadata, Oracle": "http://192.0.0.192/",
    "metadata IPv6": "http://[fd00:ec2::254]/",
    "metadata by name": "http://metadata.google.internal/computeMetadata/v1/",
    "unique local": "http://[fc00::1]/",
    "link-local IPv6": "http://[fe80::1]/",
    "link-local with zone": "http://[fe80::1%25eth0]/",
    "site-local": "http://[fec0::1]/",
    "multicast": "http://224.0.0.1/",
    "multicast IPv6": "http://[ff02::1]/",
    "reserved": "http://240.0.0.1/",
    "broadcast": "http://255.255.255.255/",
    "documentation": "http://192.0.2.1/",
    "documentation IPv6": "http://[2001:db8::1]/",
    "documentation IPv6, new": "http://[3fff::1]/",
    "benchmarks": "http://198.18.0.1/",
    "6to4 relay": "http://192.88.99.1/",
    "IPv4-mapped": "http://[::ffff:127.0.0.1]/",
    "IPv4-mapped hex": "http://[::ffff:7f00:1]/",
    "IPv4-mapped public": "http://[::ffff:8.8.8.8]/",
    "IPv4-compatible": "http://[::127.0.0.1]/",
    "IPv4-translated": "http://[::ffff:0:127.0.0.1]/",
    "6to4 of loopback": "http://[2002:7f00:1::]/",
    "6to4 of private": "http://[2002:c0a8:101::1]/",
    "NAT64 of loopback": "http://[64:ff9b::7f00:1]/",
    "NAT64 of metadata": "http://[64:ff9b::169.254.169.254]/",
    "NAT64 local": "http://[64:ff9b:1::1]/",
    "Teredo": "http://[2001:0:53aa:64c:0:5efe:7f00:1]/",
    "ORCHID": "http://[2001:20::1]/",
    "decimal": "http://2130706433/",
    "decimal metadata": "http://2852039166/",
    "octal": "http://0177.0.0.1/",
    "octal, one number": "http://017700000001/",
    "octal, padded": "http://127.0.0.01/",
    "hex": "http://0x7f000001/",
    "hex parts": "http://0x7f.0x0.0x0.0x1/",
    "hex metadata": "http://0xA9FEA9FE/",
    "mixed bases": "http://0x7f.0.0.01/",
    "short, two parts": "http://127.1/",
    "short, three parts": "http://127.0.1/",
    "short, one": "http://0/",
    "overflow": "http://127.0.0.257/",
    "five parts": "http://127.0.0.0.1/",
    "hex without digits": "http://127.0.0.0x/",
    "public in disguise": "http://134744072/",
    "trailing dot": "http://127.0.0.1./",
    "localhost": "http://localhost/",
    "localhost, capitals": "http://LOCALHOST/",
    "localhost, dot": "http://localhost./",
    "below localhost": "http://app.localhost/",
    "multicast DNS": "http://printer.local/",
    "intranet name": "http://wiki.intranet/",
    "single label": "http://intranet/",
    "home network": "http://router.home.arpa/",
    "full-width digits": "http://１２７．０．０．１/",
    "ideographic dots": "http://127。0。0。1/",
    "circled letters": "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "full-width name": "http://ｌｏｃａｌｈｏｓｔ/",
    "soft hyphen": "http://local\u00adhost/",
    "userinfo": "http://example.com@127.0.0.1/",
    "userinfo, public": "http://user:pass@example.com/",
    "userinfo, escaped": "http://example.com%40127.0.0.1/",
    "userinfo, back slash": "http://example.com\\@127.0.0.1/",
    "userinfo, hash": "http://127.0.0.1#@example.com/",
    "escaped digits": "http://%31%32%37.0.0.1/",
    "escaped dot": "http://127%2e0.0.1/",
    "line break": "http://127.0.0.1\n.example.com/",
    "tab": "http://exam\tple.com/",
    "NUL": "http://example.com\x00.evil/",
    "zero width": "http://exam\u200bple.com/",
    "right to left": "http://\u202eexample.com/",
    "space": "http://exa mple.com/",
    "no host": "http:///etc/passwd",
    "no host at all": "http://",
    "double dots": "http://example..com/",
    "bad IPv6": "http://[::1/",
    "IPv6 with rest": "http://[::1]x/",
    "relative": "/etc/passwd",
    "no scheme": "//127.0.0.1/",
    "long name": "http://" + "a" * 300 + ".com/",
    "long address": "http://example.com/" + "a" * 3000,
    "file": "file:///etc/passwd",
    "file with host": "file://127.0.0.1/etc/passwd",
    "ftp": "ftp://example.com/",
    "gopher": "gopher://127.0.0.1:6379/_INFO",
    "data": "data:text/html,<p>x</p>",
    "javascript": "javascript:alert(1)",
    "dict": "dict://127.0.0.1:11211/",
    "view-source": "view-source:http://example.com/",
    "redis port": "http://example.com:6379/",
    "another port": "https://example.com:8443/",
    "port 0": "http://example.com:0/",
    "port too high": "http://example.com:99999/",
    "empty port": "http://example.com:/",
}


@pytest.mark.parametrize("url", BY_TEXT.values(), ids=BY_TEXT.keys())
def test_a36_an_address_that_is_no_plain_public_one_is_refused_by_its_text(url: str) -> None:
    with pytest.raises(Refused) as refused:
        AddressPolicy().read(url)
    assert refused.value.why in {Why.ADDRESS, Why.SCHEME, Why.PORT}


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c"),
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com./", "https://example.com/"),
        ("https://日本語.jp/あ", "https://xn--wgv71a119e.jp/%E3%81%82"),
        ("https://xn--wgv71a119e.jp/%E3%81%82", "https://xn--wgv71a119e.jp/%E3%81%82"),
        ("http://93.184.215.14/", "http://93.184.215.14/"),
        ("https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        (" https://example.com/ ", "https://example.com/"),
    ],
)
def test_a_public_address_is_read_into_one_spelling(url: str, read: str) -> None:
    assert str(AddressPolicy().read(url)) == read
    assert str(parse(read)) == read


@pytest.mark.parametrize(
    "text",
    [
        "10.1.2.3",
        "127.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:10.0.0.1",
        "fd00:ec2::254",
        "fe80::1",
        "0.0.0.0",
        "junk",
        "2002:a00:1::",
        "64:ff9b::a00:1",
        "100.64.0.9",
        "224.0.0.251",
        "168.63.129.16",
        "2001:db8::5",
        "240.1.1.1",
    ],
)
def test_a36_a_name_that_stands_for_an_address_inside_is_refused(text: str) -> None:
    with pytest.raises(Refused) as refused:
        AddressPolicy().checked_ip(text, host="example.com", port=80)
    assert refused.value.why is Why.ADDRESS


def test_a_network_without_ipv4_reaches_public_hosts_through_its_gateway() -> None:
    assert is_public(ipaddress.ip_address("64:ff9b::8.8.8.8"))


def test_a_host_of_our_own_network_is_fetched_only_where_it_is_named() -> None:
    policy = AddressPolicy(private_hosts=frozenset({"wiki.corp:8080", "10.0.0.7"}))
    assert policy.read("http://wiki.corp:8080/").host == "wiki.corp"
    assert str(policy.checked_ip("10.0.0.5", host="wiki.corp", port=8080)) == "10.0.0.5"
    assert policy.read("http://10.0.0.7/").host == "10.0.0.7"
    for url in ("http://wiki.corp/", "http://wiki.corp:8081/", "http://10.0.0.8/", "http://10.0.0.7:8080/"):
        with pytest.raises(Refused):
            policy.read(url)
    with pytest.raises(Refused):
        policy.checked_ip("10.0.0.5", host="example.com", port=8080)


@pytest.mark.parametrize("text", ["169.254.169.254", "fd00:ec2::254", "169.254.1.1", "224.0.0.1", "0.0.0.0", "::"])
def test_a_named_host_may_not_stand_for_metadata_either(text: str) -> None:
    policy = AddressPolicy(private_hosts=frozenset({"wiki.corp"}))
    with pytest.raises(Refused):
        policy.checked_ip(text, host="wiki.corp", port=80)


def test_domains_are_allowed_and_denied_with_all_below_them() -> None:
    policy = AddressPolicy(allow=("example.com", "*.go.jp"), deny=("bad.example.com", "日本語.go.jp"))
    for url in ("https://example.com/", "https://a.b.example.com/", "https://www.stat.go.jp/"):
        assert str(policy.read(url)) == url
    for url in (
        "https://bad.example.com/",
        "https://x.bad.example.com/",
        "https://notexample.com/",
        "https://日本語.go.jp/",
    ):
        with pytest.raises(Refused) as refused:
            policy.read(url)
        assert refused.value.why is Why.DENIED


def test_a_redirect_is_joined_to_where_it_came_from() -> None:
    base = Address("https", "example.com", 443, "/a/b")
    assert joined(base, "c") == "https://example.com/a/c"
    assert joined(base, "//other.com/x") == "https://other.com/x"
    assert joined(base, "file:///etc/passwd") == "file:///etc/passwd"


def test_subdomains_count_for_one_domain() -> None:
    assert {domain_of(host) for host in ("a.example.com", "b.c.example.com", "example.com")} == {"example.com"}
    assert domain_of("shop.example.co.jp") == "example.co.jp"
    assert domain_of("2606:4700::1") == "2606:4700::1"
