"""Findings and cost as JSON, Markdown, SARIF and annotations; the same cost as in the page."""

import json
import re

from mcplens.lint.cost import context_cost
from mcplens.lint.locations import Location
from mcplens.lint.registry import RULES, LintResult, lint
from mcplens.lint.reports import as_annotations, as_json, as_markdown, counts, fails
from mcplens.lint.rule import Finding
from mcplens.lint.sarif import as_sarif
from mcplens.protocol.context_cost import CHARACTERS_PER_TOKEN, token_count, tool_characters
from tests.docs.markdown import ROOT
from tests.lint.samples import RESOURCE, server, tool

EVIL = "a|b`c\n::error::x%,"
FOUND = LintResult(
    (
        Finding("error", "client-union-at-top", "s", "/tools/x", EVIL),
        Finding("note", "quality-enum", "s", "/tools/y", "m"),
    ),
    3,
)
COST = context_cost([server(tools=[tool()], resources=[RESOURCE], instructions="x" * 41)])


def locate(name: str, pointer: str) -> Location | None:
    return Location("a b/mcp.lock", 7) if pointer == "/tools/x" else None


def test_the_cost_is_that_of_the_page() -> None:
    text = (ROOT / "web" / "src" / "screens" / "tools" / "toolSize.ts").read_text()
    (ratio,) = re.findall(r"CHARACTERS_PER_TOKEN = (\d+)", text)
    assert int(ratio) == CHARACTERS_PER_TOKEN
    (members,) = re.findall(r"const \{ (.*) \} = tool;", text)
    told = {name: tool()[name] for name in members.split(", ")}
    compact = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    assert tool_characters(tool()) == len(compact)


def test_tools_and_instructions_are_in_every_prompt_heaviest_first() -> None:
    sizes = {one.pointer: one.tokens for one in COST.definitions}
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    assert sizes["/instructions"] == 11
    assert COST.tokens == 11 + token_count(tool_characters(tool()))
    assert "/resources/x:~1~1it" in sizes


def test_a_command_fails_from_the_chosen_severity() -> None:
    assert counts(FOUND.findings) == "1 error, 1 note"
    assert fails(FOUND.findings, "error")
    assert not fails(FOUND.findings[1:], "warning")
    assert fails(FOUND.findings[1:], "note")
    assert not fails(FOUND.findings, "never")


def test_json_has_findings_and_cost() -> None:
    found = as_json(FOUND, COST, 100)
    assert found["findings"][0]["rule"] == "client-union-at-top"
    assert found["findings"][0]["source"] == RULES["client-union-at-top"].source
    assert (found["switchedOff"], found["cost"]["budget"]) == (3, 100)
    json.dumps(found)


def test_what_a_server_wrote_stays_within_its_cell_of_markdown() -> None:
    text = as_markdown(FOUND, COST, 100)
    rows = [line for line in text.splitlines() if line.startswith(("| 🔴", "| ⚪"))]
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows)
    assert "(budget: 100)" in text


def test_what_a_server_wrote_cannot_give_commands_to_github() -> None:
    first, second = as_annotations(FOUND, locate)
    assert first.startswith(
        "::error file=a b/mcp.lock,line=7,title=client-union-at-top s/tools/x::"
    )
    assert "\n" not in first
    assert first.endswith("a|b`c%0A::error::x%25,")
    assert second == "::notice title=quality-enum s/tools/y::m"


def test_sarif_names_the_rules_and_the_lines() -> None:
    sarif = json.loads(json.dumps(as_sarif(FOUND, locate)))
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert len(result["partialFingerprints"]["mcplensFinding/v1"]) == 64
    first, second = (result["locations"][0] for result in run["results"])
    assert first["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/mcp.lock"},
        "region": {"startLine": 7},
    }
    assert "physicalLocation" not in second
    assert second["logicalLocations"][0]["fullyQualifiedName"] == "s/tools/y"


def test_a_large_server_is_checked_in_bounded_time() -> None:
    many = server(tools=[tool(f"tool_{number}") for number in range(2_000)])
    assert len(lint([many]).findings) == 1  # more tools than VS Code sends
