"""`mcplens servers`: the configured servers; adds, removes and exports them.

Prints which file was written, and where its backup is. `import` is in servers_import.py.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, pairs
from mcplens.cli.completion_candidates import complete_target
from mcplens.cli.configured_servers import (
    config_option,
    own_file,
    replace_option,
    shown,
    tell_written,
)
from mcplens.cli.exit_codes import CommandError, as_command_error
from mcplens.cli.servers_import import import_command

if TYPE_CHECKING:
    from mcplens.config.model import Configuration, ServerEntry

_json_option = click.option("--json", "is_json", is_flag=True, help="Print it as JSON.")


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
@config_option
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
        rows.append((entry.name, f"{shown(entry)}{flags}"))
        if entry.problem is not None:
            rows.append(("", f"! {entry.problem.message}"))
        rows += [("", f"note: {remark}") for remark in entry.remarks]
    output.columns(rows)
    for problem in configuration.problems:
        output.note(f"! {problem.message}", fg="red")
    for remark in configuration.remarks:
        output.note(f"note: {remark}", fg="yellow")


def _as_json(configuration: Configuration, others: tuple[Any, ...]) -> dict[str, Any]:
    servers = [
        {
            "name": entry.name,
            "title": entry.title,
            "enabled": entry.enabled,
            "transport": entry.transport,
            "shown": shown(entry),
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
@replace_option
@config_option
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

        path = "mcp.json" if project else own_file(config)
        written = add_server(path, name, raw, replaces=replace, is_private=not project)
    tell_written(f"{name} is in {written.path}", written)


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
@config_option
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
    tell_written(f"{name} is no longer in {written.path}", written)


# -- export -------------------------------------------------------------------------------------


command.add_command(import_command)


@command.command("export")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_target)
@click.option(
    "--to",
    "shape",
    type=click.Choice(["mcplens", "mcpServers", "vscode", "codex"]),
    default="mcpServers",
    show_default=True,
    help="The file format.",
)
@click.option("-o", "--output", "path", metavar="FILE", help="Write to this file.")
@replace_option
@config_option
def export(
    names: tuple[str, ...], shape: str, path: str | None, replace: bool, config: str | None
) -> None:
    """Print servers in mcplens' or another tool's file format; placeholders are kept.

    \b
    mcplens servers export --to mcplens \\
        -o backup.json
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
        for entry in entries:
            _tell_secrets(entry, (*configuration.settings.secret_keys, *entry.secret_keys))
        if path is None:
            output.write_bytes(exported.text.encode())
            return
        if os.path.exists(path) and not replace:
            raise CommandError(f"{path} already exists; --replace overwrites it")
        written = write_text(path, exported.text, is_private=True)  # secrets may be in it
    tell_written(f"{len(entries)} servers are in {written.path}", written)


def _tell_secrets(entry: ServerEntry, keys: tuple[str, ...]) -> None:
    """The export has secrets as they are; whoever passes it on should know."""
    from mcplens.workspace.form_masking import secret_names

    if names := secret_names(entry.raw, keys):
        it = "this secret" if len(names) == 1 else "these secrets"
        output.note(f"note: {entry.name}: {it} can be read in it: {', '.join(names)}", fg="yellow")


# -- schema -------------------------------------------------------------------------------------


@command.command("schema")
@click.option("--print", "is_printed", is_flag=True, help="Print the schema itself.")
def schema(is_printed: bool) -> None:
    """Print the address of the configuration file's JSON Schema, for "$schema" in mcp.json.

    \b
    mcplens servers schema
    mcplens servers schema --print
    """
    from mcplens.config.json_schema import SCHEMA_FILE

    text = SCHEMA_FILE.read_text(encoding="utf-8") if is_printed else f"{SCHEMA_FILE.as_uri()}\n"
    output.write_bytes(text.encode())
