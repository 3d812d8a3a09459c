"""What a server asks of a testing profile, and what it gets."""

from __future__ import annotations

from typing import Any

from mcplens.session.question_handler import ServerRequest

from .scripted import Rig

SAMPLE = "sampling/createMessage"
ELICIT = "elicitation/create"
# Every form that an enum may have, one field with a default and several without.
FORM = {
    "message": "?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "plain": {"type": "string", "enum": ["red", "green"]},
            "named": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "titled": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
            "many": {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "minItems": 1,
            },
            "many_titled": {
                "type": "array",
                "items": {"anyOf": [{"const": "p", "title": "P"}, {"const": "q", "title": "Q"}]},
                "minItems": 2,
            },
            "chosen": {"type": "string", "enum": ["red", "green"], "default": "green"},
            "mail": {"type": "string", "format": "email"},
            "count": {"type": "integer", "minimum": 7},
            "is_sure": {"type": "boolean", "default": True},
        },
        "required": ["plain", "named", "titled", "many", "many_titled", "mail", "count"],
    },
}


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


def completion(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": list(messages or [said("hello")]), "maxTokens": 10} | more


def asked(params: Any = None, method: str = SAMPLE) -> ServerRequest:
    return ServerRequest("q1", method, completion() if params is None else params, b"")


def text_of(answer: Any) -> str:
    assert answer["content"]["type"] == "text"
    return str(answer["content"]["text"])


def answered(rig: Rig, identity: str) -> Any:
    message = rig.server.answer_to(identity)
    assert message is not None, "no answer yet"
    return message.get("result", message.get("error"))


async def asked_over_the_wire(profile: Any, params: Any, method: str = SAMPLE) -> Any:
    async with Rig(sampling=profile, elicitation=profile) as rig:
        rig.server.ask("q1", method, params)
        await rig.settle()
        return answered(rig, "q1")
