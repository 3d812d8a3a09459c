"""Elicitation: defaults, examples, and which answers fit a form, a URL, or neither."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol import elicitation, form_fields, url_checks
from mcplens.protocol.elicitation import (
    answer_findings,
    example_content,
    fields_of,
    mode_of,
    schema_findings,
    unjudged,
    value_findings,
    with_defaults,
)
from tests.protocol.values import JSON

CONSTS = [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]
# SEP-1034 and SEP-1330: every kind of field, with a default.
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "Ada", "minLength": 1},
        "age": {"type": "integer", "default": 30, "minimum": 18},
        "score": {"type": "number", "default": 95.5},
        "agreed": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
        "legacy": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
        "size": {"type": "string", "oneOf": CONSTS, "default": "l"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "default": []},
        "sizes": {"type": "array", "items": {"anyOf": CONSTS}, "minItems": 1, "maxItems": 2},
        "mail": {"type": "string", "format": "email"},
        "page": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
    },
    "required": ["name", "mail"],
}
DEFAULTS = {
    "name": "Ada",
    "age": 30,
    "score": 95.5,
    "agreed": True,
    "colour": "green",
    "size": "l",
    "tags": [],
}
ASKED = {"message": "who?", "requestedSchema": FORM}
URL = {"mode": "url", "message": "go", "url": "https://example.com", "elicitationId": "1"}


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("params", "mode"),
    [
        ({}, "form"),
        (None, "form"),
        ({"mode": None}, "form"),
        ({"mode": "form"}, "form"),
        ({"mode": "url"}, "url"),
        ({"mode": "voice"}, "voice"),
        ({"mode": ["url"]}, "unknown"),
    ],
)
def test_a_request_without_a_mode_is_a_form(params: Any, mode: str) -> None:
    assert mode_of(params) == mode


def test_defaults_are_applied_for_what_is_left_out() -> None:
    assert with_defaults(FORM, {}) == DEFAULTS
    assert with_defaults(FORM, {"name": "Bob", "extra": 1, "agreed": False}) == {
        **DEFAULTS,
        "name": "Bob",
        "extra": 1,
        "agreed": False,
    }
    assert with_defaults(FORM, None) == DEFAULTS
    assert with_defaults(5, {"a": 1}) == {"a": 1}


def test_defaults_leave_the_content_and_the_schema_alone() -> None:
    content: dict[str, Any] = {}
    with_defaults(FORM, content)["tags"].append("x")
    assert content == {}
    assert FORM["properties"]["tags"]["default"] == []


def test_an_example_fills_the_form_and_fits_it() -> None:
    content = example_content(FORM)
    assert content.keys() == FORM["properties"].keys()
    assert {name: content[name] for name in DEFAULTS} == DEFAULTS
    assert answer_findings(ASKED, accept(**content)) == ()


def test_an_accepted_yes_or_no_is_yes_unless_the_schema_says_otherwise() -> None:
    kind = {"type": "boolean"}
    fields = {"sure": kind, "off": kind | {"default": False}, "never": kind | {"const": False}}
    schema = {"type": "object", "properties": fields, "required": ["sure", "off"]}
    assert example_content(schema) == {"sure": True, "off": False, "never": False}


def test_an_optional_field_is_left_out_rather_than_wrong() -> None:
    schema = {
        "type": "object",
        "properties": {
            "odd": {"type": "string", "pattern": "^nobody guesses this$"},
            "none": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "n": {"$ref": "#/$defs/n"},
        },
        "$defs": {"n": {"type": "integer", "minimum": 5}},
    }
    content = example_content(schema)
    assert content == {"n": 5}
    assert answer_findings({"requestedSchema": schema}, accept(**content)) == ()


def test_a_schema_that_is_none_has_an_empty_example() -> None:
    assert example_content(5) == {}
    assert example_content({"type": "object", "properties": {"a": {"type": "no"}}}) == {}


def test_a_form_that_keeps_the_rules_needs_no_advice() -> None:
    assert schema_findings(FORM) == ()
    assert schema_findings({"type": "object", "properties": {}}) == ()


@pytest.mark.parametrize(
    ("schema", "finding"),
    [
        (None, "the schema must be an object"),
        ({"properties": {}}, 'type: must be "object"'),
        ({"type": "object"}, "properties: must be an object"),
        (
            {"type": "object", "properties": {}, "$defs": {}},
            "$defs: not allowed: a form is a flat list",
        ),
        ({"type": "object", "properties": {}, "required": "a"}, "required: must be a list"),
        ({"type": "object", "properties": {}, "required": [1]}, "required: must be a list"),
        ({"type": "object", "properties": {}, "required": ["a"]}, "required: 'a' is not a field"),
    ],
)
def test_advice_says_what_makes_a_form_no_form(schema: Any, finding: str) -> None:
    assert any(finding in found for found in schema_findings(schema)), schema_findings(schema)


@pytest.mark.parametrize(
    ("part", "finding"),
    [
        (5, "f: must be an object"),
        ({"type": "object"}, "f: must be a string, number"),
        ({"type": "array", "items": {"type": "string"}}, "f: must be a string, number"),
        ({"type": "string", "enum": []}, "f: enum: must be a list that is not empty"),
        ({"type": "string", "enum": [1]}, "f: the values of an enum must be strings"),
        ({"type": ["string", "null"]}, "f: a field has one type"),
        ({"$ref": "#/$defs/a"}, "f: a form cannot use references"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "f: a field is one simple type"),
        ({"enum": ["a", "b"], "enumNames": ["A"]}, "f: enumNames: must have one name for each"),
        ({"type": "string", "format": "ipv4"}, "f: format: must be email, uri, date or date-time"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "f: no value can satisfy its limits"),
        ({"type": "integer", "default": "one"}, "f: default: "),
        ({"type": "string", "format": "date", "default": "soon"}, "f: default: must be a date"),
        ({"enum": ["a"], "default": "b"}, "f: default: "),
        ({"type": "nonsense"}, "the schema cannot be used"),
    ],
)
def test_advice_names_the_field(part: Any, finding: str) -> None:
    schema = {"type": "object", "properties": {"f": part}}
    assert any(finding in found for found in schema_findings(schema)), schema_findings(schema)


@pytest.mark.parametrize(
    ("params", "result"),
    [
        (ASKED, accept(name="Ada", mail="a@b.example")),
        (ASKED, {"action": "decline"}),
        (ASKED, {"action": "cancel", "_meta": {}}),
        (URL, {"action": "accept"}),
        (URL, {"action": "decline"}),
        (URL, {"action": "cancel"}),
        ({"mode": "voice"}, {"action": "accept", "content": {"a": 1}}),
    ],
)
def test_a_good_answer_has_no_findings(params: Any, result: Any) -> None:
    assert answer_findings(params, result) == ()


GOOD = {"name": "Ada", "mail": "a@b.example"}


@pytest.mark.parametrize(
    ("params", "result", "finding"),
    [
        (ASKED, None, "the answer must be an object with an action"),
        (ASKED, {}, "action: must be accept, decline or cancel"),
        (ASKED, {"action": "yes"}, "action: must be accept, decline or cancel"),
        (ASKED, {"action": ["accept"]}, "action: must be accept, decline or cancel"),
        (ASKED, {"action": "accept"}, "content: must be an object"),
        (ASKED, {"action": "accept", "content": []}, "content: must be an object"),
        (ASKED, {"action": "decline", "content": GOOD}, "content: must be left out with decline"),
        (ASKED, {"action": "cancel", "content": None}, "content: must be left out with cancel"),
        (
            URL,
            {"action": "accept", "content": {}},
            "content: must be left out of an answer to a URL",
        ),
        (URL, {"action": "cancel", "content": {}}, "content: must be left out with cancel"),
        (ASKED, accept(name="Ada"), "mail"),
        (ASKED, accept(**GOOD, age=17), "['age']"),
        (ASKED, accept(**GOOD, age="old"), "['age']"),
        (ASKED, accept(**GOOD, colour="blue"), "['colour']"),
        (ASKED, accept(**GOOD, size="m"), "['size']"),
        (ASKED, accept(**GOOD, tags=["z"]), "['tags'][0]"),
        (ASKED, accept(**GOOD, sizes=[]), "['sizes']"),
        (ASKED, accept(**{**GOOD, "mail": "nobody"}), "mail: must be an email address"),
        (ASKED, accept(**GOOD, page="a page"), "page: must be a URI"),
        (ASKED, accept(**GOOD, day="2025-02-30"), "day: must be a date"),
        (ASKED, accept(**GOOD, day="20250201"), "day: must be a date"),
        (ASKED, accept(**GOOD, moment="2025-02-01"), "moment: must be a date and time"),
        (ASKED, accept(**GOOD, moment="2025-02-01T25:00:00Z"), "moment: must be a date and time"),
        (ASKED, accept(**GOOD, more={"a": 1}), "more: must be a string, number, boolean or list"),
        (ASKED, accept(**GOOD, more=None), "more: must be a string, number, boolean or list"),
    ],
)
def test_a_wrong_answer_is_found_out(params: Any, result: Any, finding: str) -> None:
    (found,) = answer_findings(params, result)
    assert finding in found


@pytest.mark.parametrize(
    "moment",
    ["2025-02-01T12:00:00Z", "2025-02-01t12:00:00.25+01:00", "2016-12-31T23:59:60Z"],
)
def test_a_moment_is_written_as_rfc_3339_says(moment: str) -> None:
    assert answer_findings(ASKED, accept(**GOOD, moment=moment)) == ()


@pytest.mark.parametrize("schema", [None, 5, {"type": "nonsense"}, {"properties": []}])
def test_a_schema_that_is_no_schema_makes_no_answer_wrong(schema: Any) -> None:
    params = {"requestedSchema": schema}
    assert answer_findings(params, accept(a="anything")) == ()
    assert "the schema cannot be used" in (unjudged(params) or "")


def test_answers_to_a_good_form_or_a_url_can_be_judged() -> None:
    assert unjudged(ASKED) is None
    assert unjudged(URL) is None


def test_one_value_is_judged_apart_from_the_others() -> None:
    fields = {field.name: field for field in fields_of(FORM)}
    assert value_findings(fields["age"], 18) == ()
    (young,) = value_findings(fields["age"], 17)
    assert "18" in young
    assert not young.startswith("the value")
    assert value_findings(fields["mail"], "nobody") == (
        "must be an email address, such as user@example.com",
    )


def test_a_value_too_deep_to_judge_is_a_finding() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert answer_findings(ASKED, accept(**GOOD, more=deep)) != ()


def test_the_names_of_forms_and_links_are_here_too() -> None:
    assert elicitation.from_text is form_fields.from_text
    assert elicitation.url_warnings is url_checks.url_warnings
    assert elicitation.is_openable is url_checks.is_openable
    assert elicitation.host_of is url_checks.host_of


WORDS = st.sampled_from(
    ["type", "properties", "required", "enum", "enumNames", "oneOf", "anyOf", "allOf", "items",
     "const", "title", "default", "$ref", "$defs", "format", "minimum", "minLength", "pattern"]
)  # fmt: skip
SCHEMAS = st.recursive(
    JSON | st.sampled_from(["object", "array", "string", "integer", "#", "#/properties/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)


@given(SCHEMAS, JSON)
def test_anything_can_be_asked_and_answered(schema: Any, content: Any) -> None:
    for one in (schema, {"type": "object", "properties": {"a": schema}}):
        params = {"requestedSchema": one}
        assert all(isinstance(found, str) for found in schema_findings(one))
        assert isinstance(with_defaults(one, content), dict)
        assert isinstance(example_content(one), dict)
        for result in (content, {"action": "accept", "content": content}, accept(a=content)):
            assert all(isinstance(found, str) for found in answer_findings(params, result))
            answer_findings(content, result)
        unjudged(params)
