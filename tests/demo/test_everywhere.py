"""The demo over every transport and in both eras, as the engine sees it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Sized
from typing import Any

import pytest

import mcplens
from mcplens import InspectorError, ServerError
from mcplens.demo.registry import TOOLS, load_features
from mcplens.events import ListRefreshed, LogReceived, RequestStarted, ResourceRefreshed
from mcplens.protocol.eras import LOG_LEVELS

from .doors import PATIENCE_S, House, Way, call, heard, text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

load_features()

# Tools that need nobody's answer, with arguments where their defaults take too long or are missing.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "echo": {"text": "hi"},
    "add": {"a": 1, "b": 2},
    "form-text": {"needed": "x"},
    "form-numbers": {"count": 3},
    "form-choices": {"size": "small", "access": ["read"]},
    "form-nested": {"address": {"city": "Bern"}, "people": [{"name": "Ada"}]},
    "form-references": {"tree": {"name": "root", "children": [{"name": "leaf"}]}},
    "form-required": {"agreed": False, "note": None, "limit": None, "owner": None},
    "notes-write": {"note": "a note"},
    "search-web": {"query": "lenses"},
    "progress-steps": {"steps": 2, "seconds": 0},
    "progress-unknown": {"steps": 2, "seconds": 0},
    "wait": {"seconds": 0},
    "reconnect": {"retryMs": 20},
    "header-region": {"region": "zürich", "where": {"shard": 7}, "urgent": False, "query": "q"},
    "task-report": {"steps": 1, "seconds": 0},
}
ASKING = (
    "sample",
    "elicit",
    "list-roots",
    "ask-",
    "client-task",
    "task-ask",
    "task-after",
    "task-only",
)
PLAIN = [
    name
    for name in TOOLS
    if not name.startswith((*ASKING, "broken-", "fail-", "task-fail", "change-"))
]


async def test_the_revision_is_the_one_asked_for(client: mcplens.Client, way: Way) -> None:
    assert client.protocol_version == way.revision
    assert client.server_info["name"] == "mcplens-demo"


async def test_tools_come_in_several_pages_and_none_is_flagged(client: mcplens.Client) -> None:
    tools = await client.list_tools()
    assert [tool.name for tool in tools] == list(TOOLS)
    assert [tool.problem for tool in tools if tool.problem] == []
    page = await client.list_page("tools")
    assert len(page.items) < len(tools)
    assert page.next_cursor is not None


async def test_a_cursor_of_nobodys_is_refused(client: mcplens.Client) -> None:
    for cursor in ("nonsense", base64.b64encode(b"prompts:20").decode()):
        with pytest.raises(ServerError) as refused:
            await client.list_page("tools", cursor)
        assert refused.value.rpc_code == -32602


@pytest.mark.parametrize("name", PLAIN)
async def test_a_tool_can_be_called_and_its_result_keeps_every_rule(
    client: mcplens.Client, name: str
) -> None:
    reply = await client.request("tools/call", {"name": name, "arguments": ARGUMENTS.get(name, {})})
    assert reply.findings == ()
    assert not reply.value.get("isError")


async def test_arguments_that_break_the_schema_are_named_in_the_result(
    client: mcplens.Client,
) -> None:
    result = await client.call_tool("form-numbers", {"count": 99, "sure": "maybe"})
    assert result.is_error
    assert "99" in text_of(result)
    assert "sure" in text_of(result)


async def test_unknown_tools_and_methods_are_errors(client: mcplens.Client) -> None:
    with pytest.raises(ServerError) as refused:
        await client.call_tool("no-such-tool")
    assert refused.value.rpc_code == -32602
    with pytest.raises(ServerError) as refused:
        await client.request("no/such/method")
    assert refused.value.rpc_code == -32601


async def test_a_tool_fails_as_a_result_and_a_request_fails_as_an_error(
    client: mcplens.Client,
) -> None:
    result = await client.call_tool("fail-result", {"message": "no paper"})
    assert (result.is_error, text_of(result)) == (True, "no paper")
    with pytest.raises(ServerError) as refused:
        await client.call_tool("fail-error", {"code": -31999, "message": "no", "data": [1]})
    assert (refused.value.rpc_code, refused.value.data) == (-31999, [1])


async def test_progress_arrives_in_order_with_and_without_a_total(client: mcplens.Client) -> None:
    for name, total in (("progress-steps", 4), ("progress-unknown", None)):
        seen: list[Any] = []
        await client.call_tool(name, {"steps": 4, "seconds": 0}, on_progress=seen.append)
        assert [report.total for report in seen] == [total] * 4
        assert sorted({report.progress for report in seen}) == [report.progress for report in seen]


async def test_the_level_decides_which_log_messages_arrive(house: House, way: Way) -> None:
    async with house.connect(way) as client:
        await client.set_level("error")
        await client.call_tool("log-levels")
        await client.set_level("debug")
        await client.call_tool("log-message", {"level": "debug", "data": {"last": True}})
        last = await heard(client, LogReceived, lambda event: event.data == {"last": True})
        logs = [event async for event in _until(client, last)]
        assert [log.level for log in logs] == [*LOG_LEVELS[LOG_LEVELS.index("error") :], "debug"]


async def _until(client: mcplens.Client, last: Any) -> Any:
    async for event in client.events():
        if isinstance(event, LogReceived):
            yield event
        if event.seq == last.seq:
            return


async def test_a_call_that_is_aborted_stops_on_the_server(house: House, way: Way) -> None:
    async with asyncio.timeout(PATIENCE_S), house.connect(way) as client:
        before = len(await cancelled_calls(client))
        waiting = asyncio.ensure_future(client.call_tool("wait", {"seconds": 3600}))
        await heard(client, RequestStarted, lambda e: e.request_id in ids_of(client))
        await client.call_tool("echo", {"text": "now the call has arrived"})
        (entry,) = client.queue.in_progress()
        client.abort(entry.id, "changed my mind")
        with pytest.raises(InspectorError):
            await waiting
        while len(cancelled := await cancelled_calls(client)) == before:
            pass
        closes_stream = (way.transport, way.is_stateless) == ("http", True)
        reason = "the client closed the stream of its request"
        assert cancelled[-1] == {
            "requestId": entry.id,
            "reason": reason if closes_stream else "changed my mind",
        }


def ids_of(client: mcplens.Client) -> list[Any]:
    return [entry.id for entry in client.queue.in_progress()]


async def cancelled_calls(client: mcplens.Client) -> list[Any]:
    result = await client.call_tool("cancelled-calls")
    calls = result.structured_content["cancelled"]
    assert isinstance(calls, list)
    return calls


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
async def test_a_list_that_changes_is_announced_and_fetched_again(
    house: House, way: Way, kind: str
) -> None:
    async with house.connect(way) as client:
        fetch: dict[str, Callable[[], Awaitable[Sized]]] = {
            "tools": client.list_tools,
            "resources": client.list_resources,
            "prompts": client.list_prompts,
        }
        before = len(await fetch[kind]())
        if way.is_stateless:
            await client.catalog.subscription_stream.add(
                "demo://note"
            )  # the stream is open when this returns
        await client.call_tool("change-add", {"list": kind})
        try:
            await heard(client, ListRefreshed, lambda e: e.kind == kind and e.count == before + 1)
            added = client.catalog.known(kind)
            assert added is not None
            assert added[-1].name == "added-1"
            if kind == "tools":
                assert "works" in text_of(await client.call_tool("added-1"))
            elif kind == "resources":
                assert (await client.read_resource(added[-1].uri)).contents[0].text
            else:
                assert (await client.get_prompt("added-1")).messages
        finally:
            await client.call_tool("change-reset", {"list": kind})


async def test_a_subscribed_resource_tells_of_its_changes(house: House, way: Way) -> None:
    async with house.connect(way) as client:
        await client.subscribe("demo://note")
        result = await client.call_tool("touch-note", {"times": 2})
        revision = text_of(result).rpartition(" ")[2]
        await heard(
            client,
            ResourceRefreshed,
            lambda _: (
                client.catalog.resources["demo://note"].contents[0].text == f"revision {revision}"
            ),
        )
        await client.unsubscribe("demo://note")


async def test_every_resource_can_be_read(client: mcplens.Client) -> None:
    for resource in await client.list_resources():
        if resource.uri == "demo://for-you":
            continue  # asks first
        for part in (await client.read_resource(resource.uri)).contents:
            assert part.uri.startswith(resource.uri)
            assert (part.text is None) != (part.blob is None)


async def test_a_resource_that_is_not_there_has_the_code_of_its_revision(
    client: mcplens.Client, way: Way
) -> None:
    with pytest.raises(ServerError) as refused:
        await client.read_resource("demo://nowhere")
    assert refused.value.rpc_code == (-32602 if way.is_stateless else -32002)
    assert refused.value.data == {"uri": "demo://nowhere"}


async def test_templates_are_read_with_their_variables(client: mcplens.Client) -> None:
    templates = [template.uri_template for template in await client.list_resource_templates()]
    assert len(templates) == 3
    for uri, text in (
        ("demo://greeting/Gr%C3%A9ta", "Hello, Gréta!"),
        ("demo://files/src/app.py", "the contents of src/app.py"),
        ("demo://search?query=x&limit=3", '{"query":"x","limit":3}'),
        ("demo://search", '{"query":"","limit":10}'),
    ):
        assert (await client.read_resource(uri)).contents[0].text == text


async def test_completion_knows_prompts_and_templates_and_what_was_chosen_before(
    client: mcplens.Client,
) -> None:
    template = {"type": "ref/resource", "uri": "demo://files/{folder}/{file}"}
    prompt = {"type": "ref/prompt", "name": "translate"}
    for ref, name, value, context, expected in (
        (template, "folder", "", None, ["docs", "src"]),
        (template, "file", "m", {"folder": "src"}, ["main.py"]),
        (template, "file", "", None, []),
        (prompt, "language", "ger", None, ["German"]),
        (prompt, "tone", "", {"language": "French"}, ["formel", "familier"]),
        (prompt, "text", "x", None, []),
    ):
        found = await client.complete(ref, name, value, context)
        assert found.completion.values == expected
    with pytest.raises(ServerError):
        await client.complete({"type": "ref/prompt", "name": "nobody"}, "x", "")


async def test_prompts_have_messages_of_every_kind(client: mcplens.Client) -> None:
    names = [prompt.name for prompt in await client.list_prompts()]
    assert names == ["simple", "translate", "conversation", "for-you"]
    translated = await client.get_prompt("translate", {"text": "hi", "language": "German"})
    assert "into German: hi" in str(translated.messages[0].content)
    spoken = await client.get_prompt("conversation", {"name": "Ada"})
    assert {message.role for message in spoken.messages} == {"user", "assistant"}
    with pytest.raises(ServerError, match="needs language"):
        await client.get_prompt("translate", {"text": "hi"})


async def test_the_experimental_method_can_be_called_raw(client: mcplens.Client) -> None:
    reply = await client.request("mcplens/shout", {"text": "hello"})
    assert reply.value["text"] == "HELLO!"


async def test_a_large_result_comes_whole(client: mcplens.Client) -> None:
    result = await client.call_tool("content-large", {"kilobytes": 3_000})
    assert len(text_of(result)) == 3_000 * 1024


async def test_many_calls_at_once_are_answered_each_with_its_own(client: mcplens.Client) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.call_tool("echo", {"text": str(n)})) for n in range(50)]
    assert [text_of(task.result()) for task in tasks] == [str(n) for n in range(50)]


async def test_a_stream_that_is_hung_up_is_found_again(client: mcplens.Client, way: Way) -> None:
    text = text_of(await client.call_tool("reconnect", {"retryMs": 20}))
    is_resumable = (way.transport, way.is_stateless) == ("http", False)
    assert text == (
        "hung up, and found again" if is_resumable else "there is nothing to hang up here"
    )


async def test_what_needs_a_capability_says_which(client: mcplens.Client, way: Way) -> None:
    """The shared client declares none."""
    for name, needed in (
        ("sample", "sampling"),
        ("elicit-form", "elicitation"),
        ("list-roots", "roots"),
    ):
        if way.is_stateless:
            with pytest.raises(ServerError) as refused:
                await call(client, name)
            assert refused.value.rpc_code == -32021
            assert refused.value.data == {"requiredCapabilities": {needed: {}}}
        else:
            result = await client.call_tool(name)
            assert result.is_error
            assert needed in text_of(result)
