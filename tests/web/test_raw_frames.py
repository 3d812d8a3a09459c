"""The frame that carried a result, as the page shows it: byte by byte, secrets masked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .harness import PYTHON, Page, Site, site, write_config

SECRET = "s3cr3t-of-the-header"
# Keys twice, spaces, escapes and a number that no parser would write again like that.
ODD = '{ "jsonrpc" :"2.0",  "result":{"content":[ ],"é":"\\u00e9 SECRET","n":1.0e0,"n":2},"id":%d }'
SERVER = f"""
import json, os, sys
ODD = {ODD!r}
for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if identity is None:
        continue
    if method == "tools/call":
        text = ODD % identity
        print(text.replace("SECRET", os.environ["API_TOKEN"]), flush=True)
        continue
    result = {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}},
              "serverInfo": {{"name": "odd", "version": "1"}}}}
    if method == "tools/list":
        result = {{"tools": [{{"name": "ask", "inputSchema": {{"type": "object"}}}}]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": identity, "result": result}}), flush=True)
"""


async def called(page: Page) -> dict[str, Any]:
    await page.connected("odd")
    return await page.call("CallTool", server_id="odd", name="ask", arguments={})


def configured(home: Path, token: str, **more: Any) -> None:
    entry = {"command": PYTHON, "args": ["-c", SERVER], "env": {"API_TOKEN": token}, **more}
    write_config(home, odd=entry)


async def frame_of(web: Site, call: dict[str, Any]) -> dict[str, Any]:
    whole: dict[str, Any] = await web.get_json(f"/api/calls/{call['call_id']}/reply")
    return whole


async def test_the_frame_of_a_result_is_shown_as_it_came(tmp_path: Path) -> None:
    configured(tmp_path, "plain")
    async with site(tmp_path) as web, web.page() as page:
        call = await called(page)
        whole = await frame_of(web, call)
        assert whole["text"] == (ODD % call["request_id"]).replace("SECRET", "plain")
        assert whole["masked"] == []
        place = f"/api/event/{whole['event']['run_id']}/{whole['event']['seq']}/bytes"
        assert (await web.get(place))[1].decode() == whole["text"]


async def test_a_secret_in_a_frame_is_masked_and_marked(tmp_path: Path) -> None:
    configured(tmp_path, SECRET, secretKeys=["é"])
    async with site(tmp_path) as web, web.page() as page:
        call = await called(page)
        whole = await frame_of(web, call)
        assert SECRET not in str(whole)
        data = whole["text"].encode()
        marked = [data[one["start"] : one["end"]] for one in whole["masked"] if one.get("start")]
        assert marked
        assert all(set(one) == {ord("*")} for one in marked)
        exact = (ODD % call["request_id"]).replace("SECRET", SECRET).encode()
        assert len(data) == len(exact)
        starred = bytearray(exact)
        for one in whole["masked"]:
            if one.get("start"):
                starred[one["start"] : one["end"]] = b"*" * (one["end"] - one["start"])
        assert data == bytes(starred)


async def test_a_call_without_a_recorded_frame_says_so(tmp_path: Path) -> None:
    configured(tmp_path, "plain")
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("odd")
        asked = await page.ask("SendRaw", server_id="odd", text="not a message")
        status, body = await web.get(f"/api/calls/{asked['call_id']}/reply")
        assert status == 400
        assert b"is not recorded" in body
