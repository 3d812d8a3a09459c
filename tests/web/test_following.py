"""What is asked of a server for good: resources to follow, a log level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .harness import PYTHON, Page, site, write_config

URI = "memo://a"
# Follows resources, unless it is started with "deaf"; the tool changes one.
PROGRAM = """
import json, sys
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if identity is None:
        continue
    if method in ("resources/subscribe", "logging/setLevel") and "deaf" in sys.argv:
        say(id=identity, error={"code": -32601, "message": "not here"})
        continue
    result = {}
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "memo", "version": "1"},
                  "capabilities": {"tools": {}, "logging": {}, "resources": {"subscribe": True}}}
    elif method == "tools/call":
        for _ in range(3):
            say(method="notifications/resources/updated", params={"uri": "memo://a"})
        result = {"content": []}
    say(id=identity, result=result)
"""


def entry(home: Path, *words: str) -> dict[str, Any]:
    program = home / "memo.py"
    program.write_text(PROGRAM)
    return {"command": PYTHON, "args": [str(program), *words], "inheritEnv": True}


def sent(page: Page, method: str) -> int:
    frames = [one for one in page.events if one["kind"] == "FrameSent"]
    return sum(one["method"] == method for one in frames)


def followed(page: Page) -> dict[str, Any]:
    (one,) = page.things["servers", "memo"]["subscriptions"]
    found: dict[str, Any] = one
    return found


async def follow(page: Page) -> None:
    await page.connected("memo")
    await page.ask("Subscribe", server_id="memo", uri=URI)
    await page.ask("SetLevel", server_id="memo", level="warning")


async def connect_edited(page: Page, home: Path, *words: str) -> None:
    await page.ask("Disconnect", server_id="memo")
    await page.ask("ServerEdit", server_id="memo", raw=entry(home, *words))
    await page.connected("memo")


async def test_an_edited_entry_is_asked_for_what_the_former_one_was(tmp_path: Path) -> None:
    write_config(tmp_path, memo=entry(tmp_path))
    async with site(tmp_path) as web, web.page() as page:
        await follow(page)
        await connect_edited(page, tmp_path, "edited")
        await page.until(lambda: sent(page, "logging/setLevel") == 2)
        assert sent(page, "resources/subscribe") == 2
        view = page.things["servers", "memo"]
        assert (followed(page)["uri"], view["log_level"]) == (URI, "warning")
        await page.call("CallTool", server_id="memo", name="change", arguments={})
        await page.until(lambda: followed(page)["updates"] == 3)
        # The page reads what it shows; nobody else has a use for it.
        assert sent(page, "resources/read") == 0


async def test_what_the_edited_entry_refuses_is_not_said_to_be_so(tmp_path: Path) -> None:
    write_config(tmp_path, memo=entry(tmp_path))
    async with site(tmp_path) as web, web.page() as page:
        await follow(page)
        await connect_edited(page, tmp_path, "deaf")
        await page.until(lambda: followed(page)["error"])
        assert followed(page)["error"]["message"].endswith("not here")
        await page.until(lambda: page.things["servers", "memo"]["log_level"] is None)
        await connect_edited(page, tmp_path, "listens")
        await page.until(lambda: sent(page, "resources/subscribe") == 3)
        assert followed(page)["error"] is None
