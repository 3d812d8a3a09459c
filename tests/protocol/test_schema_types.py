"""What a schema allows, in a word."""

from typing import Any

import pytest

from mcplens.protocol.schema_types import alternatives, default_of, shown_value, type_name

ROOT: dict[str, Any] = {
    "$defs": {
        "Colour": {"enum": ["red", "green"], "type": "string", "default": "red"},
        "Person": {"type": "object", "properties": {"name": {"type": "string"}}},
        "Nested": {"type": "array", "items": {"$ref": "#/$defs/Nested"}},
    }
}


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"type": "integer"}, "integer"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer|null"),
        ({"type": ["string", "null"]}, "string|null"),
        ({"$ref": "#/$defs/Colour"}, "red|green"),
        ({"$ref": "#/$defs/Person"}, "object"),
        ({"type": "array", "items": {"$ref": "#/$defs/Person"}}, "object[]"),
        ({"type": "array", "items": {"$ref": "#/$defs/Colour"}}, "(red|green)[]"),
        ({"type": "array"}, "any[]"),
        ({"$ref": "#/$defs/Nested"}, "array[][][]"),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, "1|2"),
        ({"enum": list("abcdefghij")}, "a|b|c|d|e|f|g|h|…"),
        ({"properties": {}}, "object"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_the_type_is_named_as_a_person_would(schema: Any, name: str) -> None:
    assert type_name(schema, ROOT) == name


def test_an_empty_text_is_shown_as_one() -> None:
    assert [shown_value(value) for value in ("", "a b", None)] == ['""', "a b", "null"]


def test_null_is_left_out_where_it_only_says_that_a_value_is_optional() -> None:
    schema = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert type_name(schema, ROOT, is_null_shown=False) == "integer"
    assert type_name({"type": "null"}, ROOT, is_null_shown=False) == "null"


def test_a_default_is_found_behind_a_reference() -> None:
    assert default_of({"$ref": "#/$defs/Colour"}, ROOT) == ["red"]
    assert default_of({"$ref": "#/$defs/Colour", "default": None}, ROOT) == [None]
    assert default_of({"type": "string"}, ROOT) == []


def test_parts_that_all_hold_become_one_alternative() -> None:
    schema = {"allOf": [{"$ref": "#/$defs/Person"}, {"required": ["name"]}]}
    (flat,) = alternatives(schema, ROOT)
    assert (flat["type"], flat["required"]) == ("object", ["name"])
