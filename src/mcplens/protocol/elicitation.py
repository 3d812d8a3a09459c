"""Elicitation as values: validates answers against the form or URL that a server asks with.

Validates and builds answers; the session decides who answers and when. Findings are advice, as
sentences: an invalid answer can still be sent on purpose. Fields are read in `form_fields.py`, URLs
in `url_checks.py`; callers import all names from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from mcplens.protocol.form_fields import Field, fields_of, from_text
from mcplens.protocol.schema_examples import example_object, example_of
from mcplens.protocol.schema_validation import SchemaProblem, Validator
from mcplens.protocol.url_checks import host_of, is_openable, url_warnings

__all__ = [
    "Field",
    "answer_findings",
    "example_content",
    "fields_of",
    "from_text",
    "host_of",
    "is_openable",
    "mode_of",
    "schema_findings",
    "unjudged",
    "url_warnings",
    "value_findings",
    "with_defaults",
]

ACTIONS: Final = ("accept", "decline", "cancel")
# Listing more problems than this does not help.
_MOST_FINDINGS: Final = 20
# Optional fields that an example fills: each is validated with the whole form.
_MOST_OPTIONAL: Final = 100
_FORMATS: Final = ("email", "uri", "date", "date-time")
# Keywords that make a schema more than a flat list of fields.
_NOT_FLAT: Final = (
    "$ref", "$defs", "definitions", "allOf", "anyOf", "oneOf", "not", "if", "patternProperties",
    "dependentSchemas", "dependentRequired",
)  # fmt: skip
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def mode_of(params: Any) -> str:
    """`form`, `url`, or any other mode the server wrote; an absent mode means a form."""
    mode = _dict(params).get("mode")
    if mode is None:
        return "form"
    return mode if isinstance(mode, str) else "unknown"


def with_defaults(schema: Any, content: Any) -> dict[str, Any]:
    """The content, with the default of every field that it leaves out."""
    filled = dict(_dict(content))
    for field in fields_of(schema):
        if field.has_default and field.name not in filled:
            filled[field.name] = field.default
    return filled


def example_content(schema: Any) -> dict[str, Any]:
    """Content that a person could have given: defaults, else examples."""
    fields = fields_of(schema)
    optional = {field.name for field in fields if not field.is_required}
    content = {
        name: value
        for name, value in example_object(schema).items()
        if value is not None or name not in optional
    }
    content |= dict(_choices_made(fields, content))
    content |= {field.name: True for field in fields if field.name in content and _is_open(field)}
    judge = _judge(schema)
    wrong = len(judge(content)) if judge else 0
    left_out = (field for field in fields if field.name not in content)
    for field in islice(left_out, _MOST_OPTIONAL):
        value = _is_open(field) or example_of(field.schema, root=schema)
        tried = {**content, field.name: value}
        # An optional field is better left out than wrong.
        if value is not None and (judge is None or len(judge(tried)) <= wrong):
            content = tried
    return content


def _is_open(field: Field) -> bool:
    """Whether it is a yes or no without a hint: who accepts a form says yes."""
    hints = ("default", "const", "examples", "enum", "example")
    return field.kind == "boolean" and not any(hint in field.schema for hint in hints)


def _choices_made(fields: list[Field], content: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Choices without duplicates, even where the schema allows them."""
    for field in fields:
        chosen = _list(content.get(field.name)) if field.kind == "choices" else []
        if not field.has_default and 1 < len(chosen) <= len(field.options):
            yield field.name, [value for value, _ in field.options[: len(chosen)]]


def schema_findings(schema: Any) -> tuple[str, ...]:
    """What in the schema violates the rules for forms: a flat object of simple fields."""
    if not isinstance(schema, dict):
        return ("the schema must be an object",)
    return tuple(islice(_form_findings(schema), _MOST_FINDINGS))


def answer_findings(params: Any, result: Any) -> tuple[str, ...]:
    """What is wrong with an answer; nothing if the schema cannot be used (see `unjudged`)."""
    if not isinstance(result, dict):
        return ("the answer must be an object with an action",)
    action, mode = result.get("action"), mode_of(params)
    if action not in ACTIONS:
        return (f"action: must be {', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}",)
    if action != "accept":
        return (f"content: must be left out with {action}",) if "content" in result else ()
    if mode == "url":
        return ("content: must be left out of an answer to a URL",) if "content" in result else ()
    if mode != "form":
        return ()  # the rules of an unknown mode are not known
    content = result.get("content")
    if not isinstance(content, dict):
        return ("content: must be an object when a form is accepted",)
    return tuple(islice(_content_findings(params, content), _MOST_FINDINGS))


def unjudged(params: Any) -> str | None:
    """Why answers to this form cannot be validated; None if they can, or if it is not a form."""
    if mode_of(params) != "form":
        return None
    try:
        Validator(_dict(params).get("requestedSchema"))
    except SchemaProblem as problem:
        return str(problem)
    return None


def value_findings(field: Field, value: Any) -> tuple[str, ...]:
    """What is wrong with one field's value, apart from the others."""
    judge = _judge(field.schema)
    found = judge(value) if judge else ()
    return tuple(item.removeprefix("the value: ") for item in found) + tuple(
        _format_findings(field, value)
    )


def _form_findings(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("type") != "object":
        yield 'type: must be "object"'
    for keyword in _NOT_FLAT:
        if keyword in schema:
            yield f"{keyword}: not allowed: a form is a flat list of fields"
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        yield "properties: must be an object"
    required = schema.get("required", [])
    if not isinstance(required, list):
        yield "required: must be a list of names"
    for name in _list(required):
        if not isinstance(name, str):
            yield "required: must be a list of names"
        elif name not in _dict(properties):
            yield f"required: {name!r} is not a field"
    for field in fields_of(schema):
        part = schema["properties"][field.name]
        if not isinstance(part, dict):
            yield f"{field.name}: must be an object"
            continue
        yield from (f"{field.name}: {finding}" for finding in _part_findings(field, part))
    try:
        Validator(schema)
    except SchemaProblem as problem:
        yield str(problem)


def _part_findings(field: Field, part: dict[str, Any]) -> Iterator[str]:
    if "$ref" in part:
        yield "a form cannot use references; write the field out"
    if isinstance(part.get("type"), list):
        yield "a field has one type, not a list of them"
    if "enum" in part and not _list(part["enum"]):
        yield "enum: must be a list that is not empty"
    elif field.kind == "other":
        yield "must be a string, number, integer, boolean or enum, or a list of enum values"
    elif part is not field.schema and "$ref" not in part:
        yield "a field is one simple type, without anyOf, oneOf or allOf around it"
    names = part.get("enumNames")
    if names is not None and len(_list(names)) != len(_list(part.get("enum"))):
        yield "enumNames: must have one name for each value of enum"
    if any(not isinstance(value, str) for value, _ in field.options):
        yield "the values of an enum must be strings"
    if field.kind == "string" and field.format not in (None, *_FORMATS):
        yield f"format: must be {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}"
    for low, high in ((field.min, field.max), (field.min_items, field.max_items)):
        if low is not None and high is not None and low > high:
            yield "no value can satisfy its limits: the minimum is above the maximum"
    if field.has_default:
        yield from (f"default: {finding}" for finding in value_findings(field, field.default))


def _content_findings(params: Any, content: dict[str, Any]) -> Iterator[str]:
    schema = _dict(params).get("requestedSchema")
    for name, value in content.items():
        if not _is_sendable(value):
            yield f"{name}: must be a string, number, boolean or list of strings"
    judge = _judge(schema)
    if judge is None:
        return
    yield from judge(content)
    for field in fields_of(schema):
        if field.name in content:
            found = _format_findings(field, content[field.name])
            yield from (f"{field.name}: {finding}" for finding in found)


def _is_sendable(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | bool | int | float)


def _judge(schema: Any) -> Any:
    """A function from a value to its findings; None if the schema cannot be used."""
    try:
        validator = Validator(schema)
    except SchemaProblem:
        return None

    def judge(value: Any) -> tuple[str, ...]:
        try:
            return validator.findings(value)
        except (
            Exception
        ) as problem:  # too deep, or not JSON: the library raises several kinds of errors
            return (f"the value: cannot be validated: {(str(problem) or 'not JSON')[:200]}",)

    return judge


def _format_findings(field: Field, value: Any) -> Iterator[str]:
    """JSON Schema does not enforce formats; the server that asked will."""
    if field.kind != "string" or not isinstance(value, str):
        return
    match field.format:
        case "email" if not _EMAIL.fullmatch(value):
            yield "must be an email address, such as user@example.com"
        case "uri" if not _URI.fullmatch(value):
            yield "must be a URI, such as https://example.com/"
        case "date" if not _is_date(value):
            yield "must be a date, such as 2025-01-31"
        case "date-time" if not _is_date_time(value):
            yield "must be a date and time, such as 2025-01-31T12:00:00Z"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return _DATE.fullmatch(text) is not None


def _is_date_time(text: str) -> bool:
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return False
    try:
        # A leap second is legal, but Python does not support it.
        datetime.fromisoformat(f"{match[1]}T{match[2].removesuffix(':60')}{match[4].upper()}")
    except ValueError:
        return False
    return True


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
