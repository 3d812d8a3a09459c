"""The contract of one server: what it says of itself, and the definitions in its lists.

Made from a live server or a trace (cli/contract_sources.py), or read from a lock (lock.py).
Compared by changes.py, checked by the rules of lint/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from mcplens.contracts.canonical import without_surrogates
from mcplens.contracts.pointers import LISTS

# A masked text in a recording has as many stars as the secret had bytes; in a contract all masks
# are alike, so that the length of a secret neither shows nor counts as a change.
MASK: Final = "********"
_MASKS: Final = re.compile(r"\*{8,}|‹masked, \d+ characters›")
# Fewer stars are text of the server's: a default of "*" is common.
_WHOLE_MASK: Final = re.compile(r"\*{4,}")
# Which member names an item of each list.
NAMES: Final = dict(zip(LISTS, ("name", "uri", "uriTemplate", "name"), strict=True))
# What one item of each list is called.
SINGULAR: Final = dict(zip(LISTS, ("tool", "resource", "resource template", "prompt"), strict=True))

Items = dict[str, Any]


class Contract(msgspec.Struct, kw_only=True):
    """One server. A list is None if it is not known whether it was seen whole."""

    name: str
    server_info: dict[str, Any] = msgspec.field(default_factory=dict)
    protocol_version: str | None = None
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    instructions: str | None = None
    # Definitions by name or URI; the values are as the server sent them, with secrets masked.
    lists: dict[str, Items | None] = msgspec.field(default_factory=dict)

    def items(self, kind: str) -> Items:
        """The definitions of one list; empty if it is not known."""
        return self.lists.get(kind) or {}

    @property
    def server_name(self) -> str | None:
        """How the server names itself."""
        name = self.server_info.get("name")
        return name if isinstance(name, str) else None

    @property
    def version(self) -> str | None:
        """The server's own version."""
        version = self.server_info.get("version")
        return version if isinstance(version, str) else None


def keyed(kind: str, definitions: Iterable[Any]) -> Items:
    """Definitions by their names; a second one of the same name is `NAME (2)`."""
    found: Items = {}
    for definition in definitions:
        given = definition.get(NAMES[kind]) if isinstance(definition, dict) else None
        name = key = given if isinstance(given, str) and given else "(no name)"
        number = 1
        while key in found:
            number += 1
            key = f"{name} ({number})"
        found[key] = definition
    return found


def normalised(value: Any) -> Any:
    """A value in which every mask has the same length, and every text can be written as UTF-8."""
    if isinstance(value, str):
        return _normalised_text(value)
    if isinstance(value, dict):
        return {_normalised_text(str(key)): normalised(item) for key, item in value.items()}
    if isinstance(value, list):
        return [normalised(item) for item in value]
    return value


def _normalised_text(text: str) -> str:
    if not text.isascii():
        text = without_surrogates(text)
    if "*" not in text and "‹" not in text:
        return text
    return MASK if _WHOLE_MASK.fullmatch(text) else _MASKS.sub(MASK, text)


def is_masked(value: Any) -> bool:
    """Whether a value was masked as a whole: it then equals anything."""
    if isinstance(value, dict):
        # The names of its members are masked too, and some are shorter than four characters.
        return MASK in value and not any(key.strip("*") for key in value)
    return isinstance(value, str) and value == MASK
