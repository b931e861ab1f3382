"""Fetching from real servers on loopback that do their worst."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tadasu.core.retrieved import WebPage
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import BudgetSpent
from tadasu.providers.fetching.fetcher import PageFetcher
from tadasu.runtime.budget import Budget, Limits
from tadasu.runtime.ledger import RunLedger
from tadasu.runtime.world import FixedWorld, SystemClock
from tests.providers.fetching.fetching import ARTICLE, fetch, reasons, settings
from tests.providers.fetching.server import HostileServer, Names, redirect, reply

pytestmark = pytest.mark.enable_socket
SOUND = {"/": reply(ARTICLE)}
OUTSIDE = "93.184.215.14"


async def test_a36_a_page_of_an_allowed_host_still_works() -> None:
    async with HostileServer(SOUND) as server:
        found, ledger = await fetch([server.url("/")], settings(server))
    assert found.dropped == ()
    assert found.pages[0].body is not None
    assert "dredged to eleven metres" in found.pages[0].body.decode("utf-8-sig")
    assert [(call.stage, call.provider, call.outcome) for call in ledger.calls] == [
        (Stage.FETCH, "127.0.0.1", Outcome.OK)
    ]
    _, _, head = server.asked[0]
    assert "User-Agent: Tadasu" in head
    assert "Accept-Encoding: identity" in head


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        [OUTSIDE, "127.0.0.1"],
        ["::1"],
        ["169.254.169.254"],
        ["::ffff:127.0.0.1"],
        ["fe80::1%lo"],
    ],
)
async def test_a36_a_name_is_refused_where_a_single_one_of_its_addresses_is_not_public(answers: list[str]) -> None:
    async with HostileServer(SOUND) as server:
        names = Names({"rebind.example.com": answers})
        chosen = settings(None, ports=(server.port,))
        found, _ = await fetch(
            [server.url("/", host="rebind.example.com")], chosen, resolver=names, snippet="It is deep."
        )
    assert reasons(found) == ["address"]
    assert found.pages == ()  # not by its snippet either
    assert server.asked == []


async def test_a36_dns_that_changes_its_answer_after_the_check_changes_nothing() -> None:
    async with HostileServer(SOUND) as server:
        # Were the name asked for again to connect, the second answer would lead to our own server.
        names = Names({"rebind.example.com": ["192.0.2.1"]}, later={"rebind.example.com": ["127.0.0.1"]})
        chosen = settings(None, ports=(server.port,), first_byte_s=0.3)
        found, _ = await fetch([server.url("/", host="rebind.example.com")], chosen, resolver=names)
        assert names.asked == ["rebind.example.com"]
        names = Names({"wiki.corp": ["127.0.0.1"]}, later={"wiki.corp": ["10.255.255.1"]})
        chosen = settings(server, private_hosts=(f"wiki.corp:{server.port}",))
        sound, _ = await fetch([server.url("/", host="wiki.corp")], chosen, resolver=names)
    assert reasons(found) == ["address"]
    assert len(sound.pages) == 1
    assert names.asked == ["wiki.corp"]  # once: what was checked is what was connected to
    assert [host for host, _, _ in server.asked] == [f"wiki.corp:{server.port}"]


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:1/",
        "http://[::1]/",
        "http://2130706433/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "//0x7f.1/",
        "http://localhost/",
        "http://a@10.0.0.1/",
        "http://inside.example.com/",
        "ftp://example.com/",
        "http://example.com:22/",
        "data:text/html,x",
    ],
)
async def test_a36_redirects_into_the_inside_are_refused_at_their_hop(target: str) -> None:
    answers = {"/": redirect("/hop"), "/hop": redirect(target, status="307 Temporary Redirect")}
    async with HostileServer(answers) as server:
        found, ledger = await fetch(
            [server.url("/")],
            settings(server),
            resolver=Names({"127.0.0.1": ["127.0.0.1"], "inside.example.com": ["10.0.0.1"]}),
        )
    assert found.pages == ()
    assert reasons(found)[0] in {"address", "scheme", "port"}
    assert server.paths == ["/", "/hop"]
    assert [call.outcome for call in ledger.calls] == [Outcome.FAILED]


async def test_redirects_are_followed_so_far_and_no_further() -> None:
    chain = {f"/{n}": redirect(f"/{n + 1}") for n in range(20)} | {"/3": reply(ARTICLE), "/loop": redirect("/loop")}
    async with HostileServer(chain) as server:
        found, _ = await fetch([server.url(path) for path in ("/0", "/4", "/loop")], settings(server, redirects=3))
        nowhere, _ = await fetch([server.url("/x")], settings(server))
    assert [page.url for page in found.pages] == [server.url("/0")]
    assert reasons(found) == ["redirect", "redirect"]
    assert reasons(nowhere) == ["gone"]


# --- TLS -----------------------------------------------------------------------------------------


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server that is called `name`, and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(file)
    theirs = ssl.create_default_context(cafile=str(file))
    return ours, theirs


async def test_tls_is_spoken_with_the_name_while_the_connection_goes_to_the_number(tmp_path: Path) -> None:
    ours, theirs = certificate(tmp_path, "wiki.corp")
    asked: list[str | None] = []
    ours.sni_callback = lambda _, name, __: asked.append(name)
    async with HostileServer(SOUND, tls=ours) as server:
        names = Names({"wiki.corp": ["127.0.0.1"], "other.corp": ["127.0.0.1"]})
        chosen = settings(server, private_hosts=("wiki.corp", "other.corp"), ports=(server.port,))
        urls = [server.url("/", host=host) for host in ("wiki.corp", "other.corp")]
        found, _ = await fetch(urls, chosen, resolver=names, tls=theirs)
        stranger, _ = await fetch(urls[:1], chosen, resolver=names)
    assert [page.url for page in found.pages] == urls[:1]
    assert reasons(found) == ["tls"]
    assert reasons(stranger) == ["tls"]  # a certificate that nobody vouches for
    assert asked[0] == "wiki.corp"


async def test_https_never_leads_back_to_http(tmp_path: Path) -> None:
    ours, theirs = certificate(tmp_path, "wiki.corp")
    async with HostileServer(SOUND) as plain, HostileServer({"/": redirect(plain.url("/"))}, tls=ours) as server:
        chosen = settings(plain, private_hosts=("wiki.corp", "127.0.0.1"), ports=(server.port, plain.port))
        names = Names({"wiki.corp": ["127.0.0.1"], "127.0.0.1": ["127.0.0.1"]})
        found, _ = await fetch([server.url("/", host="wiki.corp")], chosen, resolver=names, tls=theirs)
    assert reasons(found) == ["redirect"]
    assert plain.asked == []


async def test_a_proxy_is_used_where_it_is_named_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with HostileServer({"http://far.example.com:80/": reply(ARTICLE), **SOUND}) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url(""))
        monkeypatch.setenv("ALL_PROXY", server.url(""))
        direct, _ = await fetch([server.url("/")], settings(server))
        assert server.paths == ["/"]
        chosen = settings(server, proxy=server.url(""))
        urls = ["http://far.example.com/", "http://10.0.0.1/", "http://2130706433/", "http://localhost/"]
        found, _ = await fetch(urls, chosen, resolver=Names({}))
    assert len(direct.pages) == 1
    assert server.paths == ["/", "http://far.example.com:80/"]
    assert [page.url for page in found.pages] == urls[:1]
    assert reasons(found) == ["address"] * 3


# --- what a server may cost ----------------------------------------------------------------------


async def test_a_page_over_the_limit_is_broken_off(tmp_path: Path) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"a" * 65536 + b"\r\n")
            await writer.drain()

    told = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999999\r\n\r\n"
    async with HostileServer({"/endless": endless, "/told": told}) as server:
        found, _ = await fetch([server.url("/endless"), server.url("/told")], settings(server, max_mb=0.5))
    assert reasons(found) == ["too_large", "too_large"]


async def test_a_server_that_drips_or_is_silent_costs_its_time_and_no_other_page() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with HostileServer({"/drip": drip, "/silent": silent, **SOUND}) as server:
        chosen = settings(server, timeout_s=0.6, first_byte_s=0.3)
        urls = [server.url(path) for path in ("/drip", "/silent", "/")]
        found, ledger = await fetch(urls, chosen, snippet="A snippet of it.")
    assert reasons(found) == ["timeout", "timeout"]
    assert [page.body is not None for page in found.pages] == [False, False, True]
    assert [page.url for page in found.pages] == urls
    failed = [call for call in ledger.calls if call.outcome is Outcome.FAILED]
    assert len(failed) == 2
    assert all(call.error.startswith("timeout") for call in failed)


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(50_000)) + b"\r\nbody",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 500_000 + b"\r\n\r\nbody",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"+PONG\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\ncut",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["headers without end", "a header without end", "ssh", "redis", "nothing", "cut short", "bad chunk"],
)
async def test_what_is_no_http_is_no_page(raw: bytes) -> None:
    async with HostileServer({"/": raw}) as server:
        found, _ = await fetch([server.url("/")], settings(server))
    assert reasons(found)[0] in {"protocol", "unreachable"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (reply(b"\x89PNG\r\n\x1a\n", kind="image/png"), "media_type"),
        (reply(b"PK\x03\x04", kind="application/zip"), "media_type"),
        (reply(b'{"a": 1}', kind="application/json"), "media_type"),
        (reply(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, kind="text/html"), "charset"),
        (reply(b"\x00\x01", kind="application/octet-stream"), "media_type"),
        (reply("<html>", kind="application/pdf"), ""),
        (reply("no pdf", kind="application/pdf"), "media_type"),
        (reply(b"", kind="text/html"), "empty"),
        (reply(b"  \n ", kind="text/plain"), "empty"),
        (reply("busy", status="503 Service Unavailable"), "http_status"),
        (reply("busy", status="429 Too Many Requests"), "limited"),
        (reply("gone", status="410 Gone"), "gone"),
        (reply("who?", status="401 Unauthorized"), "login_wall"),
        (reply("<html><title>Just a moment...</title><p>Verifying you are human.</p></html>", status="403 Forbidden"), "bot_wall"),
        (reply(b"x", Content_Encoding="br"), "content_encoding"),
        (reply(b"not gzip at all", Content_Encoding="gzip"), "content_encoding"),
    ],
)  # fmt: skip
async def test_a_reply_that_is_no_page_is_dropped_by_name(raw: bytes, reason: str) -> None:
    async with HostileServer({"/": raw}) as server:
        found, _ = await fetch([server.url("/")], settings(server))
    assert reasons(found) == ([reason] if reason else ["empty"])


async def test_plain_text_and_pages_whose_kind_is_unsaid_are_read() -> None:
    answers = {
        "/text": reply("Quay 4 is closed.", kind="text/plain"),
        "/unsaid": reply(ARTICLE, kind=""),
        "/pdf": reply(b"%PDF-1.7 ...", kind="application/octet-stream"),
    }
    async with HostileServer(answers) as server:
        found, _ = await fetch([server.url(path) for path in answers], settings(server))
        without, _ = await fetch([server.url("/pdf")], settings(server, pdf=False))
    assert [page.media_type for page in found.pages] == ["text/plain", "text/html", "application/pdf"]
    assert reasons(without) == ["media_type"]


# --- what is fetched at all ----------------------------------------------------------------------


async def test_pages_with_a_body_are_left_alone_and_all_keep_their_order() -> None:
    async with HostileServer(SOUND) as server:
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        pages = [
            WebPage("https://a.example.com/", "A", body=b"<p>there"),
            WebPage(server.url("/missing"), "M"),
            WebPage(server.url("/"), "S"),
            WebPage("http://10.0.0.1/", "B", body=b"brought along"),
        ]
        found = await fetcher.fetch(pages, ledger=RunLedger(SystemClock()))
        await fetcher.close()
    assert [page.title for page in found.pages] == ["A", "S", "B"]
    assert found.pages[0] is pages[0]
    assert reasons(found) == ["gone"]


async def test_one_domain_gives_so_many_pages_and_one_address_is_fetched_once() -> None:
    async with HostileServer({f"/{n}": reply(ARTICLE) for n in range(4)}) as server:
        urls = [server.url(path) for path in ("/0", "/0", "/1", "/2")]
        found, _ = await fetch(urls, settings(server, per_domain=2), snippet="A snippet.")
    assert [page.url for page in found.pages] == [urls[0], urls[2]]
    assert reasons(found) == ["duplicate", "domain_cap"]
    assert sorted(server.paths) == ["/0", "/1"]


async def test_what_is_denied_or_a_wall_or_gone_is_not_used_by_its_snippet_either() -> None:
    wall = reply("<html><title>Log in</title><p>Please log in to continue.</p></html>")
    async with HostileServer({"/wall": wall, "/busy": reply("x", status="500 Oops")}) as server:
        urls = [server.url("/wall"), server.url("/gone"), server.url("/busy"), "https://bad.example.com/"]
        chosen = settings(server, deny=("bad.example.com",))
        found, _ = await fetch(urls, chosen, snippet="The quay is 40 m long.")
        by_wall, _ = await fetch([urls[2]], chosen, snippet="Please enable cookies to continue.")
        off, _ = await fetch([urls[2]], settings(server, use_snippets=False), snippet="The quay is 40 m long.")
    assert [page.url for page in found.pages] == [urls[2]]
    assert reasons(found) == ["login_wall", "gone", "http_status", "denied"]
    assert by_wall.pages == off.pages == ()


async def test_no_more_than_so_many_are_fetched_at_once() -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.03)
        writer.write(reply(ARTICLE))
        await writer.drain()

    async with HostileServer({f"/{n}": slow for n in range(9)}) as server:
        found, _ = await fetch([server.url(f"/{n}") for n in range(9)], settings(server, calls=3))
    assert len(found.pages) == 9
    assert server.most_busy == 3


async def test_who_asks_for_a_page_that_is_being_fetched_waits_for_it() -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.write(reply(ARTICLE))
        await writer.drain()

    async with HostileServer({"/": slow}) as server:
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        ledgers = [RunLedger(SystemClock()) for _ in range(4)]
        page = WebPage(server.url("/"), "A")
        found = await asyncio.gather(*(fetcher.fetch([page], ledger=ledger) for ledger in ledgers))
        await fetcher.close()
    assert all(len(one.pages) == 1 for one in found)
    assert server.paths == ["/"]
    assert sorted(call.cached for ledger in ledgers for call in ledger.calls) == [0, 1, 1, 1]


# --- the run's budget ----------------------------------------------------------------------------


async def test_the_deadline_of_the_run_ends_a_fetch() -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with HostileServer({"/": silent}) as server:
        budget = Budget(Limits(seconds=0.2), RunLedger(SystemClock()))
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        found = await fetcher.fetch([WebPage(server.url("/"), "A")], ledger=budget)
        assert reasons(found) == ["timeout"]
        with pytest.raises(BudgetSpent):
            await fetcher.fetch([WebPage(server.url("/again"), "A")], ledger=budget)
        await fetcher.close()
    assert server.paths == ["/"]


async def test_what_the_budget_does_not_allow_is_dropped_and_the_rest_is_there() -> None:
    async with HostileServer({f"/{n}": reply(ARTICLE) for n in range(4)}) as server:
        ledger = RunLedger(SystemClock())
        fetcher = PageFetcher(settings(server), clock=FixedWorld())
        pages = [WebPage(server.url(f"/{n}"), "A") for n in range(4)]
        found = await fetcher.fetch(pages, ledger=Budget(Limits(calls=2), ledger))
        await fetcher.close()
    assert len(found.pages) == 2
    assert reasons(found) == ["budget", "budget"]
    assert len(ledger.calls) == 2


async def test_a_cancelled_run_leaves_no_request_behind_and_says_so_in_the_ledger() -> None:
    reached = asyncio.Event()

    async def silent(writer: asyncio.StreamWriter) -> None:
        reached.set()
        await asyncio.sleep(5)

    async with HostileServer({"/": silent, "/sound": reply(ARTICLE)}) as server:
        ledger = RunLedger(SystemClock())
        fetcher = PageFetcher(settings(server, calls=1), clock=FixedWorld())
        task = asyncio.create_task(fetcher.fetch([WebPage(server.url("/"), "A")], ledger=ledger))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [call.outcome for call in ledger.calls] == [Outcome.CANCELLED]
        found = await fetcher.fetch([WebPage(server.url("/sound"), "A")], ledger=ledger)
        await fetcher.close()
    assert len(found.pages) == 1
