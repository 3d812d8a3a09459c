"""`mcplens web`: the web UI, for as long as the command runs. `mcplens [TARGET]` and `demo` too.

Prints the address with its token on stdout; opens a browser unless told not to. Ctrl-C closes all
servers and leaves no process behind. Starlette is loaded here and nowhere else in cli/.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import msgspec

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import reporting
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.target_resolution import overrides_of, resolve

if TYPE_CHECKING:
    from mcplens.web.server import Opened
    from mcplens.workspace.server import Server
    from mcplens.workspace.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])


class WebOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where the web UI is served, and what follows from that."""

    host: str
    port: int | None
    apps_port: int | None
    no_open: bool
    collections: tuple[str, ...]
    shown_run: str | None
    allow_private_networks: bool

    @property
    def sign_in_networks(self) -> str:
        """The networks in which addresses that servers name for a sign-in are asked."""
        from mcplens.transports.private_networks import sign_in_networks

        return sign_in_networks(self.host, allows_private=self.allow_private_networks)


def web_options(function: F) -> F:
    """The options of every command that opens the web UI; it gets them as `serving`."""

    @functools.wraps(function)
    def collected(*args: Any, **given: Any) -> Any:
        names = WebOptions.__struct_fields__
        serving = WebOptions(**{name: given.pop(name) for name in names})
        return function(*args, serving=serving, **given)

    decorated: Any = collected
    for option in (
        click.option(
            "--allow-private-networks", is_flag=True,
            help="With --host: sign-ins may reach private addresses that servers name.",
        ),
        click.option(
            "--collection", "collections", multiple=True, metavar="FILE",
            help="Show this file of saved calls and tests too, and let the page write it; it is "
                 "made if there is none. May be repeated.",
        ),
        click.option(
            "--show", "shown_run", metavar="RUN|TRACE",
            help="Open the traffic of an earlier run, or of a trace file, which is imported.",
        ),
        click.option("--no-open", is_flag=True, help="Do not open a browser."),
        click.option(
            "--apps-port", type=click.IntRange(0, 65535), metavar="N",
            help="Port for MCP Apps, which need an origin of their own; by default the next free "
                 "one after --port.",
        ),
        click.option(
            "--port", type=click.IntRange(0, 65535), metavar="N",
            help="Port to serve on; by default 6280 or the next free one.",
        ),
        click.option(
            "--host", default="127.0.0.1", metavar="ADDRESS",
            help="Address to serve on; any but 127.0.0.1 is reachable from other machines.",
        ),
    ):  # fmt: skip
        decorated = option(decorated)
    return cast("F", decorated)


@click.command("web")
@click.argument("target", required=False, shell_complete=complete_target)
@web_options
@shared_options
def command(flags: CommandOptions, target: str | None, serving: WebOptions) -> None:
    """Open the web UI with all configured servers and TARGET.

    \b
    mcplens web
    mcplens web demo
    mcplens web --port 7000 --no-open
    mcplens web -- python server.py
    """
    show(flags, target, serving)


def show(flags: CommandOptions, target: str | None, serving: WebOptions) -> None:
    """Serve the web UI until somebody presses Ctrl-C."""
    if flags.elicit not in (None, "ask"):
        raise click.UsageError(
            "--elicit does not work with the web UI, where forms wait on the page; a profile with "
            "`elicitation` answers them: name it with --sampling"
        )
    with reporting(flags, target or "the web UI"), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(flags, target, serving))
    output.note("mcplens: closed")
    sys.exit(exit_codes.DONE)


async def _serve(flags: CommandOptions, target: str | None, serving: WebOptions) -> None:
    from mcplens.background import Background
    from mcplens.transports.network import is_loopback
    from mcplens.web.server import open_web
    from mcplens.workspace.workspace import Workspace

    _calm_collector()
    path = _path_to_show(serving)
    _make_missing(serving.collections)
    host = serving.host
    stop = asyncio.Event()
    if os.name == "posix":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    workspace = Workspace(
        config_path=flags.config,
        record=not flags.no_record,
        trace=flags.trace,
        warn=lambda text: output.note(f"mcplens: {text}", fg="yellow"),
        sign_in_networks=serving.sign_in_networks,
        collections=serving.collections,
    )
    async with workspace:
        server_id = _prepare(flags, workspace, target)
        async with open_web(
            workspace,
            host=host,
            port=serving.port,
            apps_port=serving.apps_port,
            first_server_id=server_id,
        ) as opened:
            if not is_loopback(host):
                output.note(
                    f"mcplens: {host} can be reached from other machines; anyone who has the "
                    "address below can start programs on this one, and traffic is not encrypted",
                    fg="yellow",
                )
            beside = Background()
            if server_id is not None:
                _connect(workspace, server_id)
                beside.start(_tell_of_failure(workspace, server_id), "tell of a failure")
            opened = msgspec.structs.replace(opened, path=path)
            _tell(opened, no_open=serving.no_open)
            try:
                await stop.wait()
            finally:
                await beside.end()


def _calm_collector() -> None:
    """A large answer has a hundred thousand objects; garbage collection would double its cost."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _make_missing(paths: tuple[str, ...]) -> None:
    """Make the files that are named and not there, for the calls that are saved to them.

    Raises:
        UsageError: the name is not that of a collection.
        ConfigurationError: a file cannot be written.
    """
    from mcplens.collections.folder import SUFFIX, make_given

    for path in paths:
        if os.path.lexists(path):
            continue
        if not path.endswith(SUFFIX):
            raise click.UsageError(
                f"there is no file {path}; the name of a new one ends in {SUFFIX}"
            )
        make_given(path)
        output.note(f"mcplens: made {path}, for the calls and tests that you save")


def _path_to_show(serving: WebOptions) -> str:
    """The path of the page that is opened: that of the run that is to be shown.

    Raises:
        UsageError: there is no such run, and no such file.
    """
    name = serving.shown_run
    if name is None:
        return ""
    from mcplens.store.history import History
    from mcplens.store.recording_file import default_path
    from mcplens.store.trace_transfer import import_trace

    path = default_path()
    if os.path.isfile(name):
        run_id = next(iter(import_trace(name, path).run_ids), "")
        if not run_id:
            raise click.UsageError(f"{name} has no run")
        return f"traffic?run={run_id}"
    run = None
    if os.path.exists(path):
        with History(path) as history:
            run = history.run(name)
    if run is None:
        raise click.UsageError(f"there is no run {name!r} in the recording, and no such file")
    return f"traffic?run={run.run_id}"


def _tell(opened: Opened, *, no_open: bool) -> None:
    output.say(opened.url_with_token)
    output.flush()
    output.note("mcplens: open this address; Ctrl-C stops everything")
    if not no_open and _has_browser():
        import threading
        import webbrowser

        # A thread: some browsers answer only when they are closed. The key in this address opens
        # once, since other users may see the command lines of this machine.
        threading.Thread(target=webbrowser.open, args=(opened.url_to_open,), daemon=True).start()


def _has_browser() -> bool:
    """Whether a graphical browser can be opened; a text browser would not help."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


# -- the server that is named --------------------------------------------------------------------


def _prepare(flags: CommandOptions, workspace: Workspace, target: str | None) -> str | None:
    """Add the server that the command line names, if it is not configured; its id."""
    overrides = overrides_of(flags)
    if target is None and flags.server_command is None:
        if overrides or flags.roots or flags.no_apps or flags.sampling is not None:
            raise click.UsageError("these options apply to one server: name it")
        return None
    if target is not None and target in workspace.servers:
        server = workspace.servers[target]
        server.overrides |= overrides
        if flags.is_trusted:
            workspace.confirm(target)
        _answer_by(flags, workspace, server)
        return target
    server = _given(flags, workspace, target, overrides)
    _answer_by(flags, workspace, server)
    workspace.give(server)
    return server.server_id


def _answer_by(flags: CommandOptions, workspace: Workspace, server: Server) -> None:
    """Apply the options about the server's questions; by default they wait on the page."""
    from mcplens.protocol.apps import UI_EXTENSION
    from mcplens.workspace.answer_settings import typed_root

    here, answering = workspace.config_files.here, server.answer_settings
    if flags.sampling not in (None, "ask"):
        workspace.profiles.get(flags.sampling)
        answering.profile = flags.sampling
    roots = [typed_root(root, None, here) for root in flags.roots]
    answering.set_roots([*answering.roots, *roots], None)
    if flags.no_apps:
        own = answering.chosen.get("extensions") or {}
        answering.choose({"extensions": {**own, UI_EXTENSION: None}})


def _given(
    flags: CommandOptions, workspace: Workspace, target: str | None, overrides: dict[str, Any]
) -> Server:
    from mcplens.config.other_tools import find_server, is_qualified
    from mcplens.config.placeholders import escape
    from mcplens.targets import command_of

    if target is not None and is_qualified(target):
        return workspace.foreign(
            target, find_server(target, workspace.config_files.here), overrides
        )
    found = resolve(flags, target)
    if isinstance(found.target, str) and "://" in found.target:
        raw: dict[str, Any] = {"url": escape(found.target)}
    else:
        program, *args = map(escape, command_of(found.target))
        raw = {"command": program, "args": args, "inheritEnv": True}
    return workspace.new_server(found.name, raw, overrides)


def _connect(workspace: Workspace, server_id: str) -> None:
    """Connect; errors are shown on the page, where they can be fixed."""
    from mcplens.errors import InspectorError

    try:
        workspace.connect(server_id)
    except InspectorError as error:
        output.note(f"mcplens: {error.message}", fg="yellow")


async def _tell_of_failure(workspace: Workspace, server_id: str) -> None:
    """One line, if the server that mcplens was started for is not reached at the first attempt."""
    from mcplens.events import StateChanged

    async for event in workspace.bus.subscribe(0):
        if not isinstance(event, StateChanged) or event.server_id != server_id:
            continue
        if event.error is not None:
            message = output.one_line(str(event.error.get("message", "")))
            output.note(
                f"mcplens: {server_id} is not connected: {message} (the page says more)",
                fg="yellow",
            )
        if event.error is not None or event.new == "CONNECTED":
            return
