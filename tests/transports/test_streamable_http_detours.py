"""Streamable HTTP by way of TLS, redirects and proxies."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest

from mcplens.errors import ConfigurationError, HttpError
from mcplens.events import HttpExchangeEnded, HttpRequestSent
from mcplens.transports.network import NetworkOptions
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.wire import Wire

from .http_answers import echo
from .recording import HttpServer, Recorder, Seen, call, connected, serving, talking

# -- TLS ---------------------------------------------------------------------------------------

Certificate = tuple[ssl.SSLContext, Path]


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
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


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Certificate) -> None:
    async with serving(echo, tls=certificate[0]) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.write(call(1))
            error = await heard.failure(1)
    assert error.code == "TLS_FAILED"
    assert not server.requests


@pytest.mark.parametrize("way", ["ca_file", "insecure"])
async def test_a_private_certificate_is_taken_with_its_ca_file_or_the_insecure_switch(
    certificate: Certificate, way: str
) -> None:
    context, path = certificate
    async with serving(echo, tls=context) as server:
        if way == "ca_file":
            transport = StreamableHttpTransport(server.url, ca_file=str(path))
        else:
            transport = StreamableHttpTransport(server.url, insecure=True)
        async with connected(transport) as heard:
            transport.write(call(1))
            await heard.message()


@pytest.mark.skipif(os.name != "posix", reason="there are no named pipes")
def test_a_ca_file_that_is_a_pipe_is_refused_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="it is not a file"):
        NetworkOptions(ca_file=str(tmp_path / "pipe")).tls_context()


async def test_a_ca_file_that_is_not_there_is_a_configuration_error() -> None:
    transport = StreamableHttpTransport("https://127.0.0.1:1/", ca_file="/nowhere/ca.pem")
    Recorder(transport)
    with pytest.raises(ConfigurationError, match=r"/nowhere/ca\.pem"):
        async with transport:
            pass


# -- redirects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_to_the_same_origin_is_followed_with_everything(status: int) -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.path == "/mcp":
            await wire.respond(status, b"over there", "text/plain", Location="/moved/")
        else:
            await echo(request, wire)

    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url, headers={"X-Key": "k"})
        async with connected(transport) as heard:
            transport.write(call(1))
            await heard.message()
    first, second = server.requests
    assert (second.verb, second.path, second.body) == ("POST", "/moved/", first.body)
    assert second.headers == first.headers
    assert server.connections == 1
    asked = heard.events(HttpRequestSent)
    assert [event.exchange_id for event in asked] == [1, 2]
    assert asked[1].url.endswith("/moved/")
    assert len(heard.events(HttpExchangeEnded)) == 2


async def test_a_redirect_to_another_origin_is_refused_and_nothing_is_sent_there() -> None:
    async with serving(echo) as other:

        async def handle(request: Seen, wire: Wire) -> None:
            await wire.respond(307, Location=other.url + "?token=s3cret")

        async with talking(handle) as (server, heard):
            heard.transport.write(call(1))
            error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "REDIRECT_REFUSED"
    assert f"http://127.0.0.1:{server.port}" in error.message
    assert f"http://127.0.0.1:{other.port}" in error.message
    assert not other.requests
    assert "s3cret" not in repr((error.to_dict(), heard.bus.kept()))


@pytest.mark.parametrize("location", ["file:///etc/passwd", "javascript:alert(1)", "http://[x/"])
async def test_a_redirect_to_what_is_no_http_address_names_it(location: str) -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(307, Location=location)

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "REDIRECT_REFUSED"
    assert (
        f"redirected (307) to something that is not an HTTP address: '{location}'" in error.message
    )


async def test_a_redirect_loop_ends_after_five_hops() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(307, Location="/mcp")

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "REDIRECT_REFUSED"
    assert len(server.requests) == 6


async def test_a_redirect_that_asks_for_a_get_is_an_error_status() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(303, Location="/elsewhere")

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
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
async def test_the_proxy_of_the_environment_is_used_and_its_password_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(echo) as proxy:
        through(monkeypatch, proxy)
        transport = StreamableHttpTransport("http://mcp.example/mcp")
        async with connected(transport) as heard:
            transport.write(call(1))
            await heard.message()
    assert proxy.requests[0].path == "http://mcp.example/mcp"
    assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")
    assert "s3cret" not in repr(heard.bus.kept())


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("bypass", ["loopback", "no_proxy"])
async def test_a_proxy_is_passed_by_for_this_machine_and_for_what_no_proxy_names(
    monkeypatch: pytest.MonkeyPatch, bypass: str
) -> None:
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
            transport.write(call(1))
            await heard.message()
    assert not proxy.requests
    assert len(server.requests) == 1


@pytest.mark.usefixtures("no_proxies")
async def test_a_proxy_that_is_not_http_is_a_configuration_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1080")
    transport = StreamableHttpTransport("http://mcp.example/mcp")
    Recorder(transport)
    with pytest.raises(ConfigurationError, match="not an HTTP proxy"):
        async with transport:
            pass
