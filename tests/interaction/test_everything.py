"""A full pass over server-everything, on all three of its transports: each tool, each list.

How its two tools that ask by a task of ours behave in detail is in test_receiver_tasks.py.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

import mcplens
from mcplens import ServerError, ToolResult
from mcplens.events import (
    ClientTaskChanged,
    InputRoundStarted,
    ListRefreshed,
    LogReceived,
    NotificationReceived,
    ResourceRefreshed,
    ServerRequestReceived,
)
from mcplens.session.profiles import Profiles

from .offers import ELICITATION, ROOTS, SAMPLING
from .scenario import Ear, over, text_of
from .targets import Door, Target

pytestmark = pytest.mark.asyncio(loop_scope="module")

RELATED = "io.modelcontextprotocol/related-task"
LINK = "https://example.com/authorize"
PNG = b"\x89PNG\r\n\x1a\n"


def is_everything(target: Target) -> bool:
    return target.server == "everything"


def _types(result: ToolResult) -> list[str]:
    return [block.type for block in result.content]


def _is_png(result: ToolResult, place: int) -> bool:
    block = result.content[place]
    return block.mime_type == "image/png" and base64.b64decode(block.data or "").startswith(PNG)


# A name for the case -> tool, arguments, whether its result is right.
PLAIN_CALLS: dict[str, tuple[str, dict[str, Any], Callable[[ToolResult], Any]]] = {
    "echo": ("echo", {"message": "hi"}, lambda r: text_of(r) == "Echo: hi"),
    "sum": ("get-sum", {"a": 1, "b": 2}, lambda r: text_of(r) == "The sum of 1 and 2 is 3."),
    "bad argument": ("get-sum", {"a": "one"}, lambda r: r.is_error),
    "unknown tool": ("no-such-tool", {}, lambda r: r.is_error and "not found" in text_of(r)),
    "environment": ("get-env", {}, lambda r: "PATH" in json.loads(text_of(r))),
    "image": (
        "get-tiny-image",
        {},
        lambda r: _types(r) == ["text", "image", "text"] and _is_png(r, 1),
    ),
    "annotations": (
        "get-annotated-message",
        {"messageType": "error", "includeImage": True},
        lambda r: r.content[0].annotations["priority"] == 1 and _is_png(r, 1),
    ),
    "links": (
        "get-resource-links",
        {"count": 3},
        lambda r: _types(r) == ["text"] + ["resource_link"] * 3,
    ),
    "text reference": (
        "get-resource-reference",
        {"resourceType": "Text", "resourceId": 2},
        lambda r: r.content[1].resource["text"].startswith("Resource 2"),
    ),
    "blob reference": (
        "get-resource-reference",
        {"resourceType": "Blob", "resourceId": 3},
        lambda r: base64.b64decode(r.content[1].resource["blob"]).startswith(b"Resource 3"),
    ),
    "structured": (
        "get-structured-content",
        {"location": "New York"},
        lambda r: r.structured_content == json.loads(text_of(r)),
    ),
}


@over(where=is_everything)
@pytest.mark.parametrize("case", PLAIN_CALLS)
async def test_a_tool_gives_what_it_promises(client: mcplens.Client, case: str) -> None:
    name, arguments, is_right = PLAIN_CALLS[case]
    await client.list_tools()  # so that output schemas are checked
    result = await client.call_tool(name, arguments)
    assert is_right(result), result.raw


@over(where=is_everything)
async def test_every_list_has_what_the_server_has(client: mcplens.Client) -> None:
    assert len(await client.list_tools()) == 17
    assert len(await client.list_resources()) >= 7
    assert len(await client.list_resource_templates()) == 2
    assert [prompt.name for prompt in await client.list_prompts()] == [
        "simple-prompt",
        "args-prompt",
        "completable-prompt",
        "resource-prompt",
    ]


# All that it offers to a client that answers and knows tasks.
ALL_TOOLS: dict[str, dict[str, Any]] = {
    "echo": {"message": "hi"},
    "get-sum": {"a": 1, "b": 2},
    "get-env": {},
    "get-tiny-image": {},
    "get-annotated-message": {"messageType": "success"},
    "get-resource-links": {"count": 3},
    "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
    "get-structured-content": {"location": "Chicago"},
    "gzip-file-as-resource": {"name": "all.gz", "data": "data:text/plain,hello"},
    "trigger-long-running-operation": {"duration": 0.04, "steps": 4},
    "toggle-simulated-logging": {},
    "toggle-subscriber-updates": {},
    "get-roots-list": {},
    "trigger-sampling-request": {"prompt": "Hello?"},
    "trigger-elicitation-request": {},
    "trigger-url-elicitation": {"url": LINK, "errorPath": True},
    "simulate-research-query": {"topic": "lenses", "ambiguous": True},
    "trigger-sampling-request-async": {"prompt": "Hello?"},
    "trigger-elicitation-request-async": {},
}


@over(where=is_everything)
async def test_all_19_tools_run_to_the_end_with_a_profile_that_answers(door: Door) -> None:
    echo = Profiles().get("echo")
    async with door.connect(
        request_handlers={},
        capabilities={},
        sampling=echo,
        elicitation=echo,
        roots=[door.folder],
        receiver_tasks=True,
    ) as client:
        offered = {tool.name for tool in await client.list_tools()}
        assert offered == ALL_TOOLS.keys()
        assert len(offered) == 19
        for name, arguments in ALL_TOOLS.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.raw)
            assert result.content, name


@over(where=is_everything)
async def test_a_client_without_capabilities_is_offered_less(door: Door) -> None:
    async with door.connect(request_handlers={}, capabilities={}) as client:
        assert len(await client.list_tools()) == 13


@over(where=is_everything)
async def test_every_prompt_can_be_had(client: mcplens.Client) -> None:
    arguments = {
        "simple-prompt": {},
        "args-prompt": {"city": "Paris", "state": "Texas"},
        "completable-prompt": {"department": "Engineering", "name": "Alice"},
        "resource-prompt": {"resourceType": "Text", "resourceId": "1"},
    }
    for name, given in arguments.items():
        assert (await client.get_prompt(name, given)).messages[0].role == "user"
    last = await client.get_prompt("resource-prompt", arguments["resource-prompt"])
    assert last.messages[1].content.type == "resource"


@over(where=is_everything)
async def test_every_resource_can_be_read(client: mcplens.Client) -> None:
    for resource in await client.list_resources():
        if resource.uri.startswith("demo://resource/static"):
            assert (await client.read_resource(resource.uri)).contents[0].text
    blob = (await client.read_resource("demo://resource/dynamic/blob/1")).contents[0].blob
    assert base64.b64decode(blob or "").startswith(b"Resource 1")


@over(where=is_everything)
async def test_it_asks_for_the_roots_soon_after_the_handshake(door: Door) -> None:
    async with door.connect() as client:
        asked = await Ear(client, from_start=True).hear(ServerRequestReceived)
        assert asked.method == ROOTS
        heard = await Ear(client, from_start=True).hear(LogReceived)
        assert heard.data == "Roots updated: 1 root(s) received from client"
        assert "the roots" in text_of(await client.call_tool("get-roots-list"))


@over(where=is_everything)
async def test_a_compressed_file_becomes_a_resource_and_the_list_is_fetched_again(
    door: Door,
) -> None:
    async with door.connect() as client:
        ear, before = Ear(client), len(await client.list_resources())
        data = {"name": "a.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"}
        result = await client.call_tool("gzip-file-as-resource", data)
        assert gzip.decompress(base64.b64decode(result.content[0].resource["blob"])) == b"hello"
        refreshed = await ear.hear(ListRefreshed, lambda e: e.kind == "resources")
        assert refreshed.count == before + 1


@over(where=is_everything)
async def test_four_steps_give_four_reports(client: mcplens.Client) -> None:
    reports: list[Any] = []
    arguments = {"duration": 0.04, "steps": 4}
    tool = "trigger-long-running-operation"
    await client.call_tool(tool, arguments, on_progress=reports.append)
    assert [(report.progress, report.total) for report in reports] == [
        (step, 4) for step in range(1, 5)
    ]


@over(where=is_everything)
async def test_logging_is_switched_on_and_off(client: mcplens.Client) -> None:
    ear = Ear(client)
    await client.set_level("debug")
    assert text_of(await client.call_tool("toggle-simulated-logging")).startswith("Started")
    assert "essage" in (await ear.hear(LogReceived, lambda e: "essage" in e.data)).data
    assert text_of(await client.call_tool("toggle-simulated-logging")).startswith("Stopped")


@over(where=is_everything)
async def test_updates_of_a_subscribed_resource_make_us_read_it(client: mcplens.Client) -> None:
    ear, uri = Ear(client), "demo://resource/dynamic/text/5"
    await client.subscribe(uri)
    await client.call_tool("toggle-subscriber-updates")
    updated = await ear.hear(NotificationReceived, lambda e: e.method.endswith("updated"))
    assert updated.params == {"uri": uri}
    await ear.hear(ResourceRefreshed, lambda e: e.uri == uri and e.error is None)
    await client.call_tool("toggle-subscriber-updates")
    await client.unsubscribe(uri)


@over(where=is_everything)
async def test_sampling_and_a_form_are_answered_by_functions(client: mcplens.Client) -> None:
    ear = Ear(client)
    sampled = await client.call_tool("trigger-sampling-request", {"prompt": "Hello?"})
    assert '"text": "sampled"' in text_of(sampled)
    asked = await ear.hear(ServerRequestReceived, lambda e: e.method == SAMPLING)
    assert asked.params["messages"][0]["content"]["text"].endswith("Hello?")
    filled = await client.call_tool("trigger-elicitation-request")
    assert "- Name: Ada" in text_of(filled)
    form = await ear.hear(ServerRequestReceived, lambda e: e.method == ELICITATION)
    assert form.params["requestedSchema"]["type"] == "object"


@over(where=is_everything)
async def test_a_link_is_offered_and_demanded_by_an_error(client: mcplens.Client) -> None:
    ear, tool = Ear(client), "trigger-url-elicitation"
    assert "completed" in text_of(await client.call_tool(tool, {"url": LINK}))
    asked = await ear.hear(ServerRequestReceived, lambda e: e.method == ELICITATION)
    assert (asked.params["mode"], asked.params["url"]) == ("url", LINK)
    demanded = {"url": LINK, "errorPath": True, "elicitationId": f"once-{id(client)}"}
    with pytest.raises(ServerError) as caught:
        await client.request("tools/call", {"name": tool, "arguments": demanded})
    assert caught.value.rpc_code == -32042
    assert caught.value.data["elicitations"][0]["mode"] == "url"
    again = demanded | {"elicitationId": f"twice-{id(client)}"}
    assert "completed" in text_of(await client.call_tool(tool, again))  # agreed to, and retried
    assert len((await ear.hear(InputRoundStarted)).keys) == 1


@over(where=is_everything)
async def test_a_tool_that_must_be_a_task_refuses_to_be_called_otherwise(
    client: mcplens.Client,
) -> None:
    result = await client.call_tool("simulate-research-query", {"topic": "x"}, task=False)
    assert result.is_error
    assert "requires task augmentation" in text_of(result)


@over(where=is_everything)
async def test_a_task_works_asks_and_completes(client: mcplens.Client) -> None:
    ear = Ear(client)
    arguments = {"topic": "lenses", "ambiguous": True}
    result = await client.call_tool("simulate-research-query", arguments)  # a task unasked
    assert "lenses" in text_of(result)
    changed = await ear.hear(ClientTaskChanged)
    assert changed.status == "working"
    asking = await ear.hear(ClientTaskChanged, lambda e: e.status == "input_required")
    assert result.meta[RELATED] == {"taskId": changed.task_id}
    question = await ear.hear(ServerRequestReceived, lambda e: e.method == ELICITATION)
    assert question.params["_meta"][RELATED] == {"taskId": asking.task_id}
    await ear.hear(ClientTaskChanged, lambda e: e.status == "completed")
    listed = await client.list_client_tasks()
    assert changed.task_id in [task.task_id for task in listed]


@over(where=is_everything)
async def test_a_task_that_was_started_can_be_cancelled(client: mcplens.Client) -> None:
    arguments = {"topic": "lenses", "ambiguous": False}
    task = await client.start_tool_task("simulate-research-query", arguments)
    assert (await client.get_client_task(task.task_id)).status == "working"
    assert (await client.cancel_client_task(task.task_id)).status == "cancelled"
    with pytest.raises(mcplens.InspectorError, match="was cancelled"):
        await client.get_client_task_result(task.task_id)


@over(where=lambda target: is_everything(target) and target.transport == "http")
async def test_a_task_can_be_driven_with_raw_requests(client: mcplens.Client) -> None:
    ear = Ear(client)
    arguments = {"topic": "lenses", "ambiguous": True}
    params = {"name": "simulate-research-query", "arguments": arguments, "task": {"ttl": 60_000}}
    task = (await client.request("tools/call", params)).value["task"]
    assert task["status"] == "working"
    identity = {"taskId": task["taskId"]}
    result = (await client.request("tasks/result", identity)).value
    assert "lenses" in result["content"][0]["text"]
    question = await ear.hear(ServerRequestReceived, lambda e: e.method == ELICITATION)
    assert question.params["_meta"]["io.modelcontextprotocol/related-task"] == identity
    assert (await client.request("tasks/get", identity)).value["status"] == "completed"
