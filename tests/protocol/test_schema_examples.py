"""A plausible value for any JSON Schema: it fits where the schema can be met, and always ends."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol.schema_examples import example_object, example_of
from mcplens.protocol.schema_validation import Validator
from tests.protocol.values import JSON

KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "items", "prefixItems", "minItems", "uniqueItems", "enum",
     "const", "default", "examples", "anyOf", "oneOf", "allOf", "$ref", "$defs", "minimum",
     "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
     "pattern", "format", "additionalProperties", "minProperties", "contains"]
)  # fmt: skip
# Words that mean something in a schema, in places where they may mean nothing.
SCHEMAS = st.recursive(
    JSON
    | st.sampled_from(
        [
            "object",
            "array",
            "string",
            "integer",
            "number",
            "#",
            "#/$defs/a",
            "#/anyOf/0",
            0.1,
            1e308,
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "default": "d", "const": "c", "examples": ["e"]}, "d"),
        ({"const": "c", "examples": ["e"], "enum": ["x"]}, "c"),
        ({"type": "string", "examples": ["e"], "enum": ["x"]}, "e"),
        ({"enum": ["x", "y"]}, "x"),
        ({"oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}, "s"),
        ({"type": "string", "anyOf": [{"const": "r"}, {"const": "w"}]}, "r"),
        ({"default": None, "type": ["string", "null"]}, None),
        ({"type": "string", "default": ""}, ""),
        ({"type": "boolean", "default": False}, False),
    ],
)
def test_what_the_schema_offers_is_taken_in_order(schema: Any, expected: Any) -> None:
    assert example_of(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "minLength": 30},
        {"type": "string", "maxLength": 3},
        {"type": "string", "maxLength": 0},
        {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
        {"type": "string", "pattern": "^[0-9]{5}$"},
        {"type": "string", "pattern": "^v?[0-9]+\\.[0-9]+\\.[0-9]+$"},
        {"type": "integer"},
        {"type": "integer", "minimum": 10},
        {"type": "integer", "exclusiveMinimum": 10, "maximum": 11},
        {"type": "integer", "exclusiveMinimum": 3.5, "maximum": 4},
        {"type": "integer", "maximum": -4},
        {"type": "integer", "exclusiveMaximum": 5, "multipleOf": 5},
        {"type": "integer", "multipleOf": 7, "minimum": 8},
        {"type": "integer", "multipleOf": 2.5, "minimum": 1},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
        {"type": "number", "multipleOf": 0.1, "minimum": 1.05},
        {"type": "number", "minimum": 0.25, "maximum": 0.25},
        {"type": "number", "minimum": 2, "exclusiveMinimum": 2},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["null", "integer"], "minimum": 4},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True},
        {
            "type": "array",
            "items": {"anyOf": [{"const": "r"}, {"const": "w"}]},
            "minItems": 2,
            "uniqueItems": True,
        },
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "minItems": 2},
        {"type": "array", "contains": {"type": "integer"}},
        {"minItems": 1, "items": {"type": "boolean"}},
        {"required": ["a"], "properties": {"a": {"minLength": 8}}},
        {"type": "object", "minProperties": 2, "properties": {"a": {}, "b": {}, "c": {}}},
        {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}},
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["b"]}, {"required": ["a"]}],
        },
        {"allOf": [{"type": "number", "minimum": 3}, {"type": "integer", "minimum": 5}]},
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"a": {"minLength": 20}, "b": {"const": 1}}, "required": ["b"]},
            ]
        },
        {"allOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]},
        {"anyOf": [False, {"type": "integer"}]},
    ],
)
def test_an_example_fits_its_schema(schema: Any) -> None:
    assert Validator(schema).findings(example_of(schema)) == ()


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("email", "@"), ("uri", "https://"), ("date", "2025-01-01"), ("date-time", "T00:00:00Z"),
        ("uuid", "-4000-"), ("ipv4", "192."), ("hostname", "example.com"), ("nonsense", "example"),
    ],
)  # fmt: skip
def test_a_format_is_kept(kind: str, part: str) -> None:
    assert part in example_of({"type": "string", "format": kind})


@pytest.mark.parametrize("kind", ["email", "uri"])
def test_a_format_grows_to_the_length_that_is_asked_for(kind: str) -> None:
    assert len(example_of({"type": "string", "format": kind, "minLength": 40})) == 40


def test_an_object_has_what_is_required_and_what_has_a_default() -> None:
    schema = {
        "type": "object",
        "properties": {
            "needed": {"type": "integer", "minimum": 2},
            "usual": {"type": "string", "default": "u"},
            "referred": {"$ref": "#/$defs/r"},
            "spare": {"type": "string"},
        },
        "required": ["needed", "unheard-of"],
        "$defs": {"r": {"type": "string", "default": "by reference"}},
    }
    assert example_of(schema) == {
        "needed": 2,
        "unheard-of": None,
        "usual": "u",
        "referred": "by reference",
    }


@pytest.mark.parametrize(
    "reference",
    ["#/$defs/a~1b%20c", "#/definitions/n", "#/properties/f/items/0", "#/properties/f/allOf/1"],
)
def test_a_local_reference_is_followed(reference: str) -> None:
    seven = {"const": 7}
    schema = {
        "$defs": {"a/b c": seven},
        "definitions": {"n": seven},
        "properties": {"f": {"items": [seven], "allOf": [{}, seven]}, "n": {"$ref": reference}},
        "required": ["n"],
    }
    assert example_of(schema) == {"n": 7}


def test_words_beside_a_reference_count_too() -> None:
    schema = {"$ref": "#/$defs/s", "default": "mine", "$defs": {"s": {"default": "theirs"}}}
    assert example_of(schema) == "mine"


@pytest.mark.parametrize(
    "reference",
    ["#/no", "https://example.com/s.json", "other.json#/a", "#anchor", "#/x/9", 5, None, "", "#"],
)
def test_a_reference_to_nothing_gives_nothing(reference: Any) -> None:
    assert example_of({"$ref": reference, "x": [1]}) is None
    schema = {"type": "object", "properties": {"a": {"$ref": "#/no"}}, "required": ["a"]}
    assert example_of(schema) == {"a": None}


def test_null_is_the_last_choice() -> None:
    assert example_of({"anyOf": [{"type": "null"}, {"type": "integer"}]}) == 1
    assert example_of({"anyOf": [{"type": "null"}, {"$ref": "#/no"}]}) is None


def test_a_list_that_refers_to_itself_ends() -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer"},
                    "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                },
                "required": ["value", "next"],
            }
        },
    }
    assert example_of(schema) == {"value": 1, "next": None}
    assert Validator(schema).findings(example_of(schema)) == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"c": {"$ref": "#"}}, "required": ["c"]},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#/anyOf/0"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 3},
    ],
)
def test_an_endless_schema_ends(schema: Any) -> None:
    assert len(msgspec.json.encode(example_of(schema))) < 1_000


def test_a_schema_that_doubles_at_each_level_ends() -> None:
    levels = {
        f"l{at}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/l{at + 1}"} for side in "ab"},
            "required": ["a", "b"],
        }
        for at in range(20)
    }
    schema = {"$defs": {**levels, "l20": {"type": "null"}}, "$ref": "#/$defs/l0"}
    assert len(msgspec.json.encode(example_of(schema))) < 100_000


def test_limits_beyond_reason_are_not_kept() -> None:
    assert len(example_of({"type": "string", "minLength": 10**9})) == 1_000
    assert len(example_of({"type": "array", "minItems": 1e300})) == 100
    item: Any = {"type": "string", "minLength": 1_000}
    for _ in range(10):
        item = {"type": "array", "minItems": 100, "items": item}
    assert len(msgspec.json.encode(example_of(item))) < 5_000_000


def test_an_expression_that_explodes_ends() -> None:
    pattern = "^(" + "|".join(["."] * 40) + ")*(?!x)$y"
    assert isinstance(example_of({"type": "string", "pattern": pattern}), str)
    assert isinstance(example_of({"type": "string", "pattern": "("}), str)


def test_a_copy_of_the_default_is_given() -> None:
    schema = {"type": "object", "properties": {"a": {"default": [{"b": 1}]}}}
    example_of(schema)["a"][0]["b"] = 2
    assert schema["properties"]["a"]["default"] == [{"b": 1}]  # type: ignore[index]


@pytest.mark.parametrize("schema", [None, 5, "text", [], True, False, {}, {"title": "T"}])
def test_what_says_nothing_gives_nothing(schema: Any) -> None:
    assert example_of(schema) is None
    assert example_object(schema) == {}


def test_arguments_are_always_an_object() -> None:
    assert example_object({"type": "string"}) == {}
    assert example_object({"type": "object", "properties": {"a": {"default": 1}}}) == {"a": 1}
    assert example_of({"type": "object", "allOf": [False]}) == {}


@given(SCHEMAS)
def test_any_value_can_stand_where_a_schema_should(schema: Any) -> None:
    example_of(schema)
    assert isinstance(example_object({"type": "object", "properties": schema}), dict)


@given(
    st.integers(-50, 50) | st.floats(-50, 50),
    st.integers(0, 40) | st.floats(0.001, 40),
    st.sampled_from(["minimum", "exclusiveMinimum"]),
    st.sampled_from(["maximum", "exclusiveMaximum"]),
)
def test_a_number_is_found_between_any_two(low: float, width: float, least: str, most: str) -> None:
    high = low + width
    schema = {"type": "number", least: low, most: high}
    if high > low or (least, most) == ("minimum", "maximum"):
        assert Validator(schema).findings(example_of(schema)) == ()


def test_a_deep_value_is_no_trap() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert example_of({"type": "string", "default": deep}) is None
    assert example_of({"type": "array", "default": deep, "allOf": [{"enum": [deep]}]}) is None
