"""A gateway in this process, in front of real servers, and clients that connect to it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import mcplens
from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.config.entries import build_entry
from mcplens.config.environment import current_environment
from mcplens.config.model import ServerEntry, Settings, Source
from mcplens.config.views import GatewaySettings, View
from mcplens.demo.server import Demo
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.options import LiveOptions
from mcplens.gateway.access import GatewayAccess
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.http_app import GatewayApp
from mcplens.gateway.user_setup import UserSetup
from mcplens.inbound.asgi_app import AsgiApp
from mcplens.inbound.limits import Limits
from mcplens.inbound.server import listen, serve, serve_app
from mcplens.inbound.streamable_http import StreamableHttp
from mcplens.replicas.replica import Replica
from mcplens.session.client import Client

OLD = "2025-11-25"
NEW = "2026-07-28"
# Bounds what never comes; nothing here takes this long.
PATIENCE_S = 20
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

STDIO_DEMO: dict[str, Any] = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}


class RunningGateway:
    """A gateway and its address."""

    def __init__(self, gateway: Gateway, app: GatewayApp, origin: str, bus: Bus) -> None:
        self.gateway = gateway
        self.app = app
        self.origin = origin
        self.bus = bus

    def configure(self, servers: Mapping[str, Mapping[str, Any]]) -> None:
        """Have exactly these servers from now on."""
        live = self.gateway.servers
        live.apply(entries_of(servers), live.settings)
        live.start()

    def url(self, path: str = "/mcp") -> str:
        return f"{self.origin}{path}"

    def connect(self, path: str = "/mcp", **options: Any) -> mcplens.connect:
        """A client of ours for a path."""
        return mcplens.connect(self.url(path), sse_fallback=False, **options)


def entries_of(servers: Mapping[str, Mapping[str, Any]]) -> list[ServerEntry]:
    here = current_environment()
    source = Source("mcplens", "test.json", "given")
    return [build_entry(name, dict(raw), source, here) for name, raw in servers.items()]


@asynccontextmanager
async def running_gateway(
    servers: Mapping[str, Mapping[str, Any]],
    *,
    views: tuple[View, ...] = (),
    default_view: View | None = None,
    token: str | None = None,
    settings: GatewaySettings | None = None,
    limits: Limits | None = None,
    has_sse: bool = False,
    clock: Clock | None = None,
    replica: Replica | None = None,
) -> AsyncIterator[RunningGateway]:
    clock = clock or SystemClock()
    bus = Bus(clock)
    options = LiveOptions(relays_questions=True)
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(LiveServers(bus=bus, clock=clock, options=options))
        live.apply(entries_of(servers), Settings())
        live.start()
        settings = settings or GatewaySettings()
        replica = replica or Replica.configured(settings, clock)
        await replica.open()
        stack.push_async_callback(replica.close)
        gateway = Gateway(
            live, bus=bus, clock=clock, views=views, settings=settings, replica=replica
        )
        stack.push_async_callback(gateway.close)
        users = UserSetup(gateway)
        users.use(entries_of(servers), settings)
        listener = listen("127.0.0.1", 0)
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        await replica.join(origin)
        gateway.share_sessions()
        stack.push_async_callback(_stop_sharing, gateway)
        access = GatewayAccess(token)
        access.use(settings, origin, clock)
        stack.push_async_callback(access.close)
        users.use_address(origin)
        app = GatewayApp(
            gateway,
            access,
            limits=limits,
            default_view=default_view or View(separator="none"),
            has_sse=has_sse,
        )
        address = await stack.enter_async_context(
            serve_app(
                app,
                listener,
                host="127.0.0.1",
                max_message_bytes=MAX_MESSAGE_BYTES,
                close=app.close,
            )
        )
        yield RunningGateway(gateway, app, address.url(""), bus)


async def _stop_sharing(gateway: Gateway) -> None:
    if gateway.shared_sessions is not None:
        await gateway.shared_sessions.close()
    await gateway.replica.leave()


@asynccontextmanager
async def http_demo(port: int = 0) -> AsyncIterator[str]:
    """The demo server by HTTP; its URL."""
    clock = SystemClock()
    demo = Demo(clock)
    try:
        app = AsgiApp({"/mcp": StreamableHttp(demo, clock)})
        async with serve(app, port=port) as address:
            yield address.url("/mcp")
    finally:
        await demo.close()


def texts(result: Any) -> str:
    """The text of a result."""
    return "".join(item.text or "" for item in result.content)


async def names(client: Client) -> list[str]:
    return [tool.name for tool in await client.list_tools()]
