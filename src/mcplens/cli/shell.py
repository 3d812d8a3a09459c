"""`mcplens shell`: many commands over one connection, from a prompt, a file or a pipe.

The commands are those of the command line: each line is parsed by the same command, which hands
over its work instead of connecting. Ctrl-C cancels the running command, not the shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from copy import copy
from typing import Final

import click

from mcplens.cli import error_report, exit_codes, output
from mcplens.cli.command_options import OF_A_LINE, SHARED_NAMES, CommandOptions, shared_options
from mcplens.cli.command_runner import Work, report, run
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.shell_history import MASK_START, SecretMask
from mcplens.cli.target_resolution import Target, resolve
from mcplens.doctor.failed_step import gather
from mcplens.session.client import Client

# The commands of a line; the others need no server, or one of their own.
COMMANDS: Final = (
    "info", "ping", "tools", "call", "app", "resources", "templates", "read", "subscribe",
    "prompts", "prompt", "skills", "skill", "complete", "request", "raw", "tasks", "watch",
)  # fmt: skip
BUILT_IN: Final = {
    "help": "List these commands, or show the help of one.",
    "reconnect": "Disconnect, and connect again.",
    "exit": "End the shell (also quit, or Ctrl-D).",
}


@click.command("shell")
@click.argument("target", required=False, shell_complete=complete_target)
@click.option("--keep-going", is_flag=True, help="Go on after a line that failed.")
@shared_options
def command(flags: CommandOptions, target: str | None, keep_going: bool) -> None:
    """Run many commands over one connection: from a prompt, a file or a pipe.

    A line is a command without `mcplens` and without the server: `call add a=2 b=3`. At a prompt,
    Tab completes and Ctrl-C cancels the running command. From a file or a pipe the first failure
    ends the shell with its exit code. With --json each command prints one object per line, errors
    included.

    \b
    mcplens shell demo
    echo 'call add a=2 b=3' | \\
      mcplens shell demo
    mcplens shell < steps.txt \\
      -- node server.js
    """
    found = resolve(flags, target)
    if flags.is_json:
        output.use_json_lines()

    async def work(client: Client) -> int:
        shell = Shell(client, flags, found)
        if sys.stdin.isatty() and sys.stderr.isatty():
            return await shell.converse()
        return await shell.run_script(keeps_going=keep_going)

    run(flags, found, work)


class _Left(Exception):
    """The person leaves the shell."""


class Shell:
    """Runs lines over one connection."""

    def __init__(self, client: Client, flags: CommandOptions, target: Target) -> None:
        self._client = client
        self._flags = flags
        self._target = target
        self._mask = SecretMask.of(flags.config, target.secrets)

    def __repr__(self) -> str:
        return f"<Shell on {self._target.name!r}>"

    async def converse(self) -> int:
        """Read lines from the person at the terminal until they leave."""
        from mcplens.cli.shell_candidates import Candidates
        from mcplens.cli.shell_history import history_path
        from mcplens.cli.shell_prompt import Prompt

        path = None if self._flags.no_record else history_path()
        candidates = Candidates(self._client, [*COMMANDS, *BUILT_IN])
        prompt = Prompt(self._target.name, candidates, path, self._mask)
        info = self._client.server_info
        name = f"{info.get('name', self._target.name)} {info.get('version', '')}".strip()
        output.note(f"connected to {name}; help lists the commands, Ctrl-D ends the shell")
        while (line := await _next_line(prompt.read_line)) is not None:
            try:
                await self.run_line(line)
            except _Left:
                break
        return exit_codes.DONE

    async def run_script(self, *, keeps_going: bool) -> int:
        """Run the lines of a file or a pipe as they come; the exit code is the first failure's."""
        from mcplens.cli.line_editor import terminal_reader

        number, has_failed = 0, False
        while (line := await _next_line(terminal_reader().read_plain_line)) is not None:
            number += 1
            try:
                code = await self.run_line(line)
            except _Left:
                break
            if code == exit_codes.DONE:
                continue
            if not self._flags.is_json and not self._flags.is_quiet:
                output.note(f"mcplens: line {number} failed: {self._mask.line(line) or line}")
            if not keeps_going or code == exit_codes.INTERRUPTED:
                return code
            has_failed = True
        return exit_codes.FAILED if has_failed else exit_codes.DONE

    async def run_line(self, line: str) -> int:
        """Run one command; its exit code. Whatever goes wrong is reported."""
        flags = self._flags.for_line()
        start = self._client.last_seq
        try:
            work = self._parse(line, flags)
            code = 0 if work is None else await self._do(work)
        except click.ClickException as problem:
            code = _refuse(problem, flags)
        except asyncio.CancelledError:
            raise
        except (BrokenPipeError, output.CannotWrite, _Left):
            raise
        except Exception as problem:  # the last line of defence: the shell goes on
            events = self._client.kept_events(start)
            evidence = gather(self._target.shown, events, is_connected=True)
            code = report(problem, flags, evidence)
        if self._flags.live is not None:
            await self._flags.live.catch_up()
        output.flush()
        return code

    def _parse(self, line: str, flags: CommandOptions) -> Work | None:
        """The work of a line; None if there is nothing to do."""
        if MASK_START in line:
            raise click.UsageError("this line has a masked value of the history: type it again")
        try:
            name, *words = shlex.split(line, comments=True) or [""]
        except ValueError as problem:
            raise click.UsageError(f"the line cannot be read: {problem}") from None
        if name in ("exit", "quit"):
            raise _Left
        if name == "help":
            _help(words)
            return None
        if name == "reconnect":
            return _reconnect
        if not name:
            return None
        if "-" in words:
            raise click.UsageError("stdin has the commands of the shell: use @FILE in place of -")
        find_command(name).main(words, name, standalone_mode=False, obj=flags)
        return flags.work

    async def _do(self, work: Work) -> int:
        """Do the work in a task of its own, which Ctrl-C cancels."""

        async def done() -> int:
            return await work(self._client) or exit_codes.DONE

        task = asyncio.get_running_loop().create_task(done(), name="line of the shell")
        try:
            with _interrupts(task.cancel):
                await asyncio.wait({task})
        finally:
            task.cancel()
        if task.cancelled():
            output.note("mcplens: interrupted")
            return exit_codes.INTERRUPTED
        return task.result()


def _help(words: list[str]) -> None:
    if words and words[0] in COMMANDS:
        find_command(words[0]).main(["--help"], words[0], standalone_mode=False)
        return
    from mcplens.cli.main import COMMANDS as ALL

    rows = [(name, ALL[name][2]) for name in COMMANDS]
    output.columns([*rows, *BUILT_IN.items()])
    output.say()
    output.say("tools NAME shows a tool and an example; COMMAND --help shows the options.")


async def _next_line(read: Callable[[], Awaitable[str | None]]) -> str | None:
    """The next command; a question that is still open is answered first."""
    from mcplens.cli.line_editor import terminal_reader

    reader = terminal_reader()
    with _interrupts(lambda: output.note("(Ctrl-D gives no answer)")):
        await reader.turn.acquire()
    reader.is_at_prompt = sys.stdin.isatty()
    try:
        return await read()
    finally:
        reader.is_at_prompt = False
        reader.turn.release()


async def _reconnect(client: Client) -> None:
    await client.disconnect()
    await client.connect()
    output.note("connected")


def find_command(name: str) -> click.Command:
    """A command of the shell.

    Raises:
        UsageError: there is none of this name.
    """
    from mcplens.cli.main import group

    if name in COMMANDS:
        found = group.get_command(click.Context(group), name)
        assert found is not None
        return _adapted(found)
    from difflib import get_close_matches

    close = get_close_matches(name, [*COMMANDS, *BUILT_IN], n=1)
    hint = f"did you mean {close[0]}?" if close else "help lists the commands"
    raise click.UsageError(f"{name!r} is not a command of the shell; {hint}")


def _adapted(found: click.Command) -> click.Command:
    """The command as the shell's help has it: without a target and what belongs to connecting."""
    found = copy(found)
    found.help = (found.help or "").partition("\b")[0]  # the examples name a server
    found.params = [copy(parameter) for parameter in found.params]
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            parameter.hidden |= parameter.name in SHARED_NAMES and parameter.name not in OF_A_LINE
            if parameter.name == "force":
                parameter.help = "Send arguments that the tool's schema does not know."
        elif parameter.name == "target":
            parameter.metavar = ""
        elif parameter.metavar is not None:
            parameter.metavar = parameter.metavar.removeprefix("[TARGET] ")
    return found


def _refuse(problem: click.ClickException, flags: CommandOptions) -> int:
    """Say what is wrong with a line."""
    if flags.is_json:
        output.write_raw(error_report.usage_as_json(problem.format_message()).encode())
    else:
        output.note(f"mcplens: {problem.format_message()}", fg="red")
    return problem.exit_code


@contextlib.contextmanager
def _interrupts(act: Callable[[], object]) -> Iterator[None]:
    """Have Ctrl-C do this for as long as the block lasts."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, act)
    except (NotImplementedError, RuntimeError):  # Windows: Ctrl-C ends the shell
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
