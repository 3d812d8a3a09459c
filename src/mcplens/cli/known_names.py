"""What each server had when it was last listed: names and arguments, for shell completion.

Kept in a file in the state folder by each run that lists something; completion reads it and never
starts or connects to a server. Failures are ignored: nothing depends on it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from typing import Any, Final

from mcplens.cli.command_options import CommandOptions
from mcplens.protocol.result_types import Prompt, Resource, ResourceTemplate, Tool

# The lists that the first word after a server is from, by command.
LISTS: Final = {
    "tools": ("tools",),
    "call": ("tools",),
    "prompts": ("prompts",),
    "prompt": ("prompts",),
    "resources": ("resources",),
    "templates": ("resource_templates",),
    "read": ("resources", "resource_templates"),
    "subscribe": ("resources",),
    "complete": ("prompts", "resource_templates"),
    "skills": (),
    "skill": ("skills",),
}

_FILE_NAME: Final = "known-names.json"
# Of servers, the latest ones; of names of one list; of arguments of one name.
_MAX_SERVERS: Final = 100
_MAX_NAMES: Final = 2_000
_MAX_ARGUMENTS: Final = 100

# The names of a list, each with its arguments.
Names = dict[str, list[str]]


def remember(flags: CommandOptions, target: str | None, kind: str, items: Iterable[Any]) -> None:
    """Keep the names of a list of a server."""
    is_secret = target is not None and any(mark in target for mark in "?@")
    if target is None or is_secret or flags.no_record:
        return
    names: Names = {}
    for item in items:
        name, arguments = _described(item)
        if name and len(names) < _MAX_NAMES:
            names[name] = arguments[:_MAX_ARGUMENTS]
    known = _read()
    lists = known.pop(target, {})
    if lists.get(kind) == names:
        return
    known[target] = lists | {kind: names}
    _write(dict(list(known.items())[-_MAX_SERVERS:]))


def known_names(target: str, kinds: Iterable[str]) -> Names:
    """What these lists of a server had."""
    lists = _read().get(target, {})
    return {name: given for kind in kinds for name, given in lists.get(kind, {}).items()}


def _described(item: Any) -> tuple[str, list[str]]:
    """The name of an item as it is typed, and the names of its arguments."""
    if isinstance(item, Tool):
        from mcplens.protocol.schema_types import object_shape

        return item.name, [] if item.problem else list(object_shape(item.input_schema).properties)
    if isinstance(item, Prompt):
        return item.name, [argument.name for argument in item.arguments or ()]
    if isinstance(item, ResourceTemplate):
        from mcplens.protocol.uri_templates import variables_of

        return item.uri_template, [one.name for one in variables_of(item.uri_template)]
    if isinstance(item, Resource):
        return item.uri, []
    return getattr(item, "name", ""), []  # a skill


def _read() -> dict[str, dict[str, Names]]:
    import msgspec

    try:
        with open(_path(), "rb") as file:
            return msgspec.json.decode(file.read(), type=dict[str, dict[str, Names]])
    except (OSError, msgspec.DecodeError):
        return {}


def _write(known: dict[str, dict[str, Names]]) -> None:
    import json

    path = _path()
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        beside = f"{path}.{os.getpid()}.tmp"
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(known, file)
        os.replace(beside, path)


def _path() -> str:
    from mcplens.user_folders import current_state_folder

    return os.path.join(current_state_folder(), _FILE_NAME)
