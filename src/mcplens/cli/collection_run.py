"""Runs saved calls one after the other, over one connection to each server, and prints a table."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.confirmation import confirm
from mcplens.cli.live_events import LiveEvents
from mcplens.cli.recording import recording
from mcplens.cli.sign_in import sign_in_options
from mcplens.cli.target_resolution import Target, resolve_configured
from mcplens.clock import SystemClock
from mcplens.errors import InspectorError, classify
from mcplens.session.client import Client
from mcplens.workspace.collection_runs import may_change, result_text, texts_of

if TYPE_CHECKING:
    from mcplens.collections.model import Step

# Arguments of a step with its variables filled in, behind its target.
Filled = tuple[str, dict[str, Any]]
_PREVIEW: Final = 200


class _Outcome(msgspec.Struct, frozen=True):
    """How a step ended: a result, or an error; `code` is what a single call would exit with."""

    code: int
    elapsed_s: float | None = None
    raw: bytes | None = None
    error: InspectorError | None = None
    text: str = ""


class _Session:
    """The connections of one run, made when a step first needs them."""

    def __init__(
        self,
        flags: CommandOptions,
        bus: Bus,
        targets: dict[str, Target],
        unusable: dict[str, InspectorError],
    ) -> None:
        self.clock = SystemClock()
        self._flags = flags
        self._bus = bus
        self._targets = targets
        self._clients: dict[str, Client] = {}
        self._failed = dict(unusable)
        self._stack = contextlib.AsyncExitStack()

    def __repr__(self) -> str:
        return f"<_Session with {', '.join(self._clients) or 'no'} connections>"

    async def __aenter__(self) -> _Session:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._stack.aclose()

    async def client(self, name: str) -> Client:
        """The connected client of a server; a server that failed is not tried again."""
        if name in self._failed:
            raise self._failed[name]
        if name not in self._clients:
            target = self._targets[name]
            options = {**target.options, "server_id": name, "bus": self._bus, "clock": self.clock}
            if "authorizer" not in options:
                options |= sign_in_options(target.target)
            try:
                opened = connect(target.target, **options)
                self._clients[name] = await self._stack.enter_async_context(opened)
            except InspectorError as error:
                self._failed[name] = error
                raise
        return self._clients[name]


async def run_steps(
    flags: CommandOptions,
    name: str,
    steps: list[Step],
    filled: dict[int, Filled],
    *,
    may_change: bool,
    stops: bool,
) -> int:
    """Run the steps and print what each gave; gives the exit code."""
    servers = dict.fromkeys(step.server for step in steps if step.problem is None)
    targets, unusable = _resolved(flags, [one for one in servers if one is not None])
    _note_unusable(flags, steps, unusable)
    secrets = {key: value for one in targets.values() for key, value in one.secrets.items()}
    bus = Bus(SystemClock())
    outcomes: list[_Outcome] = []
    with recording(flags, bus, Target(name, "", {}, secrets)):
        live = flags.live = LiveEvents(bus, flags, None)
        async with live, _Session(flags, bus, targets, unusable) as session:
            if not may_change:
                await _ask_changes(session, steps, filled)
            for step in steps:
                outcome = await _run(session, step, filled.get(step.index), flags)
                outcomes.append(outcome)
                _print(flags, step, outcome)
                if stops and outcome.code != exit_codes.DONE:
                    break
    return _summarise(flags, steps, outcomes)


def _resolved(
    flags: CommandOptions, names: list[str]
) -> tuple[dict[str, Target], dict[str, InspectorError]]:
    """The servers of the steps, and those that cannot be used; only their own steps fail.

    Raises:
        UsageError: none of them is configured.
    """
    targets: dict[str, Target] = {}
    unusable: dict[str, InspectorError] = {}
    unknown: click.UsageError | None = None
    for name in names:
        try:
            targets[name] = resolve_configured(flags, name)
        except click.UsageError as problem:
            unknown = problem
            unusable[name] = InspectorError("CONFIGURATION_INVALID", problem.message)
        except InspectorError as problem:
            unusable[name] = problem
    if names and not targets:
        raise unknown or next(iter(unusable.values()))
    return targets, unusable


def _note_unusable(
    flags: CommandOptions, steps: list[Step], unusable: dict[str, InspectorError]
) -> None:
    """Say before anything is sent which steps cannot run."""
    if flags.is_quiet or flags.is_json:
        return
    for name, error in unusable.items():
        calls = sum(step.server == name for step in steps)
        told = "1 call is" if calls == 1 else f"{calls} calls are"
        output.note(f"mcplens: {told} not sent: {error.message}", fg="yellow")


def _summarise(flags: CommandOptions, steps: list[Step], outcomes: list[_Outcome]) -> int:
    failed = [one for one in outcomes if one.code != exit_codes.DONE]
    if len(steps) == 1:
        return outcomes[0].code
    if not flags.is_quiet and not flags.is_json:
        left = len(steps) - len(outcomes)
        told = f"{len(outcomes) - len(failed)} done, {len(failed)} failed"
        output.note(told + (f", {left} not run" if left else ""))
    return exit_codes.FAILED if failed else exit_codes.DONE


async def _ask_changes(session: _Session, steps: list[Step], filled: dict[int, Filled]) -> None:
    """Before anything is called: tools that are not marked as read-only are asked about."""
    changing: dict[str, None] = {}
    for step in steps:
        if step.problem is None and await _may_change(session, step, filled[step.index][0]):
            changing[f"  {step.target} on {step.server}"] = None
    if changing:
        try:
            confirm("\n".join(["these may change something:", *changing]), "run them")
        except click.UsageError as error:
            text = error.message.replace("--yes", "--allow-writes")
            raise click.UsageError(text) from None


async def _may_change(session: _Session, step: Step, target: str) -> bool:
    if step.kind != "call":
        return may_change(step, ())
    assert step.server is not None
    try:
        tools = await (await session.client(step.server)).list_tools()
    except InspectorError:
        return False  # it is not called then; its line says why
    return may_change(step, [tool for tool in tools if tool.name == target])


async def _run(
    session: _Session, step: Step, filled: Filled | None, flags: CommandOptions
) -> _Outcome:
    if filled is None:
        return _Outcome(exit_codes.USAGE, text=step.problem or "")
    assert step.server is not None
    begun, is_connected = session.clock.monotonic(), False
    try:
        client = await session.client(step.server)
        is_connected, begun = True, session.clock.monotonic()
        raw, is_error = await _send(client, step, *filled, flags)
    except Exception as problem:
        if isinstance(problem, asyncio.CancelledError):
            raise
        error = classify(problem)
        code = exit_codes.exit_code(error, is_connected=is_connected)
        return _Outcome(code, session.clock.monotonic() - begun, error=error, text=error.message)
    code = exit_codes.REFUSED if is_error else exit_codes.DONE
    return _Outcome(code, session.clock.monotonic() - begun, raw, text=result_text(raw))


async def _send(
    client: Client, step: Step, target: str, arguments: dict[str, Any], flags: CommandOptions
) -> tuple[bytes, bool]:
    """Send one step; gives its result as it came, and whether that says that it is an error."""
    timeout_s = flags.call_timeout_s
    if step.kind == "call":
        result = await client.call_tool(target, arguments, timeout_s=timeout_s)
        return result.raw, result.is_error
    if step.kind == "read":
        return (await client.read_resource(target, timeout_s=timeout_s)).raw, False
    if step.kind == "prompt":
        given = texts_of(arguments)
        return (await client.get_prompt(target, given, timeout_s=timeout_s)).raw, False
    reply = await client.request(target, arguments, timeout_s=timeout_s)
    return reply.raw, False


def _print(flags: CommandOptions, step: Step, outcome: _Outcome) -> None:
    is_done = outcome.code == exit_codes.DONE
    if flags.is_json:
        line: dict[str, Any] = {
            "name": step.name,
            "server": step.server,
            step.kind: step.target,
            "is_done": is_done,
            "elapsed_s": outcome.elapsed_s,
        }
        if outcome.raw is not None:
            line["result"] = msgspec.Raw(outcome.raw)
        elif outcome.error is not None:
            line["error"] = outcome.error.to_dict()
        else:
            line["error"] = {"code": "INVALID_REQUEST", "message": outcome.text}
        output.write_raw(msgspec.json.encode(line, enc_hook=str))
        return
    word = output.style("done  " if is_done else "failed", fg="green" if is_done else "red")
    took = "" if outcome.elapsed_s is None else f"  {round(outcome.elapsed_s * 1000)} ms"
    preview = output.one_line(outcome.text)[:_PREVIEW]
    output.say(word + f"  {step.name}{took}  {preview}")
