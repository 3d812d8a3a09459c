"""`mcplens diff`: the changes between two servers, locks or traces, each with its rule."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import msgspec

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.exit_codes import CommandError

if TYPE_CHECKING:
    from mcplens.cli.contract_sources import ContractSource
    from mcplens.contracts.changes import Change, Comparison
    from mcplens.contracts.contract import Contract

# As contracts/change_rules.py has them, which is loaded when a command runs.
_CLASSES: Final = ("breaking", "risky", "additive", "cosmetic", "never")
_COLOURS: Final = {"breaking": "red", "risky": "yellow", "additive": "green", "cosmetic": "blue"}
_SHOWN_POINTER: Final = 300
F = TypeVar("F", bound=Callable[..., Any])


def report_options(fail_on: str) -> Callable[[F], F]:
    """The options of commands that report changes."""

    def add(function: F) -> F:
        function = click.option(
            "--format", "form", default="text", show_default=True,
            type=click.Choice(["text", "json", "markdown"]),
            help="How to print the changes; --json is short for json.",
        )(function)  # fmt: skip
        return click.option(
            "--fail-on", type=click.Choice(_CLASSES), default=fail_on, show_default=True,
            metavar="CLASS", help="Exit with 1 if there are changes of this class, or worse: "
            f"{', '.join(_CLASSES)}.",
        )(function)  # fmt: skip

    return add


@click.command("diff")
@click.argument("words", nargs=-1, metavar="A B", shell_complete=complete_target)
@click.option("--server", metavar="NAME", help="The server to compare, in a lock or trace of many.")
@click.option("--run", "run_id", metavar="RUN", help="The run to compare, in a trace of many.")
@report_options("breaking")
@shared_options
def command(
    flags: CommandOptions,
    words: tuple[str, ...],
    server: str | None,
    run_id: str | None,
    form: str,
    fail_on: str,
) -> None:
    """Compare what two servers promise; A and B are each a target, a lock or a trace.

    Each change is breaking, risky, additive or cosmetic; a lock or trace is as it was recorded, a
    target is asked now.

    \b
    mcplens diff mcp.lock demo
    mcplens diff old.lock new.lock \\
      --format markdown
    mcplens diff run.jsonl -- python s.py
    """
    from mcplens.cli.contract_sources import read_source

    expected = 1 if flags.server_command is not None else 2
    if len(words) != expected:
        names = "A, and B after --" if expected == 1 else "A B"
        raise click.UsageError(f"expected {names}, got: {' '.join(words) or 'nothing'}")
    before = read_source_without_command(flags, words[0], server=server, run=run_id)
    after = read_source(flags, words[1] if expected == 2 else None, server=server, run=run_id)
    sys.exit(show(flags, compare_sources(before, after), form, fail_on))


def read_source_without_command(
    flags: CommandOptions, word: str, *, server: str | None, run: str | None
) -> ContractSource:
    """The source that is not the command after `--`."""
    from mcplens.cli.contract_sources import read_source

    server_command, flags.server_command = flags.server_command, None
    try:
        return read_source(flags, word, server=server, run=run)
    finally:
        flags.server_command = server_command


def compare_sources(before: ContractSource, after: ContractSource) -> list[Comparison]:
    """The comparison of each server that both have.

    Raises:
        CommandError: they are of different servers.
    """
    from mcplens.contracts.changes import compare, without_partner

    comparisons = []
    are_both_live = before.kind == after.kind == "target"
    for old, new in _pairs(before, after):
        if old is None or new is None:
            comparisons.append(without_partner(old, new))
            continue
        if not are_both_live:  # two live servers may be compared whatever they are called
            check_same_server(before, old, after, new)
        if before.kind == "lock":  # a command is called as the lock calls it
            new = msgspec.structs.replace(new, name=old.name)
        comparisons.append(compare(old, new))
    return comparisons


def _pairs(
    before: ContractSource, after: ContractSource
) -> list[tuple[Contract | None, Contract | None]]:
    old, new = before.contracts, after.contracts
    if len(old) == 1 or len(new) == 1:
        if len(old) == len(new):
            return [(next(iter(old.values())), next(iter(new.values())))]
        if len(new) == 1:
            return [(find_contract(before, one), one) for one in new.values()]
        return [(one, find_contract(after, one)) for one in old.values()]
    return [(old.get(name), new.get(name)) for name in sorted({*old, *new})]


def find_contract(source: ContractSource, wanted: Contract) -> Contract:
    """The server of a lock that a contract is of: by its configured name, or by its own.

    Raises:
        CommandError: there is none.
    """
    from mcplens.cli.contract_sources import names_of

    if wanted.name in source.contracts:
        return source.contracts[wanted.name]
    same = [one for one in source.contracts.values() if one.server_name == wanted.server_name]
    if len(same) == 1 and wanted.server_name is not None:
        return same[0]
    raise CommandError(
        f"{source.shown} has no server {wanted.name!r}; it has {names_of(source.contracts)}. "
        "Choose one with --server, or add this server with `mcplens lock`."
    )


def check_same_server(
    before: ContractSource, old: Contract, after: ContractSource, new: Contract
) -> None:
    """Refuse to compare two servers that name themselves differently.

    Raises:
        CommandError: they do.
    """
    if None in (old.server_name, new.server_name) or old.server_name == new.server_name:
        return
    raise CommandError(
        f"{before.shown} and {after.shown} are of different servers: {old.server_name!r} and "
        f"{new.server_name!r}. If the server was renamed, write the lock again with `mcplens lock`."
    )


def show(flags: CommandOptions, comparisons: Sequence[Comparison], form: str, fail_on: str) -> int:
    """Print comparisons in the form that was asked for, and give the exit code."""
    from mcplens.contracts.diff_reports import as_json, as_markdown, fails, worst

    if flags.is_json or form == "json":
        output.write_json(as_json(comparisons))
    elif form == "markdown":
        output.say(as_markdown(comparisons))
    else:
        for comparison in comparisons:
            _print(comparison)
    output.flush()
    failed = fails(worst(comparisons), fail_on)
    return exit_codes.FAILED if failed else exit_codes.DONE


def shown_pointer(pointer: str) -> str:
    """A pointer in one line: a server may choose names of any length."""
    shown = output.one_line(pointer)
    return shown if len(shown) <= _SHOWN_POINTER else f"{shown[:_SHOWN_POINTER]}…"


def say_change(change: Change, indent: str = "  ") -> None:
    """Print one change with its class and its rule."""
    head = output.style(f"{indent}{change.change_class:<9}", fg=_COLOURS[change.change_class])
    text = f" {shown_pointer(change.pointer)}  {output.one_line(change.message)}"
    output.say(head + text + output.style(f"  [{change.rule}]", dim=True))


def _print(comparison: Comparison) -> None:
    from mcplens.contracts.diff_reports import advice, counts

    output.say(f"{comparison.server}: {counts(comparison)}", bold=True)
    for change in comparison.changes:
        say_change(change)
    for kind in comparison.not_compared:
        output.note(f"note: {kind} were not compared: one side does not know all of them")
    if words := advice(comparison):
        output.say(words)
