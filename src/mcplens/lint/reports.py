"""Findings and cost as JSON, as Markdown, and as annotations of GitHub's. Called by `lint`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mcplens.contracts.diff_reports import code
from mcplens.lint.cost import ContextCost
from mcplens.lint.locations import Locate
from mcplens.lint.registry import RULES, LintResult
from mcplens.lint.rule import SEVERITIES, Finding

_SIGNS: Final = {"error": "🔴", "warning": "🟠", "note": "⚪"}
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
_MOST_ROWS: Final = 200
_MOST_COSTS: Final = 20
_MOST_TITLE: Final = 300


def counts(findings: Sequence[Finding]) -> str:
    """How many findings of each severity, in words."""
    shown = []
    for severity in SEVERITIES:
        count = sum(1 for one in findings if one.severity == severity)
        if count:
            shown.append(f"{count} {severity}{'' if count == 1 else 's'}")
    return ", ".join(shown) or "no findings"


def fails(findings: Sequence[Finding], fail_on: str) -> bool:
    """Whether a finding is of the severity that a command fails on, or worse."""
    if fail_on == "never":
        return False
    worst = min((SEVERITIES.index(one.severity) for one in findings), default=len(SEVERITIES))
    return worst <= [*SEVERITIES].index(fail_on)  # type: ignore[arg-type]


def as_json(result: LintResult, cost: ContextCost, budget: int | None) -> dict[str, Any]:
    """Findings and cost as one object."""
    return {
        "findings": [
            msgspec.structs.asdict(one) | {"source": RULES[one.rule].source}
            for one in result.findings
        ],
        "switchedOff": result.off_count,
        "cost": {
            "tokens": cost.tokens,
            "budget": budget,
            "definitions": [
                {"server": one.server, "pointer": one.pointer, "tokens": one.tokens,
                 "characters": one.characters, "isInEveryPrompt": one.is_in_every_prompt}
                for one in cost.definitions
            ],
            "results": [
                {"tool": one.tool, "count": one.count, "meanTokens": one.mean_tokens,
                 "largestTokens": one.largest_tokens}
                for one in cost.results
            ],
        },
    }  # fmt: skip


def as_markdown(result: LintResult, cost: ContextCost, budget: int | None) -> str:
    """Findings and the heaviest definitions as Markdown for a pull request."""
    findings = result.findings
    sign = _SIGNS[findings[0].severity] if findings else "✅"
    lines = [f"### {sign} MCP lint: {counts(findings)}"]
    if findings:
        lines += ["", "| | Where | What | Rule |", "|---|---|---|---|"]
        lines += [_row(one) for one in findings[:_MOST_ROWS]]
    if (more := len(findings) - _MOST_ROWS) > 0:
        lines += ["", f"… and {more} more"]
    limit = "" if budget is None else f" (budget: {budget:,})"
    lines += ["", f"Context: about {cost.tokens:,} tokens in every prompt{limit}", ""]
    lines += ["| Tokens | Definition |", "|---:|---|"]
    lines += [
        f"| {one.tokens:,} | {code(one.server + one.pointer)} |"
        for one in cost.definitions[:_MOST_COSTS]
    ]
    return "\n".join(lines)


def _row(one: Finding) -> str:
    where, source = code(one.server + one.pointer), RULES[one.rule].source
    sign = f"{_SIGNS[one.severity]} {one.severity}"
    return f"| {sign} | {where} | {code(one.message)} | [`{one.rule}`]({source}) |"


def as_annotations(result: LintResult, locate: Locate) -> list[str]:
    """Workflow commands of GitHub Actions, one for each finding."""
    lines = []
    for one in result.findings:
        title = f"{one.rule} {one.server}{one.pointer}"[:_MOST_TITLE]
        properties = [f"title={_property(title)}"]
        location = locate(one.server, one.pointer)
        if location is not None:
            place = [f"file={_property(location.path)}", f"line={location.line}"]
            properties = place + properties
        lines.append(f"::{_COMMANDS[one.severity]} {','.join(properties)}::{_text(one.message)}")
    return lines


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
