"""The configuration while servers run: watched, compared, and never replaced by a broken one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcplens.background import Background
from mcplens.bus import Bus
from mcplens.clock import ManualClock, SystemClock
from mcplens.config.environment import Environment
from mcplens.config.model import ServerEntry
from mcplens.downstream.configuration_watcher import ConfigurationWatcher
from mcplens.downstream.live_servers import LiveServers
from mcplens.errors import ConfigurationError
from mcplens.events import ConfigurationReloaded
from tests.downstream.rig import Rig, failure
from tests.servers.run import ROOT, argv
from tests.session.scripted import ScriptedServer


def _server(**more: Any) -> dict[str, Any]:
    command, *args = argv("good")
    return {"command": command, "args": args, "cwd": str(ROOT), "inheritEnv": True, **more}


class Site:
    """A configuration file that a test writes, and the servers that follow it."""

    def __init__(self, folder: Path, given: str = "mcp.json") -> None:
        self.path = folder / "mcp.json"
        self.bus = Bus(SystemClock())
        self.servers = LiveServers(bus=self.bus, clock=SystemClock())
        self.watcher = ConfigurationWatcher(
            lambda found: self.servers.apply(found.servers, found.settings),
            bus=self.bus,
            here=Environment(cwd=str(folder), home=str(folder), environ={}, platform="posix"),
            path=str(folder / given),
        )
        self.events = self.bus.subscribe()

    def write(self, servers: dict[str, Any], **more: Any) -> None:
        """As editors do it: a new file takes the place of the former one."""
        self.write_text(json.dumps({"mcpServers": servers, **more}))

    def write_text(self, text: str) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(text)
        os.replace(new, self.path)

    def is_broken(self) -> bool:
        return self.watcher.problem is not None

    async def reloaded(self) -> ConfigurationReloaded:
        async with asyncio.timeout(20):
            async for event in self.events:
                if isinstance(event, ConfigurationReloaded):
                    return event
        raise AssertionError("the bus was closed")


@asynccontextmanager
async def following(folder: Path, servers: dict[str, Any]) -> AsyncIterator[Site]:
    site = Site(folder)
    site.write(servers)
    async with watching(site):
        yield site


@asynccontextmanager
async def watching(site: Site) -> AsyncIterator[None]:
    work = Background()
    async with site.servers:
        site.watcher.load()
        site.servers.start()
        await site.servers.settled(20)
        work.start(site.watcher.run(), "watch")
        try:
            await ManualClock.settle()  # the watch is on as soon as its task has run
            yield
        finally:
            await work.end()


async def test_a_changed_file_changes_only_the_servers_that_it_changes(tmp_path: Path) -> None:
    async with following(tmp_path, {"a": _server(), "b": _server(), "c": _server()}) as site:
        pids = {name: _pid(site, name) for name in ("a", "b", "c")}
        site.write({"a": _server(), "b": _server(meta={"x": 1}), "d": _server()})
        told = await site.reloaded()
        assert (told.added, told.removed, told.changed) == (["d"], ["c"], ["b"])
        assert list(site.servers.connections) == ["a", "b", "d"]
        await site.servers.fetch_all_capabilities()
        assert _pid(site, "a") == pids["a"]
        assert _pid(site, "b") != pids["b"]
        with pytest.raises(ProcessLookupError):
            os.kill(pids["c"], 0)


async def test_a_broken_file_leaves_everything_as_it_is_and_says_so(tmp_path: Path) -> None:
    async with following(tmp_path, {"a": _server()}) as site:
        pid = _pid(site, "a")
        site.write_text('{"mcpServers": {"a": ')
        told = await site.reloaded()
        assert told.error is not None
        assert str(site.path) in told.error["message"]
        assert site.is_broken()
        assert _pid(site, "a") == pid
        site.write({"a": _server()})
        assert (await site.reloaded()).error is None
        assert not site.is_broken()
        assert _pid(site, "a") == pid


async def test_other_times_reconnect_nothing(tmp_path: Path) -> None:
    async with following(tmp_path, {"a": _server()}) as site:
        pid = _pid(site, "a")
        site.write({"a": _server(pingInterval=5000)}, requestTimeoutSeconds=7)
        assert (await site.reloaded()).changed == ["a"]
        assert site.servers.connections["a"].timeouts.call_s == 7
        assert _pid(site, "a") == pid


async def test_one_bad_entry_disables_only_itself(tmp_path: Path) -> None:
    async with following(tmp_path, {"a": _server(), "b": _server()}) as site:
        pid = _pid(site, "a")
        site.write({"a": _server(), "b": {"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}}})
        assert (await site.reloaded()).changed == ["b"]
        error = await failure(site.servers.connections["b"].request("ping"))
        assert "NOT_SET_ANYWHERE" in error.message
        assert _pid(site, "a") == pid


class Mount:
    """A folder as Kubernetes mounts a ConfigMap: each file a link through one that is swapped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def swap(self, servers: dict[str, Any]) -> Path:
        """Have another content; the folder of the former one, which is to be removed."""
        link, former = self._folder / "..data", Path(os.path.realpath(self._folder / "..data"))
        self._count += 1
        content = self._folder / f"..2026_11_17_{self._count}"
        content.mkdir()
        (content / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        new = self._folder / "..data_tmp"
        new.symlink_to(content.name)
        os.replace(new, link)
        file = self._folder / "mcp.json"
        if not file.is_symlink():
            file.symlink_to("..data/mcp.json")
        return former


@pytest.mark.skipif(sys.platform == "win32", reason="makes symbolic links")
@pytest.mark.parametrize("given", ["mcp.json", "."], ids=["the file", "the folder"])
@pytest.mark.parametrize("is_kept", [False, True], ids=["removed", "kept"])
async def test_a_mounted_config_map_is_read_again_after_each_swap(
    tmp_path: Path, given: str, is_kept: bool
) -> None:
    mount = Mount(tmp_path)
    mount.swap({"a": _server(enabled=False)})
    site = Site(tmp_path, given)
    async with watching(site):
        for count in (1, 2):
            former = mount.swap({"a": _server(enabled=False, meta={"x": count})})
            if not is_kept:
                shutil.rmtree(former)
            assert (await site.reloaded()).changed == ["a"]


async def test_of_a_folder_all_files_count_and_a_new_one_too(tmp_path: Path) -> None:
    site = Site(tmp_path, ".")
    site.write({"a": _server(enabled=False, meta={"from": "mcp.json"})})
    (tmp_path / ".hidden.json").write_text("not JSON")
    async with watching(site):
        more = {"mcpServers": {"b": _server(enabled=False), "a": _server(enabled=False)}}
        (tmp_path / "more.json").write_text(json.dumps(more))
        told = await site.reloaded()
        assert (told.added, told.changed) == (["b"], ["a"])  # it says that there are two now
        (entry,) = (one for one in site.watcher.configuration.servers if one.name == "a")
        assert entry.meta == {"from": "mcp.json"}
        assert "also defined in" in entry.remarks[-1]
        (tmp_path / "more.json").unlink()
        assert (await site.reloaded()).removed == ["b"]


async def test_a_change_that_the_system_does_not_report_is_found_by_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcplens.config.watch._LOOK_EVERY_S", 0.1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("mcplens.config.watch._folders", lambda _: [str(elsewhere)])
    async with following(tmp_path, {"a": _server(enabled=False)}) as site:
        site.write({"a": _server(enabled=False), "b": _server(enabled=False)})
        assert (await site.reloaded()).added == ["b"]


def test_a_first_load_of_a_broken_file_fails(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.path.write_text("[")
    with pytest.raises(ConfigurationError):
        site.watcher.load()


async def test_an_entry_that_must_be_confirmed_stays_stopped_until_it_is() -> None:
    confirmed: set[str] = {"one"}
    servers = {"one": ScriptedServer(), "two": ScriptedServer()}

    def needs_confirmation(entry: ServerEntry) -> bool:
        return entry.name not in confirmed

    async with Rig(servers, needs_confirmation=needs_confirmation) as rig:
        assert [len(server.peers) for server in servers.values()] == [1, 0]
        two = rig.servers.connections["two"]
        error = await failure(two.request("ping"))
        assert error.details["needs_confirmation"] is True
        assert two.status.value == "ERROR"
        confirmed.add("two")
        rig.servers.start()
        await rig.settle()
        assert two.status.value == "RUNNING"


def _pid(site: Site, name: str) -> int:
    client = site.servers.connections[name].live.client
    assert client is not None
    pid: int = client.describe()["pid"]
    return pid
