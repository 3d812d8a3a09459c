"""Comparisons as JSON and as Markdown for a pull request. Called by the commands that compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcplens.contracts.change_rules import CLASSES, ChangeClass
from mcplens.contracts.changes import Change, Comparison
from mcplens.contracts.versions import is_enough, next_version, version_step

_SIGNS: Final = {"breaking": "🔴", "risky": "🟠", "additive": "🟢", "cosmetic": "⚪"}
# A comment of GitHub's takes 65,536 characters; a reader stops earlier.
_MOST_ROWS: Final = 200
_MOST_CELL: Final = 240


def worst(comparisons: Sequence[Comparison]) -> ChangeClass | None:
    """The worst class of all servers; None if nothing changed."""
    found = {one.verdict for one in comparisons}
    return next((change_class for change_class in CLASSES if change_class in found), None)


def fails(verdict: ChangeClass | None, fail_on: str) -> bool:
    """Whether a verdict is of the class that a command fails on, or worse."""
    if verdict is None or fail_on == "never":
        return False
    return CLASSES.index(verdict) <= [*CLASSES].index(fail_on)  # type: ignore[arg-type]


def counts(comparison: Comparison) -> str:
    """How many changes of each class, in words."""
    found = []
    for change_class in CLASSES:
        count = sum(1 for change in comparison.changes if change.change_class == change_class)
        found += [f"{count} {change_class}"] if count else []
    return ", ".join(found) or "no changes"


def advice(comparison: Comparison) -> str:
    """The step of the version in a sentence; empty if nothing changed."""
    before, after = comparison.before_version, comparison.after_version
    step = version_step(comparison.verdict, before)
    if step == "none":
        return ""
    needed = next_version(comparison.verdict, before)
    if needed is None:
        return f"This means a {step} version."
    if is_enough(needed, after):
        return f"This means a {step} version, at least {needed}; the server says {after}."
    return f"This means a {step} version: {before} → {needed}."


def as_json(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """All comparisons as one object."""
    return {"verdict": worst(comparisons), "servers": [_server(one) for one in comparisons]}


def _server(comparison: Comparison) -> dict[str, Any]:
    before = comparison.before_version
    return {
        "server": comparison.server,
        "verdict": comparison.verdict,
        "versionStep": version_step(comparison.verdict, before),
        "nextVersion": next_version(comparison.verdict, before),
        "beforeVersion": before,
        "afterVersion": comparison.after_version,
        "changes": [
            {"class": one.change_class, "rule": one.rule, "pointer": one.pointer,
             "message": one.message}
            for one in comparison.changes
        ],
        "notCompared": list(comparison.not_compared),
    }  # fmt: skip


def as_markdown(comparisons: Sequence[Comparison]) -> str:
    """All comparisons as Markdown, the worst changes first."""
    return "\n\n".join(_section(one) for one in comparisons)


def _section(comparison: Comparison) -> str:
    verdict = comparison.verdict
    sign = _SIGNS[verdict] if verdict else "✅"
    lines = [f"### {sign} MCP contract of {code(comparison.server)}: {counts(comparison)}"]
    if words := advice(comparison):
        lines += ["", words.replace("→", "to")]
    if comparison.not_compared:
        lines += ["", f"Not compared: {', '.join(comparison.not_compared)}."]
    if comparison.changes:
        lines += ["", "| | Where | What | Rule |", "|---|---|---|---|"]
        lines += [_row(change) for change in comparison.changes[:_MOST_ROWS]]
    if (more := len(comparison.changes) - _MOST_ROWS) > 0:
        lines += ["", f"… and {more} more"]
    return "\n".join(lines)


def _row(change: Change) -> str:
    sign = f"{_SIGNS[change.change_class]} {change.change_class}"
    return f"| {sign} | {code(change.pointer)} | {code(change.message)} | `{change.rule}` |"


def code(text: str) -> str:
    """A text of a server as code that stays within its cell and renders nothing."""
    plain = " ".join(text.split())
    if len(plain) > _MOST_CELL:
        plain = plain[:_MOST_CELL] + "…"
    return "`" + plain.replace("`", "'").replace("|", "\\|") + "`"
