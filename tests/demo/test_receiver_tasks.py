"""Tasks that the client holds, with a server on the other side of a real transport (TASKS 6.2).

The demo asks with `task`, waits in tasks/result, and shows in a tool's result what came back.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import mcplens
from mcplens import InspectorError
from mcplens.demo.client import DemoClient as ServerSide
from mcplens.demo.registry import ToolFailure
from mcplens.events import (
    FrameSent,
    QuestionOpened,
    ReceiverTaskChanged,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.tasks import RELATED_TASK

from .doors import HANDSHAKE, PATIENCE_S, House, Way, accept, heard, say, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

WAYS = [Way(transport, HANDSHAKE) for transport in ("stdio", "http", "sse", "ws")]
NETWORK = [way for way in WAYS if way.transport != "stdio"]
STATUS = "notifications/tasks/status"
SAMPLE, ELICIT = "client-task-sample", "client-task-elicit"
ON: dict[str, Any] = {"sampling": True, "elicitation": True, "receiver_tasks": True}


def over(ways: list[Way]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("way", ways, ids=str)


async def asked_by(client: mcplens.Client, tool: str) -> tuple[asyncio.Task[Any], QuestionOpened]:
    """Call a tool, and come back when it asks."""
    seq = client.last_seq
    call = asyncio.get_running_loop().create_task(client.call_tool(tool))
    return call, await heard(client, QuestionOpened, lambda event: event.seq > seq)


def sent(client: mcplens.Client) -> list[dict[str, Any]]:
    """All messages that the client sent."""
    events = [event for event in client.kept_events() if isinstance(event, FrameSent)]
    return [json.loads(event.message.raw) for event in events]


def answer_to(client: mcplens.Client, method: str) -> Any:
    """What the client answered to the server's one request of a method."""
    events = [event for event in client.kept_events() if isinstance(event, ServerRequestReceived)]
    (asked,) = [event.request_id for event in events if event.method == method]
    (answer,) = [one for one in sent(client) if one.get("id") == asked and "method" not in one]
    return answer["result"]


def steps(client: mcplens.Client) -> list[str]:
    events = [event for event in client.kept_events() if isinstance(event, ReceiverTaskChanged)]
    return [event.status for event in events]


@over(WAYS)
async def test_sampling_as_a_task_goes_from_the_question_to_the_result(
    house: House, way: Way
) -> None:
    async with (
        asyncio.timeout(PATIENCE_S),
        house.connect(way, receiver_task_ttl_s=30, **ON) as client,
    ):
        call, question = await asked_by(client, SAMPLE)
        task = answer_to(client, "sampling/createMessage")["task"]
        assert task["taskId"] == question.task_id
        assert (task["status"], task["ttl"]) == ("input_required", 60_000)
        (kept,) = client.receiver_tasks.list_receiver_tasks()
        assert kept.status == "input_required"
        assert not call.done()

        client.sampling.resolve(question.question_id, say("work in pieces"))
        assert text_of(await call) == "parrot says: work in pieces"

        (kept,) = client.receiver_tasks.list_receiver_tasks()
        assert (kept.task_id, kept.status) == (task["taskId"], "completed")
        payload = await client.receiver_tasks.get_receiver_task_payload(kept.task_id)
        assert payload == say("work in pieces")
        told = [one["params"] for one in sent(client) if one.get("method") == STATUS]
        assert [(one["taskId"], one["status"]) for one in told] == [(kept.task_id, "completed")]
        result = answer_to(client, "tasks/result")
        assert result.pop("_meta") == {RELATED_TASK: {"taskId": kept.task_id}}
        assert result == payload
        assert steps(client) == ["input_required", "completed"]
    assert client.receiver_tasks.list_receiver_tasks() == []


@over(WAYS)
async def test_a_form_as_a_task_is_filled_in_or_declined(house: House, way: Way) -> None:
    async with asyncio.timeout(PATIENCE_S), house.connect(way, **ON) as client:
        call, question = await asked_by(client, ELICIT)
        client.elicitation.resolve(question.question_id, accept(name="Ada"))
        assert text_of(await call) == "accept: {'name': 'Ada'}"

        call, question = await asked_by(client, ELICIT)
        client.elicitation.resolve(question.question_id, {"action": "decline"})
        result = await call
        assert result.is_error
        assert "the client refused: the user declined to answer (-1)" in text_of(result)
        assert steps(client) == ["input_required", "completed", "input_required", "failed"]


@over(WAYS)
async def test_the_switch_gives_the_server_the_answer_that_was_declined(
    house: House, way: Way
) -> None:
    options = ON | {"completes_declined_tasks": True}
    async with asyncio.timeout(PATIENCE_S), house.connect(way, **options) as client:
        call, question = await asked_by(client, ELICIT)
        client.elicitation.resolve(question.question_id, {"action": "cancel"})
        assert text_of(await call) == "cancel: None"
        assert steps(client) == ["input_required", "completed"]


@over(WAYS)
async def test_a_rejected_question_fails_for_the_server(house: House, way: Way) -> None:
    async with asyncio.timeout(PATIENCE_S), house.connect(way, **ON) as client:
        call, question = await asked_by(client, SAMPLE)
        client.sampling.reject(question.question_id, "not today")
        assert "the client refused: not today (-1)" in text_of(await call)
        assert steps(client) == ["input_required", "failed"]


@over(WAYS)
async def test_disconnecting_while_a_person_is_typing_leaves_nothing(
    house: House, way: Way
) -> None:
    async with asyncio.timeout(PATIENCE_S):
        async with house.connect(way, **ON) as client:
            call, _ = await asked_by(client, SAMPLE)
        with pytest.raises(InspectorError):
            await call
        assert client.receiver_tasks.list_receiver_tasks() == []
        assert client.sampling.get_pending() == []


def _server_side(house: House) -> ServerSide:
    """The client as the server knows it, in the middle of a call."""
    (one,) = [one for one in house.demo.clients.values() if one.running]
    return one


@over(NETWORK)
async def test_the_server_polls_lists_and_cancels(house: House, way: Way) -> None:
    async with asyncio.timeout(PATIENCE_S), house.connect(way, **ON) as client:
        call, question = await asked_by(client, SAMPLE)
        server = _server_side(house)
        named, during = {"taskId": question.task_id}, next(iter(server.running))
        task = await server.ask("tasks/get", named, during)
        assert (task["taskId"], task["status"]) == (question.task_id, "input_required")
        assert await server.ask("tasks/list", {}, during) == {"tasks": [task]}
        with pytest.raises(ToolFailure, match=r"Unknown taskId: no-such-task \(-32602\)"):
            await server.ask("tasks/get", {"taskId": "no-such-task"}, during)
        assert (await server.ask("tasks/cancel", named, during))["status"] == "cancelled"
        assert "the task was cancelled (-32603)" in text_of(await call)
        assert client.sampling.get_pending() == []
        assert client.receiver_tasks.list_receiver_tasks()[0].status == "cancelled"


@over(NETWORK)
async def test_a_task_is_asked_for_again_after_it_completed(house: House, way: Way) -> None:
    async with asyncio.timeout(PATIENCE_S), house.connect(way, **ON) as client:
        call, question = await asked_by(client, SAMPLE)
        server = _server_side(house)
        # A second tasks/result waits beside that of the tool.
        during, named = next(iter(server.running)), {"taskId": question.task_id}
        second = asyncio.get_running_loop().create_task(server.ask("tasks/result", named, during))
        both = [e for e in client.kept_events() if isinstance(e, ServerRequestEnded)]
        assert [event.method for event in both] == ["sampling/createMessage"]
        client.sampling.resolve(question.question_id, say("twice"))
        assert (await second)["content"] == {"type": "text", "text": "twice"}
        assert text_of(await call) == "parrot says: twice"
