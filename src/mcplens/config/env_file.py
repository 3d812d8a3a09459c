"""Parses files of `NAME=value` lines (`.env`), for a server's `envFile`.

Values are text: nothing in them is resolved. Called by entries.py.
"""

from __future__ import annotations

import re
from typing import Final

from mcplens.config.files import invalid, read_text

_NOTHING: Final = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
# A quoted value may span lines; a comment after an unquoted one starts with a space.
_ENTRY: Final = re.compile(
    r"""[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*=[ \t]*
    (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|(?P<bare>[^\n]*?))
    (?:[ \t]+\#[^\n]*)?[ \t]*(?:\n|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}


def read(path: str) -> dict[str, str]:
    """The variables of a file.

    Raises:
        ConfigurationError: it cannot be read, or a line is not an assignment.
    """
    return parse(read_text(path), path)


def parse(text: str, path: str) -> dict[str, str]:
    """The variables of a text; raises as `read`."""
    text = text.replace("\r\n", "\n")
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        if nothing := _NOTHING.match(text, at):
            at = nothing.end()
            continue
        entry = _ENTRY.match(text, at)
        if entry is None:
            line = text.count("\n", 0, at) + 1
            raise invalid(f"{path}, line {line}: expected NAME=value", file=path, line=line)
        found[entry["name"]] = _value(entry)
        at = entry.end()
    return found


def _value(entry: re.Match[str]) -> str:
    if entry["double"] is not None:
        escape = re.compile(r"\\(.)", re.DOTALL)
        return escape.sub(lambda match: _ESCAPED.get(match[1], match[1]), entry["double"])
    return entry["bare"] if entry["single"] is None else entry["single"]
