"""Bytes exactly as typed: what comes back for them, and what is remembered of how they went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .asking import SERVER, write_demo
from .harness import Page, Refusal, site

# What every request of 2026-07-28 carries.
_OURS = "io.modelcontextprotocol/"
ENVELOPE = {
    f"{_OURS}protocolVersion": "2026-07-28",
    f"{_OURS}clientCapabilities": {},
    f"{_OURS}clientInfo": {"name": "test", "version": "0"},
}


def request(identity: int | str, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


async def test_a_reply_to_what_is_no_message_is_shown(page: Page) -> None:
    await page.connected("demo")
    call = await page.call("SendRaw", server_id="demo", text="this is no JSON")
    assert call["status"] == "completed"
    assert call["is_error"]
    assert call["result"]["id"] is None
    assert call["result"]["error"]["code"] == -32700
    assert call["error"]["details"]["rpc_code"] == -32700


async def test_an_error_reply_is_shown_as_it_came_and_as_what_it_says(page: Page) -> None:
    await page.connected("demo")
    call = await page.call("SendRaw", server_id="demo", text=request(8, "no/such", _meta=ENVELOPE))
    assert (call["status"], call["is_error"]) == ("completed", True)
    error = call["result"]["error"]
    assert call["error"]["details"]["rpc_message"] == error["message"]
    assert call["error"]["message"].startswith("the server answered with error -32601")


async def test_a_tool_that_fails_is_an_error_also_where_its_request_was_written_by_hand(
    page: Page,
) -> None:
    await page.connected("demo")
    text = request(77, "tools/call", name="fail-result", arguments={}, _meta=ENVELOPE)
    call = await page.call("SendRaw", server_id="demo", text=text)
    assert (call["status"], call["is_error"]) == ("completed", True)
    assert call["tool_error"] == call["result"]["result"]["content"][0]["text"]
    await page.until(lambda: page.things["servers", "demo"]["statistics"]["errors"] == 1)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25"])
async def test_the_replies_to_a_batch_are_shown_together(tmp_path: Path, version: str) -> None:
    write_demo(tmp_path, version)
    batch = f"[{request('one', 'ping')},{request('two', 'no/such')}]"
    async with site(tmp_path) as web, web.page() as page:
        await page.connected(SERVER)
        call = await page.call("SendRaw", server_id=SERVER, text=batch)
    assert call["status"] == "completed"
    if version == "2025-03-26":
        by_id = {reply["id"]: reply for reply in call["result"]}
        assert by_id["one"]["result"] == {}
        assert by_id["two"]["error"]["code"] == -32601
        assert not call["is_error"]
        assert call["error"] is None
    else:  # which has no batches: the demo refuses it as a whole
        assert call["result"]["id"] is None
        assert call["is_error"]


async def test_a_notification_is_done_at_once(page: Page) -> None:
    await page.connected("demo")
    text = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'
    call = await page.call("SendRaw", server_id="demo", text=text)
    assert (call["status"], call["result"]) == ("completed", None)
    assert call["elapsed_s"] < 1


async def test_a_raw_call_shows_the_progress_of_its_own_token(page: Page) -> None:
    await page.connected("demo")
    text = request(
        "mine", "tools/call", name="progress-steps", arguments={"steps": 3, "seconds": 0.3},
        _meta={"progressToken": "my own", **ENVELOPE},
    )  # fmt: skip
    call = await page.call("SendRaw", server_id="demo", text=text)
    assert call["progress"]["total"] == 3
    assert call["request_ids"] == ["mine"]


async def test_an_id_of_a_batch_that_is_in_flight_is_refused_and_none_is_used_again(
    page: Page,
) -> None:
    await page.connected("demo")
    waiting = await page.ask("CallTool", server_id="demo", name="wait", arguments={"seconds": 60})
    key = ("calls", waiting["call_id"])
    await page.until(lambda: page.things.get(key, waiting)["request_ids"])
    (taken,) = page.things[key]["request_ids"]
    with pytest.raises(Refusal, match="in flight"):
        await page.ask("SendRaw", server_id="demo", text=f"[{request(taken, 'ping')}]")
    await page.ask("CancelCall", call_id=waiting["call_id"])
    await page.call("SendRaw", server_id="demo", text=f"[{request(taken + 1, 'ping')}]")
    echo = await page.call("CallTool", server_id="demo", name="echo", arguments={"text": "hi"})
    assert echo["request_ids"] == [taken + 2]


async def test_a_call_keeps_its_headers_without_the_secrets(page: Page) -> None:
    await page.connected("demo")
    headers = {"X-Debug-Mode": "loud", "Authorization": "Bearer secret"}
    call = await page.call("SendRaw", server_id="demo", text=request("h", "ping"), headers=headers)
    assert call["headers"] == {"X-Debug-Mode": "loud", "Authorization": ""}
