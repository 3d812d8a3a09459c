"""A server whose session stays open: requests, lists, state, and what clients share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.config.model import Settings
from mcplens.downstream.options import CallOptions
from mcplens.errors import ConnectError, InspectorError, ServerError
from mcplens.events import FrameSent
from mcplens.protocol.frames import Frame
from mcplens.session.call_hooks import CallHooks
from mcplens.session.raw_calls import read_params
from tests.downstream.rig import Rig
from tests.session.scripted import SILENT, BrokenTransport, Refuse, ScriptedServer

CALL = read_params(b'{"name":"add","arguments":{}}')


def _error(task: asyncio.Task[Any]) -> InspectorError:
    problem = task.exception()
    assert isinstance(problem, InspectorError), problem
    return problem


async def test_a_started_server_runs_and_has_its_lists_with_their_bytes() -> None:
    async with Rig() as rig:
        assert rig.status == "RUNNING"
        tools = rig.one.lists["tools"]
        assert [tool.raw for tool in tools.items] == [
            b'{"name": "add", "inputSchema": {"type": "object"}}'
        ]
        assert tools.age_s(rig.clock.wall()) == 0
        assert rig.one.introduction is not None
        assert rig.one.introduction.server_info["name"] == "scripted"
        assert ("list", "one", "tools") in rig.heard.calls
        assert ("state", "one") in rig.heard.calls


async def test_a_request_returns_the_result_undecoded_and_carries_its_links() -> None:
    async with Rig() as rig:
        options = CallOptions(call_id="c-in", inbound_seq=5)
        frame = await rig.one.request("tools/call", CALL, options)
        assert isinstance(frame, Frame)
        assert bytes(frame.body) == b'{"content": [{"type": "text", "text": "ok"}]}'
        sent = [event for event in rig.events(FrameSent) if event.method == "tools/call"]
        assert [(event.call_id, event.inbound_seq) for event in sent] == [("c-in", 5)]


async def test_an_error_of_the_server_is_raised_as_its_own() -> None:
    async with Rig({"one": ScriptedServer({"tools/call": Refuse(-32000, "no")})}) as rig:
        with pytest.raises(ServerError) as caught:
            await rig.one.request("tools/call", CALL)
        assert caught.value.rpc_code == -32000


async def test_a_request_connects_a_server_that_is_not_connected() -> None:
    async with Rig(start=False) as rig:
        assert rig.status == "STOPPED"
        await rig.one.request("tools/call", CALL)
        assert rig.status == "RUNNING"


async def test_slow_calls_do_not_delay_others() -> None:
    async with Rig({"one": ScriptedServer({"tools/call": SILENT})}) as rig:
        slow = [await rig.started(rig.one.request("tools/call", CALL)) for _ in range(20)]
        await rig.one.request("resources/read", read_params(b'{"uri":"a:b"}'))
        assert not any(task.done() for task in slow)


async def test_the_timeout_error_names_server_phase_budget_and_elapsed_time() -> None:
    async with Rig({"one": ScriptedServer({"tools/call": SILENT})}) as rig:
        calling = await rig.started(rig.one.request("tools/call", CALL, CallOptions(timeout_s=7.0)))
        await rig.advance(7)
        error = _error(calling)
        assert error.code == "REQUEST_TIMEOUT"
        assert error.message.startswith("one: tools/call ended after 7 s (limit 7 s), while the")
        shown = {key: error.details[key] for key in ("server_id", "phase", "budget_s", "elapsed_s")}
        assert shown == {"server_id": "one", "phase": "request", "budget_s": 7.0, "elapsed_s": 7.0}


async def test_connecting_counts_against_the_time_of_the_call() -> None:
    async with Rig({"one": lambda: BrokenTransport()}, start=False) as rig:
        calling = await rig.started(rig.one.request("tools/call", CALL, CallOptions(timeout_s=3.0)))
        await rig.advance(3)
        error = _error(calling)
        assert (error.code, error.details["phase"]) == ("REQUEST_TIMEOUT", "connect")


# A call with a limit of 5 s and progress every 4 s, by the maximum of its server.
@pytest.mark.parametrize(
    ("entry", "ends_s"),
    [
        ({}, 60),
        ({"max_total_timeout_s": 10.0}, 10),
        ({"max_total_timeout_s": 0.0}, 60),
        ({"progress_resets_timeout": False}, 5),
        ({"max_total_timeout_s": 0.0, "progress_resets_timeout": False}, 5),
    ],
    ids=["by default", "up to a maximum", "without a maximum", "not", "not, without a maximum"],
)
async def test_progress_extends_the_time_of_a_call(entry: dict[str, Any], ends_s: int) -> None:
    async with Rig({"one": ScriptedServer({"tools/call": SILENT})}, entries={"one": entry}) as rig:
        options = CallOptions(wants_progress=True, timeout_s=5.0)
        calling = await rig.started(rig.one.request("tools/call", CALL, options))
        token = rig.server.sent("tools/call")[0]["params"]["_meta"]["progressToken"]
        passed_s = 0
        while passed_s < 60 and not calling.done():
            if passed_s % 4 == 0:
                rig.server.progress(token, passed_s)
            await rig.advance(1)
            passed_s += 1
        assert passed_s == ends_s


async def test_the_first_delays_of_many_gateways_differ() -> None:
    delays: set[float] = set()
    refused = ConnectError("CONNECTION_REFUSED", "refused")
    for _ in range(8):
        settings = Settings(connection_retry_count=3)
        async with Rig({"one": lambda: BrokenTransport(refused)}, settings=settings) as rig:
            retry_at = rig.one.state.retry_at
            assert retry_at is not None
            delays.add(retry_at - rig.clock.wall())
    assert len(delays) == 8
    assert all(0 <= delay_s <= 1 for delay_s in delays)


async def test_progress_of_a_call_goes_to_its_hook_and_other_notifications_to_subscribers() -> None:
    heard: list[Frame] = []
    hooks = CallHooks(on_notification=lambda frame, _: heard.append(frame))
    async with Rig({"one": ScriptedServer({"tools/call": SILENT})}) as rig:
        options = CallOptions(hooks=hooks, wants_progress=True)
        await rig.started(rig.one.request("tools/call", CALL, options))
        token = rig.server.sent("tools/call")[0]["params"]["_meta"]["progressToken"]
        rig.server.progress(token, 0.5)
        rig.server.notify("notifications/custom", {"x": 1})
        await rig.settle()
        assert [frame.method for frame in heard] == ["notifications/progress"]
        assert [frame.method for _, frame, _ in rig.heard.frames] == ["notifications/custom"]


async def test_cancelling_the_await_cancels_the_request_on_the_server() -> None:
    async with Rig({"one": ScriptedServer({"tools/call": SILENT})}) as rig:
        calling = await rig.started(rig.one.request("tools/call", CALL))
        calling.cancel()
        await rig.settle()
        assert len(rig.server.sent("notifications/cancelled")) == 1


async def test_a_changed_list_is_fetched_again_and_announced() -> None:
    async with Rig() as rig:
        rig.server.answers["tools/list"] = {"tools": []}
        rig.heard.calls.clear()
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        assert rig.names("tools") == []
        assert rig.heard.calls == [("list", "one", "tools")]


async def test_lists_that_are_not_announced_are_not_asked_for() -> None:
    async with Rig({"one": ScriptedServer(capabilities={"tools": {}})}) as rig:
        assert "prompts/list" not in rig.server.methods
        assert not rig.one.lists["prompts"].is_supported
        assert rig.one.lists["tools"].is_supported


async def test_a_list_that_fails_keeps_its_last_good_items_with_the_reason() -> None:
    async with Rig() as rig:
        rig.server.answers["tools/list"] = Refuse(-32000, "out of order")
        await rig.advance(10)
        await rig.one.get_capabilities(force_refresh=True)
        tools = rig.one.lists["tools"]
        assert len(tools.items) == 1
        assert tools.is_stale
        assert tools.age_s(rig.clock.wall()) == 10
        assert tools.error is not None
        assert "out of order" in tools.error["message"]


async def test_what_a_lost_server_offered_stays_for_a_while_and_then_goes() -> None:
    async with Rig(stale_for_s=100) as rig:
        rig.server.leave()
        await rig.settle()
        assert rig.status == "ERROR"
        assert rig.one.lists["tools"].is_stale
        assert rig.names("tools") == ["add"]
        rig.heard.calls.clear()
        await rig.advance(100)
        assert rig.names("tools") == []
        assert ("list", "one", "tools") in rig.heard.calls


async def test_one_server_that_hangs_holds_up_no_other_at_the_start() -> None:
    servers: dict[str, Any] = {f"hangs-{number}": lambda: BrokenTransport() for number in range(3)}
    async with Rig(servers | {"one": ScriptedServer()}, start=False) as rig:
        rig.servers.start()
        settled = await rig.started(rig.servers.settled(5.0))
        await rig.advance(5)
        assert settled.done()


# -- what a server asks --------------------------------------------------------------------------


async def test_a_relaying_owner_declares_all_and_refuses_questions_of_no_client() -> None:
    async with Rig(relays_questions=True) as rig:
        declared = rig.server.sent("initialize")[0]["params"]["capabilities"]
        assert {"sampling", "elicitation"} <= declared.keys()
        rig.server.ask("q", "elicitation/create", {"message": "?"})
        await rig.settle()
        answer = rig.server.answer_to("q")
        assert answer is not None
        assert "no client can answer" in answer["error"]["message"]


async def test_without_relaying_nothing_is_declared_that_no_profile_answers() -> None:
    async with Rig(entries={"one": {"roots": ({"uri": "file:///tmp"},)}}) as rig:
        declared = rig.server.sent("initialize")[0]["params"]["capabilities"]
        assert declared.keys() == {"roots", "extensions"}


async def test_the_profile_of_the_entry_answers_what_belongs_to_no_call() -> None:
    async with Rig(entries={"one": {"profile": "fixed"}}, relays_questions=True) as rig:
        rig.server.ask("q", "elicitation/create", {"message": "?", "requestedSchema": {}})
        await rig.settle()
        answer = rig.server.answer_to("q")
        assert answer is not None
        assert "no client can answer" not in str(answer)


async def test_a_client_may_have_a_session_of_its_own_with_its_capabilities_and_roots() -> None:
    async with Rig(relays_questions=True) as rig:
        mine = rig.one.for_client(
            {"roots": {}, "sampling": {"tools": {}}}, ["file:///home"], {"name": "editor"}
        )
        await mine.request("tools/call", CALL)
        first, second = rig.server.sent("initialize")
        assert second["params"]["clientInfo"] == {"name": "editor"}
        assert second["params"]["capabilities"] == {"roots": {}, "sampling": {"tools": {}}}
        rig.server.ask("q", "roots/list")
        await rig.settle()
        answer = rig.server.answer_to("q")
        assert answer is not None
        assert answer["result"]["roots"][0]["uri"] == "file:///home"
        await mine.close()
        assert rig.status == "RUNNING"
        assert first["params"]["clientInfo"]["name"] == "mcplens"


# -- shared by clients ---------------------------------------------------------------------------


async def test_subscriptions_are_counted() -> None:
    async with Rig() as rig:
        await rig.one.shared.subscribe("a:b", "first")
        await rig.one.shared.subscribe("a:b", "second")
        assert len(rig.server.sent("resources/subscribe")) == 1
        assert rig.one.shared.subscribers("a:b") == {"first", "second"}
        await rig.one.shared.unsubscribe("a:b", "first")
        assert not rig.server.sent("resources/unsubscribe")
        await rig.one.shared.drop("second")
        assert len(rig.server.sent("resources/unsubscribe")) == 1


async def test_a_holder_asks_itself_if_the_server_refused_the_holder_before_it() -> None:
    answers = iter([Refuse(-32000, "not now"), {}])
    server = ScriptedServer({"resources/subscribe": lambda _: next(answers)})
    async with Rig({"one": server}) as rig:
        shared = rig.one.shared
        first, second = await asyncio.gather(
            shared.subscribe("a:b", "first"),
            shared.subscribe("a:b", "second"),
            return_exceptions=True,
        )
        assert isinstance(first, ServerError)
        assert second is None
        assert len(server.sent("resources/subscribe")) == 2
        assert shared.subscribers("a:b") == {"second"}


async def test_the_server_is_asked_for_the_most_verbose_log_level() -> None:
    async with Rig() as rig:
        await rig.one.shared.set_level("error", "first")
        await rig.one.shared.set_level("debug", "second")
        await rig.one.shared.set_level("warning", "third")
        await rig.one.shared.drop("second")
        levels = [sent["params"]["level"] for sent in rig.server.sent("logging/setLevel")]
        assert levels == ["error", "debug", "warning"]
