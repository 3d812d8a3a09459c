"""The gateway as an OAuth resource server: which tokens it accepts, and what it tells others."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from joserfc.jwk import ECKey

from mcplens.auth.challenges import Challenge, parse_challenges
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.config.access_keys import NamedToken, OAuthSettings
from mcplens.config.model import Configuration, Settings
from mcplens.config.replica_settings import ReplicaSettings
from mcplens.config.views import GatewaySettings, Globs, View
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.gateway.issuer_keys import FRESH_S, KEPT_S, LEAST_INTERVAL_S
from mcplens.gateway.refused_requests import MOST_LINES
from mcplens.gateway.service import GatewayService, check_access, published
from mcplens.gateway.token_verifier import SKEW_S
from tests.auth.protected import protected
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    entries_of,
    http_demo,
    running_gateway,
)
from tests.gateway.issuer import Issuer, ShiftedClock, issuer

READING = View(name="reading", allow=Globs(tools=("demo:echo",)), separator="none")
ADMIN = "the-gateways-own-token"
POST = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
    },
}  # fmt: skip


class Setup:
    """A gateway behind an issuer."""

    def __init__(self, running: RunningGateway, found: Issuer, audit: Path) -> None:
        self.running = running
        self.issuer = found
        self.audit = audit

    def token(self, path: str = "/mcp", **changes: Any) -> str:
        return self.issuer.token(self.running.url(path), **changes)

    async def post(
        self, token: str | None = None, path: str = "/mcp", body: Any = INITIALIZE, **headers: str
    ) -> tuple[int, Mapping[str, str], str]:
        given = {**POST, **headers}
        if token is not None:
            given["Authorization"] = f"Bearer {token}"
        async with (
            asyncio.timeout(PATIENCE_S),
            aiohttp.ClientSession() as session,
            session.post(self.running.url(path), json=body, headers=given) as response,
        ):
            return response.status, response.headers, await response.text()

    async def get(self, path: str) -> tuple[int, Any]:
        async with (
            asyncio.timeout(PATIENCE_S),
            aiohttp.ClientSession() as session,
            session.get(self.running.url(path)) as response,
        ):
            return response.status, json.loads(await response.text())

    def reasons(self) -> list[str]:
        """Why requests were refused, the newest first, as the audit log has it."""
        log = self.running.gateway.audit_log
        assert log is not None
        log.flush()
        return [line["reason"] for line in tail(self.audit, 500) if line.get("reason")]


def challenge(headers: Mapping[str, str]) -> Challenge:
    (found,) = parse_challenges([headers["WWW-Authenticate"]])
    return found


@asynccontextmanager
async def protected_gateway(
    folder: Path,
    server: dict[str, Any],
    *,
    views: tuple[View, ...] = (READING,),
    tokens: tuple[NamedToken, ...] = (),
    clock: ShiftedClock | None = None,
    **oauth: Any,
) -> AsyncIterator[Setup]:
    audit = folder / "audit.jsonl"
    async with issuer() as found:
        chosen = OAuthSettings(**{"issuer": found.url, **oauth})
        settings = GatewaySettings(oauth=chosen, tokens=tokens)
        async with running_gateway(
            {"demo": server}, views=views, token=ADMIN, settings=settings, clock=clock
        ) as running:
            running.gateway.audit_log = AuditLog(audit)
            yield Setup(running, found, audit)


@pytest.fixture
async def demo() -> AsyncIterator[dict[str, Any]]:
    async with http_demo() as url:
        yield {"url": url}


# -- what clients are told ------------------------------------------------------------------------


async def test_a_client_without_a_token_learns_where_to_get_one(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    async with protected_gateway(tmp_path, demo, required_scopes=("mcp",)) as setup:
        for path in ("/mcp", "/mcp/reading", "/servers/demo/mcp", "/mcp/no-such-view"):
            status, headers, _ = await setup.post(path=path)
            asked = challenge(headers)
            assert (status, asked.error, asked.scopes) == (401, None, ("mcp",))
            place = asked.resource_metadata
            assert place == setup.running.url(f"/.well-known/oauth-protected-resource{path}")
            status, metadata = await setup.get(place.removeprefix(setup.running.origin))
            assert status == 200
            assert metadata["resource"] == setup.running.url(path)
            assert metadata["authorization_servers"] == [setup.issuer.url]
            assert metadata["scopes_supported"] == ["mcp"]
            assert metadata["bearer_methods_supported"] == ["header"]
        _, metadata = await setup.get("/.well-known/oauth-protected-resource")
        assert metadata["resource"] == setup.running.origin
        assert setup.reasons() == []  # that is how clients find out


async def test_without_oauth_there_is_no_metadata() -> None:
    async with (
        running_gateway({"demo": STDIO_DEMO}, token=ADMIN) as gateway,
        asyncio.timeout(PATIENCE_S),
        aiohttp.ClientSession() as session,
        session.get(gateway.url("/.well-known/oauth-protected-resource")) as response,
    ):
        assert response.status == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_token_of_the_issuer_opens_the_endpoint_that_it_is_for(
    tmp_path: Path, demo: dict[str, Any], version: str
) -> None:
    async with protected_gateway(tmp_path, demo) as setup:
        given = {"Authorization": f"Bearer {setup.token()}"}
        async with setup.running.connect(headers=given, protocol_version=version) as client:
            for _ in range(3):  # by the way that is remembered, too
                await client.call_tool("add", {"a": 1, "b": 2})
        setup.reasons()
        calls = [line for line in tail(setup.audit, 100) if line["method"] == "tools/call"]
        assert [line.get("caller", "") for line in calls] == ["ada"] * 3
        assert setup.issuer.fetches == 1
        # For the gateway as a whole it is good everywhere; for one endpoint, there alone.
        whole = setup.issuer.token(setup.running.origin)
        assert (await setup.post(whole, "/servers/demo/mcp"))[0] == 200
        status, headers, _ = await setup.post(setup.token(), "/mcp/reading")
        assert (status, challenge(headers).error) == (401, "invalid_token")


async def test_configured_audiences_count_alone_and_name_the_resource(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    async with protected_gateway(tmp_path, demo, audience=("api://mcp",)) as setup:
        assert (await setup.post(setup.issuer.token(["else", "api://mcp"])))[0] == 200
        assert (await setup.post(setup.token()))[0] == 401
        _, metadata = await setup.get("/.well-known/oauth-protected-resource/mcp")
        assert metadata["resource"] == setup.running.url("/mcp")  # clients compare it


# -- tokens that are not accepted -----------------------------------------------------------------


def unsigned(setup: Setup) -> str:
    _, body, _ = setup.token().split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"at+jwt"}').rstrip(b"=").decode()
    return f"{none}.{body}."


def by_public_key(setup: Setup) -> str:
    _, body, _ = setup.token().split(".")
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"at+jwt","kid":"first"}').rstrip(b"=")
    signed = f"{head.decode()}.{body}"
    key = setup.issuer.key.as_pem(private=False)
    digest = base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), "sha256"))
    return f"{signed}.{digest.rstrip(b'=').decode()}"


def tampered(setup: Setup) -> str:
    head, body, signature = setup.token().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["sub"] = "eve"
    other = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"{head}.{other}.{signature}"


def of_withdrawn_key(setup: Setup) -> str:
    gone = ECKey.generate_key("P-256", {"kid": "withdrawn"})
    return setup.token(key=gone)


def of_expired_key(setup: Setup) -> str:
    old = ECKey.generate_key("P-256", {"kid": "old", "use": "sig"})
    setup.issuer.keys.append(old.as_dict(False) | {"exp": int(time.time()) - 10})
    return setup.token(key=old)


HOSTILE: dict[str, tuple[Callable[[Setup], str], str]] = {
    "not a JWT": (lambda _: "sk-0123456789abcdef", "a valid bearer token"),
    "two dots": (lambda _: "a.b.c", "not a signed JWT"),
    "alg none": (unsigned, "algorithm 'none' is not accepted"),
    "the public key as a secret": (by_public_key, "algorithm 'HS256'"),
    "tampered": (tampered, "the signature of the token is wrong"),
    "a key of the same id": (
        lambda setup: setup.token(key=ECKey.generate_key("P-256", {"kid": "first"})), "signature"
    ),
    "a withdrawn key": (of_withdrawn_key, "a key that the issuer does not list"),
    "an expired key": (of_expired_key, "a key that the issuer does not list"),
    "another audience": (lambda setup: setup.issuer.token("https://else"), "another audience"),
    "no audience": (lambda setup: setup.token(aud=None), "another audience"),
    "another issuer": (lambda setup: setup.token(iss="https://else"), "another issuer"),
    "expired": (lambda setup: setup.token(exp=int(time.time() - SKEW_S) - 1), "has expired"),
    "never expires": (lambda setup: setup.token(exp=None), "when it expires"),
    "not yet valid": (
        lambda setup: setup.token(nbf=int(time.time() + SKEW_S) + 60), "not valid yet"
    ),
    "an ID token": (lambda setup: setup.token(at_hash="x"), "ID token"),
    "a token of another type": (
        lambda setup: setup.token(header={"typ": "logout+jwt"}), "type 'logout+jwt'"
    ),
    "bound to a key": (lambda setup: setup.token(cnf={"jkt": "x"}), "bound to a key"),
    "nobody's": (lambda setup: setup.token(sub=None), "whose it is"),
    "too long": (lambda setup: setup.token(padding="x" * 20_000), "too long"),
}  # fmt: skip


async def test_a_token_that_is_wrong_in_any_way_is_refused_with_an_audit_line(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    async with protected_gateway(tmp_path, demo) as setup:
        for name, (make, reason) in HOSTILE.items():
            token = make(setup)
            status, headers, body = await setup.post(token)
            assert status == 401, name
            assert challenge(headers).error == "invalid_token", name
            assert challenge(headers).resource_metadata, name
            assert reason in setup.reasons()[0], name
            assert token not in body
            assert token not in setup.audit.read_text()
        # Clocks may differ by a minute, both ways.
        late, early = int(time.time() - SKEW_S / 2), int(time.time() + SKEW_S / 2)
        assert (await setup.post(setup.token(exp=late)))[0] == 200
        assert (await setup.post(setup.token(nbf=early, iat=early)))[0] == 200


async def test_the_port_cannot_be_used_to_fill_the_audit_log(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        for _ in range(MOST_LINES + 7):
            setup.running.gateway.refused_requests.write("POST", "/mcp", "wrong", "")
        assert len(setup.reasons()) == MOST_LINES
        clock.shift_s = 61
        assert (await setup.post("wrong-token-0123456789"))[0] == 401
        assert "; 7 others were left out" in setup.reasons()[0]


async def test_many_tokens_of_unknown_keys_cause_one_fetch(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        assert (await setup.post(setup.token()))[0] == 200
        clock.shift_s += LEAST_INTERVAL_S
        key = ECKey.generate_key("P-256", {"kid": "x"})
        tokens = [setup.token(key=key, header={"kid": f"made-up-{n}"}) for n in range(40)]
        answers = await asyncio.gather(*(setup.post(token) for token in tokens))
        assert {status for status, _, _ in answers} == {401}
        assert setup.issuer.fetches == 2
        assert (await setup.post(setup.token()))[0] == 200


# -- keys ------------------------------------------------------------------------------------------


async def test_after_a_rotation_new_tokens_count_and_those_of_the_former_key_do_not(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        old = setup.token()
        assert (await setup.post(old))[0] == 200
        assert (await setup.post(old))[0] == 200  # remembered
        setup.issuer.rotate("second")
        clock.shift_s += LEAST_INTERVAL_S
        assert (await setup.post(setup.token()))[0] == 200  # its key is unknown: fetched
        assert (await setup.post(old))[0] == 401


async def test_a_withdrawn_key_is_noticed_although_nobody_uses_the_new_one(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        old = setup.token(exp=int(time.time()) + 3600)
        assert (await setup.post(old))[0] == 200
        setup.issuer.rotate("second")
        clock.shift_s += FRESH_S
        async with asyncio.timeout(PATIENCE_S):
            assert (await setup.post(old))[0] == 200  # by the former keys; others are fetched
            server = setup.running.app.access.resource_server
            assert server is not None
            await server.fetch_keys()
        assert (await setup.post(old))[0] == 401
        assert setup.issuer.fetches == 2


async def test_while_the_provider_is_down_its_keys_count_for_an_hour(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        long = setup.token(exp=int(time.time()) + 100_000)
        setup.issuer.is_down = True
        status, headers, body = await setup.post(long)
        assert (status, headers["Retry-After"]) == (503, "10")
        assert "identity provider cannot be reached" in body
        setup.issuer.is_down = False
        assert (await setup.post(long))[0] == 503  # it is not asked again at once
        clock.shift_s += LEAST_INTERVAL_S
        assert (await setup.post(long))[0] == 200
        setup.issuer.is_down = True
        clock.shift_s += KEPT_S - 1
        assert (await setup.post(long))[0] == 200
        clock.shift_s += FRESH_S  # until then the token itself is remembered
        assert (await setup.post(long))[0] == 503
        assert (await setup.post(ADMIN))[0] == 200  # static tokens go on


async def test_the_metadata_of_another_issuer_is_not_believed(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    async with protected_gateway(tmp_path, demo) as setup:
        setup.issuer.metadata = {"issuer": "https://else"}
        assert (await setup.post(setup.token()))[0] == 503


async def test_a_route_that_is_remembered_does_not_outlive_its_token(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        token = setup.token(exp=int(time.time()) + 100)
        async with aiohttp.ClientSession() as session:
            given = {**POST, "Authorization": f"Bearer {token}"}

            async def status() -> int:
                async with session.post(
                    setup.running.url(), json=INITIALIZE, headers=given
                ) as response:
                    return response.status

            assert [await status(), await status()] == [200, 200]
            assert setup.running.app._routes
            clock.shift_s = 70 + SKEW_S
            assert await status() == 200
            clock.shift_s = 101 + SKEW_S
            assert await status() == 401
        assert "has expired" in setup.reasons()[0]


async def test_streams_end_with_the_life_of_their_token(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    clock = ShiftedClock()
    async with protected_gateway(tmp_path, demo, clock=clock) as setup:
        token = setup.token()
        _, headers, _ = await setup.post(token)
        clock.shift_s = 597 + SKEW_S  # of 600
        async with asyncio.timeout(PATIENCE_S), aiohttp.ClientSession() as session:
            given = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
            given["Mcp-Session-Id"] = headers["Mcp-Session-Id"]
            async with session.get(setup.running.url(), headers=given) as stream:
                assert stream.status == 200
                with contextlib.suppress(aiohttp.ClientPayloadError):
                    await stream.read()  # to its end
        assert (await setup.post(token))[0] == 401

        token = setup.token(exp=int(clock.wall() - SKEW_S) + 3)
        given = {"MCP-Protocol-Version": NEW, "Mcp-Method": "subscriptions/listen"}
        meta = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params}
        status, _, text = await setup.post(token, body=body, **given)
        assert (status, '"resultType":"complete"' in text) == (200, True)


# -- scopes, views and callers --------------------------------------------------------------------


async def test_scopes_open_views_and_nothing_else(tmp_path: Path, demo: dict[str, Any]) -> None:
    scope_views = {"mcp:read": ("reading",), "mcp:all": ("*",)}
    async with protected_gateway(
        tmp_path, demo, required_scopes=("mcp",), scope_views=scope_views
    ) as setup:

        def token(scope: Any, **other: Any) -> str:
            return setup.issuer.token(setup.running.origin, scope=scope, **other)

        reading, everything = token("mcp mcp:read"), token(None, scp=["mcp", "mcp:all"])
        assert (await setup.post(reading, "/mcp/reading"))[0] == 200
        assert (await setup.post(everything, "/mcp/reading"))[0] == 200
        assert (await setup.post(everything, "/servers/demo/mcp"))[0] == 200
        for path, given, wanted in (
            ("/mcp", reading, ("mcp", "mcp:all")),
            ("/servers/demo/mcp", reading, ("mcp", "mcp:all")),
            ("/mcp/reading", token("mcp:read"), ("mcp", "mcp:read")),
            ("/mcp/reading", token(""), ("mcp", "mcp:read")),
        ):
            status, headers, _ = await setup.post(given, path)
            asked = challenge(headers)
            assert (status, asked.error, asked.scopes) == (403, "insufficient_scope", wanted)
        for page in ("/status", "/metrics"):  # for who operates it, not for users
            assert (await setup.post(everything, page))[0] == 403
        lines = [line for line in tail(setup.audit, 50) if line.get("reason")]
        assert {line.get("caller", "") for line in lines} == {"ada", ""}


async def test_a_session_belongs_to_the_user_who_began_it(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    async with protected_gateway(tmp_path, demo) as setup:
        _, headers, _ = await setup.post(setup.token())
        session = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        # Another token of the same user continues it.
        fresh = setup.token(jti="another")
        assert (await setup.post(fresh, body=ping, **session))[0] == 200
        for foreign in (setup.token(sub="eve"), ADMIN):
            assert (await setup.post(foreign, body=ping, **session))[0] == 404
            assert setup.reasons()[0] == "the session belongs to another caller"
        assert tail(setup.audit, 2)[1]["caller"] == "eve"
        assert (await setup.post(fresh, body=ping, **session))[0] == 200


async def test_no_token_of_a_client_is_sent_to_a_server(tmp_path: Path) -> None:
    async with protected() as server:
        server.is_valid = _anybody
        async with protected_gateway(tmp_path, {"url": server.url}) as setup:
            headers = {"Authorization": f"Bearer {setup.token()}"}
            async with setup.running.connect(headers=headers) as client:
                await client.call_tool("echo")
        assert server.accepted.count("tools/call") == 1
        assert set(server.authorizations) == {""}


async def _anybody(token: str) -> bool:
    return True


async def test_named_tokens_open_their_views_and_are_named_in_the_audit_log(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    tokens = (
        NamedToken(name="ci", token="a-token-of-the-ci-0123"),
        NamedToken(name="bot", token="a-token-of-the-bot-0123", views=("reading",)),
    )
    async with running_gateway(
        {"demo": demo}, views=(READING,), token=ADMIN, settings=GatewaySettings(tokens=tokens)
    ) as running:
        running.gateway.audit_log = AuditLog(tmp_path / "audit.jsonl")
        setup = Setup(running, Issuer(), tmp_path / "audit.jsonl")
        ci, bot = (one.token for one in tokens)
        for path in ("/mcp", "/mcp/reading", "/servers/demo/mcp"):
            assert (await setup.post(ci, path))[0] == 200
        assert (await setup.post(bot, "/mcp/reading"))[0] == 200
        for path in ("/mcp", "/servers/demo/mcp", "/status"):
            assert (await setup.post(bot, path))[0] == 403
        assert (await setup.post("a-token-of-nobody-0123"))[0] == 401
        assert setup.reasons()[:2] == [
            "a valid bearer token is required", "the token bot opens reading alone"
        ]  # fmt: skip
        lines = tail(setup.audit, 50)
        assert {line.get("caller", "") for line in lines if line["outcome"] == "ok"} == {
            "ci",
            "bot",
        }
        given = {"Authorization": f"Bearer {ci}"}
        async with running.connect(headers=given, protocol_version=OLD):
            (client,) = [one for one in status_of(running) if one["name"] == "mcplens"]
            assert client["caller"] == "ci"


def status_of(running: RunningGateway) -> list[dict[str, Any]]:
    from mcplens.gateway.operation_pages import status

    found: list[dict[str, Any]] = status(running.gateway)["clients"]
    return found


async def test_behind_a_load_balancer_its_own_names_are_allowed(demo: dict[str, Any]) -> None:
    settings = GatewaySettings(
        public_url="https://mcp.example.com",
        allowed_hosts=("gw.internal",),
        allowed_origins=("https://app.example.com",),
        replica=ReplicaSettings(address="http://gateway-1:8808"),
    )
    async with running_gateway({"demo": demo}, token=ADMIN, settings=settings) as running:
        setup = Setup(running, Issuer(), Path())
        for host in ("mcp.example.com", "gw.internal:8080", "gateway-1:8808", "127.0.0.1"):
            assert (await setup.post(ADMIN, Host=host))[0] == 200
        assert (await setup.post(ADMIN, Host="evil.example.com"))[0] == 421
        assert (await setup.post(ADMIN, Origin="https://app.example.com"))[0] == 200
        assert (await setup.post(ADMIN, Origin="https://evil.example.com"))[0] == 403


async def test_a_refused_client_of_ours_says_what_the_gateway_said(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    async with protected_gateway(tmp_path, demo) as setup:
        headers = {"Authorization": f"Bearer {setup.token(iss='https://else')}"}
        with pytest.raises(InspectorError, match="another issuer"):
            async with setup.running.connect(headers=headers):
                pass


# -- settings that do not fit ---------------------------------------------------------------------


def configured(gateway: dict[str, Any]) -> Configuration:
    return Configuration(settings=Settings(gateway=gateway, views={"reading": {}}))


@pytest.mark.parametrize(
    "gateway",
    [
        {"tokens": [{"name": "ci", "token": "0123456789abcdef", "views": ["writing"]}]},
        {"oauth": {"issuer": "https://x", "scopeViews": {"mcp": ["reading", "writing"]}}},
    ],
)
def test_a_view_that_does_not_exist_is_a_mistake(gateway: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="opens the view 'writing', which is not"):
        published(configured(gateway))


async def test_a_gateway_follows_changes_of_who_may_use_it(
    tmp_path: Path, demo: dict[str, Any]
) -> None:
    def allowing(name: str, token: str, views: list[str]) -> Configuration:
        named = {"name": name, "token": token, "views": views}
        return configured({"tokens": [named], "allowedHosts": ["gw.internal"]})

    first, second = "the-first-token-0123", "the-second-token-0123"
    clock = SystemClock()
    entries = entries_of({"demo": demo})
    service = GatewayService(
        entries, allowing("ci", first, ["*"]), bus=Bus(clock), clock=clock,
        state_folder=str(tmp_path),
    )  # fmt: skip
    async with (
        asyncio.timeout(PATIENCE_S),
        service.running(),
        service.http("127.0.0.1", 0, token=ADMIN) as address,
        aiohttp.ClientSession() as session,  # one connection, whose route is remembered
    ):

        async def status(token: str, path: str = "/mcp", host: str = "gw.internal") -> int:
            given = {**POST, "Authorization": f"Bearer {token}", "Host": host}
            url = address.url(path)
            async with session.post(url, json=INITIALIZE, headers=given) as response:
                return response.status

        assert [await status(first), await status(first), await status(second)] == [200, 200, 401]
        with pytest.raises(ConfigurationError):  # a view that is not there: nothing changes
            service.follow(entries, allowing("ci", second, ["writing"]))
        assert await status(first) == 200
        service.follow(entries, allowing("ci", second, ["reading"]))
        assert [await status(first), await status(second)] == [401, 403]
        assert await status(second, "/mcp/reading") == 200
        service.follow(entries, configured({}))
        assert await status(second, "/mcp/reading") == 421
        assert await status(second, "/mcp/reading", "127.0.0.1") == 401


def test_settings_of_access_have_to_fit_the_address() -> None:
    oauth = GatewaySettings(oauth=OAuthSettings(issuer="https://x"))
    check_access(oauth, "127.0.0.1", has_token=True)
    with pytest.raises(ConfigurationError, match=r"needs gateway\.publicUrl"):
        check_access(oauth, "0.0.0.0", has_token=True)
    with pytest.raises(ConfigurationError, match="leave out --no-auth"):
        check_access(oauth, "127.0.0.1", has_token=False)
    with pytest.raises(ConfigurationError, match="a token is required there"):
        check_access(GatewaySettings(), "0.0.0.0", has_token=False)
