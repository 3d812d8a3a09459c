"""Sampling: the server asks the client's model, with or without tools."""

from __future__ import annotations

from typing import Any, Final

from mcplens.demo.client_questions import ask
from mcplens.demo.registry import Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext

# A model that calls tools for ever is stopped here.
_MOST_ROUNDS: Final = 5

_ADD: Final[Json] = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}


def question(prompt: str, max_tokens: int = 200) -> Json:
    """A request for sampling with everything that it may have."""
    return {
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "systemPrompt": "You are the model behind the mcplens demo. Be brief.",
        "modelPreferences": {
            "hints": [{"name": "claude"}, {"name": "gpt"}],
            "costPriority": 0.3,
            "speedPriority": 0.8,
            "intelligencePriority": 0.5,
        },
        "temperature": 0.7,
        "maxTokens": max_tokens,
        "stopSequences": ["THE END"],
        "metadata": {"from": "mcplens-demo"},
    }


@tool(
    "sample",
    "Asks the client's model something (sampling/createMessage) and gives its answer back.",
    {
        "prompt": {"type": "string", "default": "What is a lens?"},
        "maxTokens": {"type": "integer", "minimum": 1, "default": 200},
    },
)
async def sample(context: RequestContext) -> Json:
    given = context.arguments
    asked = question(given.get("prompt", "What is a lens?"), given.get("maxTokens", 200))
    answer = await ask(context, "sample", "sampling/createMessage", asked)
    return text(f"{answer.get('model')} says: {spoken(answer)}")


@tool(
    "sample-with-tools",
    "Asks the client's model with a tool at hand (add), calls the tool as the model wants, and "
    "asks again with the results until the model is done.",
    {
        "prompt": {"type": "string", "default": "What is 2 + 2?"},
        "toolChoice": {"type": "string", "enum": ["auto", "required", "none"], "default": "auto"},
    },
)
async def sample_with_tools(context: RequestContext) -> Json:
    asked = question(context.arguments.get("prompt", "What is 2 + 2?"))
    choice = {"mode": context.arguments.get("toolChoice", "auto")}
    asked |= {"tools": [_ADD], "toolChoice": choice}
    for number in range(1, _MOST_ROUNDS + 1):
        answer = await ask(context, f"round-{number}", "sampling/createMessage", asked)
        uses = [block for block in blocks(answer) if block.get("type") == "tool_use"]
        if not uses:
            return text(f"{answer.get('model')} says after {number} rounds: {spoken(answer)}")
        results = [_use(block) for block in uses]
        messages = [
            *asked["messages"],
            {"role": "assistant", "content": blocks(answer)},
            {"role": "user", "content": results},
        ]
        # After the first round the model may be done, even where it had to begin with a tool.
        asked = {**asked, "messages": messages, "toolChoice": {"mode": "auto"}}
    raise ToolFailure(f"the model still wants to call tools after {_MOST_ROUNDS} rounds")


def blocks(answer: Json) -> list[Any]:
    """The content of an answer; one block or several."""
    content = answer.get("content")
    found = content if isinstance(content, list) else [content]
    return [block for block in found if isinstance(block, dict)]


def spoken(answer: Json) -> str:
    """The text in an answer."""
    return " ".join(str(block.get("text", f"[{block.get('type')}]")) for block in blocks(answer))


def _use(block: Json) -> Json:
    """Do what the model wants of a tool."""
    given = block.get("input") or {}
    try:
        words, is_error = f"{given['a'] + given['b']:g}", False
    except (KeyError, TypeError, ValueError) as problem:
        words, is_error = f"add failed: {problem!r}", True
    return {
        "type": "tool_result",
        "toolUseId": block.get("id"),
        "content": [{"type": "text", "text": words}],
        "isError": is_error,
    }
