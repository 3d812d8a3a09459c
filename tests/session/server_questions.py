"""What a server asks in the tests of handlers, and a client that declares all of it."""

from __future__ import annotations

from typing import Any

from .scripted import Rig

SAMPLE = "sampling/createMessage"
ELICIT = "elicitation/create"
HELLO = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}],
    "maxTokens": 10,
}
FORM = {
    "message": "where?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "host": {"type": "string"},
            "port": {"type": "integer", "default": 5432},
        },
        "required": ["host"],
    },
}
LINK = {"mode": "url", "message": "go", "url": "https://example.com/x", "elicitationId": "e1"}


def everything(**more: Any) -> Rig:
    options: dict[str, Any] = {"sampling": True, "elicitation": True, "roots": []}
    return Rig(**options | more)


def result_of(rig: Rig, identity: str) -> Any:
    answer = rig.server.answer_to(identity)
    assert answer is not None
    return answer.get("result", answer.get("error"))
