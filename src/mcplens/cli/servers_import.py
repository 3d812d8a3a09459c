"""`mcplens servers import`: copies servers of another tool or a file into our configuration.

What was imported is confirmed before it is first started, as in the web UI: the file that it came
from may be somebody else's. A name that is taken stops only its own server.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import pairs
from mcplens.cli.completion_candidates import complete_import
from mcplens.cli.configured_servers import (
    config_option,
    own_file,
    replace_option,
    shown,
    tell_written,
)
from mcplens.cli.exit_codes import CommandError, as_command_error

if TYPE_CHECKING:
    from mcplens.config.files import Written
    from mcplens.config.model import ServerEntry


@click.command("import")
@click.argument("source", metavar="TOOL:NAME|TOOL|FILE", shell_complete=complete_import)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--choose", metavar="WAY", help="Which package or remote of a registry's server.json."
)
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    callback=pairs("=", "NAME=value"),
    help="A value for an input of the file.",
)
@click.option(
    "--yes", "is_sure", is_flag=True, help="Do not ask; required where there is no terminal."
)
@replace_option
@config_option
def import_command(
    source: str,
    names: tuple[str, ...],
    choose: str | None,
    values: dict[str, str],
    is_sure: bool,
    replace: bool,
    config: str | None,
) -> None:
    """Copy servers from another tool or a file into mcplens's configuration.

    What they start is shown and confirmed before they are first used.

    \b
    mcplens servers import cursor:weather
    mcplens servers import claude-desktop
    mcplens servers import ./server.json
    """
    with as_command_error():
        entries = _chosen(_entries_of(source, choose, values), source, names)
        path = own_file(config)
        refusals = _refusals(entries, path, replaces=replace)
        wanted = [entry for entry in entries if entry.name not in refusals]
        for entry in wanted:
            output.say(f"{entry.name}: {shown(entry)}")
            if entry.problem is not None:
                output.note(f"  ! {entry.problem.message}", fg="yellow")
        for reason in refusals.values():
            output.note(f"! {reason}", fg="yellow")
        if not wanted:
            raise CommandError("nothing was imported")
        if not is_sure:
            from mcplens.cli.confirmation import confirm

            confirm("Nothing was imported yet.", f"add {_count(wanted)} to {path}")
        written = _write(path, wanted, replaces=replace)
    is_one = len(wanted) == 1
    tell_written(f"{_count(wanted)} {'is' if is_one else 'are'} in {written.path}", written)
    if refusals:
        sys.exit(exit_codes.FAILED)


def _count(entries: list[ServerEntry]) -> str:
    return "1 server" if len(entries) == 1 else f"{len(entries)} servers"


def _chosen(entries: list[ServerEntry], source: str, names: tuple[str, ...]) -> list[ServerEntry]:
    if names:
        missing = [name for name in names if name not in {entry.name for entry in entries}]
        if missing:
            raise CommandError(f"{source} has no server {missing[0]!r}")
        entries = [entry for entry in entries if entry.name in names]
    if not entries:
        raise CommandError(f"{source} has no servers")
    return entries


def _refusals(entries: list[ServerEntry], path: str, *, replaces: bool) -> dict[str, str]:
    """Why a server is not imported, by its name."""
    from mcplens.cli.target_resolution import DEMO
    from mcplens.config.file_editor import servers_of

    taken = {} if replaces else servers_of(path)
    found = {}
    for entry in entries:
        name = entry.name
        if not entry.raw:
            problem = entry.problem.message if entry.problem is not None else "it is empty"
            found[name] = f"{name} is not imported: {problem}"
        elif not entry.raw.get("command") and not entry.raw.get("url"):
            found[name] = f"{name} is not imported: it has neither a command nor a url"
        elif name in taken:
            found[name] = (
                f"{name} is not imported: {path} already has a server of that name; "
                "--replace replaces it"
            )
        elif name == DEMO and not replaces:
            found[name] = (
                f"{name} is not imported: it is the name of the built-in demo server; "
                "--replace puts it in the place of that"
            )
    return found


def _write(path: str, entries: list[ServerEntry], *, replaces: bool) -> Written:
    """Write the servers, each to be confirmed before it is first used."""
    from mcplens.config.configuration import KIND
    from mcplens.config.entries import build_entry
    from mcplens.config.environment import current_environment
    from mcplens.config.file_editor import import_servers, moved_entry
    from mcplens.config.model import Source
    from mcplens.workspace.confirmation import Confirmations

    here = current_environment()
    servers: dict[str, dict[str, Any]] = {entry.name: moved_entry(entry, path) for entry in entries}
    # Marked before it is written: another mcplens may read the file at once.
    place = Source(KIND, path, "user")
    Confirmations(here).imported(
        build_entry(name, raw, place, here) for name, raw in servers.items()
    )
    return import_servers(path, entries, replaces=replaces, is_private=True)


def _entries_of(source: str, choice: str | None, values: dict[str, str]) -> list[ServerEntry]:
    """The servers that `cursor:weather`, `cursor` or a file name."""
    from mcplens.config.configuration import load_configuration
    from mcplens.config.other_tools import TOOLS, find_server, is_qualified, read_servers, read_tool

    if is_qualified(source):
        return [find_server(source)]
    if source in TOOLS:
        return list(read_tool(source))
    if not os.path.isfile(source):
        raise CommandError(f"{source!r} is neither a file nor one of: {', '.join(TOOLS)}")
    found = load_configuration(source)
    if (choice or values) and found.sources[0].kind in TOOLS:
        return list(read_servers(found.sources[0], values=values, choice=choice))
    return list(found.servers)
