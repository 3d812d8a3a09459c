"""Forms: every way to write a field is understood, and so is what a person types into it."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol.form_fields import Field, fields_of, from_text
from tests.protocol.values import JSON


def field(schema: Any, *, root: Any = None) -> Field:
    (found,) = fields_of({**(root or {}), "type": "object", "properties": {"f": schema}})
    return found


def test_fields_come_in_their_order_with_all_that_is_said_of_them() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "title": "Your name",
                "description": "As in the passport",
                "minLength": 1,
                "maxLength": 80,
                "pattern": "^[A-Z]",
            },
            "mail": {"type": "string", "format": "email", "default": "a@b.example"},
            "age": {"type": "integer", "minimum": 18, "maximum": 99},
            "score": {"type": "number", "default": 0},
            "agreed": {"type": "boolean", "default": False},
        },
        "required": ["name", "agreed"],
    }
    name, mail, age, score, agreed = fields_of(schema)
    assert (name.kind, name.label, name.description) == (
        "string",
        "Your name",
        "As in the passport",
    )
    assert (name.min, name.max, name.pattern, name.is_required) == (1, 80, "^[A-Z]", True)
    assert not name.has_default
    assert (mail.format, mail.default, mail.has_default) == ("email", "a@b.example", True)
    assert (mail.label, mail.title, mail.is_required) == ("mail", None, False)
    assert (age.kind, age.min, age.max) == ("integer", 18, 99)
    assert (score.kind, score.default, score.has_default) == ("number", 0, True)
    assert (agreed.kind, agreed.default, agreed.has_default) == ("boolean", False, True)


TITLED = [("s", "Small"), ("l", "Large")]
CONSTS = [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]


@pytest.mark.parametrize(
    ("schema", "kind", "options"),
    [
        ({"type": "string", "enum": ["s", "l"]}, "choice", [("s", "s"), ("l", "l")]),
        ({"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]}, "choice", TITLED),
        ({"enum": ["s", "l"], "enumNames": ["Small"]}, "choice", [("s", "Small"), ("l", "l")]),
        ({"enum": [1, 2.5, None]}, "choice", [(1, "1"), (2.5, "2.5"), (None, "null")]),
        ({"type": "string", "oneOf": CONSTS}, "choice", TITLED),
        ({"type": "string", "anyOf": CONSTS}, "choice", TITLED),
        ({"oneOf": [{"const": "s"}]}, "choice", [("s", "s")]),
        ({"const": "only"}, "choice", [("only", "only")]),
        ({"type": "array", "items": {"enum": ["s", "l"]}}, "choices", [("s", "s"), ("l", "l")]),
        ({"type": "array", "items": {"type": "string", "anyOf": CONSTS}}, "choices", TITLED),
        ({"type": "array", "items": {"oneOf": CONSTS}}, "choices", TITLED),
        ({"type": "array", "items": {"type": "string"}}, "other", []),
        ({"type": "object"}, "other", []),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "other", []),
        ({}, "other", []),
        (None, "other", []),
        (True, "other", []),
    ],
)
def test_every_enum_form_is_a_choice(schema: Any, kind: str, options: Any) -> None:
    assert (field(schema).kind, field(schema).options) == (kind, options)


def test_how_many_may_be_chosen_is_kept() -> None:
    many = field({"type": "array", "items": {"enum": ["a"]}, "minItems": 1, "maxItems": 3})
    assert (many.min_items, many.max_items) == (1, 3)


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}], "title": "N"},
        {"type": ["null", "integer"], "minimum": 3, "title": "N"},
        {"allOf": [{"$ref": "#/$defs/n"}], "title": "N"},
        {"$ref": "#/$defs/n", "title": "N"},
        {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}], "default": None, "title": "N"},
    ],
)
def test_what_libraries_write_is_still_a_simple_field(schema: Any) -> None:
    found = field(schema, root={"$defs": {"n": {"type": "integer", "minimum": 3}}})
    assert (found.kind, found.min, found.label) == ("integer", 3, "N")


def test_a_null_default_is_none() -> None:
    assert not field({"type": "string", "default": None}).has_default


def test_a_reference_to_itself_is_no_trap() -> None:
    assert field({"$ref": "#/properties/f"}).kind == "other"
    assert field({"anyOf": [{"$ref": "#/properties/f"}]}).kind == "other"


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, " as it is ", " as it is "),
        ({"type": "string"}, "", ""),
        ({"type": "integer"}, " 42 ", 42),
        ({"type": "integer"}, "-7", -7),
        ({"type": "integer"}, "+7", 7),
        ({"type": "integer"}, "3.0", 3),
        ({"type": "integer"}, "1e3", 1000),
        ({"type": "integer"}, "9007199254740993.0", 9007199254740993),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "number"}, ".5", 0.5),
        ({"type": "number"}, "-1e-3", -0.001),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "y", True),
        ({"type": "boolean"}, "1", True),
        ({"type": "boolean"}, "off", False),
        ({"type": "boolean"}, " FALSE ", False),
        ({"oneOf": CONSTS}, "l", "l"),
        ({"oneOf": CONSTS}, "Large", "l"),
        ({"oneOf": CONSTS}, "lARGE", "l"),
        ({"oneOf": CONSTS}, "2", "l"),
        ({"enum": [10, 2, 1]}, "2", 2),
        ({"enum": ["a", "b"]}, "B", "b"),
        ({"enum": ["A", "a"]}, "a", "a"),
        ({"type": "array", "items": {"anyOf": CONSTS}}, "s, Large", ["s", "l"]),
        ({"type": "array", "items": {"anyOf": CONSTS}}, "2,1,2,", ["l", "s"]),
        ({"type": "array", "items": {"anyOf": CONSTS}}, "  ", []),
        ({"type": "array", "items": {"enum": ["a, b", "c"]}}, "a, b,c", ["a, b", "c"]),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
        ({}, "null", None),
    ],
)
def test_what_a_person_types_becomes_the_value(schema: Any, text: str, value: Any) -> None:
    found = from_text(field(schema), text)
    assert found == value
    assert type(found) is type(value)


def test_a_whole_number_stays_one_in_a_number_field() -> None:
    assert type(from_text(field({"type": "number"}), "7")) is int


@pytest.mark.parametrize(
    ("schema", "text", "message"),
    [
        ({"type": "integer"}, "", "type a whole number, such as 42"),
        ({"type": "integer"}, "3.5", "type a whole number"),
        ({"type": "integer"}, "1_000", "type a whole number"),
        ({"type": "integer"}, "٣", "type a whole number"),
        ({"type": "integer"}, "9" * 30, "too large"),
        ({"type": "integer"}, "9" * 10_000, "type a whole number"),
        ({"type": "integer"}, "1e999", "too large"),
        ({"type": "number"}, "many", "type a number, such as 3.5"),
        ({"type": "number"}, "nan", "type a number"),
        ({"type": "number"}, "1e999", "too large"),
        ({"type": "number"}, "9" * 300, "too large"),
        ({"type": "boolean"}, "perhaps", "type yes or no"),
        ({"type": "boolean"}, "", "type yes or no"),
        ({"oneOf": CONSTS}, "medium", "'medium' is not one of: Small, Large (or 1 to 2)"),
        ({"oneOf": CONSTS}, "3", "'3' is not one of"),
        ({"oneOf": CONSTS}, "0", "'0' is not one of"),
        ({"oneOf": CONSTS}, "", "'' is not one of"),
        ({"type": "array", "items": {"anyOf": CONSTS}}, "s, medium", "'medium' is not one of"),
        ({"enum": [f"o{at}" for at in range(50)]}, "x", "o9, … (or 1 to 50)"),
        ({"type": "object"}, "{", "type the value as JSON"),
    ],
)
def test_what_means_nothing_is_refused_in_plain_words(schema: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        from_text(field(schema), text)


WORDS = st.sampled_from(
    ["type", "properties", "required", "enum", "enumNames", "oneOf", "anyOf", "allOf", "items",
     "const", "title", "default", "$ref", "format", "minimum", "minLength"]
)  # fmt: skip
SCHEMAS = st.recursive(
    JSON | st.sampled_from(["object", "array", "string", "integer", "#", "#/properties/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)


@given(SCHEMAS, st.text(max_size=8))
def test_any_schema_has_fields_and_any_text_a_value_or_none(schema: Any, text: str) -> None:
    for one in (schema, {"type": "object", "properties": {"a": schema}}):
        for found in fields_of(one):
            try:
                from_text(found, text)
            except ValueError:
                continue


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_any_number_that_json_carries_can_be_typed(value: int) -> None:
    typed = from_text(field({"type": "integer"}), str(value))
    assert msgspec.json.decode(msgspec.json.encode(typed)) == value


def test_a_list_of_an_enum_behind_a_reference_is_a_choice_of_several() -> None:
    root = {"$defs": {"Colour": {"type": "string", "enum": ["red", "green"]}}}
    found = field({"type": "array", "items": {"$ref": "#/$defs/Colour"}}, root=root)
    assert (found.kind, from_text(found, "green")) == ("choices", ["green"])
