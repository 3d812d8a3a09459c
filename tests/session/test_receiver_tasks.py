"""The records of tasks that we hold for a server: made, moved, asked for, dropped."""

from __future__ import annotations

import asyncio
import gc
from datetime import datetime
from typing import Any

import pytest

from mcplens.bus import Bus, Publisher
from mcplens.clock import ManualClock
from mcplens.errors import CancelledRequest, ServerError
from mcplens.events import Event, ReceiverTaskChanged, Remark
from mcplens.protocol.tasks import RELATED_TASK, IllegalTaskMove, Task, moved
from mcplens.session.handler import ServerRequest
from mcplens.session.receiver_tasks import PAGE_SIZE, ReceiverTaskRecord, ReceiverTasks

SAMPLE, ELICIT = "sampling/createMessage", "elicitation/create"
ANSWER = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}


class Wire:
    """Where the session of a connection would be; keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.problem: Exception | None = None

    def notify(self, method: str, params: Any = None) -> None:
        if self.problem is not None:
            raise self.problem
        self.sent.append((method, params))


class Bench:
    """Receiver tasks without a server, and a person who answers when the test says so."""

    def __init__(self, **options: Any) -> None:
        self.clock = ManualClock()
        self.bus = Bus(self.clock)
        self.publish = Publisher(self.bus, "bench")
        self.session: Wire | None = Wire()
        self.tasks = ReceiverTasks(lambda: self, **options)  # type: ignore[arg-type, return-value]
        self.asked: list[ServerRequest] = []
        self.answers: list[asyncio.Future[Any]] = []

    async def ask(self, request: ServerRequest) -> Any:
        self.asked.append(request)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    def start(self, method: str = SAMPLE, **task: Any) -> str:
        """The server asks with `task`; the id of the task that it gets."""
        request = ServerRequest(1, method, {"task": task, "a": 1}, b"{}")
        answer = self.tasks.start(request, self.ask)
        assert list(answer) == ["task"]
        task_id: str = answer["task"]["taskId"]
        return task_id

    async def started(self, method: str = SAMPLE, **task: Any) -> str:
        task_id = self.start(method, **task)
        await self.clock.settle()
        return task_id

    async def request(self, method: str, params: Any = None) -> Any:
        """What the server is answered when it asks about tasks."""
        answer = self.tasks.handlers()[method](ServerRequest(2, method, params, b"{}"))
        return await answer if asyncio.iscoroutine(answer) else answer

    async def refusal(self, method: str, params: Any = None) -> tuple[int, str]:
        with pytest.raises(ServerError) as refused:
            await self.request(method, params)
        return refused.value.rpc_code, refused.value.rpc_message

    async def settle(self) -> None:
        await self.clock.settle()

    def record(self, task_id: str) -> ReceiverTaskRecord:
        record = self.tasks.get_receiver_task(task_id)
        assert record is not None
        return record

    def status(self, task_id: str) -> str:
        return self.record(task_id).task.status

    def events(self, kind: type[Event] = ReceiverTaskChanged) -> list[Any]:
        return [event for event in self.bus.kept() if isinstance(event, kind)]

    def steps(self) -> list[str]:
        """What became of the tasks, as the events tell it."""
        return ["gone" if event.is_gone else event.status for event in self.events()]

    def notified(self) -> list[str]:
        """The statuses that the server was told."""
        assert self.session is not None
        return [params["status"] for _, params in self.session.sent]


# -- create_receiver_task (TASKS 6.1) ------------------------------------------------------------


async def test_a_task_is_stored_with_its_id_status_ttl_and_times() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(
        ttl=5_000, initial_status="input_required", status_message="wait", poll_interval=250
    )
    task = record.task
    assert bench.tasks.get_receiver_task(task.task_id) is record
    assert bench.tasks.list_receiver_tasks() == [task]
    assert (task.status, task.ttl, task.poll_interval) == ("input_required", 5_000, 250)
    assert task.status_message == "wait"
    assert task.created_at == task.last_updated_at
    assert datetime.fromisoformat(task.created_at).timestamp() == bench.clock.wall()


async def test_ids_are_long_and_never_alike() -> None:
    bench = Bench()
    ids = {bench.start() for _ in range(500)}
    assert len(ids) == 500
    assert min(map(len, ids)) >= 32
    await bench.tasks.end()


async def test_a_record_is_removed_when_its_ttl_is_over() -> None:
    bench = Bench()
    task_id = bench.tasks.create_receiver_task(ttl=5_000, initial_status="working").task.task_id
    await bench.clock.advance(4.999)
    assert bench.tasks.get_receiver_task(task_id) is not None
    await bench.clock.advance(0.001)
    assert bench.tasks.get_receiver_task(task_id) is None
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.clock.timer_count == 0
    assert bench.steps() == ["working", "gone"]


async def test_timers_are_called_off_when_the_connection_ends() -> None:
    bench = Bench()
    for _ in range(3):
        bench.tasks.create_receiver_task(initial_status="working")
    assert bench.clock.timer_count == 3
    bench.tasks.clear()
    assert bench.clock.timer_count == 0
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.steps() == ["working"] * 3 + ["gone"] * 3
    assert bench.notified() == []


async def test_the_server_hears_of_a_new_task_by_the_answer_and_not_twice() -> None:
    bench = Bench()
    await bench.started()
    assert bench.notified() == []
    assert bench.steps() == ["input_required"]
    await bench.tasks.end()


# -- ttl -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl_s", "milliseconds"), [(60.0, 60_000), (7, 7_000), (0.25, 250)])
async def test_a_server_that_names_no_ttl_gets_ours(ttl_s: float, milliseconds: int) -> None:
    bench = Bench(ttl_s=ttl_s)
    task_id = await bench.started()
    assert bench.record(task_id).task.ttl == milliseconds
    await bench.tasks.end()


async def test_a_ttl_that_is_a_function_is_asked_for_each_task() -> None:
    choices = iter([1.0, 2.0])
    bench = Bench(ttl_s=lambda: next(choices))
    first, second = bench.start(), bench.start()
    named = bench.start(ttl=9_000)  # the server chose: ours is not asked
    assert [bench.record(one).task.ttl for one in (first, second, named)] == [1000, 2000, 9000]
    await bench.tasks.end()


@pytest.mark.parametrize("nonsense", [-1.0, float("nan"), float("inf"), "60", None, True])
async def test_a_ttl_of_ours_that_is_no_time_is_said_to_be_none(nonsense: Any) -> None:
    bench = Bench(ttl_s=lambda: nonsense)
    with pytest.raises(ValueError, match="the TTL of a task must be a number of seconds"):
        bench.start()
    assert bench.tasks.list_receiver_tasks() == []


async def test_a_ttl_above_the_limit_is_cut_and_the_actual_one_reported() -> None:
    bench = Bench(longest_ttl_s=100)
    for asked in (100_001, 10**400, 1e300, None):
        task_id = await bench.started(ttl=asked)
        assert (await bench.request("tasks/get", {"taskId": task_id}))["ttl"] == 100_000
    await bench.clock.advance(100)
    assert bench.tasks.list_receiver_tasks() == []


async def test_our_own_ttl_is_cut_to_the_limit_too() -> None:
    bench = Bench(longest_ttl_s=5, ttl_s=60)
    assert bench.record(bench.start()).task.ttl == 5_000
    await bench.tasks.end()


async def test_null_means_no_limit_where_that_is_allowed() -> None:
    bench = Bench(longest_ttl_s=None)
    task_id = await bench.started(ttl=None)
    assert (await bench.request("tasks/get", {"taskId": task_id}))["ttl"] is None
    assert bench.clock.timer_count == 0
    assert bench.asked[0].expires_in_s is None
    await bench.clock.advance(10**9)
    assert bench.status(task_id) == "input_required"
    await bench.tasks.end()


@pytest.mark.parametrize("ttl", [-1, -0.5, "60000", True, [], {}])
async def test_a_ttl_that_is_no_time_is_refused(ttl: Any) -> None:
    bench = Bench()
    with pytest.raises(ServerError, match=r"task\.ttl must be a number of milliseconds") as refusal:
        bench.start(ttl=ttl)
    assert refusal.value.rpc_code == -32602
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.clock.timer_count == 0


@pytest.mark.parametrize("params", [None, [], {}, {"task": True}, {"task": 5}, {"task": None}])
async def test_a_wish_for_a_task_that_is_none_is_refused(params: Any) -> None:
    bench = Bench()
    with pytest.raises(ServerError, match="task must be an object") as refusal:
        bench.tasks.start(ServerRequest(1, SAMPLE, params, b"{}"), bench.ask)
    assert refusal.value.rpc_code == -32602


async def test_a_ttl_of_nothing_is_over_at_once_and_nobody_is_asked_any_more() -> None:
    bench = Bench()
    task_id = bench.start(ttl=0)
    await bench.clock.advance(0)
    assert bench.tasks.get_receiver_task(task_id) is None
    assert not [answer for answer in bench.answers if not answer.done()]
    assert bench.steps() == ["input_required", "gone"]


async def test_beyond_the_limit_a_task_is_refused_until_there_is_room() -> None:
    bench = Bench(most_tasks=2)
    bench.start(ttl=1_000)
    bench.start()
    with pytest.raises(ServerError, match="2 tasks are kept already; no more are taken") as refusal:
        bench.start()
    assert refusal.value.rpc_code == -32603
    await bench.clock.advance(1)
    bench.start()
    assert len(bench.tasks.list_receiver_tasks()) == 2
    await bench.tasks.end()


# -- accessors (TASKS 6.1) -----------------------------------------------------------------------


async def test_an_unknown_task_is_none_or_refused() -> None:
    bench = Bench()
    assert bench.tasks.get_receiver_task("nobody's") is None
    with pytest.raises(ServerError, match="Unknown taskId: nobody's") as refusal:
        await bench.tasks.get_receiver_task_payload("nobody's")
    assert refusal.value.rpc_code == -32602
    with pytest.raises(ServerError, match="Unknown taskId: nobody's"):
        bench.tasks.cancel_receiver_task("nobody's")


async def test_the_payload_is_waited_for_until_it_is_resolved() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    async with asyncio.TaskGroup() as group:
        waiting = [
            group.create_task(bench.tasks.get_receiver_task_payload(record.task.task_id))
            for _ in range(3)
        ]
        await bench.settle()
        assert not any(one.done() for one in waiting)
        record.resolve_payload(ANSWER)
    assert [one.result() for one in waiting] == [ANSWER] * 3


async def test_the_payload_is_waited_for_until_it_is_rejected() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    waiting = [asyncio.create_task(record.payload()) for _ in range(2)]
    await bench.settle()
    assert not any(one.done() for one in waiting)
    record.reject_payload(ServerError(-1, "no", {"why": 1}))
    first, second = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(first, ServerError)
    assert isinstance(second, ServerError)
    assert first is not second
    for error in (first, second):
        assert (error.rpc_code, error.rpc_message, error.data) == (-1, "no", {"why": 1})


async def test_whoever_no_longer_waits_for_a_payload_leaves_it_to_the_others() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    impatient, patient = (asyncio.create_task(record.payload()) for _ in range(2))
    await bench.settle()
    impatient.cancel()
    await bench.settle()
    record.resolve_payload(ANSWER)
    assert await patient == ANSWER


async def test_what_comes_first_counts() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    record.resolve_payload(ANSWER)
    record.resolve_payload({})
    record.reject_payload(ServerError(-1, "no"))
    assert await record.payload() == ANSWER


async def test_a_cancel_moves_the_task_rejects_the_payload_and_withdraws_the_question() -> None:
    bench = Bench()
    task_id = await bench.started()
    waiting = asyncio.create_task(bench.tasks.get_receiver_task_payload(task_id))
    await bench.settle()
    cancelled = bench.tasks.cancel_receiver_task(task_id)
    assert cancelled.status == "cancelled"
    assert bench.record(task_id).task == cancelled
    with pytest.raises(ServerError, match="the task was cancelled") as refusal:
        await waiting
    assert refusal.value.rpc_code == -32603
    await bench.settle()
    assert bench.answers[0].cancelled()
    assert bench.notified() == ["cancelled"]
    assert bench.steps() == ["input_required", "cancelled"]


async def test_the_ttl_of_a_cancelled_task_runs_on() -> None:
    bench = Bench()
    task_id = await bench.started(ttl=5_000)
    bench.tasks.cancel_receiver_task(task_id)
    await bench.clock.advance(4.9)
    assert bench.status(task_id) == "cancelled"
    await bench.clock.advance(0.1)
    assert bench.tasks.get_receiver_task(task_id) is None
    assert bench.clock.timer_count == 0


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
async def test_a_cancel_gives_a_task_that_is_over_as_it_is(end: str) -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    over = moved(record.task, end, "2026-01-01T00:00:00+00:00", "so it is")
    bench.tasks.upsert_receiver_task(over)
    assert bench.tasks.cancel_receiver_task(over.task_id) == over
    assert bench.notified() == [end]


# -- moving --------------------------------------------------------------------------------------


async def test_a_task_that_is_over_never_moves() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    task = record.task
    bench.tasks.upsert_receiver_task(moved(task, "completed", task.created_at))
    with pytest.raises(IllegalTaskMove):
        bench.tasks.upsert_receiver_task(moved(task, "cancelled", task.created_at))
    assert record.task.status == "completed"
    assert bench.notified() == ["completed"]


async def test_a_task_that_is_gone_stays_gone() -> None:
    bench = Bench()
    task = Task("gone", "working", "", "")
    bench.tasks.upsert_receiver_task(task)
    assert bench.tasks.list_receiver_tasks() == []
    assert bench.notified() == []


async def test_a_task_that_ends_without_a_payload_keeps_nobody_waiting() -> None:
    bench = Bench()
    record = bench.tasks.create_receiver_task(initial_status="working")
    bench.tasks.upsert_receiver_task(moved(record.task, "failed", "", "out of luck"))
    with pytest.raises(ServerError, match="out of luck"):
        await record.payload()


async def test_a_status_goes_out_as_the_whole_task_without_related_task() -> None:
    bench = Bench()
    task_id = await bench.started(ttl=9_000)
    bench.answers[0].set_result(ANSWER)
    await bench.clock.advance(1)
    assert bench.session is not None
    ((method, params),) = bench.session.sent
    assert method == "notifications/tasks/status"
    assert params == await bench.request("tasks/get", {"taskId": task_id})
    assert sorted(params) == ["createdAt", "lastUpdatedAt", "status", "taskId", "ttl"]
    changed = bench.events()[-1]
    assert (changed.task_id, changed.method, changed.task) == (task_id, SAMPLE, params)


async def test_a_status_that_cannot_be_sent_breaks_nothing() -> None:
    bench = Bench()
    task_id = await bench.started()
    assert bench.session is not None
    bench.session.problem = OSError("the pipe is closed")
    bench.answers[0].set_result(ANSWER)
    await bench.settle()
    assert bench.status(task_id) == "completed"
    assert await bench.tasks.get_receiver_task_payload(task_id) == ANSWER
    (remark,) = bench.events(Remark)
    assert "the pipe is closed" in remark.message


async def test_a_status_is_not_sent_where_there_is_no_session() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.session = None
    bench.answers[0].set_result(ANSWER)
    await bench.settle()
    assert bench.status(task_id) == "completed"
    assert bench.events(Remark) == []


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


# -- what the server asks about them -------------------------------------------------------------


async def test_a_task_that_is_over_is_not_cancelled_for_the_server() -> None:
    bench = Bench()
    task_id = await bench.started()
    bench.answers[0].set_result(ANSWER)
    await bench.settle()
    code, text = await bench.refusal("tasks/cancel", {"taskId": task_id})
    assert (code, text) == (-32602, "the task is completed and cannot be cancelled")
    assert bench.tasks.cancel_receiver_task(task_id).status == "completed"
    assert await bench.tasks.get_receiver_task_payload(task_id) == ANSWER


async def test_a_cancel_of_the_server_is_answered_with_the_cancelled_task() -> None:
    bench = Bench()
    task_id = await bench.started()
    answer = await bench.request("tasks/cancel", {"taskId": task_id})
    assert (answer["taskId"], answer["status"]) == (task_id, "cancelled")
    assert answer == await bench.request("tasks/get", {"taskId": task_id})
    assert (await bench.refusal("tasks/cancel", {"taskId": task_id}))[0] == -32602


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
@pytest.mark.parametrize("params", [None, [], {}, {"taskId": None}, {"taskId": 5}])
async def test_a_request_that_names_no_task_is_refused(method: str, params: Any) -> None:
    assert await Bench().refusal(method, params) == (-32602, "taskId must be a string")


async def test_the_task_that_the_params_name_wins_over_the_related_one() -> None:
    bench = Bench()
    first, second = [await bench.started() for _ in range(2)]
    params = {"taskId": first, "_meta": {RELATED_TASK: {"taskId": second}}}
    assert (await bench.request("tasks/get", params))["taskId"] == first
    await bench.tasks.end()


async def test_few_tasks_are_one_page_oldest_first() -> None:
    bench = Bench()
    ids = [bench.start() for _ in range(3)]
    for params in (None, {}, {"cursor": None}):
        answer = await bench.request("tasks/list", params)
        assert list(answer) == ["tasks"]
        assert [task["taskId"] for task in answer["tasks"]] == ids
    assert await Bench().request("tasks/list") == {"tasks": []}
    await bench.tasks.end()


async def test_many_tasks_come_page_by_page_even_if_some_expire_meanwhile() -> None:
    bench = Bench()
    ids = [
        bench.tasks.create_receiver_task(
            initial_status="working", ttl=1_000 if number < PAGE_SIZE else 9_000
        ).task.task_id
        for number in range(2 * PAGE_SIZE + 5)
    ]
    first = await bench.request("tasks/list")
    assert [task["taskId"] for task in first["tasks"]] == ids[:PAGE_SIZE]
    await bench.clock.advance(1)  # all that were on the first page are gone
    second = await bench.request("tasks/list", {"cursor": first["nextCursor"]})
    assert [task["taskId"] for task in second["tasks"]] == ids[PAGE_SIZE : 2 * PAGE_SIZE]
    third = await bench.request("tasks/list", {"cursor": second["nextCursor"]})
    assert [task["taskId"] for task in third["tasks"]] == ids[2 * PAGE_SIZE :]
    assert "nextCursor" not in third
    bench.tasks.clear()


async def test_a_full_page_without_another_has_no_cursor() -> None:
    bench = Bench()
    for _ in range(PAGE_SIZE):
        bench.tasks.create_receiver_task(initial_status="working")
    assert "nextCursor" not in await bench.request("tasks/list")
    bench.tasks.clear()


async def test_a_cursor_that_is_none_of_ours_is_refused() -> None:
    bench = Bench()
    for _ in range(PAGE_SIZE + 1):
        bench.tasks.create_receiver_task(initial_status="working")
    ours = (await bench.request("tasks/list"))["nextCursor"]
    prefix = ours[: -len(str(PAGE_SIZE))]
    bad: list[Any] = ["", "1", "2.0", 5, [], ours[1:], prefix, prefix + "0", prefix + "-1"]
    bad += [ours + "0", prefix + "9" * 5_000, prefix + "²", prefix + "1e1"]
    for cursor in bad:
        assert (await bench.refusal("tasks/list", {"cursor": cursor}))[0] == -32602
    bench.tasks.clear()


# -- nothing leaks -------------------------------------------------------------------------------


def _kept() -> int:
    gc.collect()
    return sum(isinstance(one, ReceiverTaskRecord | asyncio.Task) for one in gc.get_objects())


@pytest.mark.parametrize("how", ["answered", "refused", "cancelled", "expired", "cleared"])
async def test_however_tasks_end_nothing_of_them_is_left(how: str) -> None:
    bench = Bench()
    before = _kept()
    ids = [bench.start(ttl=10_000) for _ in range(200)]
    await bench.settle()
    for task_id, answer in zip(ids, bench.answers, strict=True):
        if how == "answered":
            answer.set_result(ANSWER)
        elif how == "refused":
            answer.set_exception(ServerError(-1, "no"))
        elif how == "cancelled":
            bench.tasks.cancel_receiver_task(task_id)
    if how == "cleared":
        await bench.tasks.end()
    await bench.clock.advance(10)
    assert repr(bench.tasks) == "<ReceiverTasks 0 kept, 0 waiting>"
    assert bench.clock.timer_count == 0
    bench.answers.clear()
    bench.asked.clear()
    del answer  # of the loop: an exception in it leads to its task
    assert _kept() == before
