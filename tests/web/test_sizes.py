"""A server that says far too much: the page is told a part of it, and where the rest is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from .harness import PYTHON, Page, site, write_config

SERVER = """
import json, sys
LARGE = "x" * 3_000_000

def write(message):
    sys.stdout.write(message + chr(10))
    sys.stdout.flush()

for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}, "experimental": {"odd": LARGE}},
            "serverInfo": {"name": "talker", "version": "1", "description": LARGE},
            "instructions": LARGE,
        }}))
    elif asked.get("method") == "ping" and "id" in asked:
        write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}))
    elif asked.get("method") == "tools/call":
        if asked["params"]["name"] == "malformed":
            write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": 1, "error": LARGE}))
        else:
            error = {"code": -1, "message": LARGE, "data": {"rows": [LARGE]}}
            write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
    elif "id" in asked:
        write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": []}}))
"""


def size_of(view: Any) -> int:
    return len(msgspec.json.encode(view))


async def failed(page: Page, name: str) -> dict[str, Any]:
    call = await page.call(
        "CallTool", server_id="talker", name=name, arguments={}, send_anyway=True
    )
    assert call["status"] == "error"
    return call


async def test_of_errors_and_introductions_a_part_is_shown_and_the_rest_is_named(
    tmp_path: Path,
) -> None:
    write_config(tmp_path, talker={"command": PYTHON, "args": ["-c", SERVER]})
    async with site(tmp_path) as web:
        async with web.page() as page:
            server = await page.connected("talker")
            calls = [await failed(page, "malformed"), await failed(page, "refused")]
        async with web.page() as page:
            hello = page.hello

    assert server["instructions"].startswith("xxx")
    assert server["server_info"] == {"name": "talker", "version": "1", "description": ""}
    assert server["capabilities"] == {"tools": {}, "experimental": {}}
    assert len([one for one in server["remarks"] if "Traffic has all of it" in one]) == 3
    assert size_of(server) < 400_000
    for call in calls:
        assert size_of(call) < 100_000
        assert "Traffic shows all of it" in call["error"]["details"]["left_out"]
    assert "xxx" in calls[0]["error"]["details"]["raw"]
    assert "xxx" in calls[1]["error"]["details"]["data"]
    assert size_of(hello) < 700_000
