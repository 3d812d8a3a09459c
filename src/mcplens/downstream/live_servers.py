"""The owner of all live servers of a process.

Follows the configuration, starts servers a few at a time, refreshes what they offer now and then,
and notifies subscribers. Each server is an island: one that hangs or fails slows no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self

from mcplens.background import Background
from mcplens.bus import Bus
from mcplens.clock import Clock, within
from mcplens.config.model import ServerEntry, Settings
from mcplens.downstream.bus_reader import BusReader
from mcplens.downstream.capabilities_cache import ServerCapabilities
from mcplens.downstream.client_setup import ClientSetup
from mcplens.downstream.event_log import EventLog
from mcplens.downstream.listener import Listeners, ServerListener
from mcplens.downstream.multi_server import fetch_all_capabilities
from mcplens.downstream.options import LiveOptions
from mcplens.downstream.result import Result
from mcplens.downstream.server_connection import ServerConnection
from mcplens.downstream.status import ServerStatus
from mcplens.errors import InspectorError
from mcplens.events import Event, ProcessExited, ProcessStarted, StderrLine
from mcplens.transports.base import Closing

# Servers that are started and listed at once, at the beginning.
_FIRST_AT_ONCE: Final = max(1, min(4, os.cpu_count() or 1))
# So long a server that is started keeps its place; one that hangs must not hold up the others.
_PLACE_S: Final = 3.0
# A shorter interval would keep servers busy.
MIN_REFRESH_S: Final = 30.0
# How long to wait for servers to exit before they are killed.
_CLOSE_S: Final = 3.0

# Each event of a flood is looked at: a look into a set is a fifth of `isinstance`.
_OF_PROCESSES: Final = frozenset({StderrLine, ProcessStarted, ProcessExited})


class LiveServers:
    """Servers by name; use it in an `async with` block, or call `close`."""

    def __init__(
        self,
        *,
        bus: Bus,
        clock: Clock,
        options: LiveOptions | None = None,
        needs_confirmation: Callable[[ServerEntry], bool] = lambda _: False,
        offers: Callable[[ServerEntry], bool] = lambda entry: entry.enabled,
    ) -> None:
        self.bus = bus
        self.clock = clock
        self.options = options or LiveOptions()
        self.settings = Settings()
        self._needs_confirmation = needs_confirmation
        self.offers = offers  # whether a server is started by itself, and published by a gateway
        # Raises InspectorError if a server must not be connected to now.
        self.gate: Callable[[ServerEntry], None] = lambda _: None
        self.connections: dict[str, ServerConnection] = {}
        self._listeners = Listeners()
        self._work = Background()
        self._closings = Background()
        self._first: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(_FIRST_AT_ONCE)
        self._refreshing: asyncio.Task[None] | None = None
        self.bus_reader = BusReader(bus, clock)
        self.bus_reader.add(EventLog(self._command_of).handle_batch)
        self.bus_reader.add(self._handle_batch)

    def __repr__(self) -> str:
        return f"<LiveServers {list(self.connections.values())}>"

    async def __aenter__(self) -> Self:
        self.watch_events()
        return self

    def watch_events(self) -> None:
        """Follow the events of the servers: exits, stderr, and what is logged."""
        self._work.start(self.bus_reader.run(), "read the bus")

    def _handle_batch(self, batch: list[Event], _missed: int) -> None:
        for event in batch:
            if type(event) in _OF_PROCESSES:
                connection = self.connections.get(event.server_id)
                if connection is not None:
                    connection.live.handle_event(event)

    def _command_of(self, server_id: str) -> str | None:
        connection = self.connections.get(server_id)
        return None if connection is None else connection.entry.command

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def listen(self, listener: ServerListener) -> Callable[[], None]:
        """Notify a subscriber of changes; returns a function that unsubscribes."""
        self._listeners.add(listener)
        return lambda: self._listeners.remove(listener)

    def get(self, server_id: str) -> ServerConnection | None:
        return self.connections.get(server_id)

    # -- the configuration ---------------------------------------------------------------------

    def apply(self, entries: Iterable[ServerEntry], settings: Settings) -> None:
        """Have exactly these servers.

        A server whose entry is the same, or differs in times alone, keeps its session and what is
        known of it; all others are closed, and made anew if they are still configured.
        """
        self.settings = settings
        found: dict[str, ServerConnection] = {}
        for entry in entries:
            known = self.connections.get(entry.name)
            found[entry.name] = known or self.make(entry)
            if known is not None and not known.follow(entry, settings):
                self._first.pop(entry.name, None)
                self._closings.start(self._reopen(known), f"reopen {entry.name}")
        before, self.connections = self.connections, found
        for name in before.keys() - found.keys():
            self._first.pop(name, None)
            self._gone(before[name])
        if before.keys() != found.keys():
            self._listeners.servers_changed()
        if self.is_started:
            self.start()  # those that are new, and with the interval of the settings

    async def _reopen(self, connection: ServerConnection) -> None:
        await connection.reopen()
        self._listeners.state_changed(connection.server_id)
        self._first.pop(connection.server_id, None)
        if self.is_started:
            self.start()

    def _gone(self, connection: ServerConnection) -> None:
        self._closings.start(self._leave(connection), f"close {connection.server_id}")

    def update_call_timeout(self, seconds: float | None) -> None:
        """For the calls of all servers from now on; None: no limit."""
        for connection in self.connections.values():
            connection.update_call_timeout(seconds)

    def update_capabilities_timeout(self, seconds: float | None) -> None:
        """For lists and connecting of all servers from now on; None: no limit."""
        for connection in self.connections.values():
            connection.update_capabilities_timeout(seconds)

    def add(self, connection: ServerConnection) -> None:
        """Own a connection that `make` made."""
        self.connections[connection.server_id] = connection
        self._listeners.servers_changed()

    def remove(self, connection: ServerConnection) -> None:
        """Close a server, and forget it."""
        if self.connections.get(connection.server_id) is connection:
            del self.connections[connection.server_id]
            self._listeners.servers_changed()
        self._gone(connection)

    def make(self, entry: ServerEntry, setup: ClientSetup | None = None) -> ServerConnection:
        """A connection for an entry, not owned yet."""
        return ServerConnection(
            entry,
            self.settings,
            bus=self.bus,
            clock=self.clock,
            options=self.options,
            listener=self._listeners,
            setup=setup,
            check=self._check,
        )

    def _check(self, entry: ServerEntry) -> None:
        if self._needs_confirmation(entry):
            text = f"{entry.name} came from {entry.source.path}: review what it starts first"
            details = {"needs_confirmation": True, "server_id": entry.name}
            raise InspectorError("INVALID_REQUEST", text, details=details)
        self.gate(entry)

    # -- its life ------------------------------------------------------------------------------

    def start(self) -> None:
        """Start all enabled servers, a few at a time, and refresh them from time to time."""
        for name, connection in self.connections.items():
            if name not in self._first and self.may_start(connection):
                self._first[name] = self._work.start(self._begin(connection), f"start {name}")
        self._start_refreshing()

    def use_options(self, options: LiveOptions) -> None:
        """Own all servers like this from now on; sessions that are open stay as they are."""
        self.options = options
        for connection in self.connections.values():
            connection.use_options(options)

    async def stop(self) -> None:
        """Start and refresh nothing by itself any more; servers that are connected stay so."""
        ending = [*self._first.values(), *([self._refreshing] if self._refreshing else [])]
        self._first.clear()
        self._refreshing = None
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    @property
    def is_started(self) -> bool:
        """Whether servers are started by themselves, now and after a reload."""
        return self._refreshing is not None

    def may_start(self, connection: ServerConnection) -> bool:
        """Whether a server is started by itself: usable, offered and confirmed."""
        entry = connection.entry
        if entry.is_per_user:
            return False  # each user has a session, and nobody else
        return entry.is_usable and self.offers(entry) and not self._needs_confirmation(entry)

    def _start_refreshing(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
        interval_s = self.settings.capabilities_refresh_interval_s
        work = self._refresh_loop(max(interval_s, MIN_REFRESH_S)) if interval_s > 0 else _nothing()
        self._refreshing = self._work.start(work, "refresh servers")

    async def _refresh_loop(self, interval_s: float) -> None:
        while True:
            await self.clock.sleep(interval_s)
            await self.fetch_all_capabilities()

    async def fetch_all_capabilities(self) -> dict[str, Result[ServerCapabilities]]:
        """What all servers offer, fetched anew and in parallel; tries those that failed again."""
        wanted = {name: each for name, each in self.connections.items() if self.may_start(each)}
        return await fetch_all_capabilities(wanted, force_refresh=True)

    async def _begin(self, connection: ServerConnection) -> None:
        """Connect and fetch the lists; a server that hangs keeps its place only for a while."""
        async with self._places:
            first = self._work.start(connection.get_capabilities(), f"begin {connection.server_id}")
            try:
                with contextlib.suppress(TimeoutError):
                    await within(self.clock, _PLACE_S, _all([first]))
            except asyncio.CancelledError:
                first.cancel()
                raise
        await first

    async def settled(self, budget_s: float) -> None:
        """Wait until each server that was started has its lists or failed, at most this long."""
        waiting = [task for task in self._first.values() if not task.done()]
        if waiting:
            try:
                await within(self.clock, budget_s, _all(waiting))
            except TimeoutError:
                return

    @property
    def is_settled(self) -> bool:
        """Whether each server that was started has its lists or failed."""
        return all(task.done() for task in self._first.values())

    @property
    def running(self) -> list[ServerConnection]:
        return [each for each in self.connections.values() if each.status is ServerStatus.RUNNING]

    async def close(self) -> None:
        """Close all servers; no process is left."""
        await self._work.end()
        await self._closings.ended()
        leaving = (self._leave(each) for each in self.connections.values())
        await asyncio.gather(*leaving, return_exceptions=True)
        self.bus_reader.catch_up()

    async def _leave(self, connection: ServerConnection) -> None:
        try:
            async with asyncio.timeout(_CLOSE_S):
                await connection.close()
        except TimeoutError:
            await connection.close(Closing.KILL)


async def _nothing() -> None:
    """The refresh loop, switched off."""


async def _all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    await asyncio.wait(tasks)
