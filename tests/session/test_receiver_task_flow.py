"""Questions with `task`, from the server's request to its tasks/result."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import ServerError
from mcplens.events import QuestionOpened
from mcplens.protocol.tasks import RELATED_TASK
from mcplens.session.question_handler import ServerRequest

from .task_rig import ELICIT, MESSAGES, SAMPLE, STATUS, TaskRig

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
