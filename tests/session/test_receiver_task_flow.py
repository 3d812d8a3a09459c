"""Questions with `task`, from the server's request to its tasks/result and whatever comes between.

The server here is scripted: it asks, polls, cancels and leaves as a test says.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
from typing import Any

import pytest

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.errors import InspectorError, ServerError
from mcplens.events import QuestionClosed, QuestionOpened, ReceiverTaskChanged
from mcplens.protocol.tasks import RELATED_TASK
from mcplens.session.handler import PendingRequest, ServerRequest
from mcplens.session.receiver_tasks import ReceiverTaskRecord

from .scripted import SILENT, Rig, ScriptedServer, until

SAMPLE, ELICIT = "sampling/createMessage", "elicitation/create"
STATUS = "notifications/tasks/status"
MESSAGES = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}],
    "maxTokens": 10,
}
FORM = {
    "message": "who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
PARAMS = {SAMPLE: MESSAGES, ELICIT: FORM}


class TaskRig(Rig):
    """A client that holds tasks for its server, and what that server does with them."""

    def __init__(self, **options: Any) -> None:
        on = {"sampling": True, "elicitation": True, "receiver_tasks": True}
        super().__init__(**on | options)
        self._numbers = itertools.count(1)

    def send(self, method: str, params: Any = None) -> str:
        """The server sends a request; its id."""
        identity = f"q{next(self._numbers)}"
        self.server.ask(identity, method, params)
        return identity

    async def asked(self, method: str, params: Any = None) -> dict[str, Any]:
        """The server asks, and is answered at once."""
        identity = self.send(method, params)
        await self.settle()
        return self.answer(identity)

    def answer(self, identity: str) -> dict[str, Any]:
        answer = self.server.answer_to(identity)
        assert answer is not None, "not answered yet"
        return answer

    async def task(self, method: str = SAMPLE, **task: Any) -> str:
        """The server asks with `task`; the id of the task that it gets."""
        answer = await self.asked(method, {**PARAMS[method], "task": task})
        task_id: str = answer["result"]["task"]["taskId"]
        return task_id

    async def status(self, task_id: str) -> str:
        answer = await self.asked("tasks/get", {"taskId": task_id})
        return answer["result"]["status"] if "result" in answer else str(answer["error"]["code"])

    def pending(self, task_id: str) -> PendingRequest:
        """The question of a task, as the one who answers it sees it."""
        for pending in (
            *self.client.sampling.get_pending(),
            *self.client.elicitation.get_pending(),
        ):
            if pending.request.task_id == task_id:
                return pending
        raise AssertionError("nobody is asked")

    def say(self, task_id: str, words: str = "hi") -> None:
        self.client.sampling.resolve(self.pending(task_id).id, words)

    def fill_in(self, task_id: str, **answer: Any) -> None:
        self.client.elicitation.resolve(self.pending(task_id).id, answer)

    def told(self) -> list[tuple[str, str]]:
        """What the server was told on its own accord: task and status."""
        return [
            (one["params"]["taskId"], one["params"]["status"]) for one in self.server.sent(STATUS)
        ]

    def steps(self) -> list[str]:
        events = self.events(ReceiverTaskChanged)
        return ["gone" if event.is_gone else event.status for event in events]


# -- what is declared ----------------------------------------------------------------------------


async def test_receiver_tasks_are_declared_when_they_are_on() -> None:
    async with TaskRig() as rig:
        (hello,) = rig.server.sent("initialize")
        assert hello["params"]["capabilities"]["tasks"] == {
            "list": {},
            "cancel": {},
            "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
        }


async def test_off_nothing_is_declared_and_task_is_ignored() -> None:
    async with TaskRig(receiver_tasks=False) as rig:
        (hello,) = rig.server.sent("initialize")
        assert "tasks" not in hello["params"]["capabilities"]
        asked = rig.send(SAMPLE, {**MESSAGES, "task": {"ttl": 5_000}})
        await rig.settle()
        assert rig.server.answer_to(asked) is None  # a person answers the request itself
        (pending,) = rig.client.sampling.get_pending()
        assert pending.request.task_id is None
        rig.client.sampling.resolve(pending.id, "hi")
        await rig.settle()
        assert rig.answer(asked)["result"]["content"]["text"] == "hi"
        for method in ("tasks/list", "tasks/get", "tasks/result", "tasks/cancel"):
            assert (await rig.asked(method, {"taskId": "t"}))["error"]["code"] == -32601
        assert rig.server.sent(STATUS) == []


async def test_a_question_without_task_is_answered_as_ever() -> None:
    async with TaskRig() as rig:
        asked = rig.send(SAMPLE, MESSAGES)
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        rig.client.sampling.resolve(pending.id, "hi")
        await rig.settle()
        assert "task" not in rig.answer(asked)["result"]
        assert rig.client.receiver_tasks.list_receiver_tasks() == []


# -- from the question to the result -------------------------------------------------------------


async def test_sampling_with_task_is_answered_at_once_and_completed_when_a_person_answers() -> None:
    async with TaskRig() as rig:
        answer = await rig.asked(SAMPLE, {**MESSAGES, "task": {"ttl": 5_000}})
        task = answer["result"]["task"]
        assert list(answer["result"]) == ["task"]
        assert (task["status"], task["ttl"]) == ("input_required", 5_000)
        assert task["statusMessage"] == "Awaiting user input"
        (opened,) = rig.events(QuestionOpened)
        assert (opened.task_id, opened.origin, opened.timeout_s) == (task["taskId"], "task", 5.0)

        result = rig.send("tasks/result", {"taskId": task["taskId"]})
        await rig.advance(1)
        assert await rig.status(task["taskId"]) == "input_required"
        assert rig.server.answer_to(result) is None

        rig.say(task["taskId"], "hi")
        await rig.settle()
        assert await rig.status(task["taskId"]) == "completed"
        payload = rig.answer(result)["result"]
        assert payload.pop("_meta") == {RELATED_TASK: {"taskId": task["taskId"]}}
        assert payload == await rig.client.receiver_tasks.get_receiver_task_payload(task["taskId"])
        assert payload["content"] == {"type": "text", "text": "hi"}
        assert rig.told() == [(task["taskId"], "completed")]
        assert "_meta" not in rig.server.sent(STATUS)[0]["params"]
        assert rig.steps() == ["input_required", "completed"]


async def test_a_form_with_task_is_completed_with_what_was_filled_in() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task(ELICIT)
        rig.fill_in(task_id, action="accept", content={"name": "Ada"})
        await rig.settle()
        result = (await rig.asked("tasks/result", {"taskId": task_id}))["result"]
        assert (result["action"], result["content"]) == ("accept", {"name": "Ada"})
        assert await rig.status(task_id) == "completed"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_form_with_task_that_is_not_accepted_fails(action: str) -> None:
    async with TaskRig() as rig:
        task_id = await rig.task(ELICIT)
        result = rig.send("tasks/result", {"taskId": task_id})
        await rig.settle()
        rig.fill_in(task_id, action=action)
        await rig.settle()
        assert rig.answer(result)["error"]["code"] == -1
        assert rig.told() == [(task_id, "failed")]
        task = (await rig.asked("tasks/get", {"taskId": task_id}))["result"]
        assert task["statusMessage"] == rig.answer(result)["error"]["message"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_the_switch_completes_what_is_not_accepted(action: str) -> None:
    async with TaskRig(completes_declined_tasks=True) as rig:
        task_id = await rig.task(ELICIT)
        rig.fill_in(task_id, action=action)
        await rig.settle()
        result = (await rig.asked("tasks/result", {"taskId": task_id}))["result"]
        assert result == {"action": action, "_meta": {RELATED_TASK: {"taskId": task_id}}}
        assert rig.told() == [(task_id, "completed")]


async def test_a_rejected_question_fails_its_task_with_the_reason() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task()
        rig.client.sampling.reject(rig.pending(task_id).id, "not today")
        await rig.settle()
        refusal = (await rig.asked("tasks/result", {"taskId": task_id}))["error"]
        assert refusal == {"code": -1, "message": "not today"}
        assert rig.told() == [(task_id, "failed")]


async def test_a_question_that_cannot_be_asked_fails_its_task() -> None:
    async with TaskRig(capabilities={"sampling": {}}) as rig:  # without tools
        tools = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
        answer = await rig.asked(SAMPLE, {**MESSAGES, **tools, "task": {}})
        task_id = answer["result"]["task"]["taskId"]
        assert await rig.status(task_id) == "failed"
        refusal = (await rig.asked("tasks/result", {"taskId": task_id}))["error"]
        assert refusal["code"] == -32602


async def test_a_handler_of_the_users_own_answers_questions_with_task_too() -> None:
    asked: list[ServerRequest] = []

    def answer(request: ServerRequest) -> Any:
        asked.append(request)
        if len(asked) > 1:
            raise ServerError(-7, "once is enough")
        return {"model": "mine"}

    async with TaskRig(sampling=False, handlers={SAMPLE: answer}) as rig:
        first, second = [await rig.task() for _ in range(2)]
        assert [request.task_id for request in asked] == [first, second]
        result = (await rig.asked("tasks/result", {"taskId": first}))["result"]
        assert result == {"model": "mine", "_meta": {RELATED_TASK: {"taskId": first}}}
        refusal = (await rig.asked("tasks/result", {"taskId": second}))["error"]
        assert refusal == {"code": -7, "message": "once is enough"}


@pytest.mark.parametrize(
    ("task", "why"),
    [(True, "task must be an object"), ({"ttl": "1"}, "task.ttl"), ({"ttl": -1}, "task.ttl")],
)
async def test_a_wish_for_a_task_that_makes_no_sense_is_refused(task: Any, why: str) -> None:
    async with TaskRig() as rig:
        refusal = (await rig.asked(SAMPLE, {**MESSAGES, "task": task}))["error"]
        assert refusal["code"] == -32602
        assert why in refusal["message"]
        assert rig.client.sampling.get_pending() == []


async def test_the_ttl_is_the_clients_where_the_server_names_none() -> None:
    lifetimes = iter([2.0, 3.0])
    async with TaskRig(receiver_task_ttl_s=lambda: next(lifetimes)) as rig:
        for expected in (2_000, 3_000):
            answer = await rig.asked(SAMPLE, {**MESSAGES, "task": {}})
            assert answer["result"]["task"]["ttl"] == expected
        await rig.advance(2)
        (task,) = (await rig.asked("tasks/list"))["result"]["tasks"]
        assert task["ttl"] == 3_000


async def test_the_server_lists_its_tasks() -> None:
    async with TaskRig() as rig:
        ids = [await rig.task(), await rig.task(ELICIT)]
        rig.say(ids[0])
        await rig.settle()
        listed = (await rig.asked("tasks/list", {}))["result"]["tasks"]
        assert [(task["taskId"], task["status"]) for task in listed] == [
            (ids[0], "completed"),
            (ids[1], "input_required"),
        ]
        refusal = (await rig.asked("tasks/list", {"cursor": "next, please"}))["error"]
        assert refusal["code"] == -32602


# -- what can come in between --------------------------------------------------------------------


async def test_tasks_of_both_kinds_are_answered_in_any_order() -> None:
    async with TaskRig() as rig:
        samples = [await rig.task(SAMPLE) for _ in range(3)]
        forms = [await rig.task(ELICIT) for _ in range(3)]
        results = {one: rig.send("tasks/result", {"taskId": one}) for one in samples + forms}
        await rig.settle()
        rig.fill_in(forms[2], action="accept", content={"name": "c"})
        rig.say(samples[1], "b")
        rig.fill_in(forms[0], action="accept", content={"name": "a"})
        rig.say(samples[2], "c")
        await rig.settle()
        waiting = {one for one in results if rig.server.answer_to(results[one]) is None}
        assert waiting == {samples[0], forms[1]}
        rig.say(samples[0], "a")
        rig.fill_in(forms[1], action="accept", content={"name": "b"})
        await rig.settle()
        answers = {one: rig.answer(identity)["result"] for one, identity in results.items()}
        assert [answers[one]["content"]["text"] for one in samples] == ["a", "b", "c"]
        assert [answers[one]["content"]["name"] for one in forms] == ["a", "b", "c"]
        assert all(answers[one]["_meta"][RELATED_TASK]["taskId"] == one for one in answers)


async def test_the_server_leaves_while_a_person_is_typing() -> None:
    async with TaskRig() as rig:
        timers = rig.clock.timer_count
        done, waiting, polled = [await rig.task() for _ in range(3)]
        rig.say(done)
        rig.send("tasks/result", {"taskId": polled})
        await rig.settle()
        question = rig.pending(waiting).id
        payload = rig.go(rig.client.receiver_tasks.get_receiver_task_payload(waiting))
        await rig.settle()
        rig.server.leave()
        await rig.settle()
        assert rig.state == "DISCONNECTED"
        assert rig.client.sampling.get_pending() == []
        assert rig.client.receiver_tasks.list_receiver_tasks() == []
        assert isinstance(payload.exception(), InspectorError)
        assert {event.outcome for event in rig.events(QuestionClosed)} == {"answered", "withdrawn"}
        assert rig.steps()[-3:] == ["gone"] * 3
        assert rig.clock.timer_count <= timers
        with pytest.raises(InspectorError) as gone:
            rig.client.sampling.resolve(question, "too late")
        assert gone.value.code == "QUESTION_GONE"


async def test_a_new_connection_begins_without_tasks() -> None:
    async with TaskRig(max_retries=1) as rig:
        old = await rig.task()
        rig.server.leave()
        await rig.advance(60)
        assert rig.state == "CONNECTED"
        assert (await rig.asked("tasks/list"))["result"] == {"tasks": []}
        assert (await rig.asked("tasks/result", {"taskId": old}))["error"]["code"] == -32602
        new = await rig.task()
        assert await rig.status(new) == "input_required"


async def test_disconnecting_leaves_nothing_waiting() -> None:
    async with TaskRig() as rig:
        before = rig.clock.timer_count
        for _ in range(5):
            await rig.task()
        assert rig.clock.timer_count > before
        await rig.client.disconnect()
        assert rig.clock.timer_count <= before
        assert rig.client.sampling.get_pending() == []
        assert rig.client.receiver_tasks.list_receiver_tasks() == []


async def test_the_server_cancels_a_task_that_waits() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task(ttl=5_000)
        result = rig.send("tasks/result", {"taskId": task_id})
        await rig.settle()
        cancelled = (await rig.asked("tasks/cancel", {"taskId": task_id}))["result"]
        assert (cancelled["taskId"], cancelled["status"]) == (task_id, "cancelled")
        assert rig.answer(result)["error"]["code"] == -32603
        assert rig.client.sampling.get_pending() == []
        assert await rig.status(task_id) == "cancelled"
        assert rig.told() == [(task_id, "cancelled")]
        await rig.advance(5)  # and it does not stay for ever
        assert await rig.status(task_id) == "-32602"


async def test_the_server_cancels_a_task_that_has_just_completed() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task()
        rig.say(task_id)
        cancel = rig.send("tasks/cancel", {"taskId": task_id})  # sent before it heard of that
        await rig.settle()
        assert rig.answer(cancel)["error"]["code"] == -32602
        assert rig.client.receiver_tasks.cancel_receiver_task(task_id).status == "completed"
        assert await rig.status(task_id) == "completed"
        result = (await rig.asked("tasks/result", {"taskId": task_id}))["result"]
        assert result["content"]["text"] == "hi"
        assert rig.told() == [(task_id, "completed")]


async def test_a_server_that_never_polls_again_leaves_nothing_behind() -> None:
    async with TaskRig() as rig:
        timers = rig.clock.timer_count
        answered, waiting = await rig.task(ttl=5_000), await rig.task(ttl=5_000)
        rig.say(answered)
        await rig.advance(5)
        assert rig.client.receiver_tasks.list_receiver_tasks() == []
        assert rig.client.sampling.get_pending() == []
        assert rig.clock.timer_count == timers
        assert rig.told() == [(answered, "completed")]
        assert rig.events(ReceiverTaskChanged)[-1].task_id == waiting


async def test_a_task_expires_while_it_is_being_answered() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task(ttl=5_000)
        result = rig.send("tasks/result", {"taskId": task_id})
        await rig.settle()
        question = rig.pending(task_id).id
        await rig.advance(5)
        assert rig.answer(result)["error"]["code"] == -32602
        assert rig.events(QuestionClosed)[-1].question_id == question
        with pytest.raises(InspectorError) as gone:
            rig.client.sampling.resolve(question, "here you are")
        assert gone.value.code == "QUESTION_GONE"
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            assert (await rig.asked(method, {"taskId": task_id}))["error"]["code"] == -32602
        assert rig.told() == []


async def test_a_question_that_waits_too_long_fails_a_task_that_lives_longer() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task(ttl=3_600_000)
        await rig.advance(300)
        assert await rig.status(task_id) == "failed"
        refusal = (await rig.asked("tasks/result", {"taskId": task_id}))["error"]
        assert "timed out waiting for user response" in refusal["message"]


async def test_whoever_no_longer_wants_the_result_may_ask_for_it_again() -> None:
    async with TaskRig() as rig:
        task_id = await rig.task()
        result = rig.send("tasks/result", {"taskId": task_id})
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": result})
        await rig.settle()
        rig.say(task_id)
        await rig.settle()
        assert rig.server.answer_to(result) is None
        again = (await rig.asked("tasks/result", {"taskId": task_id}))["result"]
        assert again["content"]["text"] == "hi"


async def test_cancelling_the_request_that_made_a_task_does_not_touch_the_task() -> None:
    async with TaskRig() as rig:  # basic/utilities/cancellation: tasks/cancel is for that
        asked = rig.send(SAMPLE, {**MESSAGES, "task": {}})
        await rig.settle()
        task_id = rig.answer(asked)["result"]["task"]["taskId"]
        rig.server.notify("notifications/cancelled", {"requestId": asked})
        await rig.settle()
        assert await rig.status(task_id) == "input_required"
        assert rig.pending(task_id)


async def test_the_call_that_a_result_is_waited_for_in_does_not_time_out() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with TaskRig(server=server, config={"request_timeout_s": 30}) as rig:
        call = await rig.call()
        task_id = await rig.task(ttl=600_000)
        rig.send("tasks/result", {"taskId": task_id})
        await rig.advance(200)
        assert not call.done()
        rig.say(task_id)
        await rig.advance(29)
        assert not call.done()
        await rig.advance(2)
        assert call.done()


# -- nothing leaks -------------------------------------------------------------------------------

TASKS, AT_ONCE = 10_000, 500


def _kept() -> dict[str, int]:
    kinds = (ReceiverTaskRecord, PendingRequest, asyncio.Task, asyncio.Future, asyncio.TimerHandle)
    objects = gc.get_objects()
    return {kind.__name__: sum(isinstance(one, kind) for one in objects) for kind in kinds}


async def _ask_for(rig: TaskRig, count: int) -> None:
    """The server asks so many questions with `task`, and gets a task for each."""
    ids: set[str] = set()
    while len(ids) < count:
        rig.server.received.clear()
        rig.server.raw.clear()
        for _ in range(AT_ONCE):
            rig.send(SAMPLE, {**MESSAGES, "task": {"ttl": 60_000}})
        await until(lambda: len(rig.server.received) >= AT_ONCE)
        ids |= {answer["result"]["task"]["taskId"] for answer in rig.server.received}
    await rig.settle()
    assert len(rig.client.receiver_tasks.list_receiver_tasks()) == len(ids) == count


async def _run_through(rig: TaskRig, count: int) -> None:
    """So many tasks at once; of each four one is answered, refused, cancelled, and let expire."""
    await _ask_for(rig, count)
    for number, pending in enumerate(rig.client.sampling.get_pending()):
        if number % 4 == 0:
            rig.client.sampling.resolve(pending.id, "hi")
        elif number % 4 == 1:
            rig.client.sampling.reject(pending.id)
        elif number % 4 == 2:
            assert pending.request.task_id is not None
            rig.client.receiver_tasks.cancel_receiver_task(pending.request.task_id)
    await rig.settle()
    statuses = [task.status for task in rig.client.receiver_tasks.list_receiver_tasks()]
    ends = ("completed", "failed", "cancelled", "input_required")
    assert [statuses.count(end) for end in ends] == [count // 4] * 4
    await rig.advance(60)
    rig.server.received.clear()
    rig.server.raw.clear()


class HurriedClock(ManualClock):
    """Gives one turn after each of many timers, instead of twenty."""

    @staticmethod
    async def settle(rounds: int = 1) -> None:
        await ManualClock.settle(rounds)

    def forget_cancelled(self) -> None:
        """Let go of timers that were called off, as the loop does by itself."""
        self._timers = sorted(item for item in self._timers if not item[2].is_cancelled)


async def test_after_ten_thousand_tasks_memory_and_timers_are_back_where_they_were() -> None:
    clock = HurriedClock()
    async with TaskRig(clock=clock, bus=Bus(clock, max_events=100)) as rig:
        await _run_through(rig, AT_ONCE)  # what is made once and kept for good is made now
        gc.collect()
        timers, kept, blocks = clock.timer_count, _kept(), sys.getallocatedblocks()
        await _run_through(rig, TASKS)
        gc.collect()
        assert abs(sys.getallocatedblocks() - blocks) < TASKS // 10  # a leak is one for each task
        assert _kept() == kept
        assert clock.timer_count == timers
        assert repr(rig.client.receiver_tasks) == "<ReceiverTasks 0 kept, 0 waiting>"


async def test_ten_thousand_tasks_that_wait_are_gone_with_the_connection() -> None:
    clock = HurriedClock()
    async with TaskRig(clock=clock, bus=Bus(clock, max_events=100)) as rig:
        gc.collect()
        timers, kept, blocks = clock.timer_count, _kept(), sys.getallocatedblocks()
        await _ask_for(rig, TASKS)
        assert clock.timer_count >= timers + TASKS
        assert sys.getallocatedblocks() > blocks + 10 * TASKS
        refusal = (await rig.asked(SAMPLE, {**MESSAGES, "task": {}}))["error"]
        assert (refusal["code"], "10000 tasks" in refusal["message"]) == (-32603, True)
        await rig.client.disconnect()
        await rig.settle()
        clock.forget_cancelled()
        rig.server.received.clear()
        rig.server.raw.clear()
        gc.collect()
        assert clock.timer_count <= timers
        now = _kept()
        assert {name: now[name] <= kept[name] for name in kept} == dict.fromkeys(kept, True)
        assert sys.getallocatedblocks() - blocks < TASKS // 10
