"""`mcplens gateway`: all configured servers behind one MCP endpoint, for as long as it runs.

Prints the addresses of the gateway and of its web UI on stdout, or serves the process that started
it (`--stdio`). Everything else goes to stderr: a table of servers and calls on a terminal, JSON
lines otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from mcplens.cli import exit_codes, output
from mcplens.cli.client_files import InstallableCommand
from mcplens.cli.command_options import CommandOptions, default_options, writable_file
from mcplens.cli.command_runner import reporting
from mcplens.cli.exit_codes import CommandError
from mcplens.cli.gateway_approve import approve_command
from mcplens.cli.gateway_install import install_command, remove_command

if TYPE_CHECKING:
    from mcplens.bus import Bus
    from mcplens.cli.gateway_configuration import Follow, GatewayConfiguration
    from mcplens.config.model import Configuration, ServerEntry
    from mcplens.gateway.audit_log import AuditLog
    from mcplens.gateway.service import GatewayService
    from mcplens.web.server import Opened

# Without a page that shows them, events stay in memory so long: far more than the recording and
# the log lines lag behind.
_KEPT_EVENTS_S: Final = 20.0


class GatewayOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about the gateway."""

    listen: str | None
    is_stdio: bool
    view: str | None
    token: str | None
    no_auth: bool
    has_sse: bool
    no_audit: bool
    telemetry: bool
    no_web: bool
    web_port: int | None
    allow_private_networks: bool


@click.group("gateway", cls=InstallableCommand, no_args_is_help=False, invoke_without_command=True)
@click.option("--listen", metavar="HOST:PORT", help="Where to listen (127.0.0.1, a free port).")
@click.option("--stdio", "is_stdio", is_flag=True, help="Serve the program that started this.")
@click.option("--view", metavar="NAME", help="The view at /mcp; by default, defaultPresetId.")
@click.option("--token", metavar="TEXT", help="The bearer token; by default, one that is kept.")
@click.option("--no-auth", is_flag=True, help="Ask for no token, on this machine only.")
@click.option("--sse", "has_sse", is_flag=True, help="Also serve the older HTTP+SSE, at /sse.")
@click.option("--no-audit", is_flag=True, help="Write no audit log.")
@click.option(
    "--telemetry", is_flag=True, help="Send OpenTelemetry data where OTEL_EXPORTER_OTLP_* say."
)
@click.option("--no-web", is_flag=True, help="Serve no web UI beside it.")
@click.option(
    "--web-port", type=click.IntRange(0, 65535), metavar="N",
    help="Port of the web UI, on this machine; by default 6280 or the next free one.",
)  # fmt: skip
@click.option(
    "--allow-private-networks", is_flag=True,
    help="With --listen: sign-ins may reach private addresses that servers name.",
)  # fmt: skip
@click.option("--config", metavar="FILE", help="Use only this configuration file.")
@click.option("--yes", "is_trusted", is_flag=True, help="Start a project's servers without asking.")
@click.option("--no-record", is_flag=True, help="Do not record this session.")
@click.option(
    "--trace", metavar="FILE", callback=writable_file, help="Write all events to this trace file."
)
@click.pass_obj
def command(
    flags: CommandOptions,
    /,
    config: str | None,
    is_trusted: bool,
    no_record: bool,
    trace: str | None,
    **given: Any,
) -> None:
    """Serve all configured servers as one MCP server.

    Clients connect to the first address that it prints, with the token that it keeps in the folder
    for state. /mcp is the view to start with, /mcp/NAME another one, /servers/NAME/mcp one server.
    The second address is the web UI: servers, clients and their traffic, live.

    \b
    mcplens gateway
    mcplens gateway --listen 8808
    mcplens gateway --stdio --view reading
    mcplens gateway install cursor
    """
    options = GatewayOptions(**given)
    if options.is_stdio and (options.listen or options.token or options.has_sse):
        raise click.UsageError("--stdio serves one program over pipes: it has no address and token")
    if options.no_web and options.web_port is not None:
        raise click.UsageError("--no-web and --web-port exclude each other")
    if options.no_auth and options.token:
        raise click.UsageError("--no-auth and --token exclude each other")
    shared = {"config": config, "is_trusted": is_trusted, "no_record": no_record, "trace": trace}
    flags.options.update(default_options() | shared)
    with reporting(flags, "the gateway"), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(flags, options))
    output.note("mcplens: closed")
    sys.exit(exit_codes.DONE)


class _Running(msgspec.Struct, frozen=True):
    """A gateway with its servers, before clients are let in."""

    service: GatewayService
    bus: Bus
    follow: Follow
    web: Opened | None = None


async def _run(flags: CommandOptions, options: GatewayOptions) -> None:
    from mcplens.background import Background
    from mcplens.cli.gateway_configuration import GatewayConfiguration
    from mcplens.cli.process_memory import return_memory, spare_collector

    can_ask = sys.stdin.isatty() and not options.is_stdio
    configuration = GatewayConfiguration(flags, can_ask=can_ask)
    work = Background()
    run = _alone if options.no_web else _beside_web
    async with contextlib.AsyncExitStack() as stack:
        running = await stack.enter_async_context(run(flags, options, configuration))
        if not options.no_audit:
            running.service.gateway.audit_log = _audit_log()
        stack.push_async_callback(work.end)
        work.start(configuration.watch(running.follow, running.bus), "watch the configuration")
        gateway = running.service.gateway
        returning = return_memory(running.bus, gateway.clock, lambda: gateway.running_calls == 0)
        work.start(returning, "return memory")
        spare_collector()
        serve = _serve_stdio if options.is_stdio else _serve_http
        await serve(running, options)


@contextlib.asynccontextmanager
async def _alone(
    flags: CommandOptions, options: GatewayOptions, configuration: GatewayConfiguration
) -> AsyncIterator[_Running]:
    """A gateway without a web UI."""
    from mcplens.background import Background
    from mcplens.bus import Bus
    from mcplens.clock import SystemClock
    from mcplens.gateway.service import GatewayService

    clock = SystemClock()
    bus = Bus(clock)
    service = GatewayService(
        configuration.entries,
        configuration.current,
        bus=bus,
        clock=clock,
        view_name=options.view,
        sign_in_networks=_sign_in_networks(options, configuration.current),
        has_telemetry=options.telemetry,
    )
    work = Background()
    with _recorded(flags, bus, configuration):
        async with service.running():
            work.start(bus.forget_older_than(_KEPT_EVENTS_S), "forget old events")
            try:
                yield _Running(service, bus, service.follow)
            finally:
                await work.end()


@contextlib.asynccontextmanager
async def _beside_web(
    flags: CommandOptions, options: GatewayOptions, configuration: GatewayConfiguration
) -> AsyncIterator[_Running]:
    """A gateway over the servers of a web UI, which is served on a port of its own."""
    from mcplens.errors import ConnectError
    from mcplens.gateway.service import live_options, published
    from mcplens.web.server import open_web
    from mcplens.workspace.workspace import Workspace

    settings = published(configuration.current, options.view).settings
    networks = _sign_in_networks(options, configuration.current)
    workspace = Workspace(
        config_path=flags.config,
        record=not flags.no_record,
        trace=flags.trace,
        warn=lambda text: output.note(f"mcplens: {text}", fg="yellow"),
        sign_in_networks=networks,
        live_options=live_options(settings, networks),
        title="gateway",
        trusts_all=flags.is_trusted,
    )
    workspace.gateway.is_permanent = True

    def follow(_entries: list[ServerEntry], found: Configuration) -> None:
        workspace.follow_configuration(found)

    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(workspace)
        serving = workspace.gateway.serving(view_name=options.view, has_telemetry=options.telemetry)
        service = await stack.enter_async_context(serving)
        try:
            opened = await stack.enter_async_context(open_web(workspace, port=options.web_port))
        except ConnectError as problem:
            raise CommandError(f"{problem.message}; choose another with --web-port") from None
        yield _Running(service, workspace.bus, follow, opened)


def _sign_in_networks(options: GatewayOptions, configuration: Configuration) -> str:
    """Where sign-ins may go: clients on other machines must not reach into our network by them."""
    from mcplens.config.keys import InvalidValue
    from mcplens.config.views import parse_address, read_gateway
    from mcplens.transports.private_networks import sign_in_networks

    if options.is_stdio:
        return "any"
    try:
        settings = read_gateway(configuration.settings.gateway, "gateway")
        host, _ = parse_address(options.listen or settings.listen, "--listen")
    except InvalidValue:  # reported by those who use it
        host = ""
    return sign_in_networks(host, allows_private=options.allow_private_networks)


def _audit_log() -> AuditLog:
    from mcplens.gateway.audit_log import FILE_NAME, AuditLog
    from mcplens.user_folders import current_state_folder

    log = AuditLog(Path(current_state_folder(), FILE_NAME))
    if log.problem is not None:
        output.note(f"mcplens: no audit log: {log.problem}", fg="yellow")
    return log


@contextlib.contextmanager
def _recorded(flags: CommandOptions, bus: Bus, configuration: GatewayConfiguration) -> Any:
    """Record the run."""
    if flags.no_record and flags.trace is None:
        yield
        return
    from mcplens.store.recorder import Recorder
    from mcplens.store.recording_file import default_path
    from mcplens.version import VERSION

    recorder = Recorder(
        bus,
        None if flags.no_record else default_path(),
        trace=flags.trace,
        keys_of=configuration.keys_of,
        output_bytes=configuration.current.settings.server_output_mb * 1_000_000,
        title="gateway",
        version=VERSION,
        warn=lambda text: output.note(f"mcplens: {text}", fg="yellow"),
    )
    with recorder:
        yield


async def _serve_http(running: _Running, options: GatewayOptions) -> None:
    from mcplens.config.keys import InvalidValue
    from mcplens.config.views import parse_address
    from mcplens.errors import ConnectError
    from mcplens.gateway.kept_token import kept_token
    from mcplens.transports.network import is_loopback
    from mcplens.user_folders import current_state_folder

    service, web = running.service, running.web
    try:
        place = options.listen or service.published.settings.listen
        host, port = parse_address(place, "--listen")
    except InvalidValue as wrong:
        raise click.UsageError(str(wrong)) from None
    if options.no_auth and not is_loopback(host):
        raise click.UsageError(f"--no-auth is for this machine only, and {host} is not")
    token = None if options.no_auth else options.token or kept_token(current_state_folder())
    stop = _stop_event()
    async with contextlib.AsyncExitStack() as stack:
        serving = service.http(host, port, token=token, has_sse=options.has_sse)
        try:
            address = await stack.enter_async_context(serving)
        except ConnectError as problem:
            raise CommandError(f"{problem.message}; choose another with --listen") from None
        output.say(address.url("/mcp"))
        if web is not None:
            output.say(web.url_with_token)
        output.flush()
        where = os.path.join(current_state_folder(), "gateway-token")
        if token is not None and options.token is None:
            output.note(f"mcplens: clients send the bearer token that is in {where}")
        if web is not None:
            output.note("mcplens: the second address is the web UI")
        output.note("mcplens: Ctrl-C stops everything")
        async with _shown(running):
            await stop.wait()
        output.note("mcplens: finishing the calls that are under way")


async def _serve_stdio(running: _Running, _options: GatewayOptions) -> None:
    from mcplens.background import Background
    from mcplens.inbound.stdio import serve_stdio

    service = running.service
    if running.web is not None:
        output.note(f"mcplens: the web UI is at {running.web.url_with_token}")
    stop = _stop_event()
    handler = service.stdio_handler()
    work, closed = Background(), asyncio.Event()
    clock = service.gateway.clock
    drain_s = service.published.settings.drain_s
    serving = work.start(serve_stdio(handler, clock, grace_s=drain_s, closed=closed), "serve stdio")
    stopping = work.start(stop.wait(), "wait for a signal")
    async with _shown(running):
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    if not (serving.done() or closed.is_set()):  # a client that has left waits for nothing
        await service.gateway.ending.drain(drain_s)
    await work.end()


def _stop_event() -> asyncio.Event:
    stop = asyncio.Event()
    if os.name == "posix":
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
    return stop


@contextlib.asynccontextmanager
async def _shown(running: _Running) -> AsyncIterator[None]:
    """Show what happens for as long as the block lasts."""
    from mcplens.background import Background
    from mcplens.cli.gateway_display import show_lines, show_table

    show = show_table if sys.stderr.isatty() else show_lines
    work = Background()
    work.start(show(running.service.gateway, running.bus), "show what happens")
    try:
        yield
    finally:
        await work.end()


command.add_command(approve_command)
command.add_command(install_command)
command.add_command(remove_command)
