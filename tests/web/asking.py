"""Pages that answer what the demo server asks, in either era."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .harness import Page, user_config

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
ERAS = (HANDSHAKE, STATELESS)
SERVER = "asker"


def write_demo(home: Path, version: str, **more: Any) -> None:
    """Configure the demo server under a name of its own, with its revision pinned."""
    path = user_config(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    profiles = more.pop("profiles", {})
    entry = {
        "command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True,
        "protocolVersion": version, **more,
    }  # fmt: skip
    path.write_text(json.dumps({"mcpServers": {SERVER: entry}, "profiles": profiles}))


async def start(page: Page, tool: str, /, **fields: Any) -> str:
    """Begin a call; its id."""
    arguments = fields.pop("arguments", {})
    call = await page.ask("CallTool", server_id=SERVER, name=tool, arguments=arguments, **fields)
    page.things.setdefault(("calls", call["call_id"]), call)
    return str(call["call_id"])


def waiting(page: Page) -> list[dict[str, Any]]:
    """The questions that wait, as the page knows them."""
    found = [view for (what, _), view in page.things.items() if what == "questions" and view]
    return [view for view in found if not view["is_done"]]


async def asked(page: Page, count: int = 1) -> list[dict[str, Any]]:
    """So many questions, once they wait and know of each other."""

    def all_there() -> Any:
        found = waiting(page)
        is_settled = len(found) == count and all(
            one["count"] == count and one["call_id"] for one in found
        )
        return found if is_settled else None

    found: list[dict[str, Any]] = await page.until(all_there)
    return sorted(found, key=lambda one: int(one["number"]))


async def until_done(page: Page, question: dict[str, Any]) -> dict[str, Any]:
    key = ("questions", question["question_id"])

    def done() -> Any:
        view = page.things.get(key)
        return view if view and view["is_done"] else None

    found: dict[str, Any] = await page.until(done)
    return found


def text_of(call: dict[str, Any]) -> str:
    assert call["status"] == "completed", call
    return str(call["result"]["content"][0]["text"])
