"""Prompts: without and with arguments, with other content than text, and one that asks back."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcplens.demo.client_questions import ask
from mcplens.demo.media import base64_text, png
from mcplens.demo.registry import Fault, Json, ToolFailure, method
from mcplens.demo.request_context import RequestContext
from mcplens.demo.templates import NAMES, Values
from mcplens.inbound.refusal import INVALID_PARAMS

Choices = dict[str, Callable[[Values], tuple[str, ...]]]


@dataclass(frozen=True)
class DemoPrompt:
    definition: Json
    messages: Callable[[RequestContext], Any]
    choices: Choices


PROMPTS: dict[str, DemoPrompt] = {}

_TONES = {"German": ("sachlich", "herzlich"), "French": ("formel", "familier")}


def prompt(
    name: str,
    description: str,
    arguments: tuple[Json, ...] = (),
    choices: Choices | None = None,
    **more: Any,
) -> Callable[[Callable[[RequestContext], Any]], Callable[[RequestContext], Any]]:
    """Offer a prompt; the function gives its messages."""

    def offer(messages: Callable[[RequestContext], Any]) -> Callable[[RequestContext], Any]:
        definition: Json = {"name": name, "description": description, **more}
        if arguments:
            definition["arguments"] = list(arguments)
        PROMPTS[name] = DemoPrompt(definition, messages, choices or {})
        return messages

    return offer


@method("prompts/get")
async def get_prompt(context: RequestContext) -> Json:
    name = context.params.get("name")
    found = PROMPTS.get(name) if isinstance(name, str) else None
    if found is None:
        if any(added["name"] == name for added in context.demo.catalog.added["prompts"]):
            return {"messages": [_user("I was added later.")]}
        raise Fault(INVALID_PARAMS, f"there is no prompt called {name!r}")
    needed = [
        item["name"] for item in found.definition.get("arguments", ()) if item.get("required")
    ]
    missing = [argument for argument in needed if argument not in context.arguments]
    if missing:
        raise Fault(INVALID_PARAMS, f"{name} needs {', '.join(missing)}")
    messages = found.messages(context)
    if inspect.isawaitable(messages):
        messages = await messages
    return {"description": found.definition["description"], "messages": messages}


def _user(words: str) -> Json:
    return {"role": "user", "content": {"type": "text", "text": words}}


@prompt("simple", "No arguments, one message.", title="A simple prompt")
def _simple(context: RequestContext) -> list[Json]:
    return [_user("Tell me something about lenses.")]


@prompt(
    "translate",
    "Arguments with completion: the tones depend on the language.",
    (
        {"name": "text", "description": "What to translate.", "required": True},
        {"name": "language", "description": "Into which language.", "required": True},
        {"name": "tone", "description": "In which tone; may be left out."},
    ),
    {
        "language": lambda _: tuple(_TONES),
        "tone": lambda given: _TONES.get(given.get("language", ""), ()),
    },
)
def _translate(context: RequestContext) -> list[Json]:
    given = context.arguments
    tone = f" in a {given['tone']} tone" if "tone" in given else ""
    return [_user(f"Translate into {given['language']}{tone}: {given['text']}")]


@prompt(
    "conversation",
    "Several messages of both roles, with an image and a resource in them.",
    ({"name": "name", "description": "Who speaks.", "required": True},),
    {"name": lambda _: NAMES},
)
def _conversation(context: RequestContext) -> list[Json]:
    image = {"type": "image", "data": base64_text(png()), "mimeType": "image/png"}
    note = {"uri": "demo://text", "mimeType": "text/plain", "text": "an embedded text"}
    return [
        _user(f"I am {context.arguments['name']}. What is this?"),
        {"role": "user", "content": image},
        {"role": "assistant", "content": {"type": "text", "text": "A lens. Have you more?"}},
        {"role": "user", "content": {"type": "resource", "resource": note}},
    ]


@prompt("for-you", "Asks for your name before it is given (elicitation, or input_required).")
async def _for_you(context: RequestContext) -> list[Json]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    question = {"message": "Whom is this prompt for?", "requestedSchema": schema}
    answer = await ask(context, "name", "elicitation/create", question)
    if answer.get("action") != "accept":
        raise ToolFailure(f"no name was given ({answer.get('action')})")
    return [_user(f"Write a poem about {(answer.get('content') or {}).get('name')}.")]
