"""Questions with `task` while the server leaves, cancels, waits too long or asks again."""

from __future__ import annotations

import pytest

from mcplens.errors import InspectorError
from mcplens.events import QuestionClosed, ReceiverTaskChanged
from mcplens.protocol.tasks import RELATED_TASK

from .scripted import SILENT, ScriptedServer
from .task_rig import ELICIT, MESSAGES, SAMPLE, TaskRig


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
        rig.pending(task_id)  # which fails if nobody is asked any more


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
