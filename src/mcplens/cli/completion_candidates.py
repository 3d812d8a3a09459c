"""Candidates for shell completion: configured names, and the last known tools of a server.

Tool names are cached in a file in the state folder by each run that lists them; completion never
starts or connects to a server. Called by click, when _MCPLENS_COMPLETE is set.
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

import click
from click.shell_completion import CompletionItem

from mcplens.cli.command_options import CommandOptions

_FILE_NAME: Final = "tool-names.json"
# Of servers, the latest ones; of tools of one server.
_MAX_SERVERS: Final = 100
_MAX_TOOLS: Final = 2_000


def complete_target(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Configured names and `demo`; files are completed by the shell itself."""
    names = [name for name in _configured(ctx) if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def complete_first(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """A target, and nothing for the words that follow it."""
    if ctx.params.get(parameter.name or ""):
        return []
    return complete_target(ctx, parameter, incomplete)


def complete_words(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """A target, and then a tool of it."""
    words = ctx.params.get(parameter.name or "") or ()
    if not words:
        server, dot, start = incomplete.partition(".")
        if dot and server in _configured(ctx):
            return [CompletionItem(f"{server}.{tool}") for tool in _tools_of(server, start)]
        return complete_target(ctx, parameter, incomplete)
    if len(words) == 1:
        return [CompletionItem(tool) for tool in _tools_of(words[0], incomplete)]
    return []


def profile_names(ctx: click.Context) -> list[str]:
    """What `--sampling` may name: profiles that are built in, and those of the configuration."""
    from mcplens.config.configuration import load_configuration
    from mcplens.session.profiles import Profiles

    configuration = load_configuration(ctx.params.get("config"), is_tolerant=True)
    return Profiles(configuration.settings.profiles).names()


def files_after_at(start: str) -> list[CompletionItem]:
    """Files and folders for a word such as `@some/fi`, which no shell completes by itself."""
    folder, name = os.path.split(start[1:])
    found = []
    with contextlib.suppress(OSError):
        for entry in sorted(os.scandir(folder or "."), key=lambda entry: entry.name):
            if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
                path = os.path.join(folder, entry.name)
                found.append(CompletionItem(f"@{path}{os.sep if entry.is_dir() else ''}"))
    return found


def remember_tools(flags: CommandOptions, target: str | None, names: list[str]) -> None:
    """Cache the names of a server's tools; failures are ignored."""
    is_secret = target is not None and any(mark in target for mark in "?@")
    if target is None or is_secret or flags.no_record:
        return
    known = _read()
    if known.get(target) == names[:_MAX_TOOLS]:
        return
    known.pop(target, None)
    known[target] = names[:_MAX_TOOLS]
    import json

    kept = dict(list(known.items())[-_MAX_SERVERS:])
    path = _path()
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        beside = f"{path}.{os.getpid()}.tmp"
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(beside, path)


def _configured(ctx: click.Context) -> list[str]:
    from mcplens.cli.target_resolution import DEMO
    from mcplens.config.configuration import load_configuration

    configuration = load_configuration(ctx.params.get("config"), is_tolerant=True)
    return [*(entry.name for entry in configuration.servers), DEMO]


def _tools_of(server: str, start: str) -> list[str]:
    return [name for name in _read().get(server, []) if name.startswith(start)]


def _read() -> dict[str, list[str]]:
    import json

    try:
        with open(_path(), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _path() -> str:
    from mcplens.user_folders import current_state_folder

    return os.path.join(current_state_folder(), _FILE_NAME)
