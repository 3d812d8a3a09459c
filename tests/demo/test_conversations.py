"""Whole conversations with the demo by the client's own operations, over every way in both eras:
questions before an answer, and calls that become tasks."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

import mcplens
from mcplens import InspectorError, ServerError
from mcplens.events import ClientTaskChanged, InputRoundStarted, RequestEnded
from mcplens.session.question_handler import ServerRequest

from .doors import EVERYTHING, House, Way, accept, heard, say, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

RELATED = "io.modelcontextprotocol/related-task"
QUICK = {"steps": 2, "seconds": 0}
ANSWERS: dict[str, Any] = {
    "elicitation/create": lambda _: accept(name="Ada"),
    "sampling/createMessage": lambda _: say("how nice"),
    "roots/list": lambda _: {"roots": [{"uri": "file:///work"}]},
}


def connect(house: House, way: Way, **answers: Any) -> mcplens.connect:
    return house.connect(way, capabilities=EVERYTHING, request_handlers=ANSWERS | answers)


def statuses(client: mcplens.Client) -> list[str]:
    events = [event for event in client.kept_events() if isinstance(event, ClientTaskChanged)]
    return [event.status for event in events]


# -- questions before an answer ------------------------------------------------------------------


async def test_three_questions_of_one_call_are_answered(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        result = await client.call_tool("ask-everything")
        assert text_of(result) == "Ada has 1 roots, and the model says: how nice"
        if way.is_stateless:
            started = await heard(client, InputRoundStarted)
            assert (started.round, sorted(started.keys)) == (1, ["form", "model", "roots"])


async def test_a_page_is_asked_about_until_it_was_visited(house: House, way: Way) -> None:
    asked: list[str] = []

    async def answer(request: ServerRequest) -> Any:
        asked.append(request.origin)
        if len(asked) > 1:  # the first promise is not kept
            url = request.params["url"]
            async with aiohttp.ClientSession() as http, http.get(url) as response:
                assert response.status == 200
        return {"action": "accept"}

    async with connect(house, way, **{"elicitation/create": answer}) as client:
        result = await client.call_tool("elicit-url-required")
        assert text_of(result).startswith("the page was visited")
        assert asked == ["input_required" if way.is_stateless else "error"] * 2


async def test_a_page_that_is_not_opened_ends_the_call(house: House, way: Way) -> None:
    decline = {"elicitation/create": lambda _: {"action": "decline"}}
    async with connect(house, way, **decline) as client:
        if way.is_stateless:
            result = await client.call_tool("elicit-url-required")
            assert "was not opened: decline" in text_of(result)
        else:
            with pytest.raises(ServerError) as refused:
                await client.call_tool("elicit-url-required")
            assert refused.value.rpc_code == -32042


# -- tasks ---------------------------------------------------------------------------------------


async def test_a_call_that_becomes_a_task_gives_its_result(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        task = None if way.is_stateless else 30
        result = await client.call_tool("task-report", QUICK, task=task)
        assert text_of(result) == "the report has 2 pages"
        assert statuses(client)[0] == "working"
        assert text_of(await client.call_tool("task-only", QUICK)) == "2 steps in the background"
        (first, second) = client.tracked_client_tasks
        assert first.task_id != second.task_id
        if not way.is_stateless:
            assert result.meta[RELATED] == {"taskId": first.task_id}
            assert first.ttl == 30_000
            assert first.immediate_response
            listed = await client.list_client_tasks()
            assert {first.task_id, second.task_id} <= {task.task_id for task in listed}


async def test_a_task_that_asks_is_answered_and_goes_on(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        task = None if way.is_stateless else True
        assert text_of(await client.call_tool("task-ask", task=task)) == "done for Ada"
        after = await client.call_tool("task-after-form", QUICK)
        assert text_of(after) == "2 steps were done for Ada"


async def test_a_task_fails_as_the_call_would_have(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        task = None if way.is_stateless else True
        result = await client.call_tool("task-fail", {"how": "result"}, task=task)
        assert (result.is_error, text_of(result)) == (True, "the task failed")
        with pytest.raises(ServerError) as failed:
            await client.call_tool("task-fail", {"how": "error"}, task=task)
        assert (failed.value.rpc_code, failed.value.data) == (-32000, {"how": "error"})


async def test_a_task_is_started_looked_at_and_cancelled(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        task = await client.start_tool_task("task-report", {"steps": 50, "seconds": 10})
        assert (await client.get_client_task(task.task_id)).status == "working"
        assert (await client.cancel_client_task(task.task_id)).status == "cancelled"
        with pytest.raises(InspectorError, match="was cancelled") as ended:
            await client.get_client_task_result(task.task_id)
        assert ended.value.code == "CANCELLED"


async def test_a_caller_that_leaves_takes_his_task_with_him(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        task = None if way.is_stateless else True
        arguments = {"steps": 50, "seconds": 10}
        calling = asyncio.ensure_future(client.call_tool("task-report", arguments, task=task))
        await heard(client, ClientTaskChanged)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
    ended = [event for event in client.kept_events() if isinstance(event, RequestEnded)]
    assert [event.status for event in ended if event.method == "tasks/cancel"] == ["completed"]


async def test_a_result_can_be_had_by_whoever_knows_the_id(house: House, way: Way) -> None:
    async with connect(house, way) as client:
        task = await client.start_tool_task("task-report", QUICK)
        result = await client.get_client_task_result(task.task_id)
        assert text_of(result) == "the report has 2 pages"
        if way.is_stateless and way.transport != "stdio":
            async with connect(house, way) as other:
                same = await other.get_client_task_result(task.task_id)
                assert text_of(same) == text_of(result)
