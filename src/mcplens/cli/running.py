"""Runs one command against one server: connect, do it, say what went wrong, end with the code.

The only place where a command meets the loop. Ctrl-C cancels the request on the server first; a
second one leaves at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.cli import exits, failure, output
from mcplens.cli.live import Live
from mcplens.cli.recording import recording
from mcplens.cli.state import State
from mcplens.cli.target import Target, resolve
from mcplens.clock import SystemClock
from mcplens.errors import classify
from mcplens.session.client import Client

# What a command does with its server; an exit code, or None for "done".
Work = Callable[[Client], Awaitable[int | None]]


class _Run:
    """What is known of a run, for the words in case it fails."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.bus: Bus | None = None
        self.is_connected = False

    def __repr__(self) -> str:
        return f"<_Run {self.server!r} {'connected' if self.is_connected else 'not connected'}>"

    def evidence(self) -> failure.Evidence:
        events = self.bus.kept() if self.bus is not None else []
        return failure.gather(self.server, events, is_connected=self.is_connected)


def run(state: State, target: Target | str | None, work: Work) -> None:
    """Connect to the target, do the work, and end the process with its code."""
    named = target.name if isinstance(target, Target) else target
    with reporting(state, named or "the command after --") as about:
        found = target if isinstance(target, Target) else resolve(state, target)
        about.server = found.shown
        code = asyncio.run(_run(state, found, work, about))
    sys.exit(code)


@contextlib.contextmanager
def reporting(state: State, server: str) -> Iterator[_Run]:
    """Turn whatever goes wrong inside into words and an exit code."""
    about = _Run(server)
    try:
        yield about
        output.flush()
    except BrokenPipeError:
        output.end_quietly()
        sys.exit(exits.DONE)
    except output.CannotWrite as problem:
        output.note(f"mcplens: {problem}", fg="red", bold=True)
        output.end_quietly()
        sys.exit(exits.FAILED)
    except KeyboardInterrupt:
        output.note("mcplens: interrupted")
        sys.exit(exits.INTERRUPTED)
    except Exception as problem:  # the last line of defence: no traceback reaches a user
        is_click = type(problem).__module__.startswith("click")
        if is_click or isinstance(problem, exits.Refusal):
            raise
        error = classify(problem)
        options = state.options
        failure.report(
            error,
            about.evidence(),
            is_json=bool(options.get("is_json")),
            is_quiet=bool(options.get("is_quiet")),
        )
        sys.exit(exits.exit_code(error, is_connected=about.is_connected))


async def _run(state: State, target: Target, work: Work, about: _Run) -> int:
    asyncio.get_running_loop().set_exception_handler(_unhandled)
    clock = SystemClock()
    bus = about.bus = Bus(clock)
    with recording(state, bus, target):
        live = Live(bus, state)
        options: dict[str, Any] = target.options | {
            "server_id": target.name,
            "bus": bus,
            "clock": clock,
        }
        async with live, connect(target.target, **options) as client:
            about.is_connected = True
            return await work(client) or exits.DONE


def _unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A second Ctrl-C may strike in any task; `reporting` tells of it, once."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
