"""Input schemas of every form that a generated form must have a field for.

Each tool gives its arguments back as it understood them; what breaks the schema is named.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext


async def _given(context: RequestContext) -> Json:
    shown = msgspec.json.format(msgspec.json.encode(context.arguments), indent=2)
    return text(shown.decode(), structuredContent=context.arguments)


def _form(
    name: str, description: str, properties: Json, required: tuple[str, ...] = (), **more: Any
) -> None:
    output = {"type": "object"}
    tool(name, description, properties, required=required, outputSchema=output, **more)(_given)


_form("form-empty", "Takes no arguments: there is nothing to fill in.", {})

_form(
    "form-text",
    "Text fields: plain, required, with a default, limited in length, by pattern, and by format "
    "(URI, email, date, time, date and time, bytes as base64).",
    {
        "plain": {"type": "string", "title": "Plain text"},
        "needed": {"type": "string", "description": "This one is required.", "minLength": 1},
        "prefilled": {"type": "string", "default": "already here"},
        "short": {"type": "string", "minLength": 2, "maxLength": 8},
        "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$", "examples": ["ABC-12"]},
        "website": {"type": "string", "format": "uri"},
        "email": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
        "clock": {"type": "string", "format": "time"},
        "moment": {"type": "string", "format": "date-time"},
        "bytes": {"type": "string", "contentEncoding": "base64"},
    },
    ("needed",),
)

_form(
    "form-numbers",
    "Number fields with limits, and a switch.",
    {
        "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "even": {"type": "integer", "multipleOf": 2},
        "sure": {"type": "boolean", "default": True, "description": "Checkbox or toggle."},
    },
    ("count",),
)

_form(
    "form-choices",
    "Choices: one or several, with and without titles, and the older enumNames.",
    {
        "size": {
            "type": "string",
            "title": "One, with titles",
            "oneOf": [
                {"const": "small", "title": "Small (1-10 items)"},
                {"const": "medium", "title": "Medium (11-100 items)"},
                {"const": "large", "title": "Large (100+ items)"},
            ],
            "default": "medium",
        },
        "access": {
            "type": "array",
            "title": "Several, with titles",
            "items": {
                "type": "string",
                "anyOf": [
                    {"const": "read", "title": "Read access"},
                    {"const": "write", "title": "Write access"},
                    {"const": "delete", "title": "Delete access"},
                ],
            },
            "uniqueItems": True,
        },
        "colour": {"type": "string", "enum": ["red", "green", "blue"], "title": "One, plain"},
        "days": {
            "type": "array",
            "title": "Several, plain",
            "items": {"type": "string", "enum": ["mon", "tue", "wed"]},
            "maxItems": 2,
        },
        "grade": {
            "type": "string",
            "title": "One, with enumNames",
            "enum": ["a", "b"],
            "enumNames": ["Good", "Fair"],
        },
        "level": {"type": "integer", "enum": [1, 2, 3], "title": "A number of three"},
        "kind": {"const": "demo", "title": "Always the same"},
    },
    ("size",),
)

_form(
    "form-nested",
    "Objects in objects and lists that grow: an address, tags, a table of people, free keys.",
    {
        "address": {
            "type": "object",
            "properties": {
                "street": {"type": "string"},
                "city": {"type": "string"},
                "position": {
                    "type": "object",
                    "properties": {
                        "latitude": {"type": "number", "minimum": -90, "maximum": 90},
                        "longitude": {"type": "number", "minimum": -180, "maximum": 180},
                    },
                },
            },
            "required": ["city"],
        },
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "default": ["new"]},
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                "required": ["name"],
            },
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
)

_PERSON: Final = {"type": "object", "properties": {"name": {"type": "string"}}}
_NODE: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["name"],
}

_form(
    "form-references",
    "A schema with $ref and $defs, one of them recursive: a tree of named nodes.",
    {"owner": {"$ref": "#/$defs/person"}, "tree": {"$ref": "#/$defs/node"}},
    schema={"$defs": {"person": _PERSON, "node": _NODE}},
)

_form(
    "form-alternatives",
    "Fields that may be one thing or another: a JSON editor is the way out.",
    {
        "target": {
            "anyOf": [
                {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
                {
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                },
            ]
        },
        "amount": {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^[0-9]+%$"}]},
        "note": {"type": ["string", "null"], "description": "Text, or nothing (null)."},
        "anything": {"description": "No type at all: any JSON value."},
    },
)

_form(
    "form-required",
    "Required fields that may be false or null, and fields that appear when others are filled in.",
    {
        "agreed": {"type": "boolean", "description": "False is an answer, too."},
        "note": {"type": ["string", "null"]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "owner": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
        "delivery": {"type": "string", "enum": ["pick up", "send"]},
    },
    ("agreed", "note", "limit", "owner"),
    schema={
        "$defs": {
            "person": _PERSON,
            "sent": {"properties": {"delivery": {"const": "send"}}, "required": ["delivery"]},
            "address": {"properties": {"address": {"type": "string"}}, "required": ["address"]},
        },
        "if": {"$ref": "#/$defs/sent"},
        "then": {"$ref": "#/$defs/address"},
    },
)

_form(
    "form-any",
    "Takes any arguments, numbers of any size among them.",
    {},
    schema={"additionalProperties": True},
)
