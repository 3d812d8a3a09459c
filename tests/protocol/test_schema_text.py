"""Typed text as a value, by schemas as the Python SDK and pydantic write them."""

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcplens.cli.item_details import signature
from mcplens.protocol.schema_text import from_text, item_schema, strict_json
from mcplens.protocol.schema_types import type_name
from tests.protocol.values import JSON

ROOT: dict[str, Any] = {
    "$defs": {
        "Colour": {"enum": ["red", "green"], "type": "string"},
        "Level": {"enum": [1, 2, 3], "type": "integer"},
        "Person": {"type": "object", "properties": {"name": {"type": "string"}}},
        "Nested": {"type": "array", "items": {"$ref": "#/$defs/Nested"}},
        "Loop": {"$ref": "#/$defs/Loop"},
    }
}
NULL = {"type": "null"}
INTEGERS = {"type": "array", "items": {"type": "integer"}}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("5", {"anyOf": [{"type": "integer"}, NULL]}, 5),
        ("null", {"anyOf": [{"type": "integer"}, NULL]}, None),
        ("", {"anyOf": [{"type": "integer"}, NULL]}, None),
        ("null", {"anyOf": [{"type": "string"}, NULL]}, "null"),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5"),
        ("5", {"anyOf": [{"enum": ["auto"], "type": "string"}, {"type": "integer"}]}, 5),
        ("auto", {"anyOf": [{"enum": ["auto"], "type": "string"}, {"type": "integer"}]}, "auto"),
        ('{"name": "Ada"}', ref("Person"), {"name": "Ada"}),
        ('{"name": "Ada"}', {"anyOf": [ref("Person"), NULL]}, {"name": "Ada"}),
        ("2", ref("Level"), 2),
        ("2.0", ref("Level"), 2),
        ("1,2,3", INTEGERS, [1, 2, 3]),
        ("1, 2", {"anyOf": [INTEGERS, NULL]}, [1, 2]),
        ("[1,2]", INTEGERS, [1, 2]),
        ("", INTEGERS, []),
        ("red,green", {"type": "array", "items": ref("Colour")}, ["red", "green"]),
        ('{"name": "A"},{"name": "B"}', {"type": "array", "items": ref("Person")},
         [{"name": "A"}, {"name": "B"}]),
        ("1,a", {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
         [1, "a"]),
        ("yes", {"anyOf": [{"type": "boolean"}, NULL]}, True),
        ("yes", {"type": ["boolean", "null"]}, True),
        ("2.0", {"type": "integer"}, 2),
        ("1e3", {"type": "integer"}, 1000),
        ("123456789012345678901234567890", {"type": "integer"}, 123456789012345678901234567890),
        ("1.5", {"allOf": [{"type": "number"}], "title": "Ratio"}, 1.5),
        ("true", {"const": True}, True),
        ("x", {"title": "Anything"}, "x"),
        ("x", ref("Missing"), "x"),
        ("x", ref("Loop"), "x"),
        ("x", True, "x"),
    ],
)  # fmt: skip
def test_text_is_read_by_the_type_that_the_schema_means(text: str, schema: Any, value: Any) -> None:
    found = from_text(text, schema, ROOT)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("oops", ref("Person")),
        ("[1]", ref("Person")),
        ("oops", {"anyOf": [ref("Person"), NULL]}),
        ("1,x", INTEGERS),
        ("[1,", INTEGERS),
        ("2.5", {"type": "integer"}),
        ("nan", {"type": "number"}),
        ("Infinity", {"type": "number"}),
        ("1e999", {"type": "number"}),
        ("1e999", {"type": "integer"}),
        ("1_000", {"type": "integer"}),
        ("maybe", {"type": "boolean"}),
        ("x", ref("Nested")),
        ("fast", {"anyOf": [{"enum": ["auto"]}, {"type": "integer"}]}),
        ("7", ref("Level")),
        ("blue", ref("Colour")),
        ("Red", ref("Colour")),
        ("red,blue", {"type": "array", "items": ref("Colour")}),
    ],
)
def test_text_that_means_no_such_value_is_refused(text: str, schema: Any) -> None:
    with pytest.raises(ValueError, match=r"of another type"):
        from_text(text, schema, ROOT)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("7", ref("Level"), 7),
        ("blue", ref("Colour"), "blue"),
        ("blue", {"anyOf": [ref("Colour"), NULL]}, "blue"),
        ("red,blue", {"type": "array", "items": ref("Colour")}, ["red", "blue"]),
    ],
)
def test_a_value_that_is_not_listed_passes_where_any_option_does(
    text: str, schema: Any, value: Any
) -> None:
    assert from_text(text, schema, ROOT, any_option=True) == value


@pytest.mark.parametrize("text", ["NaN", "[1, -Infinity]", '{"a": 1e999}'])
def test_numbers_that_json_cannot_hold_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="JSON cannot hold the number"):
        strict_json(text)


def test_only_a_list_has_items() -> None:
    assert item_schema({"anyOf": [INTEGERS, NULL]}, ROOT) == [{"type": "integer"}]
    assert item_schema({"type": "array"}, ROOT) == [True]
    assert item_schema(ref("Person"), ROOT) == []


def test_a_schema_that_doubles_at_every_level_takes_no_time() -> None:
    defs = {
        f"L{at}": {"anyOf": [{"$ref": f"#/$defs/L{at + 1}"}, {"$ref": f"#/$defs/R{at + 1}"}]}
        for at in range(40)
    } | {f"R{at}": {"anyOf": [{"$ref": f"#/$defs/L{at + 1}"}] * 9} for at in range(40)}
    start = time.process_time()
    assert from_text("x", {"$ref": "#/$defs/L0"}, {"$defs": defs}) == "x"
    assert time.process_time() - start < 5


KEYWORDS = st.sampled_from(
    ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "items", "prefixItems",
     "properties", "required", "default", "format", "additionalProperties"]
)  # fmt: skip
VALUES = JSON | st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "#"])
SCHEMAS = st.recursive(
    JSON,
    lambda inner: st.dictionaries(
        KEYWORDS, VALUES | inner | st.lists(inner, max_size=3), max_size=4
    ),
    max_leaves=12,
)


@settings(max_examples=100)
@given(SCHEMAS, st.text(max_size=6))
def test_no_schema_of_a_server_breaks_the_command_line(schema: Any, text: str) -> None:
    whole = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert type_name(schema, whole)
    assert signature(whole).startswith("(a: ")
    with contextlib.suppress(ValueError):
        from_text(text, schema, whole)
