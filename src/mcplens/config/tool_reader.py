"""The interface of readers of other tools' files: their input, and servers with our keys as output.

Between other_tools.py, which knows where files are, and the readers, which know their format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from mcplens.config.environment import Environment
from mcplens.config.model import Input, Scope


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a reader: environment, project folder, values that a person supplied."""

    here: Environment
    folder: str
    values: Mapping[str, str] = msgspec.field(default_factory=dict)
    choice: str | None = None

    def __repr__(self) -> str:  # the values may be secrets
        return f"<Reading in {self.folder!r} with {len(self.values)} values>"


class ImportedServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server of another tool's file: `raw` with our keys, nothing resolved."""

    name: str
    raw: Any
    scope: Scope | None = None
    inputs: tuple[Input, ...] = ()
    remarks: tuple[str, ...] = ()
    problem: str | None = None

    def __repr__(self) -> str:  # the file may contain secrets
        return f"<ImportedServer {self.name!r}>"


Read = Callable[[Any, Reading], Iterable[ImportedServer]]


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The array, or an empty one for any other value."""
    return value if isinstance(value, list) else []


def renamed(raw: Any, names: Mapping[str, str]) -> Any:
    """An object with keys renamed to ours, unless our name is already present."""
    if not isinstance(raw, dict):
        return raw
    return {
        names[key] if key in names and names[key] not in raw else key: value
        for key, value in raw.items()
    }
