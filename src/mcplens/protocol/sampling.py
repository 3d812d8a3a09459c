"""Sampling as values: validates `sampling/createMessage` requests and the answers to them.

Validates and builds answers; the session decides who answers and when. Findings are advice, as
sentences: an invalid answer can still be sent on purpose, to see how a server reacts.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Any, Final

# Listing more problems than this does not help.
_MOST_FINDINGS: Final = 20
# What a content block must have, by its type: the field and its Python type.
_FIELDS: Final[dict[str, tuple[tuple[str, type, str], ...]]] = {
    "text": (("text", str, "a string"),),
    "image": (("data", str, "a string"), ("mimeType", str, "a string")),
    "audio": (("data", str, "a string"), ("mimeType", str, "a string")),
    "tool_use": (("id", str, "a string"), ("name", str, "a string"), ("input", dict, "an object")),
    "tool_result": (("toolUseId", str, "a string"), ("content", list, "a list")),
    "resource": (("resource", dict, "an object"),),
    "resource_link": (("uri", str, "a string"), ("name", str, "a string")),
}
_ROLES: Final = ("user", "assistant")
_CONTEXTS: Final = ("none", "thisServer", "allServers")
_CHOICES: Final = ("auto", "required", "none")
_PRIORITIES: Final = ("costPriority", "speedPriority", "intelligencePriority")


def needs(params: Any) -> frozenset[str]:
    """The features of the sampling capability that this request uses: `tools`, `context`."""
    asked = _dict(params)
    found = set()
    if asked.get("tools") is not None or asked.get("toolChoice") is not None:
        found.add("tools")
    if asked.get("includeContext") not in (None, "none"):
        found.add("context")
    return frozenset(found)


def request_findings(params: Any) -> tuple[str, ...]:
    """What is wrong with the request; empty if nothing is."""
    if not isinstance(params, dict):
        return ("params: must be an object",)
    return _first(
        [
            lambda: _message_findings(params.get("messages")),
            lambda: iter(balance_findings(params)),
            lambda: _option_findings(params),
            lambda: _preference_findings(params.get("modelPreferences")),
            lambda: _tool_findings(params),
        ]
    )


def balance_findings(params: Any) -> tuple[str, ...]:
    """Where tool uses and tool results do not match; the specification asks for -32602 then."""
    return _first([lambda: _balance(_messages(params))])


def answer_findings(params: Any, result: Any) -> tuple[str, ...]:
    """What is wrong with an answer to this request; empty if nothing is."""
    if not isinstance(result, dict):
        return ("the answer must be an object",)
    return _first(
        [
            lambda: _envelope_findings(result),
            lambda: _content_findings("content", result.get("content")),
            lambda: _tool_use_findings(params, result),
        ]
    )


def text_answer(
    text: str, *, model: str = "mcplens", stop_reason: str = "endTurn"
) -> dict[str, Any]:
    """An answer of one text."""
    return {
        "role": "assistant",
        "content": {"type": "text", "text": text},
        "model": model,
        "stopReason": stop_reason,
    }


def tool_use_answer(
    calls: Iterable[tuple[str, Any]],
    *,
    model: str = "mcplens",
    ids: Callable[[], str] | None = None,
) -> dict[str, Any]:
    """An answer that calls tools; `ids` gives one id per call, `call_1`, `call_2`, … without it."""
    next_id = ids or _numbered(())
    content = [
        {"type": "tool_use", "id": next_id(), "name": name, "input": arguments}
        for name, arguments in calls
    ]
    return {"role": "assistant", "content": content, "model": model, "stopReason": "toolUse"}


def fresh_ids(params: Any) -> Callable[[], str]:
    """Ids for tool uses that no message of this request has used."""
    return _numbered(used_ids(params))


def used_ids(params: Any) -> Iterator[str]:
    """The ids of the tool uses among the messages."""
    for message in _messages(params):
        yield from _ids(message, "tool_use", "id")


def last_user_text(params: Any) -> str:
    """The text of the last user message that has any; empty if none has."""
    for message in reversed(_messages(params)):
        if _dict(message).get("role") != "user":
            continue
        texts = [
            block["text"]
            for block in _blocks(message)
            if _kind(block) == "text" and isinstance(block.get("text"), str)
        ]
        if texts:
            return "\n".join(texts)
    return ""


def offered_tools(params: Any) -> list[dict[str, Any]]:
    """The tools that an answer may call; what has no name is left out."""
    return [
        tool
        for tool in _list(_dict(params).get("tools"))
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    ]


def _message_findings(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list):
        yield "messages: must be a list"
        return
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        if not isinstance(message, dict):
            yield f"{where}: must be an object"
            continue
        if message.get("role") not in _ROLES:
            yield f"{where}.role: must be user or assistant, not {_shown(message.get('role'))}"
        yield from _content_findings(f"{where}.content", message.get("content"))


def _content_findings(where: str, content: Any) -> Iterator[str]:
    if isinstance(content, list):
        for at, block in enumerate(content):
            yield from _block_findings(f"{where}[{at}]", block)
    else:
        yield from _block_findings(where, content)


def _block_findings(where: str, block: Any) -> Iterator[str]:
    if not isinstance(block, dict):
        yield f"{where}: must be a content block (an object with a type)"
        return
    kind = _kind(block)
    if kind not in _FIELDS:
        yield f"{where}.type: must be one of {', '.join(_FIELDS)}, not {_shown(block.get('type'))}"
        return
    for field, expected, words in _FIELDS[kind]:
        if not isinstance(block.get(field), expected):
            yield f"{where}.{field}: must be {words} in {kind}"
    if kind in ("image", "audio") and not _is_base64(block.get("data")):
        yield f"{where}.data: is not base64"
    if kind == "tool_result":
        if not isinstance(block.get("isError", False), bool):
            yield f"{where}.isError: must be true or false"
        for at, inner in enumerate(_list(block.get("content"))):
            if _kind(inner) in ("tool_use", "tool_result"):
                yield f"{where}.content[{at}]: a tool_result cannot hold {_kind(inner)}"
            else:
                yield from _block_findings(f"{where}.content[{at}]", inner)


def _balance(messages: list[Any]) -> Iterator[str]:
    """The rules of client/sampling, "Message Content Constraints"."""
    open_ids: list[str] = []  # of the assistant message just before
    for at, message in enumerate(messages):
        where, role = f"messages[{at}]", _dict(message).get("role")
        kinds = [_kind(block) for block in _blocks(message)]
        results = _ids(message, "tool_result", "toolUseId")
        if "tool_result" in kinds and role == "assistant":
            yield f"{where}: tool_result belongs in a user message"
        elif "tool_result" in kinds and set(kinds) != {"tool_result"}:
            yield f"{where}: a message with tool_result must hold nothing else"
        if "tool_use" in kinds and role == "user":
            yield f"{where}: tool_use belongs in an assistant message"
        if role == "user":
            for missing in _without(open_ids, results):
                yield f"{where}: no tool_result for the tool_use {missing!r} just before"
            for stray in _without(results, open_ids):
                yield f"{where}: tool_result for {stray!r}, which matches no tool_use just before"
        elif open_ids:
            yield f"{where}: comes before the tool_result for {open_ids[0]!r}"
        open_ids = _ids(message, "tool_use", "id") if role == "assistant" else []
        if len(set(open_ids)) < len(open_ids):
            yield f"{where}: two tool_use blocks have the same id"
    if open_ids:
        yield f"messages: the last one has tool_use {open_ids[0]!r} without a tool_result"


def _option_findings(params: dict[str, Any]) -> Iterator[str]:
    most: Any = params.get("maxTokens")
    if not _is_number(most) or most < 1 or most % 1 != 0:
        yield "maxTokens: must be a whole number, 1 or more"
    if params.get("includeContext", "none") not in _CONTEXTS:
        yield f"includeContext: must be {' or '.join(_CONTEXTS)}"
    if "temperature" in params and not _is_number(params["temperature"]):
        yield "temperature: must be a number"
    if not isinstance(params.get("systemPrompt", ""), str):
        yield "systemPrompt: must be a string"
    stops = params.get("stopSequences", [])
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        yield "stopSequences: must be a list of strings"
    if not isinstance(params.get("metadata", {}), dict):
        yield "metadata: must be an object"


def _preference_findings(preferences: Any) -> Iterator[str]:
    if preferences is None:
        return
    if not isinstance(preferences, dict):
        yield "modelPreferences: must be an object"
        return
    for name in _PRIORITIES:
        value = preferences.get(name, 0)
        if not _is_number(value) or not 0 <= value <= 1:
            yield f"modelPreferences.{name}: must be a number from 0 to 1"
    hints = preferences.get("hints", [])
    if not isinstance(hints, list):
        yield "modelPreferences.hints: must be a list"
        return
    for at, hint in enumerate(hints):
        if not isinstance(hint, dict) or not isinstance(hint.get("name", ""), str):
            yield f"modelPreferences.hints[{at}]: must be an object with a name"


def _tool_findings(params: dict[str, Any]) -> Iterator[str]:
    tools = params.get("tools", [])
    if not isinstance(tools, list):
        yield "tools: must be a list"
        tools = []
    names: set[str] = set()
    for at, tool in enumerate(tools):
        name = _dict(tool).get("name")
        if not isinstance(name, str) or not name:
            yield f"tools[{at}]: must be an object with a name"
            continue
        if name in names:
            yield f"tools[{at}]: the name {name!r} is already taken"
        names.add(name)
        if not isinstance(tool.get("inputSchema"), dict):
            yield f"tools[{at}].inputSchema: must be an object"
    choice = params.get("toolChoice", {})
    if not isinstance(choice, dict):
        yield "toolChoice: must be an object with a mode"
    elif choice.get("mode", "auto") not in _CHOICES:
        yield f"toolChoice.mode: must be {' or '.join(_CHOICES)}, not {_shown(choice['mode'])}"
    elif choice.get("mode") == "required" and not names:
        yield "toolChoice.mode: required, but no tool is offered"


def _envelope_findings(result: dict[str, Any]) -> Iterator[str]:
    if result.get("role") != "assistant":
        yield f"role: must be assistant, not {_shown(result.get('role'))}"
    if not isinstance(result.get("model"), str):
        yield "model: must be a string"
    if "stopReason" in result and not isinstance(result["stopReason"], str):
        yield "stopReason: must be a string, or left out"


def _tool_use_findings(params: Any, result: dict[str, Any]) -> Iterator[str]:
    blocks = _blocks(result)
    uses = [block for block in blocks if _kind(block) == "tool_use"]
    names = {tool["name"] for tool in offered_tools(params)}
    if any(_kind(block) == "tool_result" for block in blocks):
        yield "content: an answer cannot hold tool_result"
    if uses and not names:
        yield "content: tool_use, but the request offers no tools"
    seen = set(used_ids(params))
    for use in uses:
        name, use_id = use.get("name"), use.get("id")
        if names and isinstance(name, str) and name not in names:
            yield f"content: tool_use of {name!r}, which is not offered"
        if isinstance(use_id, str):
            if use_id in seen:
                yield f"content: the tool_use id {use_id!r} is used twice"
            seen.add(use_id)
    if uses and result.get("stopReason") != "toolUse":
        yield "stopReason: must be toolUse when the content has tool_use"
    if not uses and result.get("stopReason") == "toolUse":
        yield "stopReason: toolUse, but the content has no tool_use"
    mode = _dict(_dict(params).get("toolChoice")).get("mode")
    if mode == "none" and uses:
        yield "content: tool_use, but toolChoice is none"
    if mode == "required" and not uses:
        yield "content: no tool_use, but toolChoice is required"


def _first(sources: list[Callable[[], Iterator[str]]]) -> tuple[str, ...]:
    return tuple(islice((finding for source in sources for finding in source()), _MOST_FINDINGS))


def _numbered(used: Iterable[str]) -> Callable[[], str]:
    taken, numbers = frozenset(used), count(1)

    def next_id() -> str:
        return next(name for number in numbers if (name := f"call_{number}") not in taken)

    return next_id


def _ids(message: Any, kind: str, field: str) -> list[str]:
    return [
        block[field]
        for block in _blocks(message)
        if _kind(block) == kind and isinstance(block.get(field), str)
    ]


def _without(ids: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [one for one in dict.fromkeys(ids) if one not in known]


def _messages(params: Any) -> list[Any]:
    return _list(_dict(params).get("messages"))


def _blocks(message: Any) -> list[dict[str, Any]]:
    content = _dict(message).get("content")
    blocks = content if isinstance(content, list) else [content]
    return [block for block in blocks if isinstance(block, dict)]


def _kind(block: Any) -> str:
    kind = _dict(block).get("type")
    return kind if isinstance(kind, str) else ""


def _is_base64(data: Any) -> bool:
    if not isinstance(data, str):
        return True  # said already, as a wrong type
    try:
        binascii.a2b_base64(data, strict_mode=bool(data))
    except ValueError:
        return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:40])
    return "nothing" if value is None else f"a {type(value).__name__}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
