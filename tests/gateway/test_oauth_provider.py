"""The gateway behind an identity provider that we did not write: npm's oidc-provider.

mcplens itself, the Python SDK's client with its own OAuth, and the inspector with a bearer header.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import mcp
import pytest
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

import mcplens
from mcplens.auth.storage import SignInStore
from mcplens.clock import SystemClock
from mcplens.config.access_keys import OAuthSettings
from mcplens.config.views import GatewaySettings
from mcplens.gateway.audit_log import AuditLog, tail
from tests.auth.protected import keep_sign_ins_in
from tests.auth.test_oidc_provider import Browser, provider
from tests.cli.shell import Shell
from tests.gateway.harness import OLD, STDIO_DEMO, RunningGateway, names, running_gateway
from tests.node_tools import inspector_argv
from tests.tap.test_real_clients import Place, environment_of, run

pytestmark = pytest.mark.slow

REDIRECT = "http://127.0.0.1:6277/callback"


@asynccontextmanager
async def behind_provider(audit: Path, token_format: str = "jwt") -> AsyncIterator[RunningGateway]:
    patient = GatewaySettings(startup_budget_s=60)
    servers = {"demo": STDIO_DEMO}
    async with running_gateway(servers, token="the-gateways-own", settings=patient) as running:
        running.gateway.audit_log = AuditLog(audit)
        async with provider(running.origin, token_format=token_format) as issuer:
            oauth = OAuthSettings(issuer=issuer, required_scopes=("notes",))
            settings = GatewaySettings(oauth=oauth)
            running.app.access.use(settings, running.origin, SystemClock())
            yield running


def callers(running: RunningGateway, audit: Path) -> set[str]:
    log = running.gateway.audit_log
    assert log is not None
    log.flush()
    return {line.get("caller", "") for line in tail(audit, 200) if line["outcome"] == "ok"}


class KeptInMemory:
    """What the SDK's client remembers."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def of_sdk(url: str, kept: KeptInMemory, browser: Browser) -> OAuthClientProvider:
    returned: list[str] = []

    async def redirect(address: str) -> None:
        returned.append(await browser.visit(address, REDIRECT))

    async def come_back() -> AuthorizationCodeResult:
        values = parse_qs(urlsplit(returned.pop()).query)
        found = {name: all_of[0] for name, all_of in values.items()}
        return AuthorizationCodeResult(
            code=found["code"], state=found["state"], iss=found.get("iss")
        )

    metadata = OAuthClientMetadata.model_validate(
        {"redirect_uris": [REDIRECT], "client_name": "sdk"}
    )
    return OAuthClientProvider(url, metadata, kept, redirect, come_back)


async def test_clients_find_the_provider_sign_in_there_and_are_known_by_their_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = Shell(tmp_path)
    keep_sign_ins_in(shell.state, monkeypatch)
    audit = tmp_path / "audit.jsonl"
    async with asyncio.timeout(110), behind_provider(audit) as running:
        # mcplens: the challenge leads it to the provider; the next process is signed in.
        async with running.connect(sign_in=Browser("ada")) as client:
            assert "echo" in await names(client)
            await client.call_tool("add", {"a": 1, "b": 2})
        assert callers(running, audit) == {"ada"}
        ran = await asyncio.to_thread(shell.run, "tools", running.url(), "--json")
        assert ran.code == 0, ran.err
        assert b'"echo"' in ran.out
        kept = await SignInStore().load(running.url())
        assert kept is not None
        assert kept.resource == running.url()

        # The SDK's client, as another user, at the endpoint of one server.
        memory, url = KeptInMemory(), running.url("/servers/demo/mcp")
        auth = of_sdk(url, memory, Browser("grace"))
        async with httpx2.AsyncClient(auth=auth) as http:
            transport = streamable_http_client(url, http_client=http)
            async with mcp.Client(transport, mode="legacy") as sdk:
                result = await sdk.call_tool("echo", {"text": "by the SDK"})
        assert result.content[0].text == "by the SDK"  # type: ignore[union-attr]
        assert callers(running, audit) == {"ada", "grace"}
        assert memory.tokens is not None

        # The inspector with a token in a header: good for the endpoint that it is for, alone.
        place = Place([], running.url(), environment_of(shell), tmp_path)
        words = ["--cli", "--protocol-era", "legacy", "--method", "tools/list"]
        words += ["--transport", "http", "--header"]
        for path, token, is_good in (
            ("/mcp", kept.tokens.access_token, True),
            ("/mcp", memory.tokens.access_token, False),
        ):
            argv = inspector_argv(
                *words, f"Authorization: Bearer {token}", "--server-url", running.url(path)
            )
            if is_good:
                listed = json.loads(await run(argv, place))["tools"]
                assert "echo" in [tool["name"] for tool in listed]
            else:
                with pytest.raises(AssertionError):
                    await run(argv, place)


async def test_an_opaque_token_of_the_provider_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_sign_ins_in(tmp_path, monkeypatch)
    audit = tmp_path / "audit.jsonl"
    async with behind_provider(audit, token_format="opaque") as running:
        with pytest.raises(mcplens.InspectorError) as caught:
            async with running.connect(sign_in=Browser(), protocol_version=OLD):
                pass
    assert caught.value.code == "AUTHENTICATION_FAILED"
    assert "a valid bearer token is required" in str(caught.value)
