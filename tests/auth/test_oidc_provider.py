"""Signing in with an authorization server that we did not write: npm's oidc-provider.

It has a login page and a consent page, rotates refresh tokens, binds tokens to the resource, and
revokes them. The pages are filled in here as a browser would send them.
"""

import asyncio
import base64
import html
import json
import re
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urljoin

import aiohttp
import pytest
from msgspec.structs import replace

import mcplens
from mcplens.auth.creation import create_authorizer
from mcplens.auth.steps import Authorize, SignIn
from mcplens.auth.storage import SignInStore
from mcplens.bus import Bus, Publisher
from mcplens.clock import SystemClock
from mcplens.transports.network import NetworkOptions
from tests.auth.protected import Protected
from tests.node_tools import oidc_argv
from tests.servers.run import START_TIMEOUT_S

pytestmark = pytest.mark.slow


@asynccontextmanager
async def provider(
    resource: str, lifetime_s: int = 3600, token_format: str = "opaque"
) -> AsyncIterator[str]:
    """Run the authorization server for this resource; gives its issuer."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *oidc_argv(resource, lifetime_s, token_format), stdin=pipe, stdout=pipe, stderr=DEVNULL
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            line = await process.stdout.readline()
        yield json.loads(line)["issuer"]
    finally:
        process.kill()
        await process.wait()


class Browser:
    """Fills in the pages of the provider, and comes back with where it was sent."""

    def __init__(self, login: str = "ada") -> None:
        self.pages: list[str] = []
        self._login = login

    async def __call__(self, request: Authorize) -> str:
        return await self.visit(request.url, request.redirect_uri)

    async def visit(self, url: str, until: str) -> str:
        """Follow an address, filling in forms, until the browser is sent where `until` begins."""
        jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address that is no name
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            method, form = "GET", None
            while not url.startswith(until):
                async with session.request(method, url, data=form, allow_redirects=False) as answer:
                    text = await answer.text()
                    location = answer.headers.get("Location")
                if location is not None:
                    method, url, form = "GET", urljoin(url, location), None
                    continue
                self.pages.append(text)
                method, url, form = "POST", *_filled(text, url, self._login)
            return url


def _filled(page: str, url: str, login: str) -> tuple[str, dict[str, str]]:
    """The form of a page, with a name and a password."""
    found = re.search(r'<form[^>]*action="([^"]+)"[^>]*>(.*?)</form>', page, re.DOTALL)
    assert found, page
    inputs = re.findall(r"<input[^>]*>", found[2])
    names = [dict(re.findall(r'(\w+)="([^"]*)"', one)) for one in inputs]
    form = {one["name"]: html.unescape(one.get("value", "")) for one in names if "name" in one}
    return urljoin(url, html.unescape(found[1])), form | {"login": login, "password": "x"}


async def is_good(issuer: str, token: str, resource: str) -> bool:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{issuer}/check", params={"token": token}) as answer,
    ):
        found: dict[str, Any] = await answer.json()
        return bool(found["active"]) and found["aud"] == resource


async def test_a_person_signs_in_by_its_pages_and_the_sign_in_lasts(server: Protected) -> None:
    browser = Browser()
    async with provider(server.url) as issuer:
        trust(server, issuer)
        async with mcplens.connect(server.url, sign_in=browser) as client:
            await client.call_tool("echo")
        assert len(browser.pages) == 2  # login and consent
        store = SignInStore()
        first = await store.load(server.url)
        assert first is not None
        assert set(first.tokens.scopes) >= {"notes"}
        assert first.tokens.refresh_token is not None  # offline_access was asked for
        # After a restart, and when the token is no longer good: refreshed, nobody is asked.
        await store.save(server.url, _spoilt(first))
        async with mcplens.connect(server.url) as client:
            await client.call_tool("echo")
        second = await store.load(server.url)
        assert second is not None
        assert second.tokens.refresh_token != first.tokens.refresh_token  # it was rotated

        authorizer = create_authorizer(server.url, None, None, network=NetworkOptions())
        assert authorizer is not None

        clock = SystemClock()
        authorizer.attach(Publisher(Bus(clock), "server"), clock)
        assert await authorizer.sign_out() == "signed out, and the token is revoked"
        assert not await server.is_valid(second.tokens.access_token)


async def test_tokens_are_bound_to_a_key_and_each_request_proves_it(server: Protected) -> None:
    async with provider(server.url) as issuer:
        trust(server, issuer)
        auth = {"dpop": True}
        async with mcplens.connect(server.url, sign_in=Browser(), auth=auth) as client:
            await client.call_tool("echo")
        kept = await SignInStore().load(server.url)
        assert kept is not None
        await SignInStore().save(server.url, _spoilt(kept))
        async with mcplens.connect(server.url, auth=auth) as client:  # refreshed with the same key
            await client.call_tool("echo")
    proofs = [proof for proof in server.proofs if proof is not None]
    assert server.authorizations[-1].startswith("DPoP ")
    assert len(set(proofs)) == len(proofs) > 4
    assert "d" not in jwt_header(proofs[0])["jwk"]  # the private part stays here


def jwt_header(token: str) -> dict[str, Any]:
    part = token.partition(".")[0]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def trust(server: Protected, issuer: str) -> None:
    """The server lets in who has a token of this issuer for it."""
    server.metadata_of_resource = lambda: {
        "resource": server.url,
        "authorization_servers": [issuer],
        "scopes_supported": ["notes"],
    }

    async def let_in(token: str) -> bool:
        return await is_good(issuer, token, server.url)

    server.is_valid = let_in


def _spoilt(sign_in: SignIn) -> SignIn:
    return replace(sign_in, tokens=replace(sign_in.tokens, access_token="no-longer-good"))
