"""Candidates for shell completion: servers, what is known of their lists, and recorded runs.

Never starts or connects to a server: known_names.py has what was last listed. Called by click, when
_MCPLENS_COMPLETE is set.
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

import click
from click.shell_completion import CompletionItem

from mcplens.cli.known_names import LISTS, known_names

TASK_ACTIONS: Final = ("list", "get", "result", "cancel")
# Commands that take arguments after a name.
_WITH_ARGUMENTS: Final = ("call", "prompt", "read", "complete")
# Of the recording, as many runs as one looks through.
_MAX_RUNS: Final = 50


def complete_target(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Configured names, `demo` and `tool:name`; files are completed by the shell itself."""
    names = [name for name in _configured(ctx) if name.startswith(incomplete)]
    names += _of_other_tools(incomplete)
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def complete_import(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What servers can be imported from: a tool, one server of it, or a file."""
    from mcplens.config.other_tools import find_sources

    tools = dict.fromkeys(source.kind for source in find_sources())
    names = [name for name in tools if name.startswith(incomplete)]
    names += _of_other_tools(incomplete)
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
    """A target, then a name of its lists, then the arguments of that."""
    words = list(ctx.params.get(parameter.name or "") or ())
    kinds = LISTS[ctx.command.name or ""]
    if not words:
        server, dot, start = incomplete.partition(".")
        if dot and server in _configured(ctx):
            names = known_names(server, kinds)
            return [CompletionItem(f"{server}.{name}") for name in names if name.startswith(start)]
        return complete_target(ctx, parameter, incomplete)
    server, dot, name = words[0].partition(".")
    if dot and name and server in _configured(ctx):
        words[:1] = [server, name]
    names = known_names(words[0], kinds)
    if len(words) == 1:
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]
    if ctx.command.name not in _WITH_ARGUMENTS:
        return []
    given = {word.partition("=")[0].rstrip(":") for word in words[2:]}
    left = [one for one in names.get(words[1], ()) if one not in given]
    return [CompletionItem(f"{one}=") for one in left if one.startswith(incomplete)]


def complete_task(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """A target, and then what can be done with its tasks."""
    words = ctx.params.get(parameter.name or "") or ()
    if not words:
        return complete_target(ctx, parameter, incomplete)
    actions = TASK_ACTIONS if len(words) == 1 else ()
    return [CompletionItem(action) for action in actions if action.startswith(incomplete)]


def complete_run(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The newest runs of the recording."""
    from mcplens.errors import InspectorError
    from mcplens.store.history import History
    from mcplens.store.recording_file import default_path

    path = default_path()
    if not os.path.exists(path):
        return []
    with contextlib.suppress(InspectorError, OSError), History(path) as history:
        return [
            CompletionItem(run.run_id[:8], help=run.title or ", ".join(run.servers))
            for run in history.runs(_MAX_RUNS)
            if run.run_id.startswith(incomplete)
        ]
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


def _configured(ctx: click.Context) -> list[str]:
    from mcplens.cli.target_resolution import DEMO
    from mcplens.config.configuration import load_configuration

    configuration = load_configuration(ctx.params.get("config"), is_tolerant=True)
    return [*(entry.name for entry in configuration.servers), DEMO]


def _of_other_tools(incomplete: str) -> list[str]:
    """Servers of other tools, as `cursor:weather`, once it is clear that one is meant."""
    if not incomplete:
        return []
    from mcplens.config.other_tools import TOOLS, read_tool
    from mcplens.errors import InspectorError

    tool, colon, _ = incomplete.partition(":")
    kinds = [kind for kind in TOOLS if (kind == tool if colon else kind.startswith(tool))]
    found: list[str] = []
    for kind in kinds:
        with contextlib.suppress(InspectorError):
            found += [f"{kind}:{entry.name}" for entry in read_tool(kind)]
    return [name for name in found if name.startswith(incomplete)]
