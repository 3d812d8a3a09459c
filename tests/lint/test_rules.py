"""Each rule finds what it is for, says why and who says so, and leaves good servers alone."""

import datetime
import re
from typing import Any

import pytest

from mcplens.contracts.contract import Contract
from mcplens.lint.reference import page
from mcplens.lint.registry import RULES, LintResult, lint, parse_switch
from mcplens.lint.rule import GROUPS, SEVERITIES
from tests.docs.markdown import DOCS
from tests.lint.samples import CLEAN, SAMPLES, server, takes, tool

CASES = [(rule, found, where) for rule, cases in SAMPLES.items() for found, where in cases]


def pointers(result: LintResult, rule: str) -> list[str]:
    return [one.pointer for one in result.findings if one.rule == rule]


def test_every_rule_has_a_sample() -> None:
    assert set(SAMPLES) == set(RULES)


@pytest.mark.parametrize(("rule", "found", "where"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_finds_what_it_is_for(rule: str, found: Contract, where: list[str]) -> None:
    assert pointers(lint([found]), rule) == where


def test_a_server_that_breaks_no_rule_has_no_findings() -> None:
    assert lint([CLEAN]).findings == ()


def test_a_tool_of_the_same_name_on_another_server_is_found_on_both() -> None:
    result = lint([server("one", tools=[tool()]), server("two", tools=[tool(), tool("own")])])
    found = [(one.server, one.pointer) for one in result.findings]
    assert found == [("one", "/tools/it"), ("two", "/tools/it")]
    assert "also a tool of two" in result.findings[0].message


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_a_rule_says_why_and_who_says_so(rule: Any) -> None:
    assert rule.group in GROUPS
    assert rule.severity in SEVERITIES
    assert rule.id.startswith(
        {"clients": "client", "specification": "spec"}.get(rule.group, rule.group)
    )
    assert rule.reason.endswith(".")
    assert rule.source.startswith("https://")
    datetime.date.fromisoformat(rule.date)


def test_the_page_of_rules_is_fresh() -> None:
    written = (DOCS / "reference" / "lint-rules.md").read_text()
    assert page() == written, "run: python -m mcplens.lint.reference > docs/reference/lint-rules.md"
    assert all(f"\n### {rule}\n" in written for rule in RULES)


def test_a_rule_is_switched_off_everywhere_or_at_one_place() -> None:
    found = server(tools=[tool("a", outputSchema=None), tool("b", outputSchema=None)])
    rule = "quality-output-schema"
    assert pointers(lint([found]), rule) == ["/tools/a", "/tools/b"]
    one = lint([found], [parse_switch(f"{rule}#/tools/a")])
    assert (pointers(one, rule), one.off_count) == (["/tools/b"], 1)
    assert lint([found], [parse_switch(rule)]).off_count == 2
    assert lint([found], [parse_switch(f"{rule}#/tools")]).off_count == 2
    for wrong in ("quality-output", f"{rule}#tools"):
        with pytest.raises(ValueError, match=re.escape(wrong.partition("#")[2] or wrong)):
            parse_switch(wrong)


def test_definitions_of_any_shape_are_checked_without_an_error() -> None:
    odd: list[Any] = [None, True, 7, "x", [], {}, [{}], {"a": 1}, {"type": 7}, {"$ref": 7}]
    for value in odd:
        wild = dict.fromkeys(tool(), value)
        named = {**wild, "name": "n", "inputSchema": {"properties": value, "required": value}}
        items = [value, wild, named, takes(value)]
        lint([server(tools=items, resources=items, resourceTemplates=items, prompts=items)])
