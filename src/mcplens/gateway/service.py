"""A gateway made from the configuration: servers, views, endpoints, and its orderly end.

Put together here so that the command line and the web UI start it the same way. Knows nothing of
terminals; what happens is on the bus.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.config.access_keys import ALL_VIEWS
from mcplens.config.model import Configuration, ServerEntry
from mcplens.config.telemetry_settings import TelemetrySettings
from mcplens.config.views import GatewaySettings, View, read_gateway, read_view
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.options import LiveOptions
from mcplens.errors import ConfigurationError
from mcplens.gateway.access import GatewayAccess
from mcplens.gateway.approval_records import ApprovalRecords, FileRecords, records_folder
from mcplens.gateway.approval_store import StoreRecords, is_shared
from mcplens.gateway.approvals import Approvals
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.http_app import MCP_PATH, GatewayApp
from mcplens.gateway.replica_configurations import ReplicaConfigurations
from mcplens.gateway.user_setup import UserSetup
from mcplens.gateway.view_handler import ViewHandler
from mcplens.gateway.views import EVERYTHING
from mcplens.inbound.limits import Limits
from mcplens.inbound.server import Address, listen, serve_app
from mcplens.known_secrets import known_secrets
from mcplens.replicas.replica import Replica
from mcplens.transports.network import is_loopback
from mcplens.user_folders import current_state_folder
from mcplens.version import VERSION

# Files that each server and the gateway itself need at least: pipes, sockets, the recording.
_FILES_PER_SERVER: Final = 8
_FILES_OF_OUR_OWN: Final = 128
CLIENT_INFO: Final = {"name": "mcplens-gateway", "version": VERSION}


if TYPE_CHECKING:
    from mcplens.gateway.shared_state import SharedState


class Published(msgspec.Struct, frozen=True):
    """What the configuration says about the gateway."""

    views: tuple[View, ...]
    default_view: View
    settings: GatewaySettings


def published(configuration: Configuration, view_name: str | None = None) -> Published:
    """The views and settings of a configuration; `view_name` is the view at `/mcp`.

    Raises:
        ConfigurationError: there is no view of that name.
    """
    settings = configuration.settings
    views = tuple(read_view(name, value) for name, value in settings.views.items())
    for view in views:
        if view.token is not None:
            known_secrets.learn(view.token)
    wanted = view_name or settings.default_preset_id
    chosen = next((view for view in views if view.name == wanted), None)
    if wanted is not None and chosen is None:
        known = ", ".join(view.name for view in views) or "none is configured"
        text = f"there is no view {wanted!r} (known: {known})"
        raise ConfigurationError("CONFIGURATION_INVALID", text)
    gateway = read_gateway(settings.gateway, "gateway")
    _check_views(gateway, {view.name for view in views})
    return Published(views, chosen or EVERYTHING, gateway)


def _check_views(settings: GatewaySettings, known: set[str]) -> None:
    """A token or a scope that opens a view which does not exist is a typo."""
    opened = {f"the token {one.name}": one.views or () for one in settings.tokens}
    if settings.oauth is not None:
        opened |= {f"the scope {key}": value for key, value in settings.oauth.scope_views.items()}
    for what, names in opened.items():
        unknown = [name for name in names if name not in known and name != ALL_VIEWS]
        if unknown:
            text = f"gateway: {what} opens the view {unknown[0]!r}, which is not among `views`"
            raise ConfigurationError("CONFIGURATION_INVALID", text)


def check_access(settings: GatewaySettings, host: str, *, has_token: bool) -> None:
    """Raises ConfigurationError if the settings of access do not fit where the gateway listens."""
    text = None
    if not has_token and not is_loopback(host):
        text = f"{host} can be reached from other machines: a token is required there"
    elif not has_token and (settings.oauth is not None or settings.tokens):
        text = "gateway.oauth and gateway.tokens say who may come in: leave out --no-auth"
    elif settings.oauth is not None and settings.public_url is None and not is_loopback(host):
        text = (
            f"gateway.oauth needs gateway.publicUrl, the address by which clients reach {host}: "
            "tokens are issued for it"
        )
    if text is not None:
        raise ConfigurationError("CONFIGURATION_INVALID", text)


def inbound_limits(settings: GatewaySettings) -> Limits:
    """The limits of the inbound transports, as configured."""
    chosen = settings.limits
    given = {
        "max_sessions": chosen.sessions,
        "max_requests": chosen.calls_per_client,
        "max_message_bytes": chosen.request_bytes,
    }
    return Limits(**{name: value for name, value in given.items() if value is not None})


def left_out(offered: Iterable[ServerEntry], configuration: Configuration) -> dict[str, str]:
    """Why the other servers of a configuration are not served, by name."""
    names = {entry.name for entry in offered}
    return {
        entry.name: "has not been confirmed" if entry.enabled else "is disabled"
        for entry in configuration.servers
        if entry.name not in names and entry.problem is None
    }


def leads_to(entry: ServerEntry, address: Address) -> bool:
    """Whether a server is the very address that the gateway listens on."""
    if entry.url is None:
        return False
    try:
        parts = urlsplit(entry.url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        host = (parts.hostname or "").lower()
    except ValueError:
        return False
    is_same_host = host == address.host.lower() or (is_loopback(host) and is_local(address.host))
    return port == address.port and is_same_host


def is_local(host: str) -> bool:
    """Whether an address to listen on is reached by this machine's loopback too."""
    return is_loopback(host) or host in ("0.0.0.0", "::")


def ensure_files(server_count: int) -> None:
    """Raise the limit of open files as far as it is needed and allowed.

    Raises:
        ConfigurationError: the system allows too few.
    """
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != hard and soft != unlimited:
        target = hard if hard != unlimited else max(soft, 65_536)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
            soft = target
        except (ValueError, OSError):
            pass  # the limit as it is may do
    needed = _FILES_OF_OUR_OWN + _FILES_PER_SERVER * server_count
    if soft != unlimited and soft < needed:
        text = (
            f"this system allows {soft} open files, and {server_count} servers need {needed}: "
            f"raise the limit (ulimit -n {needed})"
        )
        raise ConfigurationError("CONFIGURATION_INVALID", text)


def live_options(settings: GatewaySettings, sign_in_networks: str) -> LiveOptions:
    """How a gateway owns its servers."""
    return LiveOptions(
        relays_questions=True,
        stale_for_s=settings.stale_for_s,
        client_info=CLIENT_INFO,
        sign_in_networks=sign_in_networks,
    )


class GatewayService:
    """A gateway with its servers; `http` or `stdio_handler` lets clients in.

    With `servers` it serves those of a web UI, which follows the configuration itself.
    """

    def __init__(
        self,
        entries: Iterable[ServerEntry],
        configuration: Configuration,
        *,
        bus: Bus,
        clock: Clock,
        view_name: str | None = None,
        sign_in_networks: str = "any",
        servers: LiveServers | None = None,
        state_folder: str | None = None,
        has_telemetry: bool = False,
    ) -> None:
        self.published = published(configuration, view_name)
        self.entries = tuple(entries)
        self._view_name = view_name
        self.address: Address | None = None  # while clients are served over HTTP
        self.token: str | None = None  # that opens it; a secret
        self.is_port_fixed = False  # else it is another one after a restart
        self._app: GatewayApp | None = None
        self._stdio: ViewHandler | None = None
        self._settings = configuration.settings
        self._clock = clock
        ensure_files(len(self.entries))
        self._owns_servers = servers is None
        self.servers = servers or LiveServers(
            bus=bus,
            clock=clock,
            options=live_options(self.published.settings, sign_in_networks),
        )
        self.gateway = Gateway(
            self.servers,
            bus=bus,
            clock=clock,
            views=self.published.views,
            settings=self.published.settings,
            replica=Replica.configured(self.published.settings, clock),
        )
        self._configurations = ReplicaConfigurations(self.gateway)
        self._tell_configuration()
        self.gateway.left_out = left_out(self.entries, configuration)
        self.shared: SharedState | None = None
        if self.published.settings.is_shared:
            from mcplens.gateway.shared_state import SharedState

            self.shared = SharedState(self.gateway, self.published.settings)
            self.gateway.shared = self.shared
        records = self._records(configuration, state_folder or current_state_folder())
        self.approvals = Approvals(self.gateway, records)
        self.gateway.approvals = self.approvals
        self._has_telemetry = has_telemetry
        self._users = UserSetup(self.gateway)
        self._users.check(self.entries, self.published.settings)
        self._users.use(self.entries, self.published.settings)

    def __repr__(self) -> str:
        return f"<GatewayService {self.gateway!r}>"

    def _records(self, configuration: Configuration, state_folder: str) -> ApprovalRecords:
        """Where approvals are kept: with what replicas share, or in the folder for state."""
        if is_shared(self.published.settings):
            replica = self.gateway.replica
            return StoreRecords(replica.store, replica.keys)
        return FileRecords(records_folder(configuration, state_folder), self._clock)

    def follow(self, entries: Iterable[ServerEntry], configuration: Configuration) -> None:
        """Use another configuration from now on: clients are told what changed for them.

        What the gateway was started with stays: its address, and the limits of the transports.

        Raises:
            ConfigurationError: it cannot be used; nothing has changed.
        """
        servers = tuple(entries)
        found = self.check(servers, configuration)
        before = {entry.name for entry in self.entries}
        self.published, self.entries, self._settings = found, servers, configuration.settings
        self.gateway.use_settings(found.views, found.settings)
        self._users.use(servers, found.settings)
        if self._app is not None and self.address is not None:
            self._app.access.use(found.settings, self.address.url(""), self._clock)
            self._users.use_address(found.settings.public_url or self.address.url(""))
        self.gateway.left_out = left_out(servers, configuration)
        self._tell_configuration()
        if self._app is not None:
            self._app.use_views(found.default_view)
        if self._stdio is not None:
            self._stdio.use_view(found.default_view)
        if self._owns_servers:
            self.servers.apply(servers, configuration.settings)
        elif before != {entry.name for entry in servers}:
            self.gateway.servers_changed()  # one may have been switched on or off
        if self.shared is not None:
            self.shared.singletons.follow()

    def _tell_configuration(self) -> None:
        """Other replicas compare theirs with it."""
        keys = self.published.settings.replica.keys
        view = self.published.default_view.name
        self._configurations.use(self.entries, self._settings, view, keys)

    def check(self, entries: Sequence[ServerEntry], configuration: Configuration) -> Published:
        """What a configuration would publish.

        Raises:
            ConfigurationError: it cannot be used.
        """
        found = published(configuration, self._view_name)
        if self.address is not None:
            check_access(found.settings, self.address.host, has_token=self.token is not None)
        ensure_files(len(entries))
        self._check_loops(entries)
        self._users.check(entries, found.settings)
        return found

    def _check_loops(self, entries: Iterable[ServerEntry]) -> None:
        address = self.address
        if address is not None:
            for entry in entries:
                if leads_to(entry, address):
                    where = address.url(MCP_PATH)
                    text = f"{entry.name} is this very gateway ({where}): take it out"
                    raise ConfigurationError("CONFIGURATION_INVALID", text)

    @asynccontextmanager
    async def running(self, *, without: Iterable[str] = ()) -> AsyncIterator[None]:
        """Keep the servers for as long as the block lasts; `without` are not started.

        Raises:
            ConfigurationError: the packages for telemetry are not installed.
        """
        self._start_telemetry()
        replica = self.gateway.replica
        async with AsyncExitStack() as stack:
            await replica.open()
            stack.push_async_callback(replica.close)
            if self.shared is not None:
                await stack.enter_async_context(self.shared.running())
            await self.approvals.start()
            if self._owns_servers:
                left_out = set(without)
                used = [entry for entry in self.entries if entry.name not in left_out]
                await stack.enter_async_context(self._started(used))
            stack.push_async_callback(self._close)
            yield

    @asynccontextmanager
    async def _started(self, entries: Sequence[ServerEntry]) -> AsyncIterator[None]:
        async with self.servers:
            self.servers.apply(entries, self._settings)
            self.servers.start()
            yield

    async def _close(self) -> None:
        await self.approvals.close()
        await self.gateway.close()
        if self.gateway.telemetry is not None:
            await self.gateway.telemetry.close()

    def _start_telemetry(self) -> None:
        """Telemetry by the configuration or, if it was asked for, by the standard variables."""
        settings = self.published.settings.telemetry
        if settings is None and not self._has_telemetry:
            return
        try:
            from mcplens.gateway.telemetry import Telemetry
        except ImportError as missing:
            if (missing.name or "").partition(".")[0] == "mcplens":
                raise
            text = "telemetry needs packages that are missing: pip install 'mcplens[otel]'"
            raise ConfigurationError("CONFIGURATION_INVALID", text) from None
        name = self.published.settings.replica.name
        self.gateway.telemetry = Telemetry(self.gateway, settings or TelemetrySettings(), name)

    @asynccontextmanager
    async def http(
        self, host: str, port: int, *, token: str | None, has_sse: bool = False
    ) -> AsyncIterator[Address]:
        """Serve over HTTP for as long as the block lasts; calls are finished before it ends.

        Raises:
            ConfigurationError: other machines could connect without a token, or the settings of
                access do not fit the address.
            ConnectError: the port cannot be opened.
        """
        check_access(self.published.settings, host, has_token=token is not None)
        listener = listen(host, port)
        self.address, self.token = Address(host, listener.getsockname()[1]), token
        self.is_port_fixed = port != 0
        try:
            self._check_loops(self.entries)
        except ConfigurationError:
            listener.close()
            self.address = self.token = None
            raise
        limits = inbound_limits(self.published.settings)
        access = GatewayAccess(token, allowed_hosts=() if is_loopback(host) else (host,))
        access.use(self.published.settings, self.address.url(""), self._clock)
        self._users.use_address(self.published.settings.public_url or self.address.url(""))
        replica = self.gateway.replica
        await replica.join(self.address.url(""))
        self.gateway.share_sessions()
        app = self._app = GatewayApp(
            self.gateway,
            access,
            limits=limits,
            default_view=self.published.default_view,
            has_sse=has_sse,
        )
        async with serve_app(
            app, listener, host=host, max_message_bytes=limits.max_message_bytes, close=app.close
        ) as served:
            if self.shared is not None and replica.address is not None:
                self.shared.singletons.use_address(replica.address)
            try:
                yield served
            finally:
                settings = self.published.settings
                if self.shared is not None:
                    self.shared.singletons.stop_taking()
                replica.is_leaving = True
                await self.gateway.ending.drain(settings.drain_s, notice_s=settings.notice_s)
                await replica.retire()
                await access.close()
                if self.gateway.shared_sessions is not None:
                    await self.gateway.shared_sessions.close()
                await replica.leave()
                self.address = self.token = None

    def stdio_handler(self) -> ViewHandler:
        """Serves the process that started us."""
        handler = ViewHandler(self.gateway, self.published.default_view, "stdio")
        self.gateway.add_handler(handler)
        self._stdio = handler
        return handler
