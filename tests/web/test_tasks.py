"""Tasks of both roles, driven from the page against the demo server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .asking import (
    ERAS,
    HANDSHAKE,
    SERVER,
    asked,
    start,
    text_of,
    until_done,
    write_demo,
)
from .harness import Page, Refusal, site


async def task_of(page: Page, call_id: str) -> dict[str, Any]:
    """The task that a call became, once both know of each other."""

    def found() -> Any:
        call = page.things.get(("calls", call_id))
        key = ("tasks", f"{SERVER}/client/{call['task_id']}") if call else ("tasks", "")
        task = page.things.get(key)
        return task if task and task["call_id"] == call_id else None

    task: dict[str, Any] = await page.until(found)
    return task


async def task_in(page: Page, task: dict[str, Any], status: str) -> dict[str, Any]:
    key = ("tasks", f"{SERVER}/{task['role']}/{task['task_id']}")
    await page.until(lambda: page.things[key]["status"] == status)
    found: dict[str, Any] = page.things[key]
    return found


@pytest.mark.parametrize("version", ERAS)
async def test_a_call_becomes_a_task_and_shows_it(tmp_path: Path, version: str) -> None:
    write_demo(tmp_path, version)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        await page.ask("List", server_id=SERVER, kind="tools")
        work = {"steps": 2, "seconds": 0.3}
        call_id = await start(page, "task-report", arguments=work, as_task=True)
        task = await task_of(page, call_id)
        assert (task["role"], task["method"]) == ("client", "tools/call")
        assert task["request_seq"] in page.things["calls", call_id]["request_seqs"]
        if version == HANDSHAKE:
            assert page.things["calls", call_id]["request"]["task"] == {"ttl": 60_000}
        assert 0 < task["expires"] - task["updated"] <= 60
        assert task["poll_interval_s"]
        assert text_of(await page.ended(call_id)) == "the report has 2 pages"
        if version == HANDSHAKE:  # elsewhere the stream of the call is over, and its progress too
            assert page.things["calls", call_id]["progress"]["progress"] == 2
        assert (await task_in(page, task, "completed"))["is_over"]
        again = await page.call("GetTaskResult", server_id=SERVER, task_id=task["task_id"])
        assert text_of(again) == "the report has 2 pages"
        assert again["task_id"] == task["task_id"]
        listed = await page.ask("ListTasks", server_id=SERVER)
        assert task["task_id"] in [one["task_id"] for one in listed]


@pytest.mark.parametrize("version", ERAS)
async def test_the_question_of_a_task_belongs_to_its_call(tmp_path: Path, version: str) -> None:
    write_demo(tmp_path, version)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        other = await start(page, "wait", arguments={"seconds": 60})
        call_id = await start(page, "task-ask", as_task=True)
        task = await task_of(page, call_id)
        (question,) = await asked(page)
        assert (question["call_id"], question["task_id"]) == (call_id, task["task_id"])
        waits = await task_in(page, task, "input_required")
        assert waits["question_id"] == question["question_id"]
        answer = {"action": "accept", "content": {"name": "Ada"}}
        await page.ask("AnswerElicitation", question_id=question["question_id"], **answer)
        assert text_of(await page.ended(call_id)) == "done for Ada"
        await page.ask("CancelCall", call_id=other)


@pytest.mark.parametrize("version", ERAS)
async def test_a_task_is_cancelled_and_so_is_its_call(tmp_path: Path, version: str) -> None:
    write_demo(tmp_path, version)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        work = {"steps": 100, "seconds": 1}
        call_id = await start(page, "task-report", arguments=work, as_task=True)
        task = await task_of(page, call_id)
        await page.ask("CancelTask", server_id=SERVER, task_id=task["task_id"])
        await task_in(page, task, "cancelled")
        assert (await page.ended(call_id))["status"] == "cancelled"


async def test_a_task_that_cannot_be_had_is_refused_unless_sent_anyway(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        await page.ask("List", server_id=SERVER, kind="tools")
        echo = {"server_id": SERVER, "name": "echo", "arguments": {"text": "hi"}, "as_task": True}
        with pytest.raises(Refusal) as refused:
            await page.ask("CallTool", **echo)
        assert refused.value.error["code"] == "CAPABILITY_NOT_SUPPORTED"
        call = await page.call("CallTool", **echo, send_anyway=True)
        assert call["request"]["task"] == {"ttl": 60_000}
        with pytest.raises(Refusal, match="not known here"):
            await page.ask("CancelTask", server_id=SERVER, task_id="none", role="receiver")


async def test_a_task_that_we_hold_is_answered_and_cancelled(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        call_id = await start(page, "client-task-elicit")
        (question,) = await asked(page)
        assert question["origin"] == "task"
        key = ("tasks", f"{SERVER}/receiver/{question['task_id']}")
        held = await page.until(
            lambda: (one := page.things.get(key)) and one["question_id"] and one
        )
        assert (held["method"], held["call_id"]) == ("elicitation/create", call_id)
        assert held["status"] == "input_required"
        assert held["request_seq"] == question["request_seq"]
        waits = await page.ask(
            "GetTaskResult", server_id=SERVER, task_id=held["task_id"], role="receiver"
        )
        answer = {"action": "accept", "content": {"name": "Ada"}}
        await page.ask("AnswerElicitation", question_id=question["question_id"], **answer)
        assert "Ada" in text_of(await page.ended(call_id))
        assert (await page.ended(waits["call_id"]))["result"] == answer
        assert (await task_in(page, held, "completed"))["is_over"]

        call_id = await start(page, "client-task-elicit")
        (question,) = await asked(page)
        cancelled = await page.ask(
            "CancelTask", server_id=SERVER, task_id=question["task_id"], role="receiver"
        )
        assert cancelled["status"] == "cancelled"
        assert (await until_done(page, question))["outcome"] == "withdrawn"
        await page.ended(call_id)


@pytest.mark.parametrize("version", ERAS)
async def test_a_reload_finds_the_call_its_progress_and_both_questions(
    tmp_path: Path, version: str
) -> None:
    write_demo(tmp_path, version)
    async with site(tmp_path) as web:
        async with web.page() as first:
            await first.connected(SERVER)
            call_id = await start(first, "ask-everything")
            await asked(first, 2)
            slowly = {"steps": 20, "seconds": 0.2}
            running = await start(first, "progress-steps", arguments=slowly)
            await first.until(lambda: first.things["calls", running]["progress"])
        async with web.page() as second:
            calls = {one["call_id"]: one for one in second.hello["calls"]}
            assert calls[running]["progress"]["total"] == 20
            assert calls[call_id]["status"] == "in_progress"
            assert calls[call_id]["is_waiting_on_user"]
            questions = second.hello["questions"]
            assert {one["method"] for one in questions} == {
                "elicitation/create", "sampling/createMessage",
            }  # fmt: skip
            assert [(one["number"], one["count"]) for one in questions] == [(1, 2), (2, 2)]
            assert {one["call_id"] for one in questions} == {call_id}
            for question in questions:
                await second.ask("AutoRespond", question_id=question["question_id"], profile="auto")
            assert "the model says" in text_of(await second.ended(call_id))
            await second.ask("CancelCall", call_id=running)


@pytest.mark.parametrize("version", ERAS)
async def test_cancelling_a_call_withdraws_its_questions(tmp_path: Path, version: str) -> None:
    write_demo(tmp_path, version)
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        call_id = await start(page, "elicit-two")
        questions = await asked(page, 2)
        one_left = questions[1]
        await page.ask("AutoRespond", question_id=questions[0]["question_id"], profile="auto")
        key = ("questions", one_left["question_id"])
        await page.until(lambda: page.things[key]["count"] == 1)
        assert page.things[key]["number"] == 1
        ended = await page.ask("CancelCall", call_id=call_id)
        assert ended["status"] == "cancelled"
        done = await until_done(page, one_left)
        # In 2026-07-28 the question is part of an answer: it ends with the call that asks it.
        assert done["outcome"] == ("call cancelled" if version == HANDSHAKE else "withdrawn")


_AN_HOUR_AHEAD = (
    "import sys, mcplens.demo.tasks as tasks; iso = tasks._iso; "
    "tasks._iso = lambda wall: iso(wall + 3600); "
    "import runpy; sys.argv = ['mcplens.demo']; "
    "runpy.run_module('mcplens.demo', run_name='__main__')"
)


async def test_how_long_a_task_takes_is_by_one_clock(tmp_path: Path) -> None:
    write_demo(tmp_path, HANDSHAKE, args=["-c", _AN_HOUR_AHEAD])
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        await page.ask("List", server_id=SERVER, kind="tools")
        work = {"steps": 1, "seconds": 0.1}
        call_id = await start(page, "task-report", arguments=work, as_task=True)
        task = await task_in(page, await task_of(page, call_id), "completed")
        assert task["created"] - task["started"] > 3500
        assert 0 <= task["updated"] - task["started"] < 60
