"""Signing in through `mcplens tap URL --rewrite-auth`, by clients that compare addresses."""

import re
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import mcp
import pytest
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

import mcplens
from mcplens.auth.steps import Authorize
from mcplens.tap.auth_rewriting import AuthRewriting
from tests.auth.protected import consent, keep_sign_ins_in, protected
from tests.servers.run import serve
from tests.tap.test_http import tapped


@pytest.fixture(autouse=True)
def own_sign_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_sign_ins_in(tmp_path, monkeypatch)


async def test_a_client_that_compares_signs_in_through_the_tap() -> None:
    asked: list[Authorize] = []

    async def look(request: Authorize) -> str:
        asked.append(request)
        return await consent(request)

    async with (
        protected() as server,
        tapped(server.url, rewrites_auth=True) as (address, bus),
    ):
        async with mcplens.connect(address, sign_in=look) as client:
            await client.call_tool("echo")
        # The client saw the tap's address, the server its own.
        assert asked[0].resource == address
        assert server.forms[0]["resource"] == server.url
        assert server.valid
        shown = repr(bus.kept())
    assert "grant_type" in shown
    assert not re.search(r"(access|refresh)-\d+-secret|code-\d+", shown)
    assert server.forms[0]["code_verifier"] not in shown


async def test_without_it_a_client_that_compares_refuses() -> None:
    async with protected() as server, tapped(server.url) as (address, _):
        with pytest.raises(mcplens.InspectorError) as caught:
            async with mcplens.connect(address, sign_in=consent):
                pass
    assert server.base in str(caught.value)
    assert server.forms == []


class Memory(TokenStorage):
    """What the SDK's client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_only_addresses_of_the_server_are_moved_and_only_there_and_back() -> None:
    origin, own = "https://a.example", "http://127.0.0.1:9"
    rewriting = AuthRewriting(origin, own, "/.well-known/oauth-protected-resource/mcp")
    assert rewriting.is_metadata
    assert rewriting.metadata(
        b'{"resource":"https://a.example/mcp","authorization_servers":["https://a.example",'
        b'"https://a.example.evil/x","https://login.example"],"n":1}'
    ) == (
        b'{"resource":"http://127.0.0.1:9/mcp","authorization_servers":["http://127.0.0.1:9",'
        b'"https://a.example.evil/x","https://login.example"],"n":1}'
    )
    assert rewriting.metadata(b"\xff not JSON") == b"\xff not JSON"
    challenge = b'Bearer error="x", resource_metadata="https://a.example/.well-known/y", scope="z"'
    assert rewriting.response_headers([(b"www-Authenticate", challenge), (b"X", b"y")]) == [
        (b"www-Authenticate", challenge.replace(b"https://a.example", b"http://127.0.0.1:9")),
        (b"X", b"y"),
    ]
    location = b"http://localhost:1/cb?code=c&iss=https%3A%2F%2Fa.example&state=s"
    ((_, back),) = rewriting.response_headers([(b"Location", location)])
    assert parse_qs(urlsplit(back.decode()).query)["iss"] == [own]
    target = b"/authorize?x=%20y&resource=http%3A%2F%2F127.0.0.1%3A9%2Fmcp&z"
    assert rewriting.request_target(target) == (
        b"/authorize?x=%20y&resource=https%3A%2F%2Fa.example%2Fmcp&z"
    )
    assert rewriting.form(b"a=1&resource=elsewhere") == b"a=1&resource=elsewhere"
    assert not AuthRewriting(origin, own, "/mcp?x=/.well-known/openid-configuration").is_metadata


async def test_the_sdks_client_signs_in_to_the_sdks_server_through_the_tap() -> None:
    returned: list[str] = []

    async def redirect(url: str) -> None:
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
            while not answer.headers["location"].startswith("http://localhost:1/"):
                answer = await browser.get(answer.headers["location"])
        returned.append(answer.headers["location"])

    async def callback() -> AuthorizationCodeResult:
        values = dict(parse_qsl(urlsplit(returned[-1]).query))
        return AuthorizationCodeResult.model_validate(values)

    async with (
        serve("sdk_oauth", "--sdk", "mcp", "--transport", "http") as server,
        tapped(server.url, rewrites_auth=True) as (address, _),
    ):
        about = OAuthClientMetadata.model_validate(
            {"client_name": "x", "redirect_uris": ["http://localhost:1/cb"]}
        )
        auth = OAuthClientProvider(address, about, Memory(), redirect, callback)
        async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
            transport = streamable_http_client(address, http_client=http)
            async with mcp.Client(transport, mode="legacy") as client:
                result = await client.call_tool("echo", {"text": "hello"})
        assert result.content[0].text == "hello"  # type: ignore[union-attr]
