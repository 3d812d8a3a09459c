"""LOGIC's request queue: order, turns, cancelling, counting, remembering."""

from __future__ import annotations

import asyncio
from inspect import signature
from typing import Any

import pytest

from mcplens.errors import CancelledRequest, InspectorError, ProtocolError, TimeoutExpired
from mcplens.events import RequestEnded
from mcplens.protocol.correlation import LATE_MAX_BYTES
from mcplens.session.queue import (
    HISTORY_MAX_BYTES,
    QueueStatus,
    RequestStatus,
    create_request_queue,
)

from .scripted import SILENT, STATELESS, ExchangeTransport, Rig, ScriptedServer, failure, text


def slow(**options: Any) -> Rig:
    return Rig(ScriptedServer({"tools/call": SILENT}), **options)


def names(rig: Rig) -> list[str]:
    """The calls that reached the server, in order."""
    return [call["params"]["name"] for call in rig.server.sent("tools/call")]


async def test_requests_start_one_at_a_time_in_the_order_they_came() -> None:
    async with slow() as rig:
        calls = [await rig.call(name) for name in "abc"]
        for index, name in enumerate("abc"):
            assert names(rig) == list("abc"[: index + 1])
            rig.server.reply(rig.entry().id, text(name))
            assert (await calls[index]).content[0].text == name
            await rig.settle()


async def test_concurrency_lets_so_many_run_and_no_more() -> None:
    async with slow(concurrency=3) as rig:
        calls = [await rig.call(name) for name in "abcde"]
        assert names(rig) == list("abc")
        second = rig.server.sent("tools/call")[1]["id"]
        rig.server.reply(second, text())
        await rig.settle()
        assert names(rig) == list("abcd")
        assert [call.done() for call in calls] == [False, True, False, False, False]


async def test_with_concurrency_answers_may_come_in_any_order() -> None:
    async with slow(concurrency=8) as rig:
        calls = [await rig.call(f"{n}") for n in range(8)]
        for sent in reversed(rig.server.sent("tools/call")):
            rig.server.reply(sent["id"], text(sent["params"]["name"]))
        results = await asyncio.gather(*calls)
        assert [result.content[0].text for result in results] == [f"{n}" for n in range(8)]


async def test_a_request_that_fails_makes_way_for_the_next() -> None:
    async with slow() as rig:
        first, second = await rig.call("a", timeout_s=5), await rig.call("b")
        await rig.advance(5)
        assert failure(first).code == "REQUEST_TIMEOUT"
        assert names(rig) == ["a", "b"]
        assert not second.done()


async def test_the_configured_timeout_of_a_request_starts_with_its_turn() -> None:
    async with slow(config={"ping_interval_s": 0.0}) as rig:
        await rig.call("a")
        second = await rig.call("b")
        await rig.advance(60 + 59.9)
        assert not second.done()
        await rig.advance(0.1)
        assert failure(second).details["phase"] == "request"


async def test_a_calls_own_timeout_covers_its_wait_in_the_queue() -> None:
    async with slow() as rig:
        await rig.call("a")
        second = await rig.call("b", timeout_s=10)
        await rig.advance(9.9)
        assert not second.done()
        await rig.advance(0.1)
        error = failure(second)
        assert (error.code, error.details["phase"]) == ("REQUEST_TIMEOUT", "queue")
        assert error.details["elapsed_s"] == 10
        assert "tools/call waited in the queue for 10 s and was not sent" in error.message
        assert "tools/call for 10 s in progress" in error.message
        assert names(rig) == ["a"]
        assert rig.client.queue.get_status().pending == 0
        assert rig.server.sent("notifications/cancelled") == []


async def test_a_call_that_waited_in_the_queue_has_the_rest_of_its_time() -> None:
    async with slow() as rig:
        await rig.call("a", timeout_s=6)
        second = await rig.call("b", timeout_s=10)
        await rig.advance(6)
        assert names(rig) == ["a", "b"]
        await rig.advance(3.9)
        assert not second.done()
        await rig.advance(0.1)
        error = failure(second)
        assert error.details["phase"] == "request"
        assert "within 4 s of being sent, after 6 s in the queue" in error.message


async def test_a_call_that_is_cancelled_in_the_queue_leaves_no_timer() -> None:
    async with slow(config={"ping_interval_s": 0.0}) as rig:
        await rig.call("a")
        timers = rig.clock.timer_count
        pending = await rig.call("b", timeout_s=10)
        assert rig.clock.timer_count == timers + 1
        pending.cancel()
        await rig.settle()
        assert rig.clock.timer_count == timers


async def test_a_pending_request_can_be_cancelled_and_never_leaves() -> None:
    async with slow() as rig:
        await rig.call("a")
        pending = await rig.call("b")
        entry = rig.client.queue._pending[0]
        assert rig.client.cancel(entry.id)
        await rig.settle()
        assert isinstance(failure(pending), CancelledRequest)
        rig.server.reply(rig.entry().id, text())
        await rig.settle()
        assert names(rig) == ["a"]
        assert rig.server.sent("notifications/cancelled") == []


async def test_cancel_is_false_for_what_is_not_pending() -> None:
    async with slow() as rig:
        call = await rig.call("a")
        identity = rig.entry().id
        assert rig.client.cancel(identity) is False
        assert rig.client.cancel(99_999) is False
        rig.server.reply(identity, text())
        await call
        assert rig.client.cancel(identity) is False


async def test_abort_calls_off_the_one_in_progress_and_tells_the_server() -> None:
    async with slow() as rig:
        first, second = await rig.call("a"), await rig.call("b")
        identity = rig.entry().id
        assert rig.client.abort(identity, "changed my mind")
        await rig.settle()
        error = failure(first)
        assert (error.category, error.message) == ("cancelled", "changed my mind")
        (cancelled,) = rig.server.sent("notifications/cancelled")
        assert cancelled["params"] == {"requestId": identity, "reason": "changed my mind"}
        assert names(rig) == ["a", "b"]
        assert not second.done()
        ended = [e for e in rig.events(RequestEnded) if e.request_id == identity]
        assert [e.status for e in ended] == ["cancelled"]


async def test_abort_of_a_pending_request_cancels_it_silently() -> None:
    async with slow() as rig:
        await rig.call("a")
        pending = await rig.call("b")
        assert rig.client.abort(rig.client.queue._pending[0].id)
        await rig.settle()
        assert failure(pending).category == "cancelled"
        assert rig.server.sent("notifications/cancelled") == []
        assert rig.client.abort(99_999) is False


async def test_abort_closes_the_exchange_in_2026_07_28() -> None:
    server = ScriptedServer({"tools/call": SILENT}, is_stateless=True)
    transport = ExchangeTransport(server)
    rig = Rig(server, make_transport=lambda: transport, protocol_version=STATELESS)
    async with rig:
        await rig.call()
        identity = rig.entry().id
        rig.client.abort(identity)
        await rig.settle()
        assert transport.abandoned == [identity]
        assert server.sent("notifications/cancelled") == []


async def test_an_answer_after_an_abort_is_late_and_harms_nobody() -> None:
    async with slow() as rig:
        await rig.call("a")
        identity = rig.entry().id
        rig.client.abort(identity)
        other = await rig.call("b")
        rig.server.reply(identity, text())
        await rig.advance(5)
        assert rig.client.queue.get_history()[0].late_reply is not None
        assert not other.done()


async def test_cancelling_the_caller_cancels_the_request_on_the_server() -> None:
    async with slow() as rig:
        call = await rig.call()
        identity = rig.entry().id
        call.cancel()
        await rig.settle()
        (cancelled,) = rig.server.sent("notifications/cancelled")
        assert cancelled["params"]["requestId"] == identity
        assert rig.client.queue.get_status().in_progress == 0
        assert rig.client.queue.get_status().cancelled == 1
        assert [e.status for e in rig.events(RequestEnded)][-1] == "cancelled"


async def test_cancelling_the_caller_of_a_pending_request_takes_it_out_of_the_queue() -> None:
    async with slow() as rig:
        await rig.call("a")
        pending = await rig.call("b")
        pending.cancel()
        await rig.settle()
        assert rig.client.queue.get_status().pending == 0
        rig.server.reply(rig.entry().id, text())
        await rig.settle()
        assert names(rig) == ["a"]


async def test_the_status_counts_every_request_where_it_stands() -> None:
    async with slow() as rig:
        done = await rig.call("done")
        rig.server.reply(rig.entry().id, text())
        await done
        await rig.call("times out", timeout_s=1)
        await rig.advance(1)
        await rig.call("aborted")
        rig.client.abort(rig.entry().id)
        await rig.call("running")
        await rig.call("waiting")
        await rig.call("waiting too")
        assert rig.client.queue.get_status() == QueueStatus(
            pending=2, in_progress=1, completed=1, failed=1, cancelled=1
        )


async def test_the_history_has_the_last_requests_newest_last() -> None:
    async with Rig() as rig:
        for n in range(250):
            await rig.client.call_tool(f"{n}")
        history = rig.client.queue.get_history()
        assert len(history) == 200
        assert history[-1].params["name"] == "249"
        assert [e.params["name"] for e in rig.client.queue.get_history(2)] == ["248", "249"]
        assert rig.client.queue.get_history(0) == []
        assert rig.client.queue.get_status().completed == 250


async def test_the_history_can_be_switched_off() -> None:
    async with Rig() as rig:
        queue = rig.client.queue
        await rig.client.call_tool("a")
        queue.limit_history(0)
        await rig.client.call_tool("b")
        assert queue.get_history() == []
        assert queue.get_status().completed == 2


async def test_the_history_is_bounded_in_bytes_too() -> None:
    big = text("x" * (1024 * 1024))
    async with Rig(ScriptedServer({"tools/call": big})) as rig:
        for _ in range(40):
            await rig.client.call_tool("big")
        history = rig.client.queue.get_history()
        assert len(history) < 40
        assert sum(len(entry.result.raw) for entry in history) <= HISTORY_MAX_BYTES


async def test_large_requests_count_in_the_history_and_among_those_given_up() -> None:
    async with slow() as rig:
        for _ in range(40):
            call = await rig.call("big", arguments={"text": "x" * 1024 * 1024}, timeout_s=1)
            await rig.advance(1)
            assert failure(call).code == "REQUEST_TIMEOUT"
        history = rig.client.queue.get_history()
        assert 1 <= len(history) < 4
        assert sum(len(entry.params["arguments"]["text"]) for entry in history) <= HISTORY_MAX_BYTES
        given_up = [rig.client.connection.correlation.given_up(one) for one in range(1, 60)]
        held = [entry.request_bytes for entry in given_up if entry is not None]
        assert 1 <= len(held) < 10
        assert sum(held) <= LATE_MAX_BYTES


async def test_large_errors_count_in_the_history_too() -> None:
    async def fail(method: str, params: Any) -> Any:
        raise ProtocolError("INVALID_RESPONSE", "malformed", raw=b"x" * 1024 * 1024)

    queue = create_request_queue(fail)
    for _ in range(40):
        with pytest.raises(ProtocolError):
            await queue.enqueue("m")
    history = queue.get_history()
    sizes = [entry.error.size_bytes for entry in history if entry.error is not None]
    assert len(sizes) == len(history) >= 1
    assert all(size >= 1024 * 1024 for size in sizes)
    assert sum(sizes) <= HISTORY_MAX_BYTES


async def test_an_entry_tells_when_it_was_made_started_and_ended() -> None:
    async with slow() as rig:
        await rig.call("a")
        await rig.call("b")
        first, second = rig.entry(), rig.client.queue._pending[0]
        assert (first.status, second.status) == (RequestStatus.IN_PROGRESS, RequestStatus.PENDING)
        made = rig.clock.wall()
        assert (second.created_at, second.started_at) == (made, None)
        await rig.advance(10)
        rig.server.reply(first.id, text())
        await rig.advance(5)
        rig.server.reply(second.id, text())
        await rig.settle()
        assert (second.created_at, second.started_at) == (made, made + 10)
        assert second.completed_at == made + 15
        assert second.status is RequestStatus.COMPLETED


async def test_pings_answers_and_tasks_do_not_wait_in_the_queue() -> None:
    server = ScriptedServer({"tools/call": SILENT, "tasks/get": {"taskId": "t"}})
    async with Rig(server, handlers={"roots/list": lambda request: {"roots": []}}) as rig:
        call = await rig.call()
        assert await rig.client.ping() == 0.0
        assert (await rig.client.request("tasks/get", {"taskId": "t"})).value == {"taskId": "t"}
        server.ask("q", "roots/list")
        await rig.settle()
        assert server.answer_to("q") is not None
        assert not call.done()


async def test_a_request_that_cannot_be_written_fails_alone() -> None:
    async with Rig() as rig:
        with pytest.raises(InspectorError, match="tools/call"):
            await rig.client.call_tool("add", {"x": object()})
        assert (await rig.client.call_tool("add")).content


async def test_many_requests_that_cannot_be_written_fail_one_by_one() -> None:
    async with slow() as rig:
        first = await rig.call()
        broken = [rig.go(rig.client.call_tool("x", {"x": object()})) for _ in range(2_000)]
        last = await rig.call("last")
        rig.server.reply(rig.entry().id, text())
        await first
        await asyncio.gather(*broken, return_exceptions=True)
        assert all(isinstance(failure(task), InspectorError) for task in broken)
        assert names(rig) == ["slow", "last"]
        assert not last.done()


# -- a queue of one's own ----------------------------------------------------------------------


async def test_a_queue_can_be_made_around_any_coroutine() -> None:
    running: list[Any] = []
    most = 0

    async def execute(method: str, params: Any) -> Any:
        nonlocal most
        running.append(params)
        most = max(most, len(running))
        await asyncio.sleep(0)
        running.remove(params)
        if method == "fail":
            raise ConnectionRefusedError(111, "nobody there")
        return params * 2

    queue = create_request_queue(execute)
    results = [queue.enqueue("double", n) for n in range(5)]
    assert [await entry for entry in results] == [0, 2, 4, 6, 8]
    assert most == 1
    with pytest.raises(InspectorError) as problem:
        await queue.enqueue("fail", 1)
    assert problem.value.code == "CONNECTION_REFUSED"
    assert queue.get_status() == QueueStatus(0, 0, 5, 1, 0)


async def test_a_queue_of_ones_own_times_out_aborts_and_clears() -> None:
    async def never(method: str, params: Any) -> Any:
        await asyncio.get_running_loop().create_future()

    queue = create_request_queue(never)
    with pytest.raises(InspectorError) as problem:
        await queue.enqueue("x", timeout_s=0.0)
    assert problem.value.code == "REQUEST_TIMEOUT"
    running, waiting = queue.enqueue("x"), queue.enqueue("y")
    assert not queue.cancel(running.id)
    assert queue.cancel(waiting.id)
    assert queue.abort(running.id, "enough")
    with pytest.raises(CancelledRequest, match="enough"):
        await running
    cleared = queue.enqueue("x")
    queue.clear_pending("going home")
    with pytest.raises(CancelledRequest, match="going home"):
        await cleared
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def test_a_queue_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        create_request_queue(_nothing, concurrency=0)


async def _nothing(method: str, params: Any) -> None:
    return None


async def test_an_entry_of_a_queue_of_its_own_expires_and_its_coroutine_is_cancelled() -> None:
    ended: list[str] = []

    async def hang(method: str, params: object) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append(method)

    queue = create_request_queue(hang, timeout_s=0.01)
    default, own = queue.enqueue("default"), queue.enqueue("own", timeout_s=0.001)
    for entry, phase in ((own, "queue"), (default, "request")):
        with pytest.raises(TimeoutExpired) as caught:
            await entry
        assert (caught.value.code, caught.value.details["phase"]) == ("REQUEST_TIMEOUT", phase)
    assert ended == ["default"]
    assert signature(create_request_queue).parameters["timeout_s"].default == 60.0
