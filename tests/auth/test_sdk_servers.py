"""Signing in to servers that we did not write: the official SDK's and fastmcp's."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

import mcplens
from mcplens.auth.steps import SignIn
from mcplens.auth.storage import SignInStore
from mcplens.clock import SystemClock
from tests.auth.protected import consent
from tests.servers.run import Server, serve


@pytest.fixture(params=["mcp", "fastmcp"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    async with serve("sdk_oauth", "--sdk", request.param, "--transport", "http") as found:
        yield found


async def test_a_sign_in_is_used_refreshed_and_survives_a_restart(server: Server) -> None:
    async with mcplens.connect(server.url, sign_in=consent) as client:
        assert (await client.call_tool("echo", {"text": "hello"})).content[0].text == "hello"
    # A new client, as after a restart, and nobody who could sign in.
    async with mcplens.connect(server.url) as client:
        assert (await client.call_tool("echo", {"text": "again"})).content[0].text == "again"
    store = SignInStore()
    kept = await store.load(server.url)
    assert kept is not None
    assert kept.tokens.refresh_token is not None
    assert (kept.tokens.expires_at or 0) > SystemClock.wall()
    assert kept.tokens.scopes == ("notes",)
    old = kept.tokens.access_token
    # The server forgets the token: the refresh token is used, and rotated.
    await store.save(server.url, _with_token(kept, "no longer valid"))
    async with mcplens.connect(server.url) as client:
        assert (await client.call_tool("echo", {"text": "third"})).content[0].text == "third"
    fresh = await store.load(server.url)
    assert fresh is not None
    assert fresh.tokens.access_token not in (old, "no longer valid")


async def test_without_anybody_to_sign_in_the_refusal_is_the_error(server: Server) -> None:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect(server.url):
            pass
    assert caught.value.code == "AUTHENTICATION_FAILED"


def _with_token(kept: SignIn, token: str) -> SignIn:
    return replace(kept, tokens=replace(kept.tokens, access_token=token))
