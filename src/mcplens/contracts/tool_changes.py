"""Changes of a tool's schemas, annotations and task support. Called by changes.py."""

from __future__ import annotations

from typing import Any, Final, Protocol

from mcplens.contracts.canonical import canonical
from mcplens.contracts.contract import MASK
from mcplens.contracts.pointers import join
from mcplens.contracts.schema_changes import compare_schemas
from mcplens.contracts.schema_parts import is_same

# What a hint means if it is not given (MCP schema, ToolAnnotations).
_DEFAULTS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


class CountingReport(Protocol):
    """Reports a change, and knows how many were reported."""

    count: int

    def __call__(self, rule: str, pointer: str, message: str) -> None: ...


def compare_schema(
    before: dict[str, Any],
    after: dict[str, Any],
    key: str,
    pointer: str,
    report: CountingReport,
) -> None:
    """The input or the output schema of a tool, of which at least one changed."""
    old, new = before.get(key), after.get(key)
    if key == "outputSchema" and (old is None or new is None):
        step = "added" if old is None else "removed"
        report(f"output-schema-{step}", pointer, f"the output schema was {step}")
        return
    if not isinstance(new, dict) and isinstance(old, dict):
        report("input-schema-broken", pointer, "the schema is not an object any more")
        return
    seen = report.count
    compare_schemas(old, new, pointer, report, is_output=key == "outputSchema")
    # What is masked on one side only makes the forms differ, and is not a change.
    if report.count == seen and MASK.encode() not in canonical([old, new]):
        report("form-changed", pointer, "the schema is written in another way")


def compare_annotations(before: Any, after: Any, pointer: str, report: CountingReport) -> None:
    """The hints of a tool, where one that is missing has its default."""
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    for key in sorted({*old, *new}):
        if is_same(old.get(key), new.get(key)):
            continue
        place = join(pointer, key)
        if key == "title":
            report("title-changed", place, f"title: {old.get(key)!r} → {new.get(key)!r}")
        elif key not in _DEFAULTS:
            report("annotations-changed", place, f"{key} changed")
        else:
            one, other = old.get(key, _DEFAULTS[key]), new.get(key, _DEFAULTS[key])
            if one == other:
                word = "stated" if key in new else "no longer stated"
                report("annotation-stated", place, f"{key}: {_word(other)}, the default, is {word}")
            else:
                report("annotation-flipped", place, f"{key}: {_word(one)} → {_word(other)}")


def _word(value: Any) -> str:
    return str(value).lower()


def compare_execution(before: Any, after: Any, pointer: str, report: CountingReport) -> None:
    """Whether a tool can, or must, be run as a task."""
    old, new = _support(before), _support(after)
    place, words = join(pointer, "taskSupport"), f"taskSupport: {old} → {new}"
    if old == new:
        report("definition-changed", pointer, "execution changed")
    elif new == "required":
        report("task-required", place, words)
    elif new == "forbidden":
        report("task-support-removed", place, words)
    else:
        report("task-support-added", place, words)


def _support(execution: Any) -> str:
    found = execution.get("taskSupport") if isinstance(execution, dict) else None
    return str(found or "forbidden")
