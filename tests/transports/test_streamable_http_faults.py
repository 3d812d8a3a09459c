"""Streamable HTTP when the network or the server breaks the exchange, redirects it, or hides it."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest

from mcplens.errors import ConfigurationError, ConnectError, HttpError, TransportError
from mcplens.events import HttpExchangeEnded, HttpRequestSent, HttpResponseReceived
from mcplens.protocol.frames import Frame
from mcplens.transports.network import NetworkOptions
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.abrupt import reset
from tests.servers.misbehaving.wire import Wire

from .recording import HttpServer, Recorder, Seen, call, connected, result, serving, talking
from .test_streamable_http import JSON, echo


async def first_breaks(request: Seen, wire: Wire) -> bool:
    """True for the request that is to break; the others are answered rightly."""
    if isinstance(request.message, Frame) and request.message.id == 1:
        return True
    await echo(request, wire)
    return False


async def assert_others_unharmed(heard: Recorder) -> None:
    heard.transport.send(call("next"))
    await heard.until(lambda: "next" in heard.ids())
    assert set(heard.failures) == {1}
    assert not heard.losses


# -- broken exchanges --------------------------------------------------------------------------


async def test_a_body_shorter_than_announced_fails_with_all_that_came():
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            await wire.head(200, Content_Type=JSON, Content_Length=1000, X_Trace="abc")
            await wire.raw(b'{"jsonrpc": "2.0", "id"')
            await wire.cut()

    async with talking(handle) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
        await assert_others_unharmed(heard)
    assert isinstance(error, HttpError)
    assert error.code == "NO_RESPONSE"
    assert (error.status, error.headers["X-Trace"]) == (200, "abc")
    assert error.body == b'{"jsonrpc": "2.0", "id"'
    ended = heard.events(HttpExchangeEnded)[0]
    assert ended.body == error.body
    assert ended.error == error.message


async def test_a_reset_before_the_answer_fails_that_request_alone():
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            reset(wire.writer.transport)

    async with talking(handle) as (server, heard):
        heard.transport.send(call(1))
        heard.transport.send(call(2))
        error = await heard.failure(1)
        await heard.message()
        await assert_others_unharmed(heard)
    assert isinstance(error, TransportError)
    assert error.code == "CONNECTION_RESET"
    assert len([post for post in server.requests if post.message.id == 1]) == 1  # not sent again


async def test_a_server_that_hangs_up_without_an_answer_is_a_reset_too():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.cut()

    async with talking(handle) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "CONNECTION_RESET"
    assert "without an answer" in error.message


async def test_a_reset_in_the_body_keeps_status_and_what_came():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.head(200, Content_Type=JSON, Content_Length=1000)
        await wire.raw(b"half")
        await heard.until(lambda: heard.events(HttpResponseReceived))
        reset(wire.writer.transport)

    async with talking(handle) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.status == 200
    assert error.body == b"half"


async def test_headers_that_drip_for_ever_end_when_the_request_is_abandoned():
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            await wire.raw(b"HTTP/1.1 200 OK\r\nX-Drip: ")
            while True:
                await wire.raw(b"x")
                await asyncio.sleep(0)

    async with talking(handle) as (server, heard):
        heard.transport.send(call(1))
        await server.until(lambda: server.requests)
        heard.transport.send(call(2))
        await heard.message()
        heard.transport.abandon(1)
        await server.until(lambda: server.closed)
        await heard.until(lambda: len(heard.events(HttpExchangeEnded)) == 2)
    assert heard.ids() == [2]
    assert not heard.failures


async def test_an_answer_that_is_no_http_says_so():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")

    async with talking(handle) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "INVALID_RESPONSE"
    assert "no valid HTTP" in error.message


async def test_a_body_over_the_limit_fails_the_request_and_keeps_its_start():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(200, result(1, "x" * 300_000), JSON)

    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url, max_message_bytes=100_000)
        async with connected(transport) as heard:
            transport.send(call(1))
            error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "MESSAGE_TOO_LARGE"
    assert len(error.body) == 64 * 1024
    assert error.body.startswith(result(1, "x" * 300_000)[:100])


async def test_a_header_that_no_http_request_can_have_fails_the_request():
    async with talking(echo) as (_, heard):
        heard.transport.send(call(1, X_Bad="two\r\nlines"))
        error = await heard.failure(1)
        await assert_others_unharmed(heard)
    assert error.code == "CONFIGURATION_INVALID"


# -- no connection at all ----------------------------------------------------------------------


async def test_a_refused_connection_fails_the_request_with_the_systems_code():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    transport = StreamableHttpTransport(f"http://127.0.0.1:{port}/mcp")
    async with connected(transport) as heard:
        transport.send(call(1))
        error = await heard.failure(1)
    assert isinstance(error, ConnectError)
    assert error.code == "CONNECTION_REFUSED"
    assert error.details["system_code"] == "ECONNREFUSED"
    assert heard.events(HttpExchangeEnded)[0].error


async def test_a_host_that_does_not_exist_is_told_as_such(monkeypatch):
    async def no_such_host(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", no_such_host)
    monkeypatch.setenv("NO_PROXY", "*")
    transport = StreamableHttpTransport("http://nowhere.invalid/mcp")
    async with connected(transport) as heard:
        transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "HOST_NOT_FOUND"
    assert error.details["system_code"] == "ENOTFOUND"


async def test_a_connection_that_does_not_come_about_times_out():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        others = []
        for _ in range(4):  # fills the backlog, so that the next connection hangs
            other = socket.socket()
            other.setblocking(False)
            other.connect_ex(full.getsockname())
            others.append(other)
        url = f"http://127.0.0.1:{full.getsockname()[1]}/mcp"
        transport = StreamableHttpTransport(url, connect_timeout_s=0.05)
        async with connected(transport) as heard:
            transport.send(call(1))
            error = await heard.failure(1)
        for other in others:
            other.close()
    assert error.code == "CONNECTION_TIMEOUT"


# -- TLS ---------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A certificate that only its own file vouches for, and a server's context with it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    loopback = x509.IPAddress(ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([loopback]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        made.public_bytes(pem)
        + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context, path


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate):
    async with serving(echo, tls=certificate[0]) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.send(call(1))
            error = await heard.failure(1)
    assert error.code == "TLS_FAILED"
    assert not server.requests


@pytest.mark.parametrize("way", ["ca_file", "insecure"])
async def test_a_private_certificate_is_taken_with_its_ca_file_or_the_insecure_switch(
    certificate, way
):
    options = {"ca_file": str(certificate[1])} if way == "ca_file" else {"insecure": True}
    async with serving(echo, tls=certificate[0]) as server:
        transport = StreamableHttpTransport(server.url, **options)
        async with connected(transport) as heard:
            transport.send(call(1))
            await heard.message()


@pytest.mark.skipif(os.name != "posix", reason="there are no named pipes")
def test_a_ca_file_that_is_a_pipe_is_refused_and_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="it is no file"):
        NetworkOptions(ca_file=str(tmp_path / "pipe")).tls_context()


async def test_a_ca_file_that_is_not_there_is_a_configuration_error():
    transport = StreamableHttpTransport("https://127.0.0.1:1/", ca_file="/nowhere/ca.pem")
    Recorder(transport)
    with pytest.raises(ConfigurationError, match=r"/nowhere/ca\.pem"):
        async with transport:
            pass


# -- redirects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_to_the_same_origin_is_followed_with_everything(status):
    async def handle(request: Seen, wire: Wire) -> None:
        if request.path == "/mcp":
            await wire.respond(status, b"over there", "text/plain", Location="/moved/")
        else:
            await echo(request, wire)

    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url, headers={"X-Key": "k"})
        async with connected(transport) as heard:
            transport.send(call(1))
            await heard.message()
    first, second = server.requests
    assert (second.verb, second.path, second.body) == ("POST", "/moved/", first.body)
    assert second.headers == first.headers
    assert server.connections == 1
    asked = heard.events(HttpRequestSent)
    assert [event.exchange_id for event in asked] == [1, 2]
    assert asked[1].url.endswith("/moved/")
    assert len(heard.events(HttpExchangeEnded)) == 2


async def test_a_redirect_to_another_origin_is_refused_and_nothing_is_sent_there():
    async with serving(echo) as other:

        async def handle(request: Seen, wire: Wire) -> None:
            await wire.respond(307, Location=other.url + "?token=s3cret")

        async with talking(handle) as (server, heard):
            heard.transport.send(call(1))
            error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "REDIRECT_REFUSED"
    assert f"http://127.0.0.1:{server.port}" in error.message
    assert f"http://127.0.0.1:{other.port}" in error.message
    assert not other.requests
    assert "s3cret" not in repr((error.to_dict(), heard.bus.kept()))


async def test_a_redirect_loop_ends_after_five_hops():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(307, Location="/mcp")

    async with talking(handle) as (server, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "REDIRECT_REFUSED"
    assert len(server.requests) == 6


async def test_a_redirect_that_asks_for_a_get_is_an_error_status():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(303, Location="/elsewhere")

    async with talking(handle) as (server, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "REDIRECT_REFUSED"
    assert len(server.requests) == 1


# -- proxies -----------------------------------------------------------------------------------


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def through(monkeypatch: pytest.MonkeyPatch, proxy: HttpServer) -> None:
    monkeypatch.setenv("http_proxy", f"http://user:s3cret@127.0.0.1:{proxy.port}")


@pytest.mark.usefixtures("no_proxies")
async def test_the_proxy_of_the_environment_is_used_and_its_password_not_shown(monkeypatch):
    async with serving(echo) as proxy:
        through(monkeypatch, proxy)
        transport = StreamableHttpTransport("http://mcp.example/mcp")
        async with connected(transport) as heard:
            transport.send(call(1))
            await heard.message()
    assert proxy.requests[0].path == "http://mcp.example/mcp"
    assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")
    assert "s3cret" not in repr(heard.bus.kept())


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("bypass", ["loopback", "no_proxy"])
async def test_a_proxy_is_passed_by_for_this_machine_and_for_what_no_proxy_names(
    monkeypatch, bypass
):
    async with serving(echo) as proxy, serving(echo) as server:
        through(monkeypatch, proxy)
        url = server.url
        if bypass == "no_proxy":
            monkeypatch.setenv("no_proxy", "mcp.example")
            url = f"http://mcp.example:{server.port}/mcp"
            loop = asyncio.get_running_loop()

            async def resolve(*_: object, **__: object) -> list[object]:
                here = ("127.0.0.1", server.port)
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", here)]

            monkeypatch.setattr(loop, "getaddrinfo", resolve)
        transport = StreamableHttpTransport(url)
        async with connected(transport) as heard:
            transport.send(call(1))
            await heard.message()
    assert not proxy.requests
    assert len(server.requests) == 1


@pytest.mark.usefixtures("no_proxies")
async def test_a_proxy_that_is_not_http_is_a_configuration_error(monkeypatch):
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
    transport = StreamableHttpTransport("http://mcp.example/mcp")
    Recorder(transport)
    with pytest.raises(ConfigurationError, match="no HTTP proxy"):
        async with transport:
            pass
