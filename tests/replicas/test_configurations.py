"""Replicas with different configurations: each serves its own, and the log says who differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.config.configuration import load_configuration
from mcplens.config.environment import Environment
from mcplens.config.model import Settings
from mcplens.events import Remark
from mcplens.gateway.operation_pages import status
from mcplens.gateway.replica_configurations import (
    configuration_digest,
    differing_parts,
    part_digests,
)
from mcplens.gateway.service import GatewayService
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.replica import PRESENCE_S, Replica
from tests.gateway.harness import entries_of

KEY = "0123456789abcdef" * 2
OTHER_KEY = "fedcba9876543210" * 2


def digest(folder: Path, text: str, key: str = KEY) -> str:
    (folder / "mcp.json").write_text(text)
    here = Environment(cwd=str(folder), home=str(folder), environ={}, platform="posix")
    found = load_configuration(str(folder / "mcp.json"), here=here)
    assert not found.problems
    return configuration_digest(found.servers, found.settings, "", (key,))


def test_a_digest_tells_what_is_served_and_not_where(tmp_path: Path) -> None:
    text = '{"mcpServers": {"a": {"command": "x"}}, "gateway": %s}'
    first = digest(tmp_path, text % '{"listen": "127.0.0.1:1"}')
    assert digest(tmp_path, text % '{"listen": "127.0.0.1:2"}') == first
    assert digest(tmp_path, text % '{"limits": {"callsPerClient": 3}}') != first
    assert digest(tmp_path, (text % "{}").replace('"x"', '"y"')) != first
    assert digest(tmp_path, text % '{"listen": "127.0.0.1:1"}', OTHER_KEY) != first


def parts(**changes: Any) -> dict[str, str]:
    servers = {"a": {"command": "x"}} | changes.get("servers", {})
    entries = entries_of(servers)
    settings = Settings(gateway=changes.get("gateway", {}), views=changes.get("views", {}))
    return part_digests(entries, settings, "", (changes.get("key", KEY),))


def test_configurations_say_in_what_they_differ() -> None:
    own = parts(gateway={"listen": "127.0.0.1:1", "limits": {"callsPerClient": 3}})
    assert differing_parts(own, own) == []
    other = parts(
        servers={"a": {"command": "y"}, "b": {"command": "z"}},
        views={"few": {}},
        gateway={"listen": "127.0.0.1:2"},
    )
    assert differing_parts(own, other) == [
        "gateway.limits", "mcpServers.a", "mcpServers.b", "views.few",
    ]  # fmt: skip
    assert differing_parts(own, parts(key=OTHER_KEY)) == ["gateway.replica.keys"]
    assert differing_parts(own, {}) == []  # of a version that does not tell
    many = {f"s{number}": {"command": "x"} for number in range(101)}
    assert differing_parts(parts(servers=many), parts(servers=many | {"a": {"command": "y"}})) == [
        "mcpServers"
    ]


async def test_the_log_says_once_who_differs_and_that_it_is_over(tmp_path: Path) -> None:
    clock = ManualClock()
    bus = Bus(clock)
    gateway: dict[str, Any] = {"replica": {"name": "here", "keys": [KEY]}}
    (tmp_path / "mcp.json").write_text("{}")
    configuration = load_configuration(
        str(tmp_path / "mcp.json"),
        here=Environment(cwd=str(tmp_path), home=str(tmp_path), environ={}, platform="posix"),
    )
    configuration.settings.gateway.update(gateway)
    service = GatewayService((), configuration, bus=bus, clock=clock, state_folder=str(tmp_path))
    replica = service.gateway.replica
    store = replica.store
    assert isinstance(store, MemoryStore)
    await replica.join("http://here")
    await clock.settle()
    there = Replica(store, clock, name="there", keys=(KEY,))
    await there.join("http://there")
    await clock.settle()
    for configured in ("another", "another", replica.configuration):
        there.configuration = configured
        there.parts = {**replica.parts, "mcpServers.notes": "12345678"}
        await clock.advance(PRESENCE_S)
        shown = status(service.gateway)["replica"]["others"]
        assert [one["configuration"] for one in shown] == [configured]
        assert [one["differs_in"] for one in shown] == (
            [["mcpServers.notes"]] if configured == "another" else [[]]
        )
    await there.close()
    await replica.close()
    told = [event.message for event in bus.kept() if isinstance(event, Remark)]
    assert len(told) == 2, told
    assert "there has another configuration (another) than here" in told[0]
    assert told[0].endswith("each serves its own. They differ in mcpServers.notes")
    assert "there has the same configuration as here now" in told[1]
