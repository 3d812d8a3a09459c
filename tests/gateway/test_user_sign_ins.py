"""Each user of the gateway signs in to a server that wants it; nobody uses another's token."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
import pytest

from mcplens.auth.addresses import canonical
from mcplens.clock import SystemClock
from mcplens.config.access_keys import NamedToken
from mcplens.config.replica_settings import StoreSettings
from mcplens.config.views import ApprovalMode, GatewaySettings
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import ConfigurationError, ServerError, StoreUnavailable
from mcplens.events import FrameReceived
from mcplens.gateway.approval_records import FileRecords
from mcplens.gateway.approvals import Approvals
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.gateway.sealed_store import SealedStore, place_of
from mcplens.gateway.user_sessions import IDLE_S, UserSessions
from mcplens.gateway.user_setup import UserSetup
from mcplens.gateway.user_tokens import KeptSignIn
from mcplens.known_secrets import known_secrets
from mcplens.session.client import Client
from tests.auth.protected import Protected, keep_sign_ins_in, protected
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    RunningGateway,
    entries_of,
    names,
    running_gateway,
    texts,
)
from tests.gateway.issuer import ShiftedClock

ADA, EVE, ADMIN = "a-token-of-ada-0123456789", "a-token-of-eve-0123456789", "the-gateways-own-token"
TOKENS = (NamedToken(name="ada", token=ADA), NamedToken(name="eve", token=EVE))
KEYS = ("k1" * 16,)
URL_MODE: dict[str, Any] = {"elicitation": {"url": {}}}


class Visitor:
    """A browser: keeps cookies, follows redirects, presses the one button of our page."""

    def __init__(self) -> None:
        self.session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self.pages: list[str] = []
        self.headers: list[dict[str, str]] = []

    async def open(self, url: str) -> int:
        """Look at a link."""
        async with self.session.get(url, allow_redirects=False) as answer:
            self.pages.append(await answer.text())
            self.headers.append(dict(answer.headers))
            return answer.status

    async def press(self, url: str) -> str:
        """Go on from a link; where the authorization server sends the browser."""
        async with self.session.post(url, allow_redirects=False) as answer:
            assert answer.status == 303, await answer.text()
            target = answer.headers["Location"]
        async with self.session.get(target, allow_redirects=False) as answer:
            return answer.headers["Location"]

    async def sign_in(self, url: str) -> int:
        assert await self.open(url) == 200
        return await self.open(await self.press(url))

    async def close(self) -> None:
        await self.session.close()


@asynccontextmanager
async def visitor() -> AsyncIterator[Visitor]:
    found = Visitor()
    try:
        yield found
    finally:
        await found.close()


class Setup:
    def __init__(self, running: RunningGateway, server: Protected, audit: Path) -> None:
        self.running = running
        self.server = server
        self.audit = audit

    @property
    def users(self) -> UserSessions:
        found = self.running.gateway.users.sessions
        assert found is not None
        return found

    def connect(self, token: str, version: str = OLD, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return self.running.connect(headers=headers, protocol_version=version, **options)

    def reasons(self) -> list[str]:
        log = self.running.gateway.audit_log
        assert log is not None
        log.flush()
        return [line["reason"] for line in tail(self.audit, 100) if line.get("reason")]


@pytest.fixture
async def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Setup]:
    async with made(tmp_path, monkeypatch) as found:
        yield found


@asynccontextmanager
async def made(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    clock: ShiftedClock | None = None,
    approval: ApprovalMode = "off",
) -> AsyncIterator[Setup]:
    keep_sign_ins_in(folder, monkeypatch)
    audit = folder / "audit.jsonl"
    settings = GatewaySettings(tokens=TOKENS, user_token_keys=KEYS, approval=approval)
    async with asyncio.timeout(60), protected() as server:
        servers = {"notes": {"url": server.url, "auth": {"perUser": True}}}
        async with running_gateway(servers, token=ADMIN, settings=settings, clock=clock) as running:
            running.gateway.audit_log = AuditLog(audit)
            yield Setup(running, server, audit)


def link_in(text: str) -> str:
    found = re.search(r"http://\S+/sign-in/[\w-]+", text)
    assert found, text
    return found[0]


async def told(client: Client, method: str) -> None:
    """Wait for a notification, past or to come."""
    async for event in client.events():
        if isinstance(event, FrameReceived) and getattr(event.message, "method", "") == method:
            return


async def signed_in(setup: Setup, token: str) -> None:
    """Have a user sign in by the tool that stands for the server."""
    async with setup.connect(token) as client, visitor() as browser:
        link = link_in(texts(await client.call_tool("sign_in")))
        assert await browser.sign_in(link) == 200


# -- the way in -----------------------------------------------------------------------------------


async def test_a_user_signs_in_by_a_link_and_then_sees_the_tools_of_the_server(
    setup: Setup,
) -> None:
    async with setup.connect(ADA) as client, visitor() as browser:
        assert await names(client) == ["sign_in"]
        link = link_in(texts(await client.call_tool("sign_in")))
        assert await browser.sign_in(link) == 200
        assert "signed in to notes" in browser.pages[-1]
        async with asyncio.timeout(PATIENCE_S):
            await told(client, "notifications/tools/list_changed")
        assert await names(client) == ["echo", "sign_out"]
        assert texts(await client.call_tool("echo")) == "done"
        # Nobody else is signed in by that.
        async with setup.connect(EVE) as other:
            assert await names(other) == ["sign_in"]
            with pytest.raises(ServerError, match="Unknown tool: echo"):
                await other.call_tool("echo")
    used = set(setup.server.authorizations) - {""}
    assert used == {f"Bearer {next(iter(setup.server.valid))}"}


async def test_a_client_that_opens_urls_is_asked_and_the_call_goes_on(setup: Setup) -> None:
    async with visitor() as browser:
        asked: list[dict[str, Any]] = []

        async def open_url(request: Any) -> dict[str, Any]:
            asked.append(request.params)
            assert await browser.sign_in(request.params["url"]) == 200
            return {"action": "accept"}

        async with setup.connect(ADA, elicitation=open_url, capabilities=URL_MODE) as client:
            assert texts(await client.call_tool("notes:echo")) == "done"
        (params,) = asked
        assert (params["mode"], bool(params["elicitationId"])) == ("url", True)
        assert "Sign in to notes" in params["message"]


async def test_a_client_of_2026_is_asked_by_input_required_and_comes_again(setup: Setup) -> None:
    async with visitor() as browser:

        async def open_url(request: Any) -> dict[str, Any]:
            assert await browser.sign_in(request.params["url"]) == 200
            return {"action": "accept"}

        async with setup.connect(ADA, NEW, elicitation=open_url, capabilities=URL_MODE) as client:
            assert texts(await client.call_tool("notes:echo")) == "done"


async def test_a_call_of_a_user_who_declines_is_refused(setup: Setup) -> None:
    async def decline(request: Any) -> dict[str, Any]:
        return {"action": "decline"}

    async with setup.connect(ADA, elicitation=decline, capabilities=URL_MODE) as client:
        with pytest.raises(ServerError, match="the sign-in was declined"):
            await client.request("tools/call", {"name": "notes:echo"})


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_at_the_servers_own_path_the_users_session_is_used(
    setup: Setup, version: str
) -> None:
    await signed_in(setup, ADA)
    headers = {"Authorization": f"Bearer {ADA}"}
    async with setup.running.connect(
        "/servers/notes/mcp", headers=headers, protocol_version=version
    ) as client:
        assert await names(client) == ["echo"]
        await client.call_tool("echo")
    headers = {"Authorization": f"Bearer {EVE}"}
    async with setup.running.connect(
        "/servers/notes/mcp", headers=headers, protocol_version=version
    ) as client:
        with pytest.raises(ServerError, match="wants you to sign in first: open http"):
            await client.call_tool("echo")


# -- what is kept ---------------------------------------------------------------------------------


async def test_a_token_that_is_spent_is_refreshed_and_one_that_cannot_be_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ShiftedClock()
    async with made(tmp_path, monkeypatch, clock) as setup:
        await signed_in(setup, ADA)
        async with setup.connect(ADA) as client:
            await client.call_tool("echo")
            setup.server.valid.clear()
            await client.call_tool("echo")  # by the refresh token
            setup.server.valid.clear()
            setup.server.refresh_tokens.clear()
            with pytest.raises(ServerError, match="call again, to be offered a sign-in"):
                await client.call_tool("echo")
            with pytest.raises(ServerError, match="wants you to sign in first"):
                await client.call_tool("echo")
        await signed_in(setup, ADA)
        async with setup.connect(ADA) as client:
            await client.call_tool("echo")
            clock.shift_s += IDLE_S + 1  # the session is closed; the sign-in is kept
            setup.users._expire()
            assert setup.users.connections == []
            await client.call_tool("echo")


async def test_tokens_are_encrypted_in_the_store_and_bound_to_their_user(setup: Setup) -> None:
    await signed_in(setup, ADA)
    (token,) = setup.server.valid
    sealed = setup.users._sealed
    place = place_of(f"token\ntoken ada\nnotes\n{setup.server.url}")
    kept = await sealed.store.get(place)
    assert kept is not None
    assert token.encode() not in kept
    # Ada's token, in the place of Eve's: not used.
    foreign = place_of(f"token\ntoken eve\nnotes\n{setup.server.url}")
    await sealed.store.put(foreign, kept, 60)
    before = len(setup.server.authorizations)
    async with setup.connect(EVE) as client:
        assert await names(client) == ["sign_in"]
    assert len(setup.server.authorizations) == before


async def test_keys_can_be_rotated(setup: Setup) -> None:
    store = setup.users._sealed.store
    old, new = SealedStore(store, ["a" * 32]), SealedStore(store, ["b" * 32, "a" * 32])
    await old.put("x", {"v": 1}, 60)
    assert await new.get("x", dict) == {"v": 1}
    await new.put("x", {"v": 2}, 60)
    assert await old.get("x", dict) is None
    assert await new.take("x", dict) == {"v": 2}
    assert await new.take("x", dict) is None


# -- the way out ----------------------------------------------------------------------------------


async def test_a_user_signs_out_by_a_link_and_the_token_is_revoked_and_forgotten(
    setup: Setup,
) -> None:
    for token in (ADA, EVE):
        await signed_in(setup, token)
    async with setup.connect(ADA) as client, setup.connect(EVE) as eve, visitor() as browser:
        await client.call_tool("echo")
        await eve.call_tool("echo")
        refresh_tokens = set(setup.server.refresh_tokens)
        link = link_in(texts(await client.call_tool("sign_out")))
        assert await browser.open(link) == 200
        assert "Sign out of notes" in browser.pages[-1]
        assert texts(await client.call_tool("echo")) == "done"  # until the button is pressed
        async with browser.session.post(link) as answer:
            assert "ada signed out of notes, and the token is revoked." in await answer.text()
        async with browser.session.post(link) as answer:
            assert answer.status == 400
        (revoked,) = setup.server.revoked
        assert revoked in refresh_tokens
        assert [key[0] for key in setup.users._sessions] == ["token eve"]
        assert await names(client) == ["sign_in"]
        with pytest.raises(ServerError, match="wants you to sign in first"):
            await client.call_tool("notes:echo")
        assert texts(await client.call_tool("notes:sign_out")) == "You are not signed in to notes."
        await eve.call_tool("echo")
    reasons = setup.reasons()
    assert "by the user: signed out of notes, and the token is revoked" in reasons
    assert reasons.count("by the user") == 2  # the sign-ins


async def test_an_operator_sees_who_is_signed_in_and_signs_one_of_them_out(setup: Setup) -> None:
    for token in (ADA, EVE):
        await signed_in(setup, token)
    url = f"{setup.running.origin}/sign-ins"

    async def ask(token: str, method: str = "GET", **query: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, url, headers=headers, params=query) as answer,
        ):
            return answer.status, await answer.json()

    def users(answer: tuple[int, Any]) -> list[str]:
        return [one["user"] for one in answer[1]]

    async with setup.connect(EVE) as eve:
        await eve.call_tool("echo")
        assert users(await ask(ADMIN)) == ["ada", "eve"]
        # Who has a token of their own sees and ends their own sign-ins only.
        assert users(await ask(ADA)) == ["ada"]
        assert (await ask(ADA, "DELETE", user="eve", server="notes"))[0] == 404
        assert (await ask(ADMIN, "POST"))[0] == 405
        status, done = await ask(ADMIN, "DELETE", user="eve", server="notes")
        assert (status, done[0]["is_revoked"]) == (200, True)
        assert users(await ask(ADMIN)) == ["ada"]
        assert await names(eve) == ["sign_in"]
        assert (await ask(ADMIN, "DELETE", user="eve", server="notes"))[0] == 404
    assert "by the gateway's token: signed out of notes, and the token is revoked" in (
        setup.reasons()
    )


async def test_a_token_that_cannot_be_revoked_is_forgotten_all_the_same(setup: Setup) -> None:
    setup.server.issuer_says(revocation_endpoint=f"{setup.server.base}/nowhere")
    await signed_in(setup, ADA)
    done = await setup.users.sign_outs.end("token ada", "notes", setup.server.url, "a test")
    assert (done.was_signed_in, done.is_revoked) == (True, False)
    assert "the token could not be revoked: " in done.text
    assert await setup.users.sign_outs.kept() == []


# -- hostile browsers -----------------------------------------------------------------------------


async def test_the_token_of_a_user_who_is_signed_out_is_masked_wherever_it_comes_back(
    setup: Setup,
) -> None:
    await signed_in(setup, ADA)
    (token,) = setup.server.valid
    known_secrets.forget()  # as on a replica where the user never called anything
    url = canonical(setup.server.url)
    done = await setup.users.sign_outs.end("token ada", "notes", url, "an operator")
    assert done.is_revoked
    assert token not in known_secrets.mask_text(f"no such token: {token}")


async def test_operators_are_told_that_the_store_is_gone(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def gone() -> list[KeptSignIn]:
        raise StoreUnavailable("the shared store cannot be used", store="redis://store")

    monkeypatch.setattr(setup.users.sign_outs, "kept", gone)
    headers = {"Authorization": f"Bearer {ADMIN}"}
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{setup.running.origin}/sign-ins", headers=headers) as answer,
    ):
        assert answer.status == 503
        assert "the shared store cannot be used" in await answer.text()
    assert caplog.records == []


async def test_a_link_works_once_and_only_in_the_browser_that_used_it(setup: Setup) -> None:
    async with setup.connect(ADA) as client, visitor() as browser, visitor() as other:
        link = link_in(texts(await client.call_tool("sign_in")))
        assert await browser.open(link) == 200
        assert "for <b>ada</b>" in browser.pages[-1]
        assert "<script" not in browser.pages[-1]
        policy = browser.headers[-1]["Content-Security-Policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"
        returned = await browser.press(link)
        # The link is spent, and the answer of the authorization server is this browser's alone.
        assert await other.open(link) == 400
        assert await other.open(returned) == 400
        assert "another browser" in other.pages[-1]
        assert await browser.open(returned) == 400  # it was used up by the attempt
        assert await browser.open(f"{setup.running.origin}/sign-in/callback?state=x&code=y") == 400
        assert await names(client) == ["sign_in"]
        assert len([one for one in setup.reasons() if "Ask for a new link" in one]) == 4
        assert urlsplit(link).path.rpartition("/")[2] not in setup.audit.read_text()


async def test_pages_of_sign_ins_are_not_for_other_hosts_and_origins(setup: Setup) -> None:
    async with setup.connect(ADA) as client, visitor() as browser:
        link = link_in(texts(await client.call_tool("sign_in")))
        async with browser.session.get(link, headers={"Host": "evil.example.com"}) as answer:
            assert answer.status == 421
        evil = {"Origin": "https://evil.example.com"}
        async with browser.session.post(link, headers=evil) as answer:
            assert answer.status == 403
        assert await browser.sign_in(link) == 200


async def test_a_caller_that_is_not_one_user_gets_no_session(setup: Setup) -> None:
    await signed_in(setup, ADA)
    async with setup.connect(ADMIN) as client:
        assert await names(client) == []
        with pytest.raises(ServerError, match="this caller is not one user"):
            await client.request("tools/call", {"name": "notes:echo"})


async def test_a_refused_sign_in_is_told_on_the_page(setup: Setup) -> None:
    setup.server.returned = lambda values: {
        "error": "access_denied", "state": values["state"], "iss": values["iss"],
    }  # fmt: skip
    async with setup.connect(ADA) as client, visitor() as browser:
        link = link_in(texts(await client.call_tool("sign_in")))
        assert await browser.sign_in(link) == 502
        assert "denied" in browser.pages[-1]
        assert await names(client) == ["sign_in"]


# -- sessions -------------------------------------------------------------------------------------


async def test_a_session_in_use_is_not_closed_as_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ShiftedClock()
    async with made(tmp_path, monkeypatch, clock) as setup:
        await signed_in(setup, ADA)
        setup.server.calls_gate = asyncio.Barrier(2)
        async with setup.connect(ADA) as client, asyncio.TaskGroup() as work:
            calling = work.create_task(client.call_tool("echo"))
            await setup.server.until_accepted("tools/call", 1)
            clock.shift_s += IDLE_S + 1
            setup.users._expire()
            assert len(setup.users.connections) == 1
            await setup.server.calls_gate.wait()
            assert texts(await calling) == "done"
            clock.shift_s += IDLE_S + 1
            setup.users._expire()
            assert setup.users.connections == []


async def test_two_calls_after_a_change_of_the_configuration_share_one_session(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions: list[ServerConnection] = []
    for_user = ServerConnection.for_user

    def remembered(self: ServerConnection, *given: Any) -> ServerConnection:
        sessions.append(for_user(self, *given))
        return sessions[-1]

    monkeypatch.setattr(ServerConnection, "for_user", remembered)
    await signed_in(setup, ADA)
    async with setup.connect(ADA) as client:
        assert await names(client) == ["echo", "sign_out"]
        connection = setup.running.gateway.servers.connections["notes"]
        connection.live.entry = msgspec.structs.replace(connection.entry)
        await asyncio.gather(*(client.call_tool("echo") for _ in range(5)))
        assert setup.users.connections == sessions[-1:]
        await setup.running.gateway._work.ended()  # the former one is closed by now
        assert [one.live.is_closed for one in sessions[:-1]] == [True] * (len(sessions) - 1)


async def test_a_list_that_is_asked_for_twice_at_once_is_whole_both_times(setup: Setup) -> None:
    await signed_in(setup, ADA)
    async with setup.connect(ADA) as one, setup.connect(ADA) as two:
        setup.users._close_soon(("token ada", "notes"))
        setup.users.changed("token ada", "notes")
        found = await asyncio.gather(names(one), names(two))
        assert [*found] == [["echo", "sign_out"]] * 2


def waits_first(server: Protected, together: asyncio.Barrier) -> None:
    """Have the next request to a server answered when all servers were asked."""

    async def is_valid(token: str) -> bool:
        server.is_valid = server._is_valid
        await together.wait()
        return token in server.valid

    server.is_valid = is_valid


async def test_the_lists_of_several_servers_are_fetched_at_the_same_time(setup: Setup) -> None:
    await signed_in(setup, ADA)
    async with protected() as second:
        per_user = {"auth": {"perUser": True}}
        setup.running.configure({
            "notes": {"url": setup.server.url, **per_user},
            "plans": {"url": second.url, **per_user},
        })  # fmt: skip
        await signed_in(setup, ADA)  # to the second, which alone offers it
        for name in ("notes", "plans"):
            setup.users._close_soon(("token ada", name))
            setup.users.changed("token ada", name)
        together = asyncio.Barrier(2)
        for server in (setup.server, second):
            waits_first(server, together)
        async with setup.connect(ADA) as client:  # one after the other, neither would be answered
            assert sorted(await names(client)) == [
                "notes__echo", "notes__sign_out", "plans__echo", "plans__sign_out",
            ]  # fmt: skip


# -- approval -------------------------------------------------------------------------------------


@asynccontextmanager
async def approvals_in(setup: Setup, folder: Path) -> AsyncIterator[Approvals]:
    approvals = Approvals(setup.running.gateway, FileRecords(str(folder), SystemClock()))
    setup.running.gateway.approvals = approvals
    await approvals.start()
    setup.running.gateway.publish_anew()
    try:
        yield approvals
    finally:
        setup.running.gateway.approvals = None
        await approvals.close()


async def approve_all(approvals: Approvals) -> list[str]:
    waiting = approvals.waiting
    await approvals.approve([(key, one.sha256) for key, one in waiting.items()], "test")
    return sorted(f"{one.kind} {one}" for one in waiting)


async def test_what_a_users_session_lists_is_held_back_until_it_is_approved_once_for_all_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        made(tmp_path, monkeypatch, approval="hold") as setup,
        approvals_in(setup, tmp_path / "approvals") as approvals,
    ):
        async with setup.connect(ADA) as client:
            assert await names(client) == ["sign_in"]  # a tool of ours: nobody approves it
            await signed_in(setup, ADA)
            assert await names(client) == ["sign_out"]
            for name in ("echo", "notes:echo", "notes__echo"):
                with pytest.raises(ServerError, match="Unknown tool"):
                    await client.call_tool(name)
            await approvals.review()
            (waiting,) = approvals.waiting.values()
            assert (str(waiting.subject), waiting.view) == ("notes:echo", "")
            setup.users._close_soon(("token ada", "notes"))
            await approvals.review()  # it waits on, and was reported once
            assert await approve_all(approvals) == ["tools notes:echo"]
            async with asyncio.timeout(PATIENCE_S):
                await told(client, "notifications/tools/list_changed")
            assert await names(client) == ["echo", "sign_out"]
            assert texts(await client.call_tool("echo")) == "done"
        await signed_in(setup, EVE)
        async with setup.connect(EVE) as other:
            assert await names(other) == ["echo", "sign_out"]
        await approvals.review()
        assert approvals.waiting == {}
        setup.running.gateway.audit_log.flush()  # type: ignore[union-attr]
        lines = [one for one in tail(setup.audit, 100) if one["method"] == "approval"]
        assert [one["outcome"] for one in lines[::-1]] == ["held", "approved"]
        kept = "".join(path.read_text() for path in (tmp_path / "approvals").glob("*.json"))
        assert "ada" not in kept + str(lines)


async def test_a_held_tool_is_not_reached_by_signing_in_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        made(tmp_path, monkeypatch, approval="hold") as setup,
        approvals_in(setup, tmp_path / "approvals") as approvals,
        visitor() as browser,
    ):

        async def open_url(request: Any) -> dict[str, Any]:
            assert await browser.sign_in(request.params["url"]) == 200
            return {"action": "accept"}

        async with setup.connect(ADA, elicitation=open_url, capabilities=URL_MODE) as client:
            with pytest.raises(ServerError, match="Unknown tool: notes:echo"):
                await client.call_tool("notes:echo")
            assert setup.reasons()[0] == "held back until it is approved"
            setup.users._close_soon(("token ada", "notes"))  # as when it was idle for a while
            with pytest.raises(ServerError, match="Unknown tool: notes:echo"):
                await client.call_tool("notes:echo")
            await approvals.review()
            assert await approve_all(approvals) == ["tools notes:echo"]
            assert texts(await client.call_tool("notes:echo")) == "done"


async def test_what_waits_of_a_users_session_outlives_a_restart_of_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with made(tmp_path, monkeypatch, approval="hold") as setup:
        async with approvals_in(setup, tmp_path / "approvals") as approvals:
            await signed_in(setup, ADA)
            async with setup.connect(ADA) as client:
                assert await names(client) == ["sign_out"]
            await approvals.review()
        async with approvals_in(setup, tmp_path / "approvals") as again:
            await again.review()
            assert await approve_all(again) == ["tools notes:echo"]


def test_a_shared_store_needs_keys() -> None:
    entries = entries_of({"notes": {"url": "https://x/mcp", "auth": {"perUser": True}}})
    settings = GatewaySettings(store=StoreSettings(url="redis://127.0.0.1"))
    with pytest.raises(ConfigurationError, match=r"set gateway\.userTokenKeys"):
        UserSetup.check(entries, settings)
    UserSetup.check(entries, GatewaySettings())
