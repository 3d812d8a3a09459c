"""A lint rule as a value: what it finds, how bad that is, why, and who says so.

Rules are made with `rule(...)` in specification.py, quality.py, clients.py and safety.py;
registry.py has all of them. docs/reference/lint-rules.md is written from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from mcplens.contracts.contract import Contract
from mcplens.contracts.pointers import join

Group = Literal["specification", "quality", "clients", "safety"]
Severity = Literal["error", "warning", "note"]
GROUPS: Final[tuple[Group, ...]] = ("specification", "quality", "clients", "safety")
# The worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")

# A JSON pointer into the contract, and what is wrong there in words.
Hit = tuple[str, str]


class Subject(msgspec.Struct, frozen=True):
    """One server, and the others that are checked together with it."""

    contract: Contract
    others: tuple[Contract, ...] = ()

    def tools(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Name, pointer and definition of each tool that is an object."""
        return self.items("tools")

    def items(self, kind: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Key, pointer and definition of each item that is an object."""
        for name, item in self.contract.items(kind).items():
            if isinstance(item, dict):
                yield name, join("", kind, name), item


Check = Callable[[Subject], Iterable[Hit]]


class Rule(msgspec.Struct, frozen=True):
    """One rule; `date` is that of its source."""

    id: str
    group: Group
    severity: Severity
    title: str
    reason: str
    source: str
    date: str
    check: Check


class Finding(msgspec.Struct, frozen=True):
    """One place in one server that breaks a rule."""

    severity: Severity
    rule: str
    server: str
    pointer: str
    message: str


class RuleSet:
    """The rules of one group, in the order in which they are written down."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self.rules: list[Rule] = []

    def __repr__(self) -> str:
        return f"<RuleSet {self._group}, {len(self.rules)} rules>"

    def rule(
        self, rule_id: str, severity: Severity, *, title: str, reason: str, source: str, date: str
    ) -> Callable[[Check], Check]:
        """Makes a rule of a function that yields hits."""

        def add(check: Check) -> Check:
            self.rules.append(
                Rule(rule_id, self._group, severity, title, reason, source, date, check)
            )
            return check

        return add
