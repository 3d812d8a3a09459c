"""`mcplens lock`: writes what servers promise to `mcp.lock`, or checks them against it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click
import msgspec

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.diff import compare_sources, find_contract, report_options, show
from mcplens.cli.exit_codes import CommandError, as_command_error

if TYPE_CHECKING:
    from mcplens.cli.contract_sources import ContractSource
    from mcplens.contracts.contract import Contract


DEFAULT_PATH: Final = "mcp.lock"


@click.command("lock")
@click.argument("targets", nargs=-1, metavar="[TARGET]...", shell_complete=complete_target)
@click.option(
    "-f", "--file", "path", default=DEFAULT_PATH, show_default=True, metavar="FILE",
    help="The lock.",
)  # fmt: skip
@click.option("--check", "is_check", is_flag=True, help="Compare with the lock; write nothing.")
@click.option("--as", "name", metavar="NAME", help="The server's name in the lock (one target).")
@report_options("cosmetic")
@shared_options
def command(
    flags: CommandOptions,
    targets: tuple[str, ...],
    path: str,
    is_check: bool,
    name: str | None,
    form: str,
    fail_on: str,
) -> None:
    """Write what servers promise to mcp.lock, or check servers against it.

    The lock has every tool, resource, template and prompt, with secrets masked; it belongs in
    version control. Other servers in it stay as they are. Without a target, all servers in the
    lock are used; without a lock, those of the project's mcp.json.

    \b
    mcplens lock demo
    mcplens lock --check demo
    mcplens lock --check
    mcplens lock --as mine -- python s.py
    """
    from mcplens.cli.contract_sources import project_servers

    known = _known(path, is_check)
    words: Sequence[str | None] = targets or ([None] if flags.server_command is not None else [])
    if targets and flags.server_command is not None:
        raise click.UsageError(f"two servers are given: {targets[0]}, and the command after --")
    if not words:
        words = project_servers(flags) if known is None else list(known.contracts)
    if known is not None:
        locked = [word for word in words if word is not None and word in known.contracts]
        _check_configured(flags, locked, path, is_check)
    _check_words(flags, words, path, name)
    found = [_fetch(flags, word, name) for word in words]
    if is_check:
        assert known is not None
        code = _check(flags, known, found, form, fail_on)
        if code:
            as_name = find_contract(known, found[0]).name if flags.server_command else name
            again = _lock_command(flags, targets, path, as_name)
            text = f"{known.shown} is not up to date; if the changes are intended, run {again}"
            output.note(text)
        sys.exit(code)
    _write(path, known, found)


def _known(path: str, is_check: bool) -> ContractSource | None:
    """The lock as it is; None if there is none yet."""
    from mcplens.cli.contract_sources import read_lock_file

    if os.path.exists(path):
        return read_lock_file(path)
    if is_check:
        raise CommandError(f"there is no {path}; write it with `mcplens lock TARGET`")
    return None


def _check_configured(
    flags: CommandOptions, names: Sequence[str], path: str, is_check: bool
) -> None:
    """The lock knows servers by name; what starts them is in the configuration."""
    from mcplens.cli.target_resolution import is_understood
    from mcplens.config.configuration import load_configuration

    with as_command_error():
        configuration = load_configuration(flags.config)
    for name in names:
        if configuration.find(name) is None and not is_understood(name):
            verb = "lock --check" if is_check else "lock"
            raise click.UsageError(
                f"{path} has the server {name!r}, which is not configured: add it to the "
                f"project's mcp.json, or say how it is started: "
                f"mcplens {verb} --as {shlex.quote(name)} -- COMMAND"
            )


def _check_words(
    flags: CommandOptions, words: Sequence[str | None], path: str, name: str | None
) -> None:
    if not words:
        raise click.UsageError(
            "name a server: a configured name, a URL, a script, or -- COMMAND "
            f"(neither {path} nor the project's mcp.json has one)"
        )
    if len(words) > 1 and name is not None:
        raise click.UsageError("--as is for one server")
    if len(words) > 1 and flags.trace is not None:
        raise click.UsageError("--trace is for one server")


def _fetch(flags: CommandOptions, word: str | None, name: str | None) -> Contract:
    from mcplens.cli.contract_sources import read_target

    (contract,) = read_target(flags, word).contracts.values()
    return contract if name is None else msgspec.structs.replace(contract, name=name)


def _write(path: str, known: ContractSource | None, found: list[Contract]) -> None:
    from mcplens.config.files import replace_text
    from mcplens.contracts.lock import write_lock

    contracts = dict(known.contracts) if known is not None else {}
    contracts |= {contract.name: contract for contract in found}
    with as_command_error():
        replace_text(path, write_lock(contracts.values()))
    for contract in found:
        output.say(f"{contract.name}: {_counts(contract)} written to {path}")


def _counts(contract: Contract) -> str:
    from mcplens.contracts.contract import SINGULAR

    counts = [(len(contract.items(kind)), word) for kind, word in SINGULAR.items()]
    shown = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count]
    return ", ".join(shown) or "nothing in its lists"


def _check(
    flags: CommandOptions,
    known: ContractSource,
    found: list[Contract],
    form: str,
    fail_on: str,
) -> int:
    from mcplens.cli.contract_sources import ContractSource

    comparisons = []
    for contract in found:
        live = ContractSource("target", contract.name, {contract.name: contract})
        locked = find_contract(known, contract)
        only = msgspec.structs.replace(known, contracts={locked.name: locked})
        comparisons += compare_sources(only, live)
    return show(flags, comparisons, form, fail_on)


def _lock_command(
    flags: CommandOptions, targets: Sequence[str], path: str, name: str | None
) -> str:
    """The command that writes what was checked into the lock."""
    named = [] if name is None else ["--as", name]
    placed = [] if path == DEFAULT_PATH else ["--file", path]
    started = [] if flags.server_command is None else ["--", *flags.server_command]
    return shlex.join(["mcplens", "lock", *placed, *named, *targets, *started])
