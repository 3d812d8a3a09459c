"""Tasks of 2026-07-28 that ask something: answered by an update, withdrawn, asked again."""

from __future__ import annotations

from .extension_servers import Person, TaskServer, extended, task
from .person import ACCEPTED, ELICIT, FORM
from .scripted import SILENT, Refuse, failure, text


async def test_its_questions_are_answered_by_an_update_while_polling_goes_on() -> None:
    person = Person()
    server = TaskServer()
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow")
        server.move("input_required", inputRequests={"who": FORM})
        await rig.advance(2)
        (asked,) = person.asked
        call_id = server.sent("tools/call")[0]["id"]
        assert (asked.id, asked.task_id, asked.caused_by) == ("t1/who", "t1", call_id)
        assert (asked.origin, asked.expires_in_s) == ("input_required", 58.0)
        await rig.advance(6)
        assert server.polls() == 4
        assert len(person.asked) == 1  # the same question is not asked at each poll
        person.answer(ACCEPTED)
        await rig.settle()
        (update,) = server.sent("tasks/update")
        assert update["params"]["taskId"] == "t1"
        assert update["params"]["inputResponses"] == {"who": ACCEPTED}
        await rig.advance(4)  # the server is slow to notice
        assert len(server.sent("tasks/update")) == 1
        server.move("completed", result=text("for Ada"))
        await rig.advance(2)
        assert (await call).content[0].text == "for Ada"


async def test_each_question_is_answered_on_its_own_and_new_ones_are_asked() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"a": FORM, "b": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        person.answer({"action": "decline"}, 1)
        await rig.settle()
        assert server.responses == {"b": {"action": "decline"}}
        server.move("input_required", inputRequests={"a": FORM, "c": FORM})
        await rig.advance(2)
        assert [each.id for each in person.asked] == ["t1/a", "t1/b", "t1/c"]
        person.answer(ACCEPTED, 0)
        person.answer(ACCEPTED, 2)
        await rig.settle()
        assert server.responses.keys() == {"a", "b", "c"}


async def test_questions_that_the_task_no_longer_asks_are_withdrawn() -> None:
    for after in ({"inputRequests": {"b": FORM}}, None):
        person = Person()
        server = TaskServer()
        server.move("input_required", inputRequests={"a": FORM})
        async with extended(server, handlers={ELICIT: person}) as rig:
            await rig.client.start_tool_task("slow")
            await rig.settle()
            if after is None:
                server.move("completed", result=text())
            else:
                server.move("input_required", **after)
            await rig.advance(2)
            assert person.withdrawn == 1
            assert server.sent("tasks/update") == []


async def test_a_question_that_was_withdrawn_is_asked_again_when_the_task_wants_it_after_all() -> (
    None
):
    person = Person()
    server = TaskServer()
    asking = {"inputRequests": {"a": FORM}}
    server.move("input_required", **asking)
    async with extended(server, handlers={ELICIT: person}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.move("working")
        await rig.advance(2)
        assert person.withdrawn == 1
        server.move("input_required", **asking)
        await rig.advance(2)
        assert len(person.asked) == 2
        person.answer(ACCEPTED)
        await rig.advance(2)  # the server still lists it: an answer is given once
        assert len(person.asked) == 2
        assert server.responses == {"a": ACCEPTED}


async def test_a_status_that_leaves_the_questions_out_withdraws_none() -> None:
    person = Person()
    server = TaskServer(listens=True)
    server.move("input_required", inputRequests={"a": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.tell("notifications/tasks", task("input_required"))
        await rig.settle()
        assert person.withdrawn == 0
        person.answer(ACCEPTED)
        await rig.settle()
        assert server.responses == {"a": ACCEPTED}


async def test_a_task_that_expires_while_it_is_being_answered_withdraws_the_question() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"a": FORM})
    async with extended(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("slow")
        server.answers["tasks/get"] = Refuse(-32602, "no such task")
        await rig.advance(2)
        assert "no longer knows the task" in failure(call).message
        assert person.withdrawn == 1


async def test_a_refusal_that_is_no_answer_ends_the_call_and_the_task() -> None:
    server = TaskServer()
    server.move("input_required", inputRequests={"r": {"method": "roots/list"}})
    async with extended(server) as rig:
        call = await rig.call("slow")
        await rig.settle()
        error = failure(call)
        assert (error.code, error.details["task_id"]) == ("INPUT_REFUSED", "t1")
        assert len(server.sent("tasks/cancel")) == 1


async def test_questions_that_cannot_be_asked_are_an_invalid_response() -> None:
    server = TaskServer()
    async with extended(server) as rig:
        call = await rig.call("slow")
        server.move("input_required", inputRequests={"r": {"method": "tools/call"}})
        await rig.advance(2)
        assert failure(call).code == "INVALID_RESPONSE"


async def test_an_update_that_the_server_refuses_is_the_callers_error() -> None:
    server = TaskServer({"tasks/update": Refuse(-32602, "not what I asked")})
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        call = await rig.call("slow")
        assert "not what I asked" in failure(call).message


async def test_an_answer_is_not_lost_with_the_connection() -> None:
    person = Person()
    server = TaskServer({"tasks/update": SILENT})
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: person}, max_retries=3) as rig:
        call = await rig.call("slow")
        person.answer(ACCEPTED)
        await rig.settle()
        server.leave()
        await rig.settle()
        server.answers["tasks/update"] = server._updated
        await rig.advance(1)
        assert server.responses == {"who": ACCEPTED}
        server.move("completed", result=text())
        await rig.advance(2)
        assert (await call).content


async def test_a_question_that_the_connection_took_away_is_asked_again() -> None:
    person = Person()
    server = TaskServer()
    server.move("input_required", inputRequests={"who": FORM})
    async with extended(server, handlers={ELICIT: person}, max_retries=3) as rig:
        await rig.client.start_tool_task("slow")
        await rig.settle()
        server.leave()
        await rig.settle()
        assert person.withdrawn == 1
        await rig.advance(3)
        assert len(person.asked) == 2
