"""Writes the page of all lint rules from the rules themselves.

`python -m mcplens.lint.reference` prints docs/reference/lint-rules.md; a test proves it fresh.
"""

from __future__ import annotations

import sys

from mcplens.lint.registry import RULES
from mcplens.lint.rule import GROUPS

_WHAT = {
    "specification": "What the MCP specification demands or advises.",
    "quality": "What a model needs to choose a tool and to fill in its arguments.",
    "clients": "What well-known hosts and models refuse or drop, as reported there.",
    "safety": "What can mislead a person or a model.",
}


def page() -> str:
    """The page as Markdown."""
    lines = [
        "<!-- Written by `python -m mcplens.lint.reference`; change the rules, not this page. -->",
        "# Lint rules",
        "",
        "`mcplens lint` checks what a server promises by these rules. A rule is switched off with "
        "`--off RULE`, or at one place with `--off RULE#/POINTER`, and for a project in "
        "[`lintOff`](config-file.md). The date is that of the source.",
    ]
    for group in GROUPS:
        lines += ["", f"## {group}", "", _WHAT[group]]
        for rule in RULES.values():
            if rule.group == group:
                lines += ["", f"### {rule.id}", "", f"{rule.title}. {rule.reason}", ""]
                lines += [f"{rule.severity} · [source]({rule.source}), {rule.date}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
