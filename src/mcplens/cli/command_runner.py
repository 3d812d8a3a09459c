"""Runs one command against one server: connect, work, report errors, exit code.

The only place that starts the event loop for a command. Ctrl-C cancels the request on the server
first; a second one exits at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import click

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.cli import error_report, exit_codes, output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.live_events import LiveEvents
from mcplens.cli.recording import recording
from mcplens.cli.sign_in import sign_in_options
from mcplens.cli.target_resolution import Target, resolve
from mcplens.clock import SystemClock
from mcplens.doctor.failed_step import Evidence, gather
from mcplens.errors import classify
from mcplens.events import Event
from mcplens.session.client import Client

# What a command does with its server; an exit code, or None for "done".
Work = Callable[[Client], Awaitable[int | None]]


class _Run:
    """What is known about a run, for the error report."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.bus: Bus | None = None
        self.is_connected = False

    def __repr__(self) -> str:
        return f"<_Run {self.server!r} {'connected' if self.is_connected else 'not connected'}>"

    def evidence(self) -> Evidence:
        events = self.bus.kept() if self.bus is not None else []
        return gather(self.server, events, is_connected=self.is_connected)


def run(
    flags: CommandOptions,
    target: Target | str | None,
    work: Work,
    watch: Callable[[Event], None] | None = None,
) -> None:
    """Connect to the target, do the work, and end the process with its code.

    `watch` is called with each event, and then nothing else is shown of them.
    A line of the shell only says what its work is: the shell does it, over its own connection.
    """
    named = target.name if isinstance(target, Target) else target
    if flags.is_in_shell:
        if target is not None:
            raise click.UsageError(
                f"the shell has its server already; {named!r} is one word too many"
            )
        flags.work = work
        return
    with reporting(flags, named or "the command after --") as about:
        found = target if isinstance(target, Target) else resolve(flags, target)
        about.server = found.shown
        code = asyncio.run(_run(flags, found, work, about, watch))
    sys.exit(code)


def run_and_return(flags: CommandOptions, target: Target, work: Work) -> int:
    """As `run`, but return the code; for a command that goes on. Errors end the command."""
    with reporting(flags, target.name) as about:
        about.server = target.shown
        code = asyncio.run(_run(flags, target, work, about))
    return code


@contextlib.contextmanager
def reporting(flags: CommandOptions, server: str) -> Iterator[_Run]:
    """Turn any error inside into a report and an exit code."""
    about = _Run(server)
    try:
        yield about
        output.flush()
    except BrokenPipeError:
        output.end_quietly()
        sys.exit(exit_codes.DONE)
    except output.CannotWrite as problem:
        output.note(f"mcplens: {problem}", fg="red", bold=True)
        output.end_quietly()
        sys.exit(exit_codes.FAILED)
    except KeyboardInterrupt:
        output.note("mcplens: interrupted")
        sys.exit(exit_codes.INTERRUPTED)
    except Exception as problem:  # the last line of defence: no traceback reaches a user
        is_click = type(problem).__module__.startswith("click")
        if is_click or isinstance(problem, exit_codes.CommandError):
            raise
        sys.exit(report(problem, flags, about.evidence()))


def report(problem: Exception, flags: CommandOptions, evidence: Evidence) -> int:
    """Say what went wrong, and give the exit code for it."""
    error = classify(problem)
    error_report.report(
        error,
        evidence,
        is_json=bool(flags.options.get("is_json")),
        is_quiet=bool(flags.options.get("is_quiet")),
        is_in_shell=flags.is_in_shell,
    )
    return exit_codes.exit_code(error, is_connected=evidence.is_connected)


async def _run(
    flags: CommandOptions,
    target: Target,
    work: Work,
    about: _Run,
    watch: Callable[[Event], None] | None = None,
) -> int:
    asyncio.get_running_loop().set_exception_handler(_unhandled)
    clock = SystemClock()
    bus = about.bus = Bus(clock)
    with recording(flags, bus, target):
        live = flags.live = LiveEvents(bus, flags, watch)
        options: dict[str, Any] = target.options | {
            "server_id": target.name,
            "bus": bus,
            "clock": clock,
        }
        if "authorizer" not in options:
            options |= sign_in_options(target.target)
        async with live, connect(target.target, **options) as client:
            about.is_connected = True
            _check_log_level(flags, client)
            return await work(client) or exit_codes.DONE


def _check_log_level(flags: CommandOptions, client: Client) -> None:
    """Servers of 2026-07-28 take a level with each request, declared or not."""
    is_chosen = flags.options.get("log_level") not in (None, "off")
    if is_chosen and not client.connection.is_stateless and "logging" not in client.capabilities:
        text = "mcplens: --log-level has no effect: the server does not declare logging"
        output.note(text, fg="yellow")


def _unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A second Ctrl-C may interrupt any task; `reporting` reports it, once."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
