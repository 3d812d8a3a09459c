"""Writes web/src/api/types.ts from the structs: `python -m mcplens.web.typescript FILE`.

Owns the mapping of Python types to TypeScript. A test compares the file with what is written here.
"""

from __future__ import annotations

import inspect as python_inspect
import sys
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args

import msgspec
from msgspec import inspect

from mcplens.web import messages
from mcplens.web.api import auth_views, catalog, events, servers
from mcplens.web.dispatch import COMMANDS
from mcplens.web.registry import HANDLERS, LATEST_VIEWS, returned_type
from mcplens.workspace.calls import CallStatus
from mcplens.workspace.workspace import ObjectKind

HEADER: Final = """\
// Written by `python -m mcplens.web.typescript`; do not edit.
// The structs are in src/mcplens/web/: api/, messages.py, dispatch.py.
"""
# Views that only travel over HTTP, so that neither a message nor a reply names them.
_OVER_HTTP: Final = (
    events.EventPage,
    events.RunPage,
    events.WholeEvent,
    events.ImportedView,
    events.MatchesView,
)
_ALIASES: Final[dict[str, Any]] = {
    "State": servers.State,
    "CallStatus": CallStatus,
    "ListKind": catalog.ListKind,
    "ObjectKind": ObjectKind,
    "StepState": auth_views.StepState,
}
_NAMES: Final = {frozenset(get_args(alias)): name for name, alias in _ALIASES.items()}


def types() -> str:
    """The whole file."""
    sent = sorted(COMMANDS, key=lambda kind: kind.__name__)
    received = get_args(messages.AnyMessage)
    replies = {kind.__name__: returned_type(HANDLERS[kind]) for kind in sent if kind in HANDLERS}
    views = {what: _present(returned_type(LATEST_VIEWS[what])) for what in get_args(ObjectKind)}
    found: dict[str, inspect.StructType] = {}
    for info in inspect.multi_type_info(
        [*sent, *received, *replies.values(), *views.values(), *_OVER_HTTP]
    ):
        _gather(info, found)
    parts = [HEADER]
    for name, alias in _ALIASES.items():
        parts.append(f"export type {name} = {_spelled(get_args(alias))};\n")
    for name in sorted(found):
        parts.append(_interface(found[name], is_optional=found[name].cls in sent))
    parts.append(_union("Command", sent))
    parts.append(_union("ServerMessage", received))
    parts.append(_map("Replies", "What the Reply to a command carries.", replies))
    parts.append(_map("ObjectViews", "What `Changed.value` is, by `what`.", views))
    return "\n".join(parts)


def _present(view: Any) -> Any:
    """The type of a view without the None that stands for an object that is gone."""
    return reduce(or_, (kind for kind in get_args(view) or (view,) if kind is not NoneType))


def _gather(info: Any, found: dict[str, inspect.StructType]) -> None:
    """Every struct that a type leads to, by name."""
    if isinstance(info, inspect.StructType):
        if info.cls.__name__ in found:
            return
        found[info.cls.__name__] = info
        for field in _fields(info):
            _gather(field.type, found)
    elif isinstance(info, inspect.ListType | inspect.VarTupleType):
        _gather(info.item_type, found)
    elif isinstance(info, inspect.DictType):
        _gather(info.value_type, found)
    elif isinstance(info, inspect.UnionType):
        for one in info.types:
            _gather(one, found)


def _fields(info: inspect.StructType) -> list[inspect.Field]:
    typed = {name: kind for (cls, name), kind in messages.TYPED_FIELDS.items() if cls is info.cls}
    return [
        msgspec.structs.replace(field, type=inspect.type_info(typed[field.name]))
        if field.name in typed
        else field
        for field in info.fields
    ]


def _interface(info: inspect.StructType, *, is_optional: bool) -> str:
    """One struct; in a command what has a default may be left out, elsewhere all is written."""
    doc = python_inspect.getdoc(info.cls) if info.cls.__doc__ else None
    lines = [f"export interface {info.cls.__name__} {{"]
    if info.tag is not None:
        lines.append(f'  {info.tag_field}: "{info.tag}";')
    for field in _fields(info):
        mark = "?" if is_optional and not field.required else ""
        lines.append(f"  {field.encode_name}{mark}: {_type(field.type)};")
    return "\n".join([*_comment(doc), *lines, "}", ""])


def _comment(doc: str | None) -> list[str]:
    if not doc:
        return []
    lines = [f" * {line}".rstrip() for line in doc.splitlines()]
    return ["/**", *lines, " */"]


def _union(name: str, kinds: Iterable[type]) -> str:
    members = "\n".join(f"  | {kind.__name__}" for kind in kinds)
    return f"export type {name} =\n{members};\n"


def _map(name: str, doc: str, kinds: Mapping[str, Any]) -> str:
    lines = [f"  {key}: {_type(inspect.type_info(kind))};" for key, kind in kinds.items()]
    return "\n".join([*_comment(doc), f"export interface {name} {{", *lines, "}", ""])


_PLAIN: Final[dict[type, str]] = {
    inspect.StrType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
    inspect.AnyType: "unknown",
    inspect.RawType: "unknown",
}


def _type(info: Any) -> str:
    if type(info) in _PLAIN:
        return _PLAIN[type(info)]
    if isinstance(info, inspect.StructType):
        return info.cls.__name__
    if isinstance(info, inspect.LiteralType):
        return _literal(info)
    if isinstance(info, inspect.ListType | inspect.VarTupleType):
        item = _type(info.item_type)
        return f"({item})[]" if "|" in item else f"{item}[]"
    if isinstance(info, inspect.DictType):
        return f"Record<string, {_type(info.value_type)}>"
    if isinstance(info, inspect.UnionType):
        members = [_type(one) for one in info.types]
        # `unknown | null` is `unknown`; say only that.
        return "unknown" if "unknown" in members else " | ".join(dict.fromkeys(members))
    raise TypeError(f"no TypeScript for {info}")


def _literal(info: inspect.LiteralType) -> str:
    return _NAMES.get(frozenset(info.values)) or _spelled(info.values)


def _spelled(values: tuple[Any, ...]) -> str:
    return " | ".join(f'"{value}"' for value in values)


def main() -> None:
    """Write the file that the command line names."""
    Path(sys.argv[1]).write_text(types())


if __name__ == "__main__":
    main()
