"""Signing in: what is sent, shown and kept, and how it ends when something is wrong."""

import asyncio
import re
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import mcplens
from mcplens.auth.steps import Authorize
from mcplens.auth.storage import SignInStore
from mcplens.bus import Bus
from mcplens.clock import ManualClock, SystemClock
from mcplens.events import (
    Event,
    SignInEnded,
    SignInStarted,
    SignInStepChanged,
    StateChanged,
)
from tests.auth.protected import Protected, connect, consent, failure, protected

# -- what is sent and shown --------------------------------------------------------------------


async def test_each_step_is_an_event_and_no_secret_is_in_any(server: Protected) -> None:
    bus = Bus(SystemClock())
    async with connect(server, sign_in=consent, bus=bus) as client:
        await client.call_tool("echo")
    events = bus.kept()
    (started,) = [event for event in events if isinstance(event, SignInStarted)]
    (ended,) = [event for event in events if isinstance(event, SignInEnded)]
    refused = next(event for event in events if getattr(event, "status", None) == 401)
    assert started.exchange_id == refused.exchange_id  # type: ignore[attr-defined]
    done = [e.step for e in events if isinstance(e, SignInStepChanged) and e.state == "done"]
    assert done == [
        "protected_resource",
        "authorization_server",
        "client",
        "authorization",
        "token",
    ]
    assert (ended.outcome, ended.issuer, ended.scopes) == ("signed_in", server.base, ["notes"])
    text = repr([event for event in events if not isinstance(event, StateChanged)])
    assert not re.search(r"(access|refresh)-\d+-secret|code-\d+", text)
    assert server.forms[0]["code_verifier"] not in text


async def test_resource_and_pkce_are_in_both_requests_and_the_client_is_native(
    server: Protected,
) -> None:
    asked: list[Authorize] = []

    async def look(request: Authorize) -> str:
        asked.append(request)
        return await consent(request)

    async with connect(server, sign_in=look):
        pass
    (form,) = server.forms
    assert form["resource"] == server.url == asked[0].resource
    assert "code_challenge_method=S256" in asked[0].url
    (registration,) = server.registrations
    assert registration["application_type"] == "native"
    assert registration["grant_types"] == ["authorization_code", "refresh_token"]


async def test_a_server_that_wants_no_sign_in_is_asked_nothing_more(server: Protected) -> None:
    server.valid.add("")
    async with connect(server, sign_in=consent) as client:
        await client.call_tool("echo")
    assert set(server.asked) == {"/mcp"}


async def test_an_authorization_header_of_ones_own_switches_it_off(server: Protected) -> None:
    headers = {"Authorization": "Bearer mine-and-wrong"}
    error = await failure(server, headers=headers)
    assert error.code == "AUTHENTICATION_FAILED"
    assert set(server.asked) == {"/mcp"}


async def test_nobody_is_asked_to_sign_in_for_a_goodbye(server: Protected) -> None:
    server.has_sessions = True
    async with connect(server, sign_in=consent):
        pass
    assert server.goodbyes == 1
    assert len(server.forms) == 1


@asynccontextmanager
async def two_to_choose_from(server: Protected) -> AsyncIterator[Protected]:
    """Another authorization server that the server names, and trusts, too."""
    async with protected() as other:
        server.resource_says(authorization_servers=[server.base, other.base])
        other.valid = server.valid
        yield other


async def test_of_several_authorization_servers_a_program_uses_the_first_or_names_one(
    server: Protected,
) -> None:
    async with two_to_choose_from(server) as other:
        bus = Bus(SystemClock())
        async with connect(server, sign_in=consent, bus=bus) as client:
            await client.call_tool("echo")
        assert (server.asked.count("/token"), other.asked.count("/token")) == (1, 0)
        told = [event.text for event in bus.kept() if isinstance(event, SignInStepChanged)]
        assert f"waiting for a choice among {server.base}, {other.base}" in told
        assert f"{server.base} was chosen" in told
        auth = {"authorizationServer": other.base}
        async with connect(server, sign_in=consent, auth=auth) as client:
            await client.call_tool("echo")
        assert (server.asked.count("/token"), other.asked.count("/token")) == (1, 1)
        assert (len(server.registrations), len(other.registrations)) == (1, 1)  # one with each


# -- what is kept ------------------------------------------------------------------------------


async def test_a_restart_needs_no_sign_in_and_only_the_owner_can_read_what_is_kept(
    server: Protected, folder: Path
) -> None:
    async with connect(server, sign_in=consent):
        pass
    async with connect(server) as client:
        await client.call_tool("echo")
    assert server.asked.count("/authorize") == 1
    for path in (folder / "auth").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "auth").stat().st_mode) == 0o700


async def test_an_expired_token_is_refreshed_before_the_first_request_after_a_restart(
    server: Protected,
) -> None:
    server.expires_in = 1
    async with connect(server, sign_in=consent):
        pass
    server.expires_in = 3600
    server.valid.clear()
    server.authorizations.clear()
    async with connect(server):
        pass
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]
    assert len(set(server.authorizations)) == 1  # the old one was not sent at all


async def test_requests_that_are_refused_together_share_one_refresh(server: Protected) -> None:
    async with connect(server, sign_in=consent, concurrency=8) as client:
        server.valid.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(6):
                group.create_task(client.call_tool("echo"))
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]


async def test_two_users_of_one_sign_in_do_not_lose_it_through_ten_rotations(
    server: Protected,
) -> None:
    async with (
        connect(server, sign_in=consent) as one,
        connect(server) as two,
    ):
        for _ in range(10):
            server.valid.clear()
            async with asyncio.TaskGroup() as group:
                group.create_task(one.call_tool("echo"))
                group.create_task(two.call_tool("echo"))
    assert server.asked.count("/authorize") == 1
    assert all(form["grant_type"] == "refresh_token" for form in server.forms[1:])


async def test_a_refresh_token_that_is_spent_leads_to_a_new_sign_in(server: Protected) -> None:
    async with connect(server, sign_in=consent) as client:
        server.valid.clear()
        server.refresh_tokens.clear()
        await client.call_tool("echo")
    assert server.asked.count("/authorize") == 2
    assert len(server.registrations) == 1  # the client is kept


async def test_an_opaque_token_without_a_lifetime_is_used_until_it_is_refused(
    server: Protected,
) -> None:
    server.expires_in = None
    async with connect(server, sign_in=consent):
        pass
    kept = await SignInStore().load(server.url)
    assert kept is not None
    assert kept.tokens.expires_at is None
    async with connect(server) as client:
        await client.call_tool("echo")


async def test_a_registration_that_the_server_forgot_is_made_anew(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    await SignInStore().forget(server.url)
    first = server.forms[0]["client_id"]

    def refuse_the_first(form: dict[str, str]) -> web.Response | None:
        if form["client_id"] != first:
            return None
        return web.json_response({"error": "invalid_client"}, status=401)

    server.token_answer = refuse_the_first
    async with connect(server, sign_in=consent) as client:
        await client.call_tool("echo")
    assert len(server.registrations) == 2


async def test_a_sign_in_as_another_client_is_not_used(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    auth = {"clientId": "mine"}
    async with connect(server, sign_in=consent, auth=auth):
        pass
    assert server.forms[-1]["client_id"] == "mine"


# -- more scopes -------------------------------------------------------------------------------


async def test_a_step_up_asks_for_the_old_scopes_and_the_new_and_never_twice(
    server: Protected,
) -> None:
    asked: list[tuple[str, ...]] = []

    async def look(request: Authorize) -> str:
        asked.append(request.scopes)
        return await consent(request)

    def want_more(message: dict[str, Any]) -> web.Response | None:
        if message["method"] != "tools/call":
            return None
        header = 'Bearer error="insufficient_scope", scope="admin"'
        return web.json_response({}, status=403, headers={"WWW-Authenticate": header})

    server.mcp_answer = want_more
    async with connect(server, sign_in=look) as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("echo")
    assert caught.value.code == "AUTHENTICATION_FAILED"
    assert asked == [("notes",), ("notes", "admin")]


# -- the person's time -------------------------------------------------------------------------


async def test_the_connection_waits_for_a_person_longer_than_for_a_server(
    server: Protected,
) -> None:
    clock = ManualClock()
    gate = asyncio.Event()
    asked = asyncio.Event()

    async def slow(request: Authorize) -> str:
        asked.set()
        await gate.wait()
        return await consent(request)

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        client = connect(server, sign_in=slow, clock=clock, connection_timeout_s=5).client
        task = group.create_task(client.connect())
        await asked.wait()
        await clock.advance(60)
        assert client.state.value == "CONNECTING"
        gate.set()
        await task
        await client.disconnect()


async def test_nobody_signs_in_in_time(server: Protected) -> None:
    clock = ManualClock()
    asked = asyncio.Event()

    async def never(request: Authorize) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    client = connect(server, sign_in=never, clock=clock, sign_in_timeout_s=90).client
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:

        async def be_late() -> None:
            await asked.wait()
            await clock.advance(91)

        group.create_task(be_late())
        with pytest.raises(mcplens.InspectorError, match="nobody signed in within 90 s"):
            await client.connect()


async def test_waiting_for_a_person_can_be_cancelled(server: Protected) -> None:
    asked = asyncio.Event()
    bus = Bus(SystemClock())

    async def never(request: Authorize) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    client = connect(server, sign_in=never, bus=bus).client
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(_swallow(client))
        await asked.wait()
        await client.disconnect()
        await task
    assert client.state.value == "DISCONNECTED"
    assert _outcomes(bus.kept()) == ["cancelled"]


async def test_calls_do_not_wait_for_each_other(server: Protected) -> None:
    server.calls_gate = asyncio.Barrier(4)
    async with (
        asyncio.timeout(20),
        connect(server, sign_in=consent, concurrency=4) as client,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(4):
            group.create_task(client.call_tool("echo"))


async def test_a_sign_out_elsewhere_ends_this_sign_in_too(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    async with connect(server) as client:
        await SignInStore().forget(server.url)
        server.valid.clear()
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("echo")
    assert caught.value.code == "AUTHENTICATION_FAILED"
    assert all(form["grant_type"] != "refresh_token" for form in server.forms)


async def test_a_record_that_is_broken_is_no_sign_in(server: Protected, folder: Path) -> None:
    async with connect(server, sign_in=consent):
        pass
    for path in (folder / "auth").glob("kept-*"):
        path.write_text("{")
    async with connect(server, sign_in=consent):
        pass
    assert server.asked.count("/authorize") == 2


class OtherClock(SystemClock):
    """The clock of a computer that is wrong."""

    off_s = 0.0

    @classmethod
    def wall(cls) -> float:
        return SystemClock.wall() + cls.off_s


@pytest.mark.parametrize("off_s", [-3600.0, 3600.0])
async def test_a_clock_that_is_an_hour_off_costs_a_refresh_at_most(
    server: Protected, monkeypatch: pytest.MonkeyPatch, off_s: float
) -> None:
    async with connect(server, sign_in=consent):
        pass
    monkeypatch.setattr(OtherClock, "off_s", off_s)
    async with connect(server, clock=OtherClock()) as client:
        await client.call_tool("echo")
        server.valid.clear()  # it ends sooner or later, whatever our clock says
        await client.call_tool("echo")
    assert server.asked.count("/authorize") == 1
    assert len(server.forms) == (3 if off_s > 0 else 2)


async def _swallow(client: mcplens.Client) -> None:
    with pytest.raises(mcplens.InspectorError):
        await client.connect()


def _outcomes(events: list[Event]) -> list[str]:
    return [event.outcome for event in events if isinstance(event, SignInEnded)]
