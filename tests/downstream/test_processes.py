"""Real servers: processes over stdio, and servers over HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.config.model import Settings
from mcplens.downstream.creation import create_multi_server_client, create_server_connection
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.live_servers import LiveServers
from mcplens.events import ProcessStarted
from mcplens.known_secrets import known_secrets
from mcplens.session.raw_calls import read_params
from tests.auth.protected import protected
from tests.downstream.rig import Rig, entry_of, failure
from tests.servers.run import ROOT, argv, serve

ECHO = read_params(b'{"name":"echo","arguments":{"text":"hi"}}')


def _stdio(*arguments: str, **more: Any) -> dict[str, Any]:
    command, *args = argv("good", *arguments)
    return {"command": command, "args": args, "cwd": str(ROOT), **more}


class Changes(ServerListener):
    """Lets a test wait for changes."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def state_changed(self, server_id: str) -> None:
        self._changed.set()

    def list_changed(self, server_id: str, kind: str) -> None:
        self._changed.set()

    async def until(self, predicate: Any) -> None:
        async with asyncio.timeout(20):
            while not predicate():
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, logger="mcplens")
    return caplog


async def test_a_process_lives_for_one_operation_in_per_call_mode() -> None:
    bus = Bus(SystemClock())
    connection = create_server_connection("good", _stdio(), bus=bus)
    assert (await connection.call_tool("echo", {"text": "hi"})).unwrap().content[0].text == "hi"
    assert (await connection.get_capabilities()).unwrap().tools
    pids = [event.pid for event in bus.kept() if isinstance(event, ProcessStarted)]
    assert len(set(pids)) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert connection.status.value == "STOPPED"


@pytest.mark.parametrize("transport", ["http", "sse", "ws"])
async def test_every_transport_goes_through_the_same_factory(transport: str) -> None:
    async with serve("good", "--transport", transport) as server:
        names = {"http": "streamable-http", "sse": "sse", "ws": "websocket"}
        config = {"url": server.url, "transport": names[transport]}
        connection = create_server_connection("good", config)
        result = await connection.call_tool("echo", {"text": "hi"})
        assert result.unwrap().content[0].text == "hi"


async def test_a_command_that_is_not_found_fails_at_once_with_what_was_searched() -> None:
    connection = create_server_connection("ghost", {"command": "no-such-command-anywhere"})
    error = (await connection.connect()).error  # type: ignore[union-attr]
    assert error.code == "COMMAND_NOT_FOUND"
    assert error.details["searched"]
    assert "no-such-command-anywhere" in connection.state.message


async def test_a_killed_server_is_started_again_for_the_next_call() -> None:
    entry = entry_of("good", protocol_version="auto", **_entry(_stdio()))
    bus = Bus(SystemClock())
    async with LiveServers(bus=bus, clock=SystemClock()) as servers:
        changes = Changes()
        servers.listen(changes)
        servers.apply([entry], Settings())
        servers.start()
        connection = servers.connections["good"]
        await changes.until(lambda: connection.lists["tools"].items)
        pid = connection.live.client.describe()["pid"]  # type: ignore[union-attr]
        os.kill(pid, signal.SIGKILL)
        await changes.until(lambda: connection.lists["tools"].is_stale)
        frame = await connection.request("tools/call", ECHO)
        assert b"hi" in bytes(frame.body)
        again = connection.live.client.describe()["pid"]  # type: ignore[union-attr]
        assert again != pid
    with pytest.raises(ProcessLookupError):
        os.kill(again, 0)


async def test_stderr_and_the_traffic_of_lists_are_logged(logs: pytest.LogCaptureFixture) -> None:
    program = "import sys; print('watch out', file=sys.stderr, flush=True); sys.stdin.read()"
    talker = entry_of("talker", command="python3", args=("-c", program), inherit_env=True)
    good = entry_of("good", protocol_version="auto", **_entry(_stdio()))
    async with LiveServers(bus=Bus(SystemClock()), clock=SystemClock()) as servers:
        changes = Changes()
        servers.listen(changes)
        servers.apply([talker, good], Settings())
        servers.start()
        await changes.until(lambda: servers.connections["good"].lists["prompts"].items)
        async with asyncio.timeout(20):
            while "[STDERR][talker][python3] watch out" not in logs.text:
                await servers.clock.sleep(0.02)
        servers.bus_reader.catch_up()
    lines = [record.getMessage() for record in logs.records]
    assert any(line.startswith("good: sent tools/list (id ") for line in lines)
    assert any(line.startswith("good: received the answer to prompts/list (id ") for line in lines)
    warned = [record for record in logs.records if "[STDERR]" in record.getMessage()]
    assert {record.levelname for record in warned} == {"WARNING"}


async def test_changed_lists_are_logged(logs: pytest.LogCaptureFixture) -> None:
    async with Rig() as rig:
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        rig.servers.bus_reader.catch_up()
    assert "one: received notifications/tools/list_changed" in logs.text


async def test_a_sign_in_is_kept_between_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPLENS_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MCPLENS_KEYRING", "off")
    known_secrets.forget()
    auth = {"grant": "client_credentials", "clientId": "robot", "clientSecret": "robots-secret"}
    async with protected() as server:
        connection = create_server_connection("safe", {"url": server.url, "auth": auth})
        for _ in range(3):
            (await connection.call_tool("echo")).unwrap()
        assert len(server.forms) == 1


async def test_a_client_of_the_whole_configuration_lists_prefixed_tools(tmp_path: Path) -> None:
    import json

    path = tmp_path / "mcp.json"
    content = {"mcpServers": {"a": _stdio(), "b": _stdio("--without", "prompts")}}
    path.write_text(json.dumps(content))
    client = create_multi_server_client(str(path))
    names = {tool.name for tool in await client.list_prefixed_tools()}
    assert {"a:echo", "b:echo"} <= names
    await client.close()


async def test_a_description_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(mcplens.InspectorError, match="command"):
        create_server_connection("bad", {})


async def test_a_server_that_hangs_in_initialize_slows_no_other() -> None:
    hangs = entry_of("hangs", command="python3", args=("-c", "import sys; sys.stdin.read()"))
    good = entry_of("good", protocol_version="auto", **_entry(_stdio()))
    async with LiveServers(bus=Bus(SystemClock()), clock=SystemClock()) as servers:
        servers.apply([hangs, good], Settings())
        servers.start()
        async with asyncio.timeout(20):
            frame = await servers.connections["good"].request("tools/call", ECHO)
        assert b"hi" in bytes(frame.body)
        assert servers.connections["hangs"].status.value == "STARTING"


async def test_a_lost_call_of_a_server_that_dies_gets_one_clear_error() -> None:
    entry = entry_of("good", protocol_version="auto", **_entry(_stdio()))
    async with LiveServers(bus=Bus(SystemClock()), clock=SystemClock()) as servers:
        servers.apply([entry], Settings())
        connection = servers.connections["good"]
        (await connection.connect()).unwrap()
        slow = read_params(b'{"name":"slow","arguments":{"seconds":60}}')
        calling = asyncio.create_task(failure(connection.request("tools/call", slow)))
        client = connection.live.client
        assert client is not None
        async with asyncio.timeout(20):
            while not client.queue.in_progress():
                await servers.clock.sleep(0.01)
        os.kill(client.describe()["pid"], signal.SIGKILL)
        async with asyncio.timeout(20):
            error = await calling
        assert error.code in ("SERVER_EXITED", "CONNECTION_LOST")
        assert "was not sent again" in error.message


def _entry(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "command": raw["command"],
        "args": tuple(raw["args"]),
        "cwd": raw["cwd"],
        "inherit_env": True,
    }
