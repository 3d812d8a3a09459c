"""Reader of VS Code's files: `servers`, and `inputs` that the editor prompts for.

`${input:id}` becomes a value that was supplied, or the environment variable of that name. Pure;
called by other_tools.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcplens.config.model import Input
from mcplens.config.placeholder_dialects import editor
from mcplens.config.placeholders import escape, placeholder, rewrite_all, variable_name
from mcplens.config.tool_reader import ImportedServer, Reading, mapping, sequence

_REPLACED: Final = ("command", "args", "env", "envFile", "cwd", "url", "headers")


def read_vscode(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """`mcp.json`, or `mcp.servers` in an older `settings.json`."""
    if "servers" not in document:
        document = mapping(document.get("mcp"))
    known = {one.id: one for one in map(_input, sequence(document.get("inputs"))) if one}
    for name, raw in mapping(document.get("servers")).items():
        asked: dict[str, Input] = {}

        def ask(id: str, asked: dict[str, Input] = asked) -> str:
            one = asked[id] = known.get(id) or Input(id=id, variable=variable_name(id))
            if id in reading.values:
                return escape(reading.values[id])
            return placeholder(one.variable, one.default)

        if isinstance(raw, dict):
            change = editor(reading, ask)
            raw = raw | {key: rewrite_all(raw[key], change) for key in raw if key in _REPLACED}
        yield ImportedServer(name=name, raw=raw, inputs=tuple(asked.values()))


def _input(definition: Any) -> Input | None:
    definition = mapping(definition)
    id, default = definition.get("id"), definition.get("default")
    if not isinstance(id, str):
        return None
    options = [mapping(one).get("value", one) for one in sequence(definition.get("options"))]
    return Input(
        id=id,
        variable=variable_name(id),
        description=str(definition.get("description") or ""),
        default=default if isinstance(default, str) else None,
        choices=tuple(str(option) for option in options),
        is_secret=definition.get("password") is True,
    )
