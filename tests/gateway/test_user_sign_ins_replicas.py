"""Sign-ins of users over several replicas, with a real store and providers that we did not write.

The gateway's users come from one oidc-provider, their accounts at the server from another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
import mcp
import pytest
from mcp import types
from mcp.client.streamable_http import streamable_http_client

from mcplens.config.access_keys import OAuthSettings
from mcplens.config.views import GatewaySettings
from mcplens.errors import ServerError
from tests.auth.protected import Protected, keep_sign_ins_in, protected
from tests.auth.test_oidc_provider import Browser, provider, trust
from tests.gateway.harness import OLD, RunningGateway, names, running_gateway, texts
from tests.gateway.issuer import Issuer, issuer
from tests.gateway.test_user_sign_ins import link_in
from tests.replicas.processes import until
from tests.replicas.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.slow


class Arrangement:
    """Two replicas with one store, and an issuer for their users."""

    def __init__(self, replicas: list[RunningGateway], found: Issuer, server: Protected) -> None:
        self.one, self.other = replicas
        self.issuer = found
        self.server = server

    def headers(self, replica: RunningGateway, subject: str) -> dict[str, str]:
        token = self.issuer.token(replica.origin, sub=subject)
        return {"Authorization": f"Bearer {token}"}

    def connect(self, replica: RunningGateway, subject: str) -> Any:
        return replica.connect(headers=self.headers(replica, subject), protocol_version=OLD)


@asynccontextmanager
async def arrangement(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Arrangement]:
    keep_sign_ins_in(folder, monkeypatch)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(100))
        server = await stack.enter_async_context(protected())
        accounts = await stack.enter_async_context(provider(server.url))
        trust(server, accounts)
        found = await stack.enter_async_context(issuer())
        store: RedisServer = await stack.enter_async_context(redis_server(folder))
        settings = GatewaySettings(
            oauth=OAuthSettings(issuer=found.url),
            store=store.settings(),
            startup_budget_s=60,
            user_token_keys=("a key of the replicas, 32 characters",),
        )
        servers = {"notes": {"url": server.url, "auth": {"perUser": True}}}
        replicas = [
            await stack.enter_async_context(running_gateway(servers, settings=settings))
            for _ in range(2)
        ]
        # Links lead to the second replica, as a load balancer may have it.
        for replica in replicas:
            sessions = replica.gateway.users.sessions
            assert sessions is not None
            sessions.links.public_url = replicas[1].origin
        yield Arrangement(replicas, found, server)


class Person(Browser):
    """Presses the button of our page, signs in at the provider, and comes back."""

    async def follow(self, link: str, *, back_at: str = "") -> str:
        """The page at the end; `back_at` is the replica that the browser returns to instead."""
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            async with session.post(link, allow_redirects=False) as answer:
                assert answer.status == 303, await answer.text()
                target, cookies = answer.headers["Location"], answer.cookies
            origin = f"http://{urlsplit(link).netloc}"
            returned = await self.visit(target, f"{origin}/sign-in/callback")
            if back_at:
                returned = urljoin(back_at, returned.removeprefix(origin))
            async with session.get(returned, cookies=cookies) as answer:
                return await answer.text()


async def test_a_sign_in_begins_at_one_replica_and_ends_at_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with arrangement(tmp_path, monkeypatch) as found:
        async with found.connect(found.one, "ada") as client:
            link = link_in(texts(await client.call_tool("sign_in")))
            assert link.startswith(found.other.origin)
            page = await Person("ada@notes").follow(link, back_at=found.one.origin)
            assert "You are signed in to notes" in page
            assert await names(client) == ["echo", "sign_out"]
            await client.call_tool("echo")
        # The other replica has the token by the store; another user has none.
        async with found.connect(found.other, "eve") as client:
            assert await names(client) == ["sign_in"]
        async with (
            found.connect(found.one, "ada") as client,
            found.connect(found.other, "ada") as there,
        ):
            assert await names(there) == ["echo", "sign_out"]
            await there.call_tool("echo")
            token = found.server.authorizations[-1].removeprefix("Bearer ")
            assert await found.server.is_valid(token)
            # Signed out at one replica: the session at the other is closed, too.
            link = link_in(texts(await client.call_tool("sign_out")))
            async with aiohttp.ClientSession() as session, session.post(link) as answer:
                assert "ada signed out of notes, and the token is revoked" in await answer.text()
            assert not await found.server.is_valid(token)

            async def is_out() -> bool:
                return await names(there) == await names(client) == ["sign_in"]

            await until(is_out)
            accepted = len(found.server.authorizations)
            for one in (client, there):
                with pytest.raises(ServerError, match="wants you to sign in first"):
                    await one.call_tool("notes:echo")
            assert len(found.server.authorizations) == accepted


async def test_a_waiting_call_goes_on_when_the_user_signed_in_at_another_replica(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the SDK's client, which opens URLs that it is asked to."""
    async with arrangement(tmp_path, monkeypatch) as found:
        url = found.one.url()
        visits: list[asyncio.Task[str]] = []

        async def open_url(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
            assert isinstance(params, types.ElicitRequestURLParams)
            visits.append(asyncio.ensure_future(Person("ada@notes").follow(str(params.url))))
            return types.ElicitResult(action="accept")

        async with found_http(found.headers(found.one, "ada")) as http:
            transport = streamable_http_client(url, http_client=http)
            async with mcp.Client(
                transport, mode="legacy", elicitation_callback=open_url
            ) as client:
                result = await client.call_tool("notes:echo", {})
        assert result.content[0].text == "done"  # type: ignore[union-attr]
        assert "You are signed in to notes" in await visits[0]


@asynccontextmanager
async def found_http(headers: dict[str, str]) -> AsyncIterator[Any]:
    import httpx2

    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        yield http
