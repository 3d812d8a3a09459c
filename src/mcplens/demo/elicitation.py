"""Elicitation by form: the server asks the person at the client to fill in fields."""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.demo.client_questions import ClientQuestion, ask, ask_all
from mcplens.demo.registry import Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.protocol.schema_validation import Validator

# Every kind of field that a form may have (flat: no objects, no lists of objects).
EVERY_FIELD: Final[Json] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 1, "maxLength": 50},
        "nick": {"type": "string", "description": "Already filled in.", "default": "demo"},
        "email": {"type": "string", "format": "email"},
        "website": {"type": "string", "format": "uri"},
        "birthday": {"type": "string", "format": "date"},
        "meeting": {"type": "string", "format": "date-time"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "height": {"type": "number", "minimum": 0, "description": "In metres."},
        "newsletter": {"type": "boolean", "default": False},
        "colour": {"type": "string", "enum": ["red", "green", "blue"], "default": "green"},
        "size": {
            "type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "days": {
            "type": "array",
            "items": {"type": "string", "enum": ["mon", "tue", "wed"]},
            "minItems": 1,
            "maxItems": 2,
            "default": ["mon"],
        },
        "access": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": "read", "title": "Read access"},
                    {"const": "write", "title": "Write access"},
                ]
            },
        },
        "grade": {"type": "string", "enum": ["a", "b"], "enumNames": ["Good", "Fair"]},
    },
    "required": ["name"],
}

NAME_ONLY: Final[Json] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


def form(message: str, schema: Json) -> Json:
    return {"mode": "form", "message": message, "requestedSchema": schema}


def accepted(answer: Json, schema: Json) -> Json:
    """What was filled in.

    Raises:
        ToolFailure: it was declined or cancelled, or violates the schema.
    """
    if answer.get("action") != "accept":
        raise ToolFailure(f"the form was not filled in: {answer.get('action')}")
    content = answer.get("content")
    problems = Validator(schema).findings(content)
    if problems:
        raise ToolFailure(f"what was filled in breaks the schema: {'; '.join(problems)}")
    return content if isinstance(content, dict) else {}


@tool(
    "elicit-form",
    "Asks for a form with every kind of field (elicitation/create): accept, decline or cancel it.",
)
async def elicit_form(context: RequestContext) -> Json:
    question = form("Please fill in what you like; only the name is needed.", EVERY_FIELD)
    answer = await ask(context, "form", "elicitation/create", question)
    content = accepted(answer, EVERY_FIELD)
    return text(msgspec.json.encode(content).decode(), structuredContent=content)


@tool(
    "elicit-steps",
    "Asks twice, the second form depending on the first answer (two rounds in 2026-07-28).",
)
async def elicit_steps(context: RequestContext) -> Json:
    first = await ask(context, "who", "elicitation/create", form("What is your name?", NAME_ONLY))
    name = accepted(first, NAME_ONLY)["name"]
    schema = {
        "type": "object",
        "properties": {"sure": {"type": "boolean", "default": True}},
        "required": ["sure"],
    }
    second = await ask(context, "sure", "elicitation/create", form(f"Really {name}?", schema))
    sure = accepted(second, schema)["sure"]
    return text(f"{name} is {'' if sure else 'not '}sure")


@tool("elicit-two", "Asks two things at once: two forms wait for you at the same time.")
async def elicit_two(context: RequestContext) -> Json:
    questions = {
        key: ClientQuestion("elicitation/create", form(f"The name of the {key} person?", NAME_ONLY))
        for key in ("first", "second")
    }
    answers = await ask_all(context, questions)
    names = [accepted(answers[key], NAME_ONLY)["name"] for key in questions]
    return text(" and ".join(names))
