"""A workspace whose servers are kept ready, as in a process that is a gateway too."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcplens.background import Background
from mcplens.clock import ManualClock
from mcplens.config.environment import Environment
from mcplens.downstream.options import LiveOptions
from mcplens.events import ConfigurationReloaded
from mcplens.session.raw_calls import read_params
from mcplens.workspace.workspace import Workspace
from tests.servers.run import ROOT, argv

ECHO = read_params(b'{"name":"echo","arguments":{"text":"hi"}}')


def _server(**more: Any) -> dict[str, Any]:
    command, *args = argv("good")
    return {"command": command, "args": args, "cwd": str(ROOT), "inheritEnv": True, **more}


def _write(path: Path, servers: dict[str, Any]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"mcpServers": servers}))
    os.replace(new, path)


@asynccontextmanager
async def kept_ready(path: Path) -> AsyncIterator[Workspace]:
    environ = {"MCPLENS_STATE_DIR": str(path.parent / "state")}
    here = Environment(cwd=str(path.parent), home=str(path.parent), environ=environ)
    workspace = Workspace(
        config_path=str(path), record=False, here=here, live_options=LiveOptions()
    )
    watching = Background()
    async with workspace:
        watching.start(workspace.watch_configuration(), "watch")
        await ManualClock.settle()
        try:
            yield workspace
        finally:
            await watching.end()


async def test_the_page_and_the_gateway_use_the_same_connection(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    _write(path, {"a": _server()})
    async with kept_ready(path) as workspace:
        connection = workspace.live_servers.connections["a"]
        await connection.request("tools/call", ECHO)
        client = workspace.find("a").ready()
        assert client is connection.live.client
        assert (await client.call_tool("echo", {"text": "page"})).content[0].text == "page"


async def test_a_changed_entry_is_used_at_once_and_the_page_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    _write(path, {"a": _server(), "b": _server()})
    async with kept_ready(path) as workspace:
        live = workspace.live_servers
        for name in ("a", "b"):
            await live.connections[name].request("tools/call", ECHO)
        before = {name: live.connections[name].live.client for name in ("a", "b")}
        events = workspace.bus.subscribe()
        _write(path, {"a": _server(name="Changed", meta={"x": 1}), "b": _server()})
        async with asyncio.timeout(20):
            async for event in events:
                if isinstance(event, ConfigurationReloaded):
                    assert event.changed == ["a"]
                    break
        await live.connections["a"].request("tools/call", ECHO)
        assert workspace.find("a").entry.title == "Changed"
        assert live.connections["a"].live.client is not before["a"]
        assert live.connections["b"].live.client is before["b"]
