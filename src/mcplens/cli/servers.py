"""`mcplens servers`: the configured servers; adds, removes, imports and exports them.

Prints which file was written, and where its backup is. Values of headers and environment variables
may be secrets and are never shown.
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, pairs
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.exit_codes import CommandError, as_command_error
from mcplens.protocol.secret_masking import mask_url

if TYPE_CHECKING:
    from mcplens.config.files import Written
    from mcplens.config.model import Configuration, ServerEntry

_config_option = click.option("--config", metavar="FILE", help="Use only this configuration file.")
_json_option = click.option("--json", "is_json", is_flag=True, help="Print it as JSON.")
_replace_option = click.option("--replace", is_flag=True, help="Replace what already exists.")


@click.group("servers", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, add, remove, import and export configured servers.

    \b
    mcplens servers
    mcplens servers add db -- node db.js
    mcplens servers import cursor:weather
    mcplens servers export --to vscode
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_servers)


# -- list --------------------------------------------------------------------------------------


@command.command("list")
@_config_option
@_json_option
def list_servers(config: str | None = None, is_json: bool = False) -> None:
    """List the configured servers and their problems.

    \b
    mcplens servers list
    mcplens servers list --json
    """
    from mcplens.config.configuration import load_configuration
    from mcplens.config.other_tools import find_sources

    with as_command_error():
        found = load_configuration(config, is_tolerant=True)
    others = find_sources()
    if is_json:
        output.write_json(_as_json(found, others))
    else:
        _print(found)
        for source in others:
            output.note(f"{source.kind} has servers too, in {source.path}")
        if others:
            output.note("use one as TOOL:NAME, or `mcplens servers import TOOL`")
    if found.problems:
        sys.exit(exit_codes.USAGE)


def _print(configuration: Configuration) -> None:
    if not configuration.servers and not configuration.problems:
        output.note("no servers are configured")
        output.note("see `mcplens servers add -h`")
    rows = []
    for entry in configuration.servers:
        flags = "" if entry.enabled else " (switched off)"
        rows.append((entry.name, f"{_shown(entry)}{flags}"))
        if entry.problem is not None:
            rows.append(("", f"! {entry.problem.message}"))
        rows += [("", f"note: {remark}") for remark in entry.remarks]
    output.columns(rows)
    for problem in configuration.problems:
        output.note(f"! {problem.message}", fg="red")
    for remark in configuration.remarks:
        output.note(f"note: {remark}", fg="yellow")


def _shown(entry: ServerEntry) -> str:
    """How a server is reached: its whole command, or its URL without secrets."""
    if entry.url is not None:
        return mask_url(entry.url)
    command = entry.command or entry.raw.get("command")
    if command is None:
        return mask_url(str(entry.raw.get("url") or "(neither command nor url)"))
    args = entry.args or entry.raw.get("args") or ()
    return shlex.join([str(command), *map(str, args if isinstance(args, list | tuple) else ())])


def _as_json(configuration: Configuration, others: tuple[Any, ...]) -> dict[str, Any]:
    servers = [
        {
            "name": entry.name,
            "title": entry.title,
            "enabled": entry.enabled,
            "transport": entry.transport,
            "shown": _shown(entry),
            "env": sorted(entry.env),
            "headers": sorted(entry.headers),
            "file": entry.source.path,
            "scope": entry.source.scope,
            "problem": None if entry.problem is None else entry.problem.to_dict(),
            "remarks": entry.remarks,
        }
        for entry in configuration.servers
    ]
    return {
        "servers": servers,
        "files": [source.path for source in configuration.sources],
        "problems": [problem.to_dict() for problem in configuration.problems],
        "remarks": configuration.remarks,
        "others": [{"tool": source.kind, "file": source.path} for source in others],
    }


# -- add, remove -------------------------------------------------------------------------------


@command.command("add")
@click.argument("name")
@click.argument("url", required=False)
@click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=pairs(":", "'Name: value'"),
    help="A header to send; may be repeated.",
)
@click.option(
    "-e",
    "--env",
    "env",
    multiple=True,
    metavar="NAME=VALUE",
    callback=pairs("=", "NAME=value"),
    help="An environment variable for the command.",
)
@click.option("--cwd", metavar="FOLDER", help="The command's working folder.")
@click.option("--transport", metavar="KIND", help="stdio, http, sse or ws; detected if left out.")
@click.option("--project", is_flag=True, help="Add to mcp.json in this folder.")
@_replace_option
@_config_option
@click.pass_context
def add(
    ctx: click.Context,
    name: str,
    url: str | None,
    headers: dict[str, str],
    env: dict[str, str],
    cwd: str | None,
    transport: str | None,
    project: bool,
    replace: bool,
    config: str | None,
) -> None:
    """Add a server by its URL or by its command after --. Values may contain ${VARIABLES}.

    \b
    mcplens servers add db -- node db.js
    mcplens servers add tracker \\
      https://example.com/mcp \\
      -H 'Authorization: Bearer ${TOKEN}'
    """
    raw: dict[str, Any] = {} if transport is None else {"transport": transport}
    raw |= _reached(url, ctx.ensure_object(CommandOptions).server_command)
    if (headers and url is None) or ((env or cwd) and url is not None):
        raise click.UsageError("-H is for URLs; -e and --cwd are for commands")
    given = {"headers": headers, "env": env, "cwd": cwd}
    raw |= {key: value for key, value in given.items() if value}
    with as_command_error():
        from mcplens.config.file_editor import add_server

        path = "mcp.json" if project else _own_file(config)
        written = add_server(path, name, raw, replaces=replace, is_private=not project)
    _tell(f"{name} is in {written.path}", written)


def _reached(url: str | None, server_command: list[str] | None) -> dict[str, Any]:
    """How a server is reached, as an entry says it."""
    if (url is None) is (server_command is None):
        raise click.UsageError("give either a URL or a command after --, not both")
    if url is not None:
        if "://" not in url:
            raise click.UsageError(f"{url!r} is not a URL; put a command after --")
        return {"url": url}
    if not server_command:
        raise click.UsageError("a command must follow --")
    return {"command": server_command[0], "args": server_command[1:]}


@command.command("remove")
@click.argument("name", shell_complete=complete_target)
@_config_option
def remove(name: str, config: str | None) -> None:
    """Remove a server from its configuration file.

    \b
    mcplens servers remove weather
    """
    from mcplens.config.configuration import KIND, load_configuration
    from mcplens.config.file_editor import remove_server

    with as_command_error():
        configuration = load_configuration(config)
        entry = next((entry for entry in configuration.servers if entry.name == name), None)
        if entry is None:
            known = ", ".join(entry.name for entry in configuration.servers) or "none"
            raise CommandError(f"no server {name!r} is configured; there are: {known}")
        if entry.source.kind != KIND:
            raise CommandError(
                f"{name} is in {entry.source.path}, which belongs to another tool; edit it there"
            )
        written = remove_server(entry.source.path, name)
    _tell(f"{name} is no longer in {written.path}", written)


def _own_file(config: str | None) -> str:
    """The file that is written: the one that was named, else the user's."""
    from mcplens.config.configuration import find_files, user_file

    given = [source.path for source in find_files(config) if source.scope == "given"]
    return given[0] if given else user_file()


def _tell(what: str, written: Written) -> None:
    output.say(what)
    if written.backup is not None:
        output.say(f"backup of the previous version: {written.backup}")


# -- import, export ----------------------------------------------------------------------------


@command.command("import")
@click.argument("source", metavar="TOOL:NAME|TOOL|FILE")
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
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@_replace_option
@_config_option
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

    \b
    mcplens servers import cursor:weather
    mcplens servers import claude-desktop
    mcplens servers import ./server.json
    """
    from mcplens.config.file_editor import import_servers

    with as_command_error():
        entries = _entries_of(source, choose, values)
        if names:
            missing = [name for name in names if name not in {entry.name for entry in entries}]
            if missing:
                raise CommandError(f"{source} has no server {missing[0]!r}")
            entries = [entry for entry in entries if entry.name in names]
        if not entries:
            raise CommandError(f"{source} has no servers")
        path = _own_file(config)
        for entry in entries:
            output.say(f"{entry.name}: {_shown(entry)}")
            if entry.problem is not None:
                output.note(f"  ! {entry.problem.message}", fg="yellow")
        if not is_sure and sys.stdin.isatty():
            click.confirm(f"Add to {path}?", abort=True, err=True)
        written = import_servers(path, entries, replaces=replace, is_private=True)
    count = "1 server is" if len(entries) == 1 else f"{len(entries)} servers are"
    _tell(f"{count} in {written.path}", written)


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


@command.command("export")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_target)
@click.option(
    "--to",
    "shape",
    type=click.Choice(["mcpServers", "vscode", "codex"]),
    default="mcpServers",
    show_default=True,
    help="The file format.",
)
@click.option("-o", "--output", "path", metavar="FILE", help="Write to this file.")
@_replace_option
@_config_option
def export(
    names: tuple[str, ...], shape: str, path: str | None, replace: bool, config: str | None
) -> None:
    """Print servers in another tool's file format; placeholders are kept.

    \b
    mcplens servers export --to vscode
    mcplens servers export db --to codex
    """
    from mcplens.config.configuration import load_configuration
    from mcplens.config.export import export_servers
    from mcplens.config.files import write_text
    from mcplens.config.other_tools import find_server, is_qualified

    with as_command_error():
        configuration = load_configuration(config)
        entries = list(configuration.servers)
        if names:
            entries = []
            for name in names:
                entry = find_server(name) if is_qualified(name) else configuration.find(name)
                if entry is None:
                    raise CommandError(f"no server {name!r} is configured")
                entries.append(entry)
        exported = export_servers(entries, shape)  # type: ignore[arg-type]  # click checked it
        for remark in exported.remarks:
            output.note(f"note: {remark}", fg="yellow")
        if path is None:
            output.write_bytes(exported.text.encode())
            return
        if os.path.exists(path) and not replace:
            raise CommandError(f"{path} already exists; --replace overwrites it")
        written = write_text(path, exported.text, is_private=True)  # secrets may be in it
    _tell(f"{len(entries)} servers are in {written.path}", written)
