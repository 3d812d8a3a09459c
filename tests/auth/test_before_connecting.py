"""Where a sign-in is expected, it is complete before the server is asked for anything."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import web

import mcplens
from mcplens.auth.creation import create_authorizer
from mcplens.auth.person import FunctionPerson
from mcplens.auth.steps import Authorize
from mcplens.auth.storage import SignInStore
from mcplens.bus import Bus
from mcplens.clock import ManualClock, SystemClock
from mcplens.events import Event, SignInEnded, SignInStarted, SignInStepChanged
from mcplens.transports.network import NetworkOptions
from tests.auth.protected import Protected, connect, consent, failure

CONFIGURED = {"clientName": "me"}
PLACES = [
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource",
]
SIGN_IN = [
    PLACES[0],
    "/.well-known/oauth-authorization-server",
    "/register",
    "/authorize",
    "/token",
]


def over(server: Protected, transport: str, **options: Any) -> mcplens.connect:
    """A client of the server over a transport."""
    server.has_stream = transport == "sse"
    url = server.url.replace("http://", "ws://") if transport == "websocket" else server.url
    return mcplens.connect(url, transport=transport, protocol_version="2025-11-25", **options)


def outcomes(events: list[Event]) -> list[str]:
    return [event.outcome for event in events if isinstance(event, SignInEnded)]


def reasons(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, SignInStarted)]


class Watched(FunctionPerson):
    """A person who is asked whether to sign in; remembers why, and for which scopes."""

    def __init__(self, *, agrees: bool = True) -> None:
        super().__init__(self._sign_in)
        self._agrees = agrees
        self.reasons: list[str] = []
        self.scopes: list[tuple[str, ...]] = []

    async def agrees(self, server_url: str, reason: str) -> bool:
        self.reasons.append(reason)
        return self._agrees

    async def _sign_in(self, request: Authorize) -> str:
        self.scopes.append(request.scopes)
        return await consent(request)


# -- the order of requests ---------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["http", "sse", "websocket"])
async def test_a_configured_sign_in_is_complete_before_the_first_mcp_request(
    server: Protected, transport: str
) -> None:
    bus = Bus(SystemClock())
    async with (
        asyncio.timeout(20),
        over(server, transport, auth=CONFIGURED, sign_in=consent, bus=bus) as client,
    ):
        await client.call_tool("echo")
    assert server.asked[: len(SIGN_IN) + 1] == [*SIGN_IN, "/mcp"]
    assert all(header.startswith("Bearer access-") for header in server.authorizations)
    events = bus.kept()
    (started,) = [event for event in events if isinstance(event, SignInStarted)]
    assert (started.reason, started.exchange_id) == ("a sign-in is configured", None)
    done = [e.step for e in events if isinstance(e, SignInStepChanged) and e.state == "done"]
    assert done[0] == "protected_resource"
    assert done[-1] == "token"
    assert outcomes(events) == ["signed_in"]


@pytest.mark.parametrize("transport", ["http", "sse", "websocket"])
async def test_without_metadata_the_server_is_asked_first_and_its_refusal_counts(
    server: Protected, transport: str
) -> None:
    server.metadata_of_resource = lambda: (
        server._resource() if "/mcp" in server.asked else web.Response(status=404)
    )
    bus = Bus(SystemClock())
    async with (
        asyncio.timeout(20),
        over(server, transport, auth=CONFIGURED, sign_in=consent, bus=bus) as client,
    ):
        await client.call_tool("echo")
    assert server.asked[: len(SIGN_IN) + 3] == [*PLACES, "/mcp", *SIGN_IN]
    assert server.authorizations[0] == ""
    assert outcomes(bus.kept()) == ["skipped", "signed_in"]
    assert reasons(bus.kept())[1] == "the server wants a sign-in (401)"


@pytest.mark.parametrize("transport", ["http", "sse", "websocket"])
async def test_a_server_without_any_sign_of_protection_gets_no_request_for_metadata(
    server: Protected, transport: str
) -> None:
    server.valid.add("")
    bus = Bus(SystemClock())
    async with asyncio.timeout(20), over(server, transport, sign_in=consent, bus=bus) as client:
        await client.call_tool("echo")
    assert not any("well-known" in path for path in server.asked)
    assert outcomes(bus.kept()) == []


async def test_a_machine_signs_in_before_the_first_mcp_request(server: Protected) -> None:
    auth = {"grant": "client_credentials", "clientId": "robot", "clientSecret": "robots-secret"}
    server.issuer_says(token_endpoint_auth_methods_supported=["client_secret_post"])
    async with connect(server, auth=auth):
        pass
    assert server.asked.index("/token") < server.asked.index("/mcp")
    assert "" not in server.authorizations


# -- what is kept ------------------------------------------------------------------------------


async def test_a_kept_token_is_used_at_once_without_a_look_at_metadata(server: Protected) -> None:
    async with connect(server, auth=CONFIGURED, sign_in=consent):
        pass
    server.asked.clear()
    async with connect(server, auth=CONFIGURED, sign_in=consent) as client:
        await client.call_tool("echo")
    assert set(server.asked) == {"/mcp"}


async def test_a_kept_sign_in_that_cannot_be_refreshed_is_made_anew_with_its_scopes(
    server: Protected,
) -> None:
    server.expires_in = 1
    server.challenge += ', scope="narrow"'
    person = Watched()
    async with connect(server, sign_in=person):
        pass
    server.expires_in = 3600
    server.refresh_tokens.clear()
    server.valid.clear()
    server.asked.clear()
    server.authorizations.clear()
    async with connect(server, sign_in=person) as client:
        await client.call_tool("echo")
    assert server.asked.index("/authorize") < server.asked.index("/mcp")
    assert len(set(server.authorizations)) == 1  # the old one was not sent at all
    assert person.reasons == ["the server wants a sign-in (401)", "the sign-in has expired"]
    assert person.scopes == [("narrow",), ("narrow",)]


async def test_a_kept_registration_is_a_reason_to_look_until_it_is_forgotten(
    server: Protected,
) -> None:
    async with connect(server, sign_in=consent):
        pass
    store = SignInStore()
    await store.forget(server.url)
    server.asked.clear()
    async with connect(server, sign_in=consent):
        pass
    assert server.asked[0] == PLACES[0]
    assert server.asked.index("/token") < server.asked.index("/mcp")
    await store.forget(server.url)
    await store.forget_client(server.base)
    server.asked.clear()
    async with connect(server, sign_in=consent):
        pass
    assert server.asked[0] == "/mcp"


async def test_connections_that_open_together_share_one_sign_in(server: Protected) -> None:
    authorizer = create_authorizer(server.url, CONFIGURED, consent, network=NetworkOptions())
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        clients = [connect(server, authorizer=authorizer).client for _ in range(3)]
        for client in clients:
            group.create_task(client.connect())
    for client in clients:
        await client.disconnect()
    assert server.asked.count("/authorize") == 1
    assert "" not in server.authorizations


# -- the person --------------------------------------------------------------------------------


async def test_where_nobody_can_sign_in_nothing_is_looked_for(server: Protected) -> None:
    error = await failure(server, auth=CONFIGURED, sign_in=None)
    assert error.code == "AUTHENTICATION_FAILED"
    assert set(server.asked) == {"/mcp"}


async def test_a_person_who_did_not_ask_for_the_connection_is_no_reason_to_look(
    server: Protected,
) -> None:
    person = Watched()
    person.is_wanted = False
    async with connect(server, auth=CONFIGURED, sign_in=person):
        pass
    assert server.asked[0] == "/mcp"


async def test_who_declines_is_not_asked_again_when_the_server_refuses(server: Protected) -> None:
    person = Watched(agrees=False)
    bus = Bus(SystemClock())
    error = await failure(server, auth=CONFIGURED, sign_in=person, bus=bus)
    assert error.code == "AUTHENTICATION_FAILED"
    assert server.asked == [PLACES[0], "/mcp"]
    assert person.reasons == ["a sign-in is configured"]
    assert outcomes(bus.kept()) == ["cancelled"]


async def test_the_connect_clock_stands_still_while_a_person_signs_in_before(
    server: Protected,
) -> None:
    clock = ManualClock()
    gate, asked = asyncio.Event(), asyncio.Event()

    async def slow(request: Authorize) -> str:
        asked.set()
        await gate.wait()
        return await consent(request)

    client = connect(
        server, auth=CONFIGURED, sign_in=slow, clock=clock, connection_timeout_s=5
    ).client
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(client.connect())
        await asked.wait()
        await clock.advance(60)
        assert client.state.value == "CONNECTING"
        assert "/mcp" not in server.asked
        gate.set()
        await task
        await client.disconnect()


async def test_a_sign_in_before_connecting_can_be_cancelled(server: Protected) -> None:
    asked = asyncio.Event()
    bus = Bus(SystemClock())

    async def never(request: Authorize) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    client = connect(server, auth=CONFIGURED, sign_in=never, bus=bus).client

    async def attempt() -> None:
        with pytest.raises(mcplens.InspectorError):
            await client.connect()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(attempt())
        await asked.wait()
        await client.disconnect()
    assert outcomes(bus.kept()) == ["cancelled"]
    assert "/mcp" not in server.asked


# -- what a look may not break -----------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        web.Response,
        lambda: web.Response(status=500),
        lambda: web.Response(status=302, headers={"Location": "http://127.0.0.2:1/"}),
        lambda: {"resource": "https://elsewhere.example", "authorization_servers": ["https://x"]},
        lambda: {"resource": 3},
    ],
    ids=["empty", "broken", "redirect", "of another resource", "malformed"],
)
async def test_a_server_that_lets_us_in_is_not_lost_to_bad_metadata(
    server: Protected, answer: Any
) -> None:
    server.metadata_of_resource = answer
    server.valid.add("")
    bus = Bus(SystemClock())
    async with connect(server, auth=CONFIGURED, sign_in=consent, bus=bus) as client:
        await client.call_tool("echo")
    assert outcomes(bus.kept()) == ["skipped"]


async def test_metadata_that_do_not_come_are_not_waited_for_long(server: Protected) -> None:
    server.metadata_of_resource = lambda: web.Response(status=307, headers={"Location": "/hang"})
    server.valid.add("")
    clock = ManualClock()
    client = connect(server, auth=CONFIGURED, sign_in=consent, clock=clock).client
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(client.connect())
        await server.until_hanging()
        await clock.advance(5)
        await task
        await client.disconnect()


async def test_a_server_that_is_not_there_is_no_failed_sign_in() -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        client = mcplens.connect(url, auth=CONFIGURED, sign_in=consent, max_retries=0).client
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.connect()
    assert caught.value.code == "CONNECTION_REFUSED"


async def test_a_failing_step_after_the_metadata_ends_the_attempt(server: Protected) -> None:
    server.issuer_says(code_challenge_methods_supported=None)
    error = await failure(server, auth=CONFIGURED)
    assert error.code == "SIGN_IN_FAILED"
    assert "/mcp" not in server.asked


# -- a refusal after all -----------------------------------------------------------------------


async def test_a_later_challenge_that_wants_more_scopes_leads_to_a_step_up(
    server: Protected,
) -> None:
    person = Watched()

    async def has_scope(token: str) -> bool:
        return token in server.valid and len(person.scopes) > 1

    server.is_valid = has_scope
    server.challenge += ', scope="admin"'
    async with connect(server, auth=CONFIGURED, sign_in=person) as client:
        await client.call_tool("echo")
    assert person.scopes == [("notes",), ("notes", "admin")]


async def test_a_new_token_that_is_refused_asks_nobody_to_sign_in_twice(server: Protected) -> None:
    async def never(token: str) -> bool:
        return False

    server.is_valid = never
    error = await failure(server, auth=CONFIGURED)
    assert error.code == "AUTHENTICATION_FAILED"
    assert server.asked.count("/authorize") == 1
    assert server.asked.count("/token") == 1


async def test_a_token_that_was_accepted_and_ends_is_refreshed(server: Protected) -> None:
    async with connect(server, auth=CONFIGURED, sign_in=consent) as client:
        server.valid.clear()
        await client.call_tool("echo")
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]
