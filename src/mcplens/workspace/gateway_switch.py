"""The gateway of a workspace: clients in front, the servers of the web UI behind it.

Switched on and off from the page (`mcplens web`), or on for as long as the process runs (`mcplens
gateway`). While it is on, the configured servers are kept connected and listed, and the files of
the configuration are watched. Owned by workspace.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.background import Background
from mcplens.config.environment import user_state_folder
from mcplens.config.keys import InvalidValue
from mcplens.config.model import Configuration, ServerEntry
from mcplens.config.views import parse_address
from mcplens.downstream.client_setup import refuse
from mcplens.downstream.listener import ServerListener
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.events import (
    Event,
    InboundAnswered,
    InboundConnected,
    InboundDisconnected,
    InboundReceived,
    StoreStateChanged,
)
from mcplens.session.question_handler import ServerRequest

if TYPE_CHECKING:  # loaded when it is switched on
    from mcplens.gateway.service import GatewayService
    from mcplens.workspace.workspace import Workspace

# A page is told of calls at most so often.
_TELL_S: Final = 0.25
_SHOWN: Final = frozenset(
    {InboundAnswered, InboundConnected, InboundDisconnected, InboundReceived, StoreStateChanged}
)


class PersonAtPage:
    """Leaves a question to the person at the page.

    While the gateway is on, a question that belongs to no call of the page is refused unless a page
    is open: an agent must not wait for somebody who is not there.
    """

    name = "gateway"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __repr__(self) -> str:
        return f"<PersonAtPage, {'there' if self._workspace.has_listeners else 'away'}>"

    async def answer(self, request: ServerRequest) -> Any:
        workspace = self._workspace
        is_ours = request.call_id is not None and workspace.calls.get(request.call_id) is not None
        if is_ours or workspace.has_listeners or not workspace.gateway.is_on:
            return None
        return refuse(request)


class GatewaySwitch(ServerListener):
    """The gateway, if it is on."""

    def __init__(self, workspace: Workspace, changed: Callable[[], None]) -> None:
        self.service: GatewayService | None = None
        self.is_permanent = False  # the process is there for it: it cannot be switched off
        self.since: float | None = None
        self.problem: InspectorError | None = None  # why a newer configuration is not used
        self.revision = 0  # another one when what is published may have changed
        self._workspace = workspace
        self._changed = changed
        self._work = Background()
        self._stop: asyncio.Event | None = None
        self._serving: asyncio.Task[None] | None = None
        self._is_tell_due = False
        self._seen: object = None  # what was last known of the other replicas

    def __repr__(self) -> str:
        return f"<GatewaySwitch {'on' if self.is_on else 'off'}>"

    @property
    def is_on(self) -> bool:
        return self.service is not None

    @property
    def folder(self) -> str:
        """The folder for state, where the token and the audit log are."""
        return user_state_folder(self._workspace.config_files.here)

    def entries(self) -> list[ServerEntry]:
        """The servers that a gateway publishes."""
        offers = self._workspace.live_servers.offers
        entries = (server.entry for server in self._workspace.servers.values())
        return [entry for entry in entries if entry.is_usable and offers(entry)]

    # -- on and off ----------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def serving(
        self, *, view_name: str | None = None, has_telemetry: bool = False
    ) -> AsyncIterator[GatewayService]:
        """Have a gateway for as long as the block lasts; the caller lets clients in.

        Raises:
            ConfigurationError: the configuration cannot be used for it.
        """
        from mcplens.gateway.service import GatewayService

        workspace, live = self._workspace, self._workspace.live_servers
        former = live.options
        configuration = workspace.config_files.configuration
        service = GatewayService(
            self.entries(),
            configuration,
            bus=workspace.bus,
            clock=workspace.clock,
            view_name=view_name,
            servers=live,
            state_folder=self.folder,
            has_telemetry=has_telemetry,
        )
        service.approvals.on_changed = self._published_anew
        service.gateway.users.on_changed = self._published_anew
        service.gateway.replica.on_look.append(self._replicas_seen)
        live.use_options(
            msgspec.structs.replace(
                former,
                keeps_ready=True,
                relays_questions=True,
                stale_for_s=service.published.settings.stale_for_s,
            )
        )
        self.service, self.since, self.problem = service, workspace.clock.wall(), None
        workspace.bus_reader.add(self._handle_batch)
        unlisten = live.listen(self)
        workspace.reload()
        live.start()
        self._changed()
        try:
            async with service.running():
                yield service
        finally:
            self.service = self.since = None
            workspace.bus_reader.remove(self._handle_batch)
            unlisten()
            await live.stop()
            live.use_options(former)
            self._changed()

    async def turn_on(self) -> None:
        """Serve over HTTP where the configuration says, with the token that is kept.

        Raises:
            InspectorError: it is on, or it cannot be.
        """
        if self.is_on or self._stop is not None:
            raise InspectorError("INVALID_REQUEST", "the gateway is on already")
        self._stop = asyncio.Event()
        is_ready = asyncio.get_running_loop().create_future()
        self._serving = self._work.start(self._run(self._stop, is_ready), "gateway")
        await is_ready

    async def turn_off(self) -> None:
        """Finish the calls that are under way, and let no client in any more.

        Raises:
            InspectorError: it is not on, or this process is there for it.
        """
        if self._stop is None:
            text = "`mcplens gateway` ends with its process" if self.is_on else "it is off already"
            raise InspectorError("INVALID_REQUEST", f"the gateway cannot be switched off: {text}")
        self._stop.set()
        await self._ended()

    async def _ended(self) -> None:
        if self._serving is not None:
            await asyncio.wait([self._serving])

    async def end(self) -> None:
        """The workspace is closed."""
        if self._stop is not None:
            self._stop.set()
        await self._ended()
        await self._work.end()

    async def _run(self, stop: asyncio.Event, is_ready: asyncio.Future[None]) -> None:
        from mcplens.gateway.audit_log import FILE_NAME, AuditLog
        from mcplens.gateway.kept_token import kept_token

        watch = Background()
        try:
            async with self.serving() as service, contextlib.AsyncExitStack() as stack:
                listen = service.published.settings.listen
                host, port = parse_address(listen, "gateway.listen")
                service.gateway.audit_log = AuditLog(Path(self.folder, FILE_NAME))
                token = kept_token(self.folder)
                await stack.enter_async_context(service.http(host, port, token=token))
                stack.push_async_callback(watch.end)
                watch.start(self._workspace.watch_configuration(), "watch the configuration")
                is_ready.set_result(None)
                self._changed()
                await stop.wait()
        except (InspectorError, InvalidValue) as problem:
            if not is_ready.done():
                is_ready.set_exception(_as_error(problem))
        finally:
            self._stop = None
            if not is_ready.done():
                is_ready.cancel()

    # -- the configuration ---------------------------------------------------------------------

    def check(self, configuration: Configuration) -> None:
        """Raises ConfigurationError if the gateway cannot use a configuration."""
        if self.service is not None:
            enabled = [entry for entry in configuration.servers if entry.is_usable]
            self.service.check(enabled, configuration)

    def follow(self) -> None:
        """The workspace has read its files again; what cannot be used changes nothing here."""
        if self.service is None:
            return
        former, self.problem = self.problem, None
        try:
            self.service.follow(self.entries(), self._workspace.config_files.configuration)
            self.revision += 1
        except (ConfigurationError, InvalidValue) as problem:
            self.problem = _as_error(problem)
        if self.problem != former:
            self._changed()

    # -- what happens --------------------------------------------------------------------------

    def _handle_batch(self, batch: list[Event], missed: int) -> None:
        if missed or any(type(event) in _SHOWN for event in batch):
            self._tell_soon()

    def servers_changed(self) -> None:
        self.revision += 1
        self._tell_soon()

    def state_changed(self, server_id: str) -> None:
        self._tell_soon()

    def list_changed(self, server_id: str, kind: str) -> None:
        self.revision += 1
        self._tell_soon()

    def _published_anew(self) -> None:
        self.revision += 1
        self._tell_soon()

    def _replicas_seen(self) -> None:
        """This replica has looked which others are there."""
        service = self.service
        if service is not None and service.shared is not None:
            replica = service.gateway.replica
            holders = service.shared.singletons.status()
            seen = (replica.presence, dict(replica.others), dict(replica.gone), holders)
            if seen != self._seen:
                self._seen = seen
                self._tell_soon()

    def _tell_soon(self) -> None:
        """Tell open pages, at most a few times a second."""
        if not self._is_tell_due and self._workspace.has_listeners:
            self._is_tell_due = True
            self._work.start(self._tell(), "tell of the gateway")

    async def _tell(self) -> None:
        await self._workspace.clock.sleep(_TELL_S)
        self._is_tell_due = False
        self._changed()


def _as_error(problem: InspectorError | InvalidValue) -> InspectorError:
    if isinstance(problem, InspectorError):
        return problem
    return ConfigurationError("CONFIGURATION_INVALID", str(problem))
