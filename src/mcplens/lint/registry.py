"""All rules, and how they are applied to servers. Called by the command `lint`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from mcplens.contracts.contract import Contract
from mcplens.lint.clients import CLIENTS
from mcplens.lint.quality import QUALITY
from mcplens.lint.rule import SEVERITIES, Finding, Rule, Subject
from mcplens.lint.safety import SAFETY
from mcplens.lint.specification import SPECIFICATION

RULES: Final[dict[str, Rule]] = {
    rule.id: rule for rules in (SPECIFICATION, QUALITY, CLIENTS, SAFETY) for rule in rules.rules
}


class SwitchedOff(msgspec.Struct, frozen=True):
    """A rule that is off: everywhere, or at a pointer and below."""

    rule: str
    pointer: str = ""

    def covers(self, finding: Finding) -> bool:
        if finding.rule != self.rule:
            return False
        is_below = finding.pointer.startswith(f"{self.pointer}/")
        return not self.pointer or finding.pointer == self.pointer or is_below


def parse_switch(text: str) -> SwitchedOff:
    """`RULE` or `RULE#/POINTER`.

    Raises:
        ValueError: there is no such rule, or the pointer does not begin with a slash.
    """
    rule, _, pointer = text.partition("#")
    if rule not in RULES:
        raise ValueError(f"there is no rule {rule!r}")
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"the pointer {pointer!r} does not begin with /")
    return SwitchedOff(rule, pointer)


class LintResult(msgspec.Struct, frozen=True):
    """The findings, the worst first, and how many were switched off."""

    findings: tuple[Finding, ...]
    off_count: int = 0


def lint(contracts: Sequence[Contract], off: Iterable[SwitchedOff] = ()) -> LintResult:
    """Apply every rule to every server."""
    switches = tuple(off)
    shown, off_count = [], 0
    for finding in _findings(contracts):
        if any(switch.covers(finding) for switch in switches):
            off_count += 1
        else:
            shown.append(finding)
    order = list(RULES)
    shown.sort(key=lambda one: (SEVERITIES.index(one.severity), one.server, order.index(one.rule)))
    return LintResult(tuple(shown), off_count)


def _findings(contracts: Sequence[Contract]) -> Iterator[Finding]:
    for contract in contracts:
        others = tuple(other for other in contracts if other is not contract)
        subject = Subject(contract, others)
        for rule in RULES.values():
            for pointer, message in rule.check(subject):
                yield Finding(rule.severity, rule.id, contract.name, pointer, message)
