"""Forty pairs of definitions, written before the code, each with the class of its change."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcplens.contracts.change_rules import CLASSES, RULES
from mcplens.contracts.changes import compare
from mcplens.contracts.contract import Contract, keyed
from mcplens.contracts.pointers import LISTS

PAIRS = json.loads((Path(__file__).parent / "schema_pairs.json").read_text())


def contract(kind: str, value: dict[str, Any]) -> Contract:
    """A server with one definition, or with these facts about itself."""
    known: dict[str, Any] = {one: {} for one in LISTS}
    match kind:
        case "input":
            kind, value = "tool", {"name": "it", "inputSchema": value}
        case "output":
            empty = {"type": "object"}
            kind, value = "tool", {"name": "it", "inputSchema": empty, "outputSchema": value}
        case "server":
            return Contract(
                name="it",
                server_info=value.get("serverInfo", {}),
                capabilities=value.get("capabilities", {}),
                lists=known,
            )
    known[f"{kind}s"] = keyed(f"{kind}s", [value])
    return Contract(name="it", lists=known)


def test_there_are_forty_pairs_of_every_class() -> None:
    assert len(PAIRS) == 40
    assert {pair["class"] for pair in PAIRS} == set(CLASSES)
    assert len({pair["name"] for pair in PAIRS}) == 40


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"].replace(" ", "_"))
def test_a_pair_has_the_class_that_was_expected(pair: dict[str, Any]) -> None:
    before, after = (contract(pair["kind"], pair[side]) for side in ("before", "after"))
    found = compare(before, after)
    assert found.verdict == pair["class"], found.changes
    assert RULES[pair["rule"]].change_class == pair["class"]
    assert (pair["rule"], pair["pointer"]) in {
        (change.rule, change.pointer) for change in found.changes
    }, found.changes
    assert compare(before, before).changes == compare(after, after).changes == ()
