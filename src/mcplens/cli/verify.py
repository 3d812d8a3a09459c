"""`mcplens verify`: the calls of a recording, sent to a live server, and the answers compared."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.exit_codes import CommandError, as_command_error
from mcplens.cli.recorded_servers import choice_options, recorded_server

if TYPE_CHECKING:
    from mcplens.cli.target_resolution import Target
    from mcplens.mocking.verification import CallOutcome, Verification
    from mcplens.session.client import Client

# Characters of a value that are shown, and how many of them before the first difference.
_MOST_SHOWN = 160
_LEAD = 40
_COLOURS = {"same": "green", "different": "red", "skipped": "yellow"}


@click.command("verify")
@click.argument("words", nargs=-1, metavar="TRACE [TARGET]", shell_complete=complete_target)
@choice_options
@click.option(
    "--allow-writes", is_flag=True,
    help="Also send calls of tools that are not marked read-only, and of unknown methods.",
)  # fmt: skip
@click.option(
    "--ignore", multiple=True, metavar="PATH",
    help="Do not compare what this JSONPath finds in a result; may be repeated.",
)  # fmt: skip
@click.option("--update", is_flag=True, help="Write the answers that differ into TRACE.")
@shared_options
def command(
    flags: CommandOptions,
    words: tuple[str, ...],
    run_id: str | None,
    server: str | None,
    allow_writes: bool,
    ignore: tuple[str, ...],
    update: bool,
) -> None:
    """Send the calls of one recorded run to TARGET, and compare its answers with the recorded.

    Questions of the server get the recorded answers. Times, UUIDs, ports and addresses in results
    are not compared. Ends with 1 if an answer differs, with 2 if there was nothing to compare.

    \b
    mcplens verify run.jsonl demo
    mcplens verify --run 3f2a weather
    mcplens verify run.jsonl -- ./server
    """
    trace, target = _meant(flags, words, run_id)
    if update and trace is None:
        raise click.UsageError("--update needs a trace file: export the run first")
    _check_paths(ignore)
    with recorded_server(flags, trace, run_id, server) as recording:
        from mcplens.mocking.verification import Verification
        from mcplens.protocol.eras import VERSIONS

        found = _resolved(flags, target)
        keys = _secret_keys(flags, recording.server_id, found)
        verification = Verification(
            recording,
            allow_writes=allow_writes,
            ignore=ignore,
            secrets=found.secrets,
            secret_keys=keys,
            timeout_s=flags.call_timeout_s,
        )
        if flags.protocol is None and recording.protocol_version in VERSIONS:
            # Each revision asks and answers in its own way; --protocol auto compares across them.
            options = found.options | {"protocol_version": recording.protocol_version}
            found = msgspec.structs.replace(found, options=options)
        outcomes = _run(flags, found, verification)
        code = _show(flags, outcomes)
        if update and trace is not None:
            code = _update(trace, recording.run_id, outcomes, keys)
    sys.exit(code)


def _meant(
    flags: CommandOptions, words: tuple[str, ...], run_id: str | None
) -> tuple[str | None, str | None]:
    """The trace and the target among the words."""
    has_trace = bool(words) and (run_id is None or len(words) > 1 or os.path.isfile(words[0]))
    trace = words[0] if has_trace else None
    rest = words[1:] if has_trace else words
    expected = 0 if flags.server_command is not None else 1
    if len(rest) != expected or (trace is None and run_id is None):
        names = "TRACE, and the server after --" if expected == 0 else "TRACE TARGET"
        raise click.UsageError(f"expected {names}, got: {' '.join(words) or 'nothing'}")
    return trace, rest[0] if rest else None


def _check_paths(paths: tuple[str, ...]) -> None:
    from mcplens.collections.json_paths import parts_at

    for path in paths:
        try:
            parts_at(path, {})
        except Exception as problem:  # any that the library has for a path
            raise click.BadParameter(f"{path!r}: {problem}", param_hint="'--ignore'") from None


def _resolved(flags: CommandOptions, word: str | None) -> Target:
    from mcplens.cli.command_runner import reporting
    from mcplens.cli.target_resolution import resolve

    with reporting(flags, word or "the command after --"):
        return resolve(flags, word)


def _secret_keys(flags: CommandOptions, server_id: str, target: Target) -> tuple[str, ...]:
    from mcplens.config.secret_keys import find_keys_by_server

    with as_command_error():
        keys_of = find_keys_by_server(flags.config)
        return (*keys_of(server_id), *keys_of(target.name), *target.secrets)


def _run(flags: CommandOptions, target: Target, verification: Verification) -> list[CallOutcome]:
    from mcplens.cli.command_runner import run_and_return

    declared = verification.capabilities()
    answers = verification.answers
    own: dict[str, Any] = {
        name: answers if name in declared else False for name in ("sampling", "elicitation")
    }
    own["receiver_tasks"] = "tasks" in declared
    options = {name: item for name, item in target.options.items() if name != "roots"} | own
    if "roots" in declared:
        options["request_handlers"] = {"roots/list": answers.answer_roots}
    outcomes: list[CallOutcome] = []

    async def work(client: Client) -> None:
        async for outcome in verification.run(client):
            outcomes.append(outcome)
            if not flags.is_json:
                _print(outcome, is_quiet=flags.is_quiet)

    run_and_return(flags, msgspec.structs.replace(target, options=options), work)
    return outcomes


def _show(flags: CommandOptions, outcomes: list[CallOutcome]) -> int:
    counts = {status: sum(one.status == status for one in outcomes) for status in _COLOURS}
    if flags.is_json:
        calls = [_as_json(one) for one in outcomes]
        output.write_json({**counts, "calls": calls})
    else:
        words = [f"{count} {status}" for status, count in counts.items() if count]
        output.say(", ".join(words) or "no calls", bold=True)
    output.flush()
    if counts["different"]:
        return exit_codes.FAILED
    if not counts["same"]:
        raise CommandError("no call of the recording was compared")
    return exit_codes.DONE


def _print(outcome: CallOutcome, *, is_quiet: bool) -> None:
    if is_quiet and outcome.status != "different":
        return
    head = output.style(f"{outcome.status:<9}", fg=_COLOURS[outcome.status])
    reason = f": {outcome.reason}" if outcome.reason else ""
    output.say(head + " " + output.one_line(outcome.call + reason))
    for one in outcome.differences:
        recorded, live = _excerpts(one.recorded, one.live)
        output.say(f"          {one.pointer or '/'}")
        output.say("            recorded " + output.one_line(recorded))
        output.say("            now      " + output.one_line(live))


def _excerpts(recorded: str, live: str) -> tuple[str, str]:
    """Two long texts where they begin to differ; `--json` has them whole."""
    pairs = enumerate(zip(recorded, live, strict=False))
    at = next((number for number, (one, other) in pairs if one != other), 0)
    start = max(0, at - _LEAD) if max(len(recorded), len(live)) > _MOST_SHOWN else 0

    def cut(text: str) -> str:
        before, after = "…" if start else "", "…" if len(text) > start + _MOST_SHOWN else ""
        return before + text[start : start + _MOST_SHOWN] + after

    return cut(recorded), cut(live)


def _as_json(outcome: CallOutcome) -> dict[str, Any]:
    return {
        "seq": outcome.seq,
        "method": outcome.method,
        "call": outcome.call,
        "status": outcome.status,
        "reason": outcome.reason,
        "differences": outcome.differences,
    }


def _update(
    trace: str, run_id: str, outcomes: list[CallOutcome], secret_keys: tuple[str, ...]
) -> int:
    from mcplens.mocking.trace_update import update_trace

    replies = {
        one.reply_seq: one.reply
        for one in outcomes
        if one.status == "different" and one.reply is not None and one.reply_seq is not None
    }
    lost = sum(one.status == "different" and one.reply is None for one in outcomes)
    try:
        count = update_trace(trace, run_id, replies, secret_keys) if replies else 0
    except OSError as problem:
        raise CommandError(f"{trace} cannot be written: {problem.strerror}") from None
    answers = "1 answer" if count == 1 else f"{count} answers"
    output.note(f"mcplens: {answers} updated in {trace}")
    return exit_codes.FAILED if lost else exit_codes.DONE
