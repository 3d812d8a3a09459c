"""Calls from the page: to the demo server, over a real socket."""

from __future__ import annotations

import asyncio
import json

import pytest

from .harness import Page, Refusal, Site


async def test_a_server_is_connected_and_says_who_it_is(page: Page) -> None:
    view = await page.connected("demo")
    assert view["server_info"]["name"] == "mcplens-demo"
    assert view["error"] is None
    assert view["channel"]["pid"]
    assert "tools" in view["capabilities"]


async def test_a_call_replies_at_once_and_its_result_follows(page: Page) -> None:
    await page.connected("demo")
    started = await page.ask("CallTool", server_id="demo", name="add", arguments={"a": 2, "b": 3})
    assert started["status"] in ("pending", "in_progress", "completed")
    call = await page.ended(started["call_id"])
    assert call["status"] == "completed"
    assert call["result"]["content"][0]["text"] == "5"
    assert call["request"] == {"name": "add", "arguments": {"a": 2, "b": 3}}
    assert len(call["request_ids"]) == 1


async def test_a_list_has_the_items_as_the_server_sent_them(page: Page) -> None:
    await page.connected("demo")
    found = await page.ask("List", server_id="demo", kind="tools")
    assert found["is_complete"]
    add = next(item["value"] for item in found["items"] if item["value"].get("name") == "add")
    assert add["inputSchema"]["type"] == "object"
    first = await page.ask("List", server_id="demo", kind="tools", refresh=True, one_page=True)
    assert first["next_cursor"]
    assert len(first["items"]) < len(found["items"])


async def test_arguments_that_break_the_schema_are_refused_unless_sent_anyway(page: Page) -> None:
    await page.connected("demo")
    await page.ask("List", server_id="demo", kind="tools")
    with pytest.raises(Refusal) as refused:
        await page.ask("CallTool", server_id="demo", name="add", arguments={"a": "x"})
    assert refused.value.error["code"] == "INVALID_REQUEST"
    assert refused.value.error["details"]["findings"]
    call = await page.call(
        "CallTool", server_id="demo", name="add", arguments={"a": "x"}, send_anyway=True
    )
    assert call["elapsed_s"] is not None


async def test_what_breaks_the_output_schema_is_told_once(page: Page) -> None:
    await page.connected("demo")
    await page.ask("List", server_id="demo", kind="tools")
    call = await page.call("CallTool", server_id="demo", name="broken-output", arguments={})
    assert call["status"] == "completed"
    assert len(call["findings"]) == 1, call["findings"]
    assert "breaks the output schema" in call["findings"][0]


async def test_progress_of_a_call_is_told(page: Page) -> None:
    await page.connected("demo")
    arguments = {"steps": 3, "seconds": 0.3}
    call = await page.call("CallTool", server_id="demo", name="progress-steps", arguments=arguments)
    assert call["progress"] is not None, call
    shown = [c["value"]["progress"] for c in page.changes if c["what"] == "calls" and c["value"]]
    assert any(shown)


async def test_several_calls_run_at_once_and_one_is_called_off(page: Page) -> None:
    await page.connected("demo")
    long = await page.ask("CallTool", server_id="demo", name="wait", arguments={"seconds": 60})
    short = await page.call("CallTool", server_id="demo", name="echo", arguments={"text": "hi"})
    assert short["status"] == "completed"
    assert page.things["calls", long["call_id"]]["status"] == "in_progress"
    await page.ask("CancelCall", call_id=long["call_id"])
    ended = await page.ended(long["call_id"])
    assert ended["status"] == "cancelled"


async def test_a_call_outlives_the_page_that_made_it(web: Site) -> None:
    async with web.page() as first:
        await first.connected("demo")
        long = await first.ask("CallTool", server_id="demo", name="wait", arguments={"seconds": 1})
    async with web.page() as second:
        (call,) = second.hello["calls"]
        assert call["call_id"] == long["call_id"]
        ended = await second.ended(call["call_id"])
        assert ended["status"] == "completed"
    async with web.page() as third:
        assert third.hello["calls"][0]["result"] == ended["result"]


async def test_a_large_result_is_fetched_over_http(web: Site, page: Page) -> None:
    await page.connected("demo")
    text = "x" * 400_000
    call = await page.call("CallTool", server_id="demo", name="echo", arguments={"text": text})
    assert call["result"] is None
    assert call["result_size_bytes"] > 400_000
    result = await web.get_json(f"/api/calls/{call['call_id']}/result")
    assert result["content"][0]["text"] == text


async def test_resources_prompts_and_any_request_are_calls_too(page: Page) -> None:
    await page.connected("demo")
    resources = await page.ask("List", server_id="demo", kind="resources")
    uri = resources["items"][0]["value"]["uri"]
    read = await page.call("ReadResource", server_id="demo", uri=uri)
    assert read["result"]["contents"]
    asked = await page.call("Request", server_id="demo", method="tools/list", params={})
    assert asked["result"]["tools"]
    raw = await page.call(
        "SendRaw", server_id="demo", text='{"jsonrpc":"2.0","id":"mine","method":"ping"}'
    )
    assert raw["result"]["id"] == "mine"
    assert raw["request_ids"] == ["mine"]


async def test_a_method_that_fails_is_an_error_with_its_help_page(page: Page) -> None:
    await page.connected("demo")
    call = await page.call("Request", server_id="demo", method="no/such", params={})
    assert call["status"] == "error"
    assert call["error"]["details"]["rpc_code"] == -32601
    assert call["error"]["helpUrl"] == "/docs/errors/server-error"


async def test_an_error_reply_to_raw_bytes_is_shown_whole(page: Page) -> None:
    await page.connected("demo")
    call = await page.call(
        "SendRaw", server_id="demo", text='{"jsonrpc":"2.0","id":"mine","method":"no/such"}'
    )
    assert call["status"] == "completed"
    assert call["is_error"]
    assert call["result"]["id"] == "mine"
    assert call["result"]["error"]["code"] == -32601


async def test_a_call_is_repeated_as_it_was_made_by_another_connection(page: Page) -> None:
    await page.connected("demo")
    first = await page.call(
        "CallTool", server_id="demo", name="add", arguments={"a": 2, "b": 12345678901234567},
        meta={"why": "test"}, timeout_s=7, listed_as="add #2",
    )  # fmt: skip
    raw = await page.call(
        "SendRaw", server_id="demo", text='{"jsonrpc":"2.0","id":"mine","method":"ping"}'
    )
    await page.ask("Disconnect", server_id="demo")
    with pytest.raises(Refusal) as refused:
        await page.ask("RepeatCall", call_id=first["call_id"])
    assert refused.value.error["code"] == "NOT_CONNECTED"
    await page.connected("demo")
    again = await page.call("RepeatCall", call_id=first["call_id"])
    assert again["call_id"] != first["call_id"]
    assert again["request"] == first["request"]
    assert again["request"]["_meta"]["why"] == "test"
    assert (again["headers"], again["timeout_s"]) == ({}, 7)
    assert (first["listed_as"], again["listed_as"]) == ("add #2", "add #2")
    assert again["result"] == first["result"]
    raw_again = await page.call("RepeatCall", call_id=raw["call_id"])
    assert raw_again["result"]["id"] == "mine"


async def test_a_call_without_a_limit_does_not_end_at_once(page: Page) -> None:
    await page.connected("demo")
    call = await page.call(
        "CallTool", server_id="demo", name="wait", arguments={"seconds": 0.05}, timeout_s=0,
        headers={"X-B": "2", "X-Api-Key": "s3cret"},
    )  # fmt: skip
    assert (call["status"], call["timeout_s"]) == ("completed", 0)
    assert call["headers"] == {"X-B": "2", "X-Api-Key": ""}
    assert "s3cret" not in json.dumps(call)
    message = '{"jsonrpc":"2.0","id":"mine","method":"ping"}'
    raw = await page.call("SendRaw", server_id="demo", text=message, timeout_s=0)
    assert raw["status"] == "completed"


async def test_a_server_that_is_not_connected_says_so(page: Page) -> None:
    with pytest.raises(Refusal) as refused:
        await page.ask("CallTool", server_id="demo", name="echo", arguments={})
    assert refused.value.error["code"] == "NOT_CONNECTED"


async def test_nonsense_is_answered_and_the_page_lives_on(page: Page) -> None:
    await page.socket.send('{"type": "Nonsense", "id": 77}')
    await page.socket.send("no json")
    with pytest.raises(Refusal):
        await page.ask("Connect", server_id="nobody")
    async with asyncio.timeout(5):
        assert (await page.ask("FoundServers")) == []
