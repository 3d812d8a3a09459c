"""`mcplens collections`: calls that are kept in files: list, show, run.

A collection is named as in the web UI (`billing/refunds`), or by the path of its file. What stops a
run is settled before anything is sent: a file from elsewhere, variables, tools that may change
something.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.exit_codes import CommandError, as_command_error

if TYPE_CHECKING:
    from mcplens.collections.folder import Content
    from mcplens.collections.model import Step
    from mcplens.workspace.saved_calls import SavedCalls

_json_option = click.option("--json", "is_json", is_flag=True, help="Print it as JSON.")


@click.group("collections", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, show and run calls that are kept in files.

    \b
    mcplens collections
    mcplens collections show NAME
    mcplens collections run NAME
    mcplens collections run NAME STEP
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_collections)


def _saved(config: str | None = None) -> SavedCalls:
    from mcplens.config.environment import current_environment
    from mcplens.config.secret_keys import find_keys_by_server
    from mcplens.workspace.saved_calls import SavedCalls

    saved = SavedCalls(current_environment(), find_keys_by_server(config))
    saved.prepare()
    return saved


def _content(saved: SavedCalls, name: str) -> Content:
    """A collection by its name or its path."""
    from mcplens.cli.near_names import near_names
    from mcplens.collections.folder import SUFFIX, given_file
    from mcplens.config.environment import current_environment

    files = {file.key: file for file in saved.folder.files()}
    file = files.get(name) or files.get(name.removesuffix(SUFFIX))
    if file is None and os.path.isfile(name):
        file = given_file(current_environment(), name)
    if file is None:
        near = near_names(name, list(files))
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise CommandError(f"there is no collection {name!r}, and no such file.{hint}")
    content = saved.folder.read(file)
    if content.problem is not None:
        raise CommandError(f"{content.file.path}: {content.problem}")
    return content


def _complete(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    from mcplens.collections.folder import CollectionFolder
    from mcplens.config.environment import current_environment

    files = CollectionFolder(current_environment()).files()
    return [file.key for file in files if file.key.startswith(start)]


@command.command("list")
@_json_option
def list_collections(is_json: bool = False) -> None:
    """List the collections in the user's folder.

    \b
    mcplens collections list
    mcplens collections list --json
    """
    from mcplens.errors import InspectorError

    with as_command_error():
        saved = _saved()
    found: list[dict[str, Any]] = []
    for file in saved.folder.files():
        about: dict[str, Any] = {"name": file.key, "file": file.path}
        try:
            content = saved.folder.read(file)
            about |= {"calls": len(content.collection.steps), "problem": content.problem}
        except InspectorError as problem:
            about |= {"calls": 0, "problem": problem.message}
        found.append(about)
    if is_json:
        output.write_json(found)
        return
    if not found:
        output.note(f"no collections yet in {saved.folder.path}; the web UI saves calls there")
    output.columns([(one["name"], one["problem"] or _count(one["calls"])) for one in found])


def _count(calls: int) -> str:
    return "1 call" if calls == 1 else f"{calls} calls"


@command.command("show")
@click.argument("name", shell_complete=_complete)
@_json_option
def show_collection(name: str, is_json: bool) -> None:
    """Show the calls of a collection, and the variables and servers that it uses.

    \b
    mcplens collections show NAME
    mcplens collections show NAME --json
    """
    with as_command_error():
        saved = _saved()
        content = _content(saved, name)
    collection = content.collection
    variables = [saved.variable(one, collection.servers) for one in collection.variables]
    if is_json:
        output.write_json(_as_json(content, variables))
        return
    output.say(content.file.path)
    if collection.description:
        output.say(collection.description)
    output.say()
    for step in collection.steps:
        what = step.target if step.kind == "call" else f"{step.kind} {step.target}"
        output.say(f"{step.name}: {what} on {step.server or '?'}")
        for line in (step.description, step.problem and f"cannot be run: {step.problem}"):
            if line:
                output.say(f"  {line}")
    if variables:
        output.say()
    for one in variables:
        output.say(f"${{{one.name}}} {'is set' if one.source else 'is not set'}")


def _as_json(content: Content, variables: list[Any]) -> dict[str, Any]:
    return {
        "name": content.file.key,
        "file": content.file.path,
        "servers": content.collection.servers,
        "variables": [
            {"name": one.name, "is_secret": one.is_secret, "is_set": one.source is not None}
            for one in variables
        ],
        "calls": [
            {
                "name": step.name,
                "description": step.description,
                "server": step.server,
                step.kind: step.target,
                "with": step.arguments,
                "problem": step.problem,
            }
            for step in content.collection.steps
        ],
    }


@command.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of collections, for editors.

    \b
    mcplens collections schema
    """
    from importlib.resources import files

    schema = files("mcplens.collections").joinpath("collection.schema.json")
    output.say(schema.read_text("utf-8").rstrip())


@command.command("run")
@click.argument("name", shell_complete=_complete)
@click.argument("step", required=False)
@click.option(
    "--allow-writes", is_flag=True, help="Call tools that are not marked as read-only, unasked."
)
@click.option("--stop-at-failure", is_flag=True, help="Run no more calls after one that failed.")
@shared_options
def run_collection(
    flags: CommandOptions, name: str, step: str | None, allow_writes: bool, stop_at_failure: bool
) -> None:
    """Run the calls of a collection in order, or one of them by its name.

    Variables come from the environment; on a terminal those that are not set are asked for. With
    --json, each call is one line.

    \b
    mcplens collections run NAME
    mcplens collections run NAME STEP
    mcplens collections run NAME \\
        --yes --allow-writes --json
    """
    from mcplens.cli.collection_run import run_steps
    from mcplens.cli.command_runner import reporting

    with reporting(flags, name):
        saved = _saved(flags.config)
        content = _content(saved, name)
        steps = _steps(content, step)
        _confirm(flags, saved, content)
        _ask_values(saved, steps)
        # All of them now: nothing is sent if one of them cannot be.
        filled = {one.index: saved.filled(one) for one in steps if one.problem is None}
        with contextlib.suppress(asyncio.CancelledError):
            code = asyncio.run(
                run_steps(
                    flags, content.file.name, steps, filled,
                    may_change=allow_writes, stops=stop_at_failure,
                )
            )  # fmt: skip
    sys.exit(code)


def _steps(content: Content, name: str | None) -> list[Step]:
    from mcplens.cli.near_names import near_names

    steps = content.collection.steps
    if name is None:
        if not steps:
            raise CommandError(f"{content.file.path} has no calls")
        return steps
    found = [step for step in steps if step.name == name]
    if len(found) == 1:
        return found
    if found:
        raise CommandError(f"{content.file.path} has {len(found)} calls named {name!r}")
    near = near_names(name, [step.name for step in steps])
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise CommandError(f"{content.file.path} has no call named {name!r}.{hint}")


def _confirm(flags: CommandOptions, saved: SavedCalls, content: Content) -> None:
    """A file that this user's mcplens did not write is confirmed once per content."""
    from mcplens.cli.confirmation import confirm

    if saved.folder.is_confirmed(content.digest):
        return
    if not flags.is_trusted:
        collection = content.collection
        lines = [
            f"{content.file.path} was not written by mcplens on this computer.",
            f"  Its calls go to {', '.join(collection.servers) or 'no server'}",
            f"  with your variables {', '.join(collection.variables) or '(none)'}",
        ]
        lines += [f"  {step.kind} {step.target}" for step in collection.steps]
        confirm("\n".join(output.one_line(line) for line in lines), "use this file")
    saved.folder.confirm(content)


def _ask_values(saved: SavedCalls, steps: list[Step]) -> None:
    """Variables without a value are asked for on a terminal, and are an error elsewhere."""
    from mcplens.collections.variables import unset_text

    names = dict.fromkeys(name for step in steps for name in step.variables)
    servers = [step.server for step in steps if step.server is not None]
    unset = [one for name in names if (one := saved.variable(name, servers)).source is None]
    if unset and not sys.stdin.isatty():
        raise click.UsageError(unset_text([one.name for one in unset]))
    for one in unset:
        value = click.prompt(one.name, hide_input=one.is_secret, default="", err=True)
        saved.type_in(one.name, str(value))
