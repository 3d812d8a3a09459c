"""Live servers over scripted servers in memory, whose time stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Self

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.config.model import ServerEntry, Settings, Source
from mcplens.downstream.client_setup import ClientSetup, DefaultSetup, MadeOf
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.options import LiveOptions
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.events import Event
from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link
from mcplens.transports.base import Transport
from mcplens.transports.memory import MemoryTransport
from tests.session.scripted import LEGACY, ScriptedServer

SOURCE = Source("mcplens", "/mcp.json", "user")


def entry_of(name: str, **fields: Any) -> ServerEntry:
    """An entry whose command is never run."""
    given: dict[str, Any] = {"transport": "stdio", "command": name, "protocol_version": LEGACY}
    return ServerEntry(name=name, source=SOURCE, **(given | fields))


class MemorySetup(DefaultSetup):
    """Connects to servers in memory instead of what the entry says."""

    def __init__(self, options: LiveOptions, makers: Mapping[str, Any], *declared: Any) -> None:
        super().__init__(options, *declared)
        self._makers = makers

    def for_client(self, options: LiveOptions, capabilities: Any, roots: Any) -> ClientSetup:
        return MemorySetup(options, self._makers, capabilities, roots)

    def made_of(self, entry: ServerEntry, settings: Settings) -> MadeOf:
        _, options = super().made_of(entry, settings)
        for name in ("env", "inherit_env", "cwd", "transport", "sign_in_timeout_s"):
            options.pop(name, None)
        return self._makers[entry.name], options


class Heard(ServerListener):
    """Remembers what subscribers were notified of."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.frames: list[tuple[str, Frame, Link]] = []

    def servers_changed(self) -> None:
        self.calls.append(("servers",))

    def state_changed(self, server_id: str) -> None:
        self.calls.append(("state", server_id))

    def list_changed(self, server_id: str, kind: str) -> None:
        self.calls.append(("list", server_id, kind))

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        self.frames.append((server_id, frame, link))


class MemoryServers(LiveServers):
    """Live servers that are in memory."""

    def __init__(self, makers: Mapping[str, Any], **keywords: Any) -> None:
        super().__init__(**keywords)
        self.makers = dict(makers)

    def make(self, entry: ServerEntry, setup: ClientSetup | None = None) -> ServerConnection:
        return ServerConnection(
            entry,
            self.settings,
            bus=self.bus,
            clock=self.clock,
            options=self.options,
            listener=self._listeners,
            setup=MemorySetup(self.options, self.makers),
            check=self._check,
        )


class Rig:
    """Scripted servers by name, with their connections; started unless told otherwise."""

    def __init__(
        self,
        servers: Mapping[str, ScriptedServer | Any] | None = None,
        *,
        entries: Mapping[str, Mapping[str, Any]] | None = None,
        settings: Settings | None = None,
        start: bool = True,
        needs_confirmation: Callable[[ServerEntry], bool] = lambda _: False,
        clock: ManualClock | None = None,
        **options: Any,
    ) -> None:
        self.scripted = dict(servers or {"one": ScriptedServer()})
        self.clock = clock or ManualClock()
        self.bus = Bus(self.clock)
        self.heard = Heard()
        self.settings = settings or Settings(connection_retry_count=0)
        makers = {name: _maker(server) for name, server in self.scripted.items()}
        self.servers = MemoryServers(
            makers,
            bus=self.bus,
            clock=self.clock,
            options=LiveOptions(**options),
            needs_confirmation=needs_confirmation,
        )
        self.servers.listen(self.heard)
        self.entries = [entry_of(name, **(entries or {}).get(name, {})) for name in self.scripted]
        self._start = start
        self._tasks: list[asyncio.Task[Any]] = []

    async def __aenter__(self) -> Self:
        self.servers.apply(self.entries, self.settings)
        if self._start:
            self.servers.start()
            await self.settle()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.servers.close()
        await self.clock.settle()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if exc is None:
            assert not left, f"still running after close(): {left}"

    @property
    def one(self) -> ServerConnection:
        return self.servers.connections["one"]

    @property
    def status(self) -> str:
        return self.one.status.value

    def names(self, kind: str) -> list[str]:
        """The names of what the server offers."""
        return [item.name for item in self.one.lists[kind].items]  # type: ignore[attr-defined]

    @property
    def server(self) -> ScriptedServer:
        server = self.scripted["one"]
        assert isinstance(server, ScriptedServer)
        return server

    def events(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.bus.kept() if isinstance(event, kind)]

    async def settle(self) -> None:
        await self.clock.settle(100)

    async def advance(self, seconds: float) -> None:
        await self.settle()
        await self.clock.advance(seconds)
        await self.settle()

    async def started(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        await self.settle()
        return task


def _maker(server: Any) -> Any:
    if not isinstance(server, ScriptedServer):
        return server

    def make() -> Transport:
        return MemoryTransport(server.serve)

    return make


async def failure(work: Coroutine[Any, Any, Any]) -> InspectorError:
    """The error that an operation fails with."""
    try:
        done = await work
    except InspectorError as error:
        return error
    raise AssertionError(f"it did not fail but gave {done!r}")
