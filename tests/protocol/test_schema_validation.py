"""JSON Schema as advice: what is wrong, in words; nothing is fetched, no schema breaks us."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.protocol.schema_validation import SchemaProblem, Validator, pattern_verdict

NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


def test_a_value_that_fits_has_no_findings() -> None:
    assert Validator(NUMBER).findings({"n": 1}) == ()


def test_a_finding_says_where_and_what() -> None:
    (finding,) = Validator(NUMBER).findings({"n": "one"})
    assert "['n']" in finding
    assert "number" in finding
    (missing,) = Validator(NUMBER).findings({})
    assert missing.startswith("the value")
    assert "n" in missing


def test_more_findings_than_help_anybody_are_cut_off() -> None:
    assert len(Validator({"items": {"type": "string"}}).findings([1] * 1_000)) == 10


@pytest.mark.parametrize("value", [None, [], 0, False, "text", {"a": [None]}])
def test_any_json_value_can_be_judged(value: Any) -> None:
    assert Validator(True).findings(value) == ()
    assert Validator({"type": "object", "required": ["n"]}).findings(value) != ()


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/schema.json",
        "http://127.0.0.1:9/schema.json",
        "file:///etc/passwd",
        "json-schema:///other",
    ],
)
def test_a_reference_out_of_the_schema_is_never_followed(reference: str) -> None:
    with pytest.raises(SchemaProblem, match="the schema cannot be used"):
        Validator({"properties": {"a": {"$ref": reference}}})


def test_a_reference_inside_the_schema_is_followed() -> None:
    validator = Validator({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}})
    assert validator.findings([1, 2]) == ()
    assert len(validator.findings(["x"])) == 1


def test_a_schema_that_refers_to_itself_is_no_trap() -> None:
    tree = Validator({"properties": {"child": {"$ref": "#"}}, "required": ["name"]})
    assert tree.findings({"name": 1, "child": {"name": 2}}) == ()
    assert len(tree.findings({"name": 1, "child": {}})) == 1


@pytest.mark.parametrize(
    "broken",
    [{"type": "nonsense"}, {"type": 5}, {"properties": []}, {"pattern": "("}, 5, "text", [], None],
)
def test_a_schema_that_is_none_is_a_clear_problem_and_no_crash(broken: Any) -> None:
    with pytest.raises(SchemaProblem, match="the schema cannot be used"):
        Validator(broken)


@pytest.mark.parametrize(
    ("dialect", "prefix"),
    [
        ("https://json-schema.org/draft/2020-12/schema", "prefixItems"),
        ("https://json-schema.org/draft/2019-09/schema", "items"),
        ("http://json-schema.org/draft-07/schema#", "items"),
        ("http://json-schema.org/draft-06/schema#", "items"),
        ("http://json-schema.org/draft-04/schema#", "items"),
    ],
)
def test_each_dialect_is_read_by_its_own_rules(dialect: str, prefix: str) -> None:
    validator = Validator({"$schema": dialect, prefix: [{"type": "string"}]})
    assert validator.findings(["x", 1]) == ()
    assert len(validator.findings([1])) == 1


def test_without_a_declared_dialect_it_is_2020_12() -> None:
    assert len(Validator({"prefixItems": [{"type": "string"}]}).findings([1])) == 1


def test_an_unknown_dialect_is_a_clear_problem() -> None:
    with pytest.raises(SchemaProblem, match="the schema cannot be used"):
        Validator({"$schema": "https://example.com/my-dialect", "type": "object"})


# Exponential in a browser and in Python; the second needs an engine that backtracks.
LINEAR = "^(a+)+$"
BACKTRACKING = "^(?:(?=a)a|aa)+$"
LETTERS = "a" * 60


@pytest.mark.parametrize(
    ("pattern", "text", "verdict"),
    [
        (LINEAR, LETTERS, "matches"),
        (LINEAR, f"{LETTERS}!", "differs"),
        (BACKTRACKING, "aaa", "matches"),
        (BACKTRACKING, f"{LETTERS}!", "too_slow"),
        ("(", "a", "unusable"),
        (r"^\d{3}$", "123", "matches"),
        ("^é$", "e", "differs"),
    ],
)
def test_a_pattern_is_matched_or_given_up_in_time(pattern: str, text: str, verdict: str) -> None:
    assert pattern_verdict(pattern, text) == verdict


def test_a_pattern_that_is_too_slow_to_check_is_not_a_finding() -> None:
    schema = {"properties": {"it": {"pattern": BACKTRACKING}}}
    assert Validator(schema).findings({"it": f"{LETTERS}!"}) == ()
    assert Validator(schema).findings({"it": "b"}) != ()
