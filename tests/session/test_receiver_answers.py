"""A question with `task`: how its answer ends the task, and what can come in between."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from mcplens.errors import CancelledRequest, ServerError
from mcplens.protocol.tasks import RELATED_TASK
from mcplens.session.question_handler import ServerRequest

from .receiver_bench import ANSWER, ELICIT, SAMPLE, Bench

# -- a question with `task` (TASKS 6.1) ----------------------------------------------------------


@pytest.mark.parametrize("method", [SAMPLE, ELICIT])
async def test_a_question_with_task_is_answered_with_a_task_at_once(method: str) -> None:
    bench = Bench()
    request = ServerRequest("q", method, {"task": {"ttl": 5_000}}, b"raw", caused_by=7)
    answer = bench.tasks.start(request, bench.ask)
    task = answer["task"]
    assert (task["status"], task["statusMessage"]) == ("input_required", "Awaiting user input")
    assert task["ttl"] == 5_000
    assert bench.asked == []
    await bench.settle()
    (asked,) = bench.asked  # it waits for its answer as any question does
    assert (asked.id, asked.method, asked.raw, asked.caused_by) == ("q", method, b"raw", 7)
    assert (asked.origin, asked.task_id, asked.expires_in_s) == ("task", task["taskId"], 5.0)
    await bench.tasks.end()


async def test_an_answer_completes_the_task_and_is_its_result() -> None:
    bench = Bench()
    task_id = await bench.started()
    result = asyncio.create_task(bench.request("tasks/result", {"taskId": task_id}))
    await bench.clock.advance(2)
    assert not result.done()
    bench.answers[0].set_result(ANSWER)
    assert await result == ANSWER | {"_meta": {RELATED_TASK: {"taskId": task_id}}}
    task = bench.record(task_id).task
    assert (task.status, task.status_message) == ("completed", None)
    created, updated = map(datetime.fromisoformat, (task.created_at, task.last_updated_at))
    assert (updated - created).total_seconds() == 2
    assert bench.notified() == ["completed"]
    assert await bench.tasks.get_receiver_task_payload(task_id) == ANSWER


async def test_a_refusal_fails_the_task_and_is_its_error() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_exception(ServerError(-1, "User rejected sampling request", {"n": 1}))
    await bench.settle()
    with pytest.raises(ServerError) as refusal:
        await bench.request("tasks/result", {"taskId": task_id})
    assert refusal.value.rpc_code == -1
    assert refusal.value.rpc_message == "User rejected sampling request"
    assert refusal.value.data == {"n": 1}
    task = bench.record(task_id).task
    assert (task.status, task.status_message) == ("failed", "User rejected sampling request")
    assert bench.notified() == ["failed"]


async def test_a_handler_that_breaks_fails_the_task() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_exception(ZeroDivisionError("oops"))
    await bench.settle()
    code, text = await bench.refusal("tasks/result", {"taskId": task_id})
    assert (code, text) == (-32603, "the client's handler failed: ZeroDivisionError: oops")
    assert bench.record(task_id).task.status_message == text


async def test_a_question_that_others_withdraw_fails_its_task() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].cancel()
    await bench.settle()
    assert bench.status(task_id) == "failed"
    assert (await bench.refusal("tasks/result", {"taskId": task_id}))[0] == -32603


@pytest.mark.parametrize(("action", "word"), [("decline", "declined"), ("cancel", "dismissed")])
async def test_a_form_that_is_declined_fails_the_task(action: str, word: str) -> None:
    bench = Bench()
    task_id = await bench.started(ELICIT)
    bench.answers[0].set_result({"action": action})
    await bench.settle()
    code, text = await bench.refusal("tasks/result", {"taskId": task_id})
    assert code == -1
    assert word in text
    task = bench.record(task_id).task
    assert (task.status, task.status_message) == ("failed", text)


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_the_switch_completes_the_task_of_a_declined_form(action: str) -> None:
    bench = Bench(completes_on_decline=True)
    task_id = await bench.started(ELICIT)
    bench.answers[0].set_result({"action": action})
    await bench.settle()
    result = await bench.request("tasks/result", {"taskId": task_id})
    assert result == {"action": action, "_meta": {RELATED_TASK: {"taskId": task_id}}}
    assert bench.status(task_id) == "completed"


async def test_a_form_that_is_filled_in_completes_the_task() -> None:
    bench = Bench()
    task_id = await bench.started(ELICIT)
    filled = {"action": "accept", "content": {"name": "Ada"}, "_meta": {"mine": 1}}
    bench.answers[0].set_result(filled)
    result = await bench.request("tasks/result", {"taskId": task_id})
    assert result["content"] == {"name": "Ada"}
    assert result["_meta"] == {"mine": 1, RELATED_TASK: {"taskId": task_id}}


async def test_what_a_sampling_answer_calls_an_action_is_none() -> None:
    bench = Bench()
    task_id = await bench.started(SAMPLE)
    bench.answers[0].set_result({"action": "decline"})
    await bench.settle()
    assert bench.status(task_id) == "completed"


@pytest.mark.parametrize("answer", [[1], "text", 5])
async def test_an_answer_that_is_no_object_is_given_as_it_is(answer: Any) -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_result(answer)
    assert await bench.request("tasks/result", {"taskId": task_id}) == answer


async def test_no_answer_at_all_is_an_empty_one() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_result(None)
    assert await bench.tasks.get_receiver_task_payload(task_id) == {}


# -- what can come in between --------------------------------------------------------------------


async def test_tasks_are_answered_in_any_order() -> None:
    bench = Bench()
    ids = [await bench.started() for _ in range(5)]
    for which in (3, 0, 4, 1, 2):
        bench.answers[which].set_result({"n": which})
        await bench.settle()
        assert bench.status(ids[which]) == "completed"
    results = [await bench.tasks.get_receiver_task_payload(one) for one in ids]
    assert results == [{"n": which} for which in range(5)]


async def test_a_task_that_expires_while_it_is_answered_is_gone_and_so_is_its_question() -> None:
    bench = Bench()
    task_id = await bench.started(ttl=5_000)
    result = asyncio.create_task(bench.request("tasks/result", {"taskId": task_id}))
    await bench.settle()
    await bench.clock.advance(5)
    assert bench.answers[0].cancelled()
    with pytest.raises(ServerError, match="is up") as refusal:
        await result
    assert refusal.value.rpc_code == -32602
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert await bench.refusal(method, {"taskId": task_id}) == (
            -32602,
            f"Unknown taskId: {task_id}",
        )
    assert bench.steps() == ["input_required", "gone"]
    assert bench.notified() == []


async def test_an_answer_in_the_very_moment_in_which_the_task_goes_is_too_late() -> None:
    bench = Bench()
    await bench.started(ttl=5_000)
    bench.answers[0].set_result(ANSWER)  # whoever asked has not heard of it yet
    bench.tasks.clear()
    await bench.settle()
    assert bench.steps() == ["input_required", "gone"]
    assert bench.notified() == []


async def test_a_cancel_in_the_very_moment_of_the_answer_stays_a_cancel() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_result(ANSWER)
    assert bench.tasks.cancel_receiver_task(task_id).status == "cancelled"
    await bench.settle()
    assert bench.status(task_id) == "cancelled"
    assert (await bench.refusal("tasks/result", {"taskId": task_id}))[0] == -32603
    assert bench.notified() == ["cancelled"]


async def test_a_task_can_be_cancelled_before_anybody_was_asked() -> None:
    bench = Bench()
    task_id = bench.start()
    bench.tasks.cancel_receiver_task(task_id)
    await bench.settle()
    assert bench.asked == []
    assert bench.steps() == ["input_required", "cancelled"]


async def test_when_the_connection_ends_nobody_waits_any_more() -> None:
    bench = Bench()
    open_id, done_id = [await bench.started() for _ in range(2)]
    bench.answers[1].set_result(ANSWER)
    await bench.settle()
    waiting = asyncio.create_task(bench.tasks.get_receiver_task_payload(open_id))
    await bench.settle()
    await bench.tasks.end()
    with pytest.raises(CancelledRequest, match="the connection is over"):
        await waiting
    assert bench.answers[0].cancelled()
    assert bench.tasks.get_receiver_task(done_id) is None
    assert bench.clock.timer_count == 0
    assert bench.notified() == ["completed"]
    assert asyncio.all_tasks() == {asyncio.current_task()}
