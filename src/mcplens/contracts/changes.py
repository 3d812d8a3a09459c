"""The changes between two contracts of a server, each with its rule, and what they mean together.

Lists that one of the two does not know are left out. A removed tool or prompt and an added one with
the same schemas are a rename. Called by the commands `diff` and `lock --check`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from mcplens.contracts.change_rules import CLASSES, RULES, ChangeClass
from mcplens.contracts.contract import NAMES, SINGULAR, Contract, is_masked
from mcplens.contracts.pointers import LISTS, join
from mcplens.contracts.renames import find_renames
from mcplens.contracts.schema_changes import Report
from mcplens.contracts.schema_parts import describe_shift, is_same
from mcplens.contracts.tool_changes import compare_annotations, compare_execution, compare_schema

_PLAIN: Final = {
    "title": "title-changed", "icons": "icons-changed", "description": "description-changed",
    "mimeType": "mime-type-changed", "size": "size-changed",
}  # fmt: skip
# Members of the capabilities that say nothing by themselves.
_CONTAINERS: Final = ("/capabilities/experimental", "/capabilities/extensions")
# Metadata that MCP or one of its extensions defines; other names are the server's own.
_EXTENSIONS: Final = ("ui", "io.modelcontextprotocol")


class Change(msgspec.Struct, frozen=True):
    """One change, of the class that its rule says."""

    change_class: ChangeClass = msgspec.field(name="class")
    rule: str
    pointer: str
    message: str


class Comparison(msgspec.Struct, frozen=True):
    """All changes of one server, the worst first."""

    server: str
    before_version: str | None
    after_version: str | None
    changes: tuple[Change, ...]
    # Lists that could not be compared, since one side does not know them.
    not_compared: tuple[str, ...] = ()

    @property
    def verdict(self) -> ChangeClass | None:
        """The worst class; None if nothing changed."""
        return self.changes[0].change_class if self.changes else None


def compare(before: Contract, after: Contract) -> Comparison:
    """What changed from one contract to the other."""
    found: dict[Change, None] = {}

    def report(rule: str, pointer: str, message: str) -> None:
        found[Change(RULES[rule].change_class, rule, pointer, message)] = None

    _compare_server(before, after, report)
    unknown = [
        kind for kind in LISTS if before.lists.get(kind) is None or after.lists.get(kind) is None
    ]
    for kind in LISTS:
        if kind not in unknown:
            _compare_list(kind, before.items(kind), after.items(kind), report)
    changes = sorted(found, key=lambda one: (CLASSES.index(one.change_class), one.pointer))
    return Comparison(after.name, before.version, after.version, tuple(changes), tuple(unknown))


def without_partner(before: Contract | None, after: Contract | None) -> Comparison:
    """The comparison of a server that only one of two locks has."""
    found = after or before
    assert found is not None
    rule = "server-removed" if after is None else "server-added"
    change = Change(RULES[rule].change_class, rule, "", rule.partition("-")[2])
    old, new = (one.version if one is not None else None for one in (before, after))
    return Comparison(found.name, old, new, (change,))


# -- the server itself ----------------------------------------------------------------------------


def _compare_server(before: Contract, after: Contract, report: Report) -> None:
    old, new = before.server_info, after.server_info
    rules = {"name": "server-name-changed", "version": "server-version-changed"}
    for key in sorted({*old, *new}):
        if not is_same(old.get(key), new.get(key)):
            rule = rules.get(key, "server-info-changed")
            report(rule, join("/serverInfo", key), _shift(key, old, new))
    if before.protocol_version != after.protocol_version:
        words = f"{before.protocol_version} → {after.protocol_version}"
        report("revision-changed", "/protocolVersion", words)
    if before.instructions != after.instructions:
        report("instructions-changed", "/instructions", "the instructions changed")
    _compare_capabilities(before.capabilities, after.capabilities, "/capabilities", report)


def _compare_capabilities(
    old: dict[str, Any], new: dict[str, Any], pointer: str, report: Report
) -> None:
    for key in sorted({*old, *new}):
        place = join(pointer, key)
        one, other = _is_on(old.get(key)), _is_on(new.get(key))
        if place in _CONTAINERS:  # what counts is in it
            members = (side.get(key) for side in (old, new))
            before, after = (value if isinstance(value, dict) else {} for value in members)
            _compare_capabilities(before, after, place, report)
        elif one and not other:
            rule = "list-changed-removed" if key == "listChanged" else "capability-removed"
            report(rule, place, "removed")
        elif other and not one:
            report("capability-added", place, "added")
        elif isinstance(old.get(key), dict) and isinstance(new.get(key), dict):
            _compare_capabilities(old[key], new[key], place, report)
        elif not is_same(old.get(key), new.get(key)):
            report("capability-detail-changed", place, _shift(key, old, new))


def _is_on(value: Any) -> bool:
    return value is not None and value is not False


# -- lists ----------------------------------------------------------------------------------------


def _compare_list(kind: str, before: dict[str, Any], after: dict[str, Any], report: Report) -> None:
    rule = SINGULAR[kind].replace(" ", "-")
    gone = {name: item for name, item in before.items() if name not in after}
    come = {name: item for name, item in after.items() if name not in before}
    for old, new in find_renames(kind, gone, come).items():
        pointer = join("", kind, new)
        report(f"{rule}-renamed", pointer, f"{old} is now called {new}")
        _compare_item(kind, gone.pop(old), come.pop(new), pointer, report)
    for name in gone:
        report(f"{rule}-removed", join("", kind, name), "removed")
    for name in come:
        report(f"{rule}-added", join("", kind, name), "added")
    for name in before:
        if name in after:
            _compare_item(kind, before[name], after[name], join("", kind, name), report)


def _compare_item(kind: str, before: Any, after: Any, pointer: str, report: Report) -> None:
    if is_same(before, after) or is_masked(before) or is_masked(after):
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        report("definition-changed", pointer, "the definition changed")
        return
    count = _Counting(report)
    for key in sorted({*before, *after} - {NAMES[kind]}):
        old, new = before.get(key), after.get(key)
        if not is_same(old, new) and not is_masked(old) and not is_masked(new):
            _compare_member(kind, key, before, after, pointer, count)


def _compare_member(
    kind: str, key: str, before: dict[str, Any], after: dict[str, Any], pointer: str,
    report: _Counting,
) -> None:  # fmt: skip
    place = join(pointer, key)
    if kind == "tools" and key in ("inputSchema", "outputSchema"):
        compare_schema(before, after, key, place, report)
    elif key == "annotations" and kind == "tools":
        compare_annotations(before.get(key), after.get(key), place, report)
    elif key == "annotations":
        report("annotations-changed", place, "the annotations changed")
    elif key == "execution":
        compare_execution(before.get(key), after.get(key), place, report)
    elif key == "arguments":
        _compare_arguments(before.get(key), after.get(key), place, report)
    elif key == "_meta":
        _compare_metadata(before.get(key), after.get(key), place, report)
    elif key == "name":
        report("resource-name-changed", place, _shift(key, before, after))
    else:
        rule = _PLAIN.get(key, "definition-changed")
        report(rule, place, _shift(key, before, after))


class _Counting:
    """Passes reports on, and knows whether there was any."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.count = 0

    def __repr__(self) -> str:
        return f"<_Counting {self.count}>"

    def __call__(self, rule: str, pointer: str, message: str) -> None:
        self.count += 1
        self._report(rule, pointer, message)


def _compare_metadata(before: Any, after: Any, pointer: str, report: Report) -> None:
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    for key in sorted({*old, *new}):
        if not is_same(old.get(key), new.get(key)):
            is_known = key.partition("/")[0] in _EXTENSIONS
            rule = "extension-changed" if is_known else "metadata-changed"
            report(rule, join(pointer, key), f"{key} changed")


def _compare_arguments(before: Any, after: Any, pointer: str, report: Report) -> None:
    """The arguments of a prompt."""
    old, new = _by_name(before), _by_name(after)
    for at, name in enumerate(old):
        if name not in new:
            report("argument-removed", join(pointer, at), f"{name}: removed")
    for at, (name, argument) in enumerate(new.items()):
        place = join(pointer, at)
        is_required = argument.get("required") is True
        if name not in old:
            rule = "argument-required-added" if is_required else "argument-added"
            report(rule, place, f"{name}: {'required, new' if is_required else 'new'}")
            continue
        was_required = old[name].get("required") is True
        if was_required != is_required:
            step = "added" if is_required else "removed"
            words = "now required" if is_required else "no longer required"
            report(f"argument-required-{step}", place, f"{name}: {words}")
        for key in ("description", "title"):
            if not is_same(old[name].get(key), argument.get(key)):
                report(f"{key}-changed", join(place, key), _shift(key, old[name], argument))


def _by_name(arguments: Any) -> dict[str, dict[str, Any]]:
    found: Iterable[Any] = arguments if isinstance(arguments, list) else ()
    return {str(one.get("name")): one for one in found if isinstance(one, dict)}


def _shift(key: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    return describe_shift(key, key in old, old.get(key), key in new, new.get(key))
