"""The typed operations, and request() that gives what came with what is wrong about it."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.session.results import Reply, schema_verdict

from .scripted import STATELESS, Refuse, Rig, ScriptedServer, text


def paged(key: str, *pages: tuple[list[Any], str | None]) -> Any:
    """A server's list in pages: (items, cursor of the next) by the cursor that asks for them."""
    cursors = [None, *(cursor for _, cursor in pages)]

    def answer(request: dict[str, Any]) -> Any:
        asked = (request.get("params") or {}).get("cursor")
        items, following = pages[cursors.index(asked)]
        return {key: items} | ({} if following is None else {"nextCursor": following})

    return answer


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}} | more


# -- lists ---------------------------------------------------------------------------------------


async def test_all_pages_of_a_list_are_fetched_and_cursors_go_back_as_they_came() -> None:
    pages = paged("tools", ([tool("a")], ""), ([tool("b")], "Ünï/=?"), ([tool("c")], None))
    async with Rig(ScriptedServer({"tools/list": pages})) as rig:
        assert [item.name for item in await rig.client.list_tools()] == ["a", "b", "c"]
        asked = [(m.get("params") or {}).get("cursor") for m in rig.server.sent("tools/list")]
        assert asked == [None, "", "Ünï/=?"]


async def test_one_page_can_be_fetched_alone() -> None:
    pages = paged("tools", ([tool("a")], "2"), ([tool("b")], None))
    async with Rig(ScriptedServer({"tools/list": pages})) as rig:
        first = await rig.client.list_page("tools")
        assert ([item.name for item in first.items], first.next_cursor) == (["a"], "2")
        second = await rig.client.list_page("tools", "2")
        assert ([item.name for item in second.items], second.next_cursor) == (["b"], None)
        with pytest.raises(InspectorError, match="nonsense"):
            await rig.client.list_page("nonsense")


@pytest.mark.parametrize("cursors", [["x"], ["x", "y"]], ids=["at once", "in a circle"])
async def test_a_cursor_that_comes_again_ends_the_list_and_is_told(cursors: list[str]) -> None:
    count = 0

    def endless(request: dict[str, Any]) -> Any:
        nonlocal count
        count += 1
        return {"tools": [tool(f"{count}")], "nextCursor": cursors[count % len(cursors)]}

    async with Rig(ScriptedServer({"tools/list": endless})) as rig:
        tools = await rig.client.list_tools()
        assert len(tools) == len(cursors) + 1
        assert any("twice" in remark for remark in rig.remarks())


async def test_a_broken_tool_never_hides_the_others() -> None:
    tools = [tool("good"), {"name": "broken", "inputSchema": "none"}, 5, None, tool("also good")]
    async with Rig(ScriptedServer({"tools/list": {"tools": tools}})) as rig:
        listed = await rig.client.list_tools()
        assert [item.name for item in listed] == ["good", "broken", "", "", "also good"]
        assert [item.problem is None for item in listed] == [True, False, False, False, True]
        assert [item.value() for item in listed] == tools
        assert (await rig.client.call_tool("broken")).content


@pytest.mark.parametrize(
    ("operation", "method", "key", "item"),
    [
        ("list_tools", "tools/list", "tools", tool("x")),
        ("list_resources", "resources/list", "resources", {"uri": "a:b", "name": "x"}),
        (
            "list_resource_templates",
            "resources/templates/list",
            "resourceTemplates",
            {"uriTemplate": "a:{b}", "name": "x"},
        ),
        ("list_prompts", "prompts/list", "prompts", {"name": "x", "arguments": [{"name": "y"}]}),
    ],
)
async def test_every_list_has_its_operation(
    operation: str, method: str, key: str, item: dict[str, Any]
) -> None:
    async with Rig(ScriptedServer({method: {key: [item]}})) as rig:
        (listed,) = await getattr(rig.client, operation)()
        assert listed.name == "x"
        assert listed.problem is None
        rig.server.answers[method] = {"wrong": []}
        with pytest.raises(ProtocolError, match=key) as problem:
            await getattr(rig.client, operation)()
        assert problem.value.code == "INVALID_RESPONSE"
        assert problem.value.value == {"wrong": []}


# -- tools ---------------------------------------------------------------------------------------


async def test_a_tools_own_failure_is_returned_and_not_raised() -> None:
    async with Rig(ScriptedServer({"tools/call": text("no") | {"isError": True}})) as rig:
        result = await rig.client.call_tool("add", {"a": 1})
        assert result.is_error
        assert result.content[0].text == "no"
        (call,) = rig.server.sent("tools/call")
        assert (call["params"]["name"], call["params"]["arguments"]) == ("add", {"a": 1})


async def test_the_servers_error_is_raised_with_code_message_and_data() -> None:
    async with Rig(ScriptedServer({"tools/call": Refuse(-32602, "bad", {"field": "a"})})) as rig:
        with pytest.raises(ServerError) as problem:
            await rig.client.call_tool("add")
        error = problem.value
        assert (error.rpc_code, error.rpc_message, error.data) == (-32602, "bad", {"field": "a"})
        assert (error.code, error.category) == ("SERVER_ERROR", "server")
        assert error.details["method"] == "tools/call"
        assert error.raw.startswith(b"{")


@pytest.mark.parametrize("result", [[1], None, "text", 5, {}, {"content": [{"type": "text"}]}])
async def test_a_result_that_breaks_its_shape_is_raised_with_raw_and_value(result: Any) -> None:
    async with Rig(ScriptedServer({"tools/call": lambda request: result})) as rig:
        with pytest.raises(ProtocolError) as problem:
            await rig.client.call_tool("add")
        error = problem.value
        assert error.code == "INVALID_RESPONSE"
        assert error.value == result
        assert error.raw.startswith(b'{"jsonrpc"')
        assert error.findings


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def structured(value: Any) -> dict[str, Any]:
    return text() | {"structuredContent": value}


def promising(schema: Any, result: Any) -> ScriptedServer:
    tools = {"tools": [tool("count", outputSchema=schema)]}
    return ScriptedServer({"tools/list": tools, "tools/call": result})


async def test_a_structured_result_that_keeps_its_schema_is_given() -> None:
    async with Rig(promising(SCHEMA, structured({"n": 5}))) as rig:
        await rig.client.list_tools()
        result = await rig.client.call_tool("count")
        assert result.structured_content == {"n": 5}
        assert result.findings == ()


@pytest.mark.parametrize(
    "result", [structured({"n": "five"}), structured({}), structured(None), text()]
)
async def test_a_result_that_breaks_its_output_schema_is_raised_with_raw_and_value(
    result: dict[str, Any],
) -> None:
    async with Rig(promising(SCHEMA, result)) as rig:
        await rig.client.list_tools()
        with pytest.raises(ProtocolError) as problem:
            await rig.client.call_tool("count")
        assert problem.value.code == "INVALID_RESPONSE"
        assert problem.value.value == result
        assert problem.value.raw
        assert problem.value.findings


async def test_a_result_stands_to_its_output_schema_as_its_findings_say() -> None:
    for answer in (structured({"n": "five"}), text("5")):
        async with Rig(promising(SCHEMA, answer)) as rig:
            await rig.client.list_tools()
            result = await rig.client.request("tools/call", {"name": "count", "arguments": {}})
            assert schema_verdict(result.findings) == "broken"
    assert schema_verdict(["unusual JSON: NaN"]) is None


async def test_a_failed_tool_need_not_keep_its_output_schema() -> None:
    async with Rig(promising(SCHEMA, text("sorry") | {"isError": True})) as rig:
        await rig.client.list_tools()
        assert (await rig.client.call_tool("count")).is_error


async def test_null_can_be_a_structured_result() -> None:
    async with Rig(promising({"type": "null"}, structured(None))) as rig:
        await rig.client.list_tools()
        assert (await rig.client.call_tool("count")).structured_content is None


async def test_an_output_schema_that_cannot_be_used_is_a_finding_and_no_failure() -> None:
    for schema in ({"type": "nonsense"}, {"$ref": "https://example.com/schema.json"}):
        async with Rig(promising(schema, structured({"n": 5}))) as rig:
            await rig.client.list_tools()
            result = await rig.client.call_tool("count")
            assert result.structured_content == {"n": 5}
            assert "was not used" in result.findings[0]
            assert schema_verdict(result.findings) == "unused"


async def test_a_tool_that_was_never_listed_is_not_judged_by_a_schema() -> None:
    async with Rig(promising(SCHEMA, structured("anything"))) as rig:
        assert (await rig.client.call_tool("count")).structured_content == "anything"


@pytest.mark.parametrize("fetch", ["list_tools", "list_page"])
async def test_a_schema_that_changed_is_the_one_that_counts(fetch: str) -> None:
    async with Rig(promising(SCHEMA, structured({"n": 5}))) as rig:
        await rig.client.list_tools()
        await rig.client.call_tool("count")
        rig.server.answers |= promising({"type": "string"}, structured("five")).answers
        await (rig.client.list_tools() if fetch == "list_tools" else rig.client.list_page("tools"))
        assert (await rig.client.call_tool("count")).structured_content == "five"


# -- the others ----------------------------------------------------------------------------------


async def test_read_get_and_complete_give_typed_results() -> None:
    server = ScriptedServer(
        {
            "resources/read": {"contents": [{"uri": "a:b", "text": "t", "mimeType": "text/x"}]},
            "prompts/get": {
                "description": "d",
                "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
            },
            "completion/complete": {"completion": {"values": ["x"], "hasMore": True}},
        }
    )
    async with Rig(server) as rig:
        read = await rig.client.read_resource("a:b")
        assert (read.contents[0].text, read.contents[0].mime_type) == ("t", "text/x")
        assert read.raw.startswith(b'{"contents"')
        prompt = await rig.client.get_prompt("p", {"x": "1"})
        assert (prompt.description, prompt.messages[0].content.text) == ("d", "hi")
        completion = await rig.client.complete(
            {"type": "ref/prompt", "name": "p"}, "arg", "va", {"earlier": "1"}
        )
        assert completion.completion.values == ["x"]
        assert completion.completion.has_more
        (sent,) = server.sent("completion/complete")
        assert sent["params"] == {
            "ref": {"type": "ref/prompt", "name": "p"},
            "argument": {"name": "arg", "value": "va"},
            "context": {"arguments": {"earlier": "1"}},
        }


@pytest.mark.parametrize(
    ("method", "start"),
    [
        ("resources/read", lambda client: client.read_resource("a:b")),
        ("prompts/get", lambda client: client.get_prompt("p")),
        ("completion/complete", lambda client: client.complete({}, "a", "b")),
    ],
)
async def test_their_results_are_judged_too(method: str, start: Any) -> None:
    async with Rig(ScriptedServer({method: {"nothing": "useful"}})) as rig:
        with pytest.raises(ProtocolError, match=method) as problem:
            await start(rig.client)
        assert problem.value.code == "INVALID_RESPONSE"
        assert problem.value.value == {"nothing": "useful"}


async def test_subscribe_unsubscribe_and_set_level_are_sent() -> None:
    async with Rig() as rig:
        await rig.client.subscribe("file:///a")
        await rig.client.unsubscribe("file:///a")
        await rig.client.set_level("debug")
        assert rig.server.sent("resources/subscribe")[0]["params"] == {"uri": "file:///a"}
        assert rig.server.sent("resources/unsubscribe")[0]["params"] == {"uri": "file:///a"}
        assert rig.server.sent("logging/setLevel")[0]["params"] == {"level": "debug"}


async def test_a_subscription_that_was_refused_is_none() -> None:
    async with Rig(ScriptedServer({"resources/subscribe": Refuse(-32002, "no such")})) as rig:
        with pytest.raises(ServerError, match="no such"):
            await rig.client.subscribe("file:///a")
        rig.server.notify("notifications/resources/updated", {"uri": "file:///a"})
        await rig.settle()
        assert rig.server.sent("resources/read") == []


async def test_an_unknown_option_is_refused_and_not_ignored() -> None:
    async with Rig() as rig:
        with pytest.raises(TypeError, match="timeout_ms"):
            await rig.client.list_tools(timeout_ms=5)  # type: ignore[call-arg]


# -- request -------------------------------------------------------------------------------------


async def test_request_sends_any_method_and_gives_value_and_bytes() -> None:
    async with Rig(ScriptedServer({"my/own": {"x": [1]}})) as rig:
        reply = await rig.client.request("my/own", {"a": 1})
        assert reply == Reply({"x": [1]}, b'{"x": [1]}', ())
        assert rig.server.sent("my/own")[0]["params"] == {"a": 1}
        await rig.client.request("my/own")
        assert "params" not in rig.server.sent("my/own")[1]


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("tools/list", {"tools": "none"}),
        ("tools/call", {"content": 5}),
        ("resources/read", {}),
        ("prompts/get", []),
        ("completion/complete", {"completion": {}}),
        ("my/own", [1, 2]),
        ("my/own", None),
    ],
)
async def test_request_gives_a_broken_result_with_its_findings(method: str, result: Any) -> None:
    async with Rig(ScriptedServer({method: lambda request: result})) as rig:
        reply = await rig.client.request(method, {"name": "x"})
        assert reply.value == result
        assert reply.findings


async def test_request_judges_a_tools_output_schema_as_well() -> None:
    async with Rig(promising(SCHEMA, structured({"n": "five"}))) as rig:
        await rig.client.list_tools()
        reply = await rig.client.request("tools/call", {"name": "count"})
        assert reply.value == structured({"n": "five"})
        assert any("output schema" in finding for finding in reply.findings)


async def test_request_gives_odd_bytes_as_well_as_they_can_be_read() -> None:
    odd = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xffb"}]}}'
    async with Rig(ScriptedServer({"tools/call": lambda request: odd % request["id"]})) as rig:
        reply = await rig.client.request("tools/call", {"name": "x"})
        assert reply.value == text("a\ufffdb")
        assert "not UTF-8" in reply.findings[0]
        result = await rig.client.call_tool("x")
        assert result.content[0].text == "a\ufffdb"


async def test_request_refuses_a_result_that_is_no_value() -> None:
    deep = b'{"jsonrpc":"2.0","id":%d,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    async with Rig(ScriptedServer({"my/own": lambda request: deep % request["id"]})) as rig:
        with pytest.raises(ProtocolError, match="nested too deeply") as problem:
            await rig.client.request("my/own")
        assert len(problem.value.raw) > 10_000


async def test_notify_sends_a_notification() -> None:
    async with Rig() as rig:
        rig.client.notify("notifications/roots/list_changed")
        rig.client.notify("my/own", {"x": 1})
        await rig.settle()
        assert rig.server.sent("notifications/roots/list_changed")
        assert rig.server.sent("my/own")[0]["params"] == {"x": 1}
        assert "id" not in rig.server.sent("my/own")[0]


@pytest.mark.parametrize("kind", ["complete", "input_required", "task"])
async def test_request_accepts_the_result_types_of_2026_07_28(kind: str) -> None:
    server = ScriptedServer({"my/own": {"resultType": kind}}, is_stateless=True)
    async with Rig(server, protocol_version=STATELESS) as rig:
        assert (await rig.client.request("my/own")).findings == ()


async def test_an_unknown_result_type_of_2026_07_28_is_invalid() -> None:
    result = text() | {"resultType": "surprise"}
    server = ScriptedServer({"tools/call": result}, is_stateless=True)
    async with Rig(server, protocol_version=STATELESS) as rig:
        assert "surprise" in (await rig.client.request("tools/call", {"name": "x"})).findings[0]
        with pytest.raises(ProtocolError, match="surprise") as problem:
            await rig.client.call_tool("x")
        assert problem.value.code == "INVALID_RESPONSE"


async def test_a_server_that_asks_for_input_first_is_told_as_such() -> None:
    result = {"resultType": "input_required", "inputRequests": {}}
    server = ScriptedServer({"tools/call": result}, is_stateless=True)
    async with Rig(server, protocol_version=STATELESS) as rig:
        with pytest.raises(ProtocolError, match="input_required") as problem:
            await rig.client.call_tool("x")
        assert problem.value.value == result
