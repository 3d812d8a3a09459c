"""`mcplens doctor`: checks a server step by step, and says what would help."""

from __future__ import annotations

import asyncio
import shlex
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.completion_candidates import complete_target

if TYPE_CHECKING:
    from mcplens.cli.target_resolution import Target
    from mcplens.doctor.checks import Check, Diagnosis, Examined

_MARKS: Final = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}
_TITLE_WIDTH: Final = 20
_INDENT: Final = 4


@click.command("doctor")
@click.argument("target", required=False, shell_complete=complete_target)
@shared_options
def command(flags: CommandOptions, target: str | None) -> None:
    """Check a server step by step, and say what would help.

    Each step says what was tried, what happened and how long it took; the first one that explains
    the rest is the last. Nothing is called that could change anything. Exit code 1 if a check
    failed.

    \b
    mcplens doctor demo
    mcplens doctor https://example.com/mcp
    mcplens doctor --json -- node s.js
    """
    from mcplens.cli.command_runner import reporting
    from mcplens.cli.target_resolution import resolve
    from mcplens.doctor.examination import misconfigured
    from mcplens.errors import InspectorError

    words = target if target is not None else f"-- {shlex.join(flags.server_command or [])}"
    on_check = None if flags.is_json else _say_check
    with reporting(flags, words) as about:
        try:
            found = resolve(flags, target)
        except InspectorError as error:
            diagnosis = misconfigured(words, error)
            if on_check is not None:
                for check in diagnosis.checks:
                    on_check(check)
        else:
            about.server = found.shown
            diagnosis = asyncio.run(_examine(flags, found, words, on_check))
        _show(flags, diagnosis)
    sys.exit(exit_codes.DONE if diagnosis.is_healthy else exit_codes.FAILED)


async def _examine(flags: CommandOptions, found: Target, words: str, on_check: Any) -> Diagnosis:
    from mcplens.bus import Bus
    from mcplens.cli.recording import recording
    from mcplens.clock import SystemClock
    from mcplens.doctor.examination import Examination

    clock = SystemClock()
    bus = Bus(clock)
    with recording(flags, bus, found):
        examination = Examination(_examined(found, words), bus=bus, clock=clock, on_check=on_check)
        diagnosis = await examination.run()
        bus.close()
    return diagnosis


def _examined(found: Target, words: str) -> Examined:
    from mcplens.doctor.checks import Examined

    return Examined(found.name, found.target, found.options, found.shown, words, found.file)


def _show(flags: CommandOptions, diagnosis: Diagnosis) -> None:
    if flags.is_json:
        import msgspec

        output.write_json(
            {
                "server": diagnosis.server,
                "healthy": diagnosis.is_healthy,
                "checks": [_as_json(check) for check in diagnosis.checks],
                "conclusion": diagnosis.conclusion,
                "command": diagnosis.command,
                "error": msgspec.to_builtins(diagnosis.error),
            }
        )
        return
    output.say()
    for line in output.fitted(diagnosis.conclusion, sys.stdout):
        output.say(line, bold=True)
    output.say(f"  {diagnosis.command}")


def _as_json(check: Check) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": check.name, "state": check.state, "tried": check.tried}
    shown["came"] = check.came
    if check.elapsed_s is not None:
        shown["elapsedMs"] = round(check.elapsed_s * 1000, 3)
    return shown | ({"lines": list(check.lines)} if check.lines else {})


def _say_check(check: Check) -> None:
    """A check as a line: a mark, what it is, what came and how long it took."""
    mark, colour = _MARKS[check.state]
    time = "" if check.elapsed_s is None else f"  {_milliseconds(check.elapsed_s)}"
    head = output.style(f"{mark} ", fg=colour) + output.visible(f"{check.title:<{_TITLE_WIDTH}} ")
    lines = output.fitted(f"{check.tried} → {check.came}{time}", sys.stdout, _TITLE_WIDTH + 3)
    output.say(head + ("\n" + " " * (_TITLE_WIDTH + 3)).join(map(output.visible, lines)))
    for line in check.lines:
        output.say(output.style(" " * _INDENT + f"| {output.visible(line)}", dim=True))


def _milliseconds(elapsed_s: float) -> str:
    return f"{elapsed_s:.1f} s" if elapsed_s >= 1 else f"{elapsed_s * 1000:.0f} ms"
