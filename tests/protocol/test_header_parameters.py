"""`x-mcp-header` of 2026-07-28: which arguments are mirrored, and which annotations are invalid."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.protocol.eras import InvalidHeaderAnnotation, header_parameters, parameter_headers


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_annotated_properties_are_found_at_any_depth_of_properties() -> None:
    found = header_parameters(
        schema(
            region={"type": "string", "x-mcp-header": "Region"},
            plain={"type": "string"},
            deep=schema(tenant={"type": "integer", "x-mcp-header": "Tenant-Id"}),
        )
    )
    assert found == {"Region": ("region",), "Tenant-Id": ("deep", "tenant")}


@pytest.mark.parametrize("odd", [True, None, 5, "x", [], {}, {"properties": []}])
def test_a_schema_without_properties_mirrors_nothing(odd: Any) -> None:
    assert header_parameters(odd) == {}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (schema(a={"type": "string", "x-mcp-header": ""}), "not a valid header name"),
        (schema(a={"type": "string", "x-mcp-header": "A B"}), "not a valid header name"),
        (schema(a={"type": "string", "x-mcp-header": "A:"}), "not a valid header name"),
        (schema(a={"type": "string", "x-mcp-header": "Ä"}), "not a valid header name"),
        (schema(a={"type": "string", "x-mcp-header": "A\n"}), "not a valid header name"),
        (schema(a={"type": "string", "x-mcp-header": 7}), "not a valid header name"),
        (schema(a={"type": "number", "x-mcp-header": "A"}), "'number'"),
        (schema(a={"type": "object", "x-mcp-header": "A"}), "'object'"),
        (schema(a={"type": "array", "x-mcp-header": "A"}), "'array'"),
        (schema(a={"type": ["string", "null"], "x-mcp-header": "A"}), "type"),
        (schema(a={"x-mcp-header": "A"}), "type"),
        (
            schema(
                a={"type": "string", "x-mcp-header": "Same"},
                b={"type": "string", "x-mcp-header": "sAME"},
            ),
            "used twice",
        ),
        ({"type": "string", "x-mcp-header": "A"}, "not on a plain property"),
        (
            schema(a={"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}),
            "not on a plain property",
        ),
        (
            schema(a={"type": "array", "items": schema(b={"type": "string", "x-mcp-header": "A"})}),
            "not on a plain property",
        ),
        ({"anyOf": [schema(a={"type": "string", "x-mcp-header": "A"})]}, "plain property"),
        ({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}, "plain property"),
        ({"additionalProperties": {"type": "string", "x-mcp-header": "A"}}, "plain property"),
    ],
)
def test_an_annotation_that_breaks_the_rules_is_refused_with_the_reason(
    broken: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InvalidHeaderAnnotation, match=reason):
        header_parameters(broken)


def test_an_annotation_in_a_default_or_an_example_is_only_data() -> None:
    data = {"type": "string", "x-mcp-header": "not an annotation here !"}
    assert header_parameters(schema(a={"type": "object", "default": data, "enum": [data]})) == {}


def test_a_property_that_is_called_x_mcp_header_is_only_a_property() -> None:
    assert header_parameters(schema(**{"x-mcp-header": {"type": "string"}})) == {}


PARAMETERS = {"Text": ("text",), "Count": ("count",), "Flag": ("flag",), "Deep": ("a", "b")}


def test_arguments_become_headers_by_their_type() -> None:
    headers = parameter_headers(
        PARAMETERS, {"text": "é", "count": -5, "flag": False, "a": {"b": "x"}}
    )
    assert headers == {
        "Mcp-Param-Text": "=?base64?w6k=?=",
        "Mcp-Param-Count": "-5",
        "Mcp-Param-Flag": "false",
        "Mcp-Param-Deep": "x",
    }


@pytest.mark.parametrize(
    "arguments", [{}, {"text": None, "count": None, "a": None}, {"a": "no object"}, {"text": [1]}]
)
def test_null_absent_and_impossible_arguments_have_no_header(arguments: dict[str, Any]) -> None:
    assert parameter_headers(PARAMETERS, arguments) == {}


def test_an_integer_that_javascript_cannot_hold_has_no_header() -> None:
    most = 2**53 - 1
    for number in (most, -most):
        assert parameter_headers(PARAMETERS, {"count": number}) == {"Mcp-Param-Count": str(number)}
    assert parameter_headers(PARAMETERS, {"count": most + 1}) == {}
