"""The examples of earlier versions (`examples.json` in the state folder), made collections once.

Each server's examples become one collection named after it; the results that they had go to
kept_results.py. The old file stays as it is, as a backup.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Final

import msgspec

from mcplens.collections.folder import SUFFIX, CollectionFolder
from mcplens.collections.kept_results import KeptResult, KeptResults, key_of
from mcplens.collections.model import VERSION, step_fields, step_of_tool
from mcplens.collections.variables import escape
from mcplens.collections.yaml_text import dump
from mcplens.config.environment import Environment, user_state_folder
from mcplens.config.files import write_text
from mcplens.errors import InspectorError
from mcplens.protocol.yaml_values import LARGEST_BYTES

_FILE_NAME: Final = "examples.json"
# Its presence says that this was done.
_DONE: Final = "examples-converted.json"
# What a file name cannot have.
_UNSAFE: Final = '/\\:*?"<>|'


class _Example(msgspec.Struct, frozen=True, kw_only=True):
    """A call as earlier versions kept it."""

    server_id: str
    tool: str
    name: str
    saved: float
    arguments: Any
    result: Any = None


def convert_examples(here: Environment, folder: CollectionFolder, results: KeptResults) -> int:
    """Convert what there is, once; the number of examples that became steps.

    Raises:
        InspectorError: a collection cannot be written; it is tried again at the next start.
    """
    state = user_state_folder(here)
    source, done = here.join(state, _FILE_NAME), here.join(state, _DONE)
    if os.path.exists(done) or not os.path.exists(source):
        return 0
    examples = _read(source)
    written: list[str] = []
    by_server: dict[str, list[_Example]] = {}
    for one in examples:
        by_server.setdefault(one.server_id, []).append(one)
    for server_id, ones in by_server.items():
        written += _convert(folder, results, server_id, ones)
    record = msgspec.json.encode({"from": source, "to": written}).decode() + "\n"
    write_text(done, record, is_private=True)
    return len(examples)


def _read(path: str) -> list[_Example]:
    with contextlib.suppress(OSError, msgspec.DecodeError), open(path, "rb") as file:
        return msgspec.json.decode(file.read(), type=list[_Example])
    return []


def _convert(
    folder: CollectionFolder, results: KeptResults, server_id: str, ones: list[_Example]
) -> list[str]:
    paths: list[str] = []
    steps: list[dict[str, Any]] = []
    kept: dict[str, KeptResult] = {}
    size = 0

    def finish() -> None:
        nonlocal size
        if not steps:
            return
        text = dump({"version": VERSION, "server": server_id, "tests": steps})
        path = _create(folder, server_id, text)
        results.keep_all({key_of(path, name): result for name, result in kept.items()})
        paths.append(path)
        steps.clear()
        kept.clear()
        size = 0

    for one in ones:
        step = _step(one, {str(step["name"]) for step in steps})
        size += len(dump([step]))
        if steps and size > LARGEST_BYTES // 2:
            finish()
        steps.append(step)
        kept[str(step["name"])] = KeptResult(one.saved, one.result)
    finish()
    return paths


def _step(one: _Example, taken: set[str]) -> dict[str, Any]:
    name, number = one.name, 2
    if name in taken:  # of another tool
        name = f"{one.name} ({one.tool})"
    while name in taken:
        name = f"{one.name} ({one.tool}, {number})"
        number += 1
    kind, target, arguments = step_of_tool(one.tool, one.arguments)
    fields = step_fields(
        name=name,
        description="",
        server=None,
        kind=kind,
        target=escape(target),
        arguments=escape(arguments),
    )
    return {key: value for key, value in fields.items() if value is not None}


def _create(folder: CollectionFolder, server_id: str, text: str) -> str:
    """A new file named after the server, or with a number."""
    safe = "".join("-" if one in _UNSAFE or not one.isprintable() else one for one in server_id)
    base = safe.strip(". ")[:80] or "examples"
    for number in range(1, 100):
        name = base if number == 1 else f"{base} {number}"
        if not os.path.lexists(os.path.join(folder.path, name + SUFFIX)):
            return folder.create("", name, text).path
    raise InspectorError("INVALID_REQUEST", f"no collection could be made for {server_id!r}")
