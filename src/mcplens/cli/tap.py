"""`mcplens tap`: runs a server for the client that started us, and records what passes."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, default_options, writable_file
from mcplens.cli.command_runner import reporting
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.recording import recording
from mcplens.cli.target_resolution import Target, resolve

if TYPE_CHECKING:
    from mcplens.transports.launch import Launch


@click.command("tap")
@click.argument("target", required=False, shell_complete=complete_target)
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
    config: str | None,
    is_trusted: bool,
    no_record: bool,
    trace: str | None,
) -> None:
    """Run a server for your own client, and record everything that the two say.

    Put it before the server's command in the client's configuration. Every byte passes unchanged in
    both directions. Follow the session with `mcplens watch --run` or in Traffic of the web UI.

    \b
    mcplens tap -- npx -y some-server
    mcplens tap demo < message.json
    """
    given = {"config": config, "is_trusted": is_trusted, "no_record": no_record, "trace": trace}
    flags.options.update(default_options() | given)
    with reporting(flags, target or "the command after --") as about:
        found = resolve(flags, target)
        about.server = found.shown
        code = _tap(flags, found)
    from mcplens.tap.stdio import end_like

    output.flush()
    end_like(code)


def _tap(flags: CommandOptions, target: Target) -> int:
    from mcplens.bus import Bus, Publisher
    from mcplens.clock import SystemClock
    from mcplens.tap.conversation import Conversation
    from mcplens.tap.stdio import StdioTap

    launch = _launch(target)
    clock = SystemClock()
    bus = Bus(clock)
    publish = Publisher(bus, target.name)
    conversation = Conversation(publish, clock)
    names = tuple(sorted(target.options.get("env") or ()))
    with recording(flags, bus, target):
        return StdioTap(launch, conversation, publish, _warn, env_names=names).run()


def _launch(target: Target) -> Launch:
    """How the server is started.

    Raises:
        UsageError: it is not started by a command.
        InspectorError: COMMAND_NOT_FOUND.
    """
    from mcplens.targets import command_of
    from mcplens.transports.launch import resolve_launch

    if not isinstance(target.target, list) and "://" in str(target.target):
        raise click.UsageError(
            f"{target.shown} is a URL; tap runs a server that is started by a command"
        )
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
