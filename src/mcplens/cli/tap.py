"""`mcplens tap`: between a client and its server, started by a command or reached by a URL."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import click
import msgspec

from mcplens.cli import output
from mcplens.cli.client_files import InstallableCommand
from mcplens.cli.command_options import CommandOptions, default_options, writable_file
from mcplens.cli.command_runner import reporting
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.recording import recording
from mcplens.cli.tap_install import install_command, remove_command
from mcplens.cli.target_resolution import Target, resolve

if TYPE_CHECKING:
    from mcplens.transports.launch import Launch


def _address(ctx: click.Context, parameter: click.Parameter, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"{text!r}: write it as HOST:PORT")
    return host.strip("[]"), int(port)


@click.group("tap", cls=InstallableCommand, no_args_is_help=False, invoke_without_command=True)
@click.argument("target", required=False, shell_complete=complete_target)
@click.option(
    "--listen",
    default="127.0.0.1:0",
    metavar="HOST:PORT",
    callback=_address,
    help="Where the client of a URL connects instead (127.0.0.1, a free port).",
)
@click.option(
    "--rewrite-auth",
    is_flag=True,
    help="Have a sign-in name this address instead of the URL's, and back.",
)
@click.option("--name", metavar="NAME", help="What the server is called in the recording.")
@click.option("--ca-file", metavar="FILE", help="Trust the CAs in this file.")
@click.option("--insecure", is_flag=True, help="Do not check TLS certificates.")
@click.option("--config", metavar="FILE", help="Use only this configuration file.")
@click.option("--yes", "is_trusted", is_flag=True, help="Start a project's server without asking.")
@click.option("--no-record", is_flag=True, help="Do not record this session.")
@click.option(
    "--trace",
    metavar="FILE",
    callback=writable_file,
    help="Write all events to this trace file.",
)
@click.pass_obj
def command(
    flags: CommandOptions,
    target: str | None,
    listen: tuple[str, int],
    rewrite_auth: bool,
    name: str | None,
    ca_file: str | None,
    insecure: bool,
    config: str | None,
    is_trusted: bool,
    no_record: bool,
    trace: str | None,
) -> None:
    """Stand between your own client and a server, and record what they say.

    Put it before the server's command in the client's configuration, which `tap install` does for
    you; or, for a URL, give the client the address that it prints. Everything passes unchanged in
    both directions. Follow the session with `mcplens watch --run` or in Traffic of the web UI.

    \b
    mcplens tap -- npx -y some-server
    mcplens tap demo < message.json
    mcplens tap https://example.com/mcp
    mcplens tap install cursor files
    """
    given = {"config": config, "is_trusted": is_trusted, "no_record": no_record, "trace": trace}
    given |= {"ca_file": ca_file, "insecure": insecure}
    flags.options.update(default_options() | given)
    with reporting(flags, target or "the command after --") as about:
        found = resolve(flags, target)
        found = msgspec.structs.replace(found, name=name or found.name)
        about.server = found.shown
        if not isinstance(found.target, list) and "://" in str(found.target):
            _tap_url(flags, found, listen, rewrites_auth=rewrite_auth)
            return
        code = _tap(flags, found)
    from mcplens.tap.stdio import end_like

    output.flush()
    end_like(code)


def _tap(flags: CommandOptions, target: Target) -> int:
    from mcplens.tap.backlog import TapBus, TapPublisher
    from mcplens.tap.conversation import Conversation
    from mcplens.tap.stdio import StdioTap

    launch = _launch(target)
    bus = TapBus(_warn)
    publish = TapPublisher(bus, target.name)
    conversation = Conversation(publish)
    names = tuple(sorted(target.options.get("env") or ()))
    _spare_collector()
    with recording(flags, bus, target):
        return StdioTap(launch, conversation, publish, bus.backlog, env_names=names).run()


def _tap_url(
    flags: CommandOptions, target: Target, listen: tuple[str, int], *, rewrites_auth: bool
) -> None:
    """Pass on what comes until Ctrl-C."""
    import asyncio
    import signal

    from mcplens.tap.backlog import TapBus
    from mcplens.tap.http import HttpTap
    from mcplens.transports.network import NetworkOptions, usual_context

    bus = TapBus(_warn)
    is_tls = str(target.target).startswith(("https:", "wss:"))
    network = NetworkOptions(ca_file=flags.ca_file, insecure=flags.insecure)
    tap = HttpTap(
        str(target.target),
        bus,
        target.name,
        context=network.tls_context() or (usual_context() if is_tls else None),
        allowed_hosts=frozenset({listen[0]}),
        rewrites_auth=rewrites_auth,
    )

    async def work() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        try:
            async with tap.listening(*listen) as address:
                output.say(address)
                output.flush()
                output.note(f"mcplens: give your client this address instead of {target.shown}")
                await stopped.wait()
        except OSError as problem:
            place = f"{listen[0]}:{listen[1]}"
            raise click.UsageError(f"cannot listen on {place}: {problem.strerror}") from None

    _spare_collector()
    with recording(flags, bus, target):
        asyncio.run(work())


def _spare_collector() -> None:
    """Have the garbage collector look at what passes only, and not after every few messages.

    Nothing that passes is part of a cycle, and what is loaded by now stays.
    """
    import gc

    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def _launch(target: Target) -> Launch:
    """How the server is started.

    Raises:
        InspectorError: COMMAND_NOT_FOUND.
    """
    from mcplens.targets import command_of
    from mcplens.transports.launch import resolve_launch

    options = target.options
    return resolve_launch(
        command_of(target.target),
        env=options.get("env"),
        cwd=None if options.get("cwd") is None else os.fspath(options["cwd"]),
        inherit_env=options.get("inherit_env") is not False,
    )


def _warn(text: str) -> None:
    with contextlib.suppress(OSError):
        output.note(f"mcplens: {text}", fg="yellow")


command.add_command(install_command)
command.add_command(remove_command)
