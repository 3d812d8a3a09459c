"""Asks before a server of a project, or an imported one, is used for the first time.

Shows all that decides what it would do, with nothing masked: what is masked could be the harmful
part. Which servers must be confirmed is decided in workspace/confirmation.py. Called by
target_resolution.py, replay.py and servers_import.py.
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.errors import InspectorError

if TYPE_CHECKING:
    from mcplens.config.model import ServerEntry


def confirm_entry(flags: CommandOptions, entry: ServerEntry, *, is_optional: bool = False) -> bool:
    """Cloned or imported entries must not run commands by themselves: ask once per content.

    Returns whether it may be used; a no ends the command, unless it `is_optional`.
    """
    from mcplens.config.environment import current_environment
    from mcplens.workspace.confirmation import Confirmations

    confirmations = Confirmations(current_environment())
    if not confirmations.is_needed(entry):
        return True
    if not flags.is_trusted and not confirm(*_question(entry), is_optional=is_optional):
        return False
    try:
        confirmations.confirm(entry)
    except InspectorError as problem:  # it may be used this once
        output.note(f"mcplens: {problem.message}", fg="yellow")
    return True


def confirm(question: str, act: str, *, is_optional: bool = False) -> bool:
    """Ask on a terminal; elsewhere --yes is required. A no ends the command, or is returned."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question}\nUse --yes to {act}.")
    asked = f"{question}\n{act[0].upper()}{act[1:]}?"
    return click.confirm(asked, abort=not is_optional, err=True)


def _question(entry: ServerEntry) -> tuple[str, str]:
    """What an entry does, with placeholders unresolved, and the action to confirm."""
    from mcplens.config.trust import asked_variables, given_values, named_files, other_options

    path, raw = entry.source.path, entry.raw
    if entry.url is None:
        lines, act = [f"{path} starts {entry.name} with this command:"], "start it"
        lines += _command_lines(entry)
    else:
        url = next(raw[key] for key in ("url", "serverUrl", "httpUrl") if raw.get(key))
        lines, act = [f"{path} connects {entry.name} to:", f"  {url}"], "connect to it"
        headers = given_values(entry.headers, raw.get("headers"))
        lines += [f"  with the header {name}: {value}" for name, value in headers.items()]
    options = other_options(entry)
    lines += [f"  with {key} {_json(value)}" for key, value in options.items()]
    lines += [f"  and reads {path} to sign in" for path in named_files(entry)]
    if variables := asked_variables(entry):
        lines.append(f"  and passes it your {', '.join(variables)}")
    return "\n".join(output.one_line(line) for line in lines), act


def _command_lines(entry: ServerEntry) -> list[str]:
    from mcplens.config.trust import given_values

    raw = entry.raw
    lines = [f"  {shlex.join([str(raw.get('command')), *map(str, raw.get('args') or ())])}"]
    lines.append(f"  in the folder {entry.cwd or os.getcwd()}")
    # NODE_OPTIONS or LD_PRELOAD can make a harmless command run another program.
    variables = given_values(entry.env, raw.get("env"))
    lines += [f"  with {name}={value}" for name, value in variables.items()]
    if entry.inherit_env:
        lines.append("  and with all variables of your environment")
    else:
        lines.append(
            "  and of your environment only what programs need (HOME, PATH, locale, proxy)"
        )
    return lines


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
