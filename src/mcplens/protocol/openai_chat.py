"""Converts sampling to and from OpenAI's chat API. Pure; called by session/model_endpoint.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mcplens.protocol.sampling import fresh_ids, offered_tools, text_answer, used_ids

_STOP_REASONS: Final = {"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse"}
_TOOL_CHOICES: Final = {"auto": "auto", "required": "required", "none": "none"}
_AUDIO_FORMATS: Final = {
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}


def chat_request(params: Any, model: str) -> dict[str, Any]:
    """The body of a POST to /chat/completions for a sampling request."""
    params = params if isinstance(params, dict) else {}
    messages: list[dict[str, Any]] = []
    if isinstance(params.get("systemPrompt"), str):
        messages.append({"role": "system", "content": params["systemPrompt"]})
    for message in _list(params.get("messages")):
        messages += _chat_messages(message)
    body: dict[str, Any] = {"model": model, "messages": messages}
    for ours, theirs in (
        ("maxTokens", "max_tokens"),
        ("temperature", "temperature"),
        ("stopSequences", "stop"),
    ):
        if params.get(ours) not in (None, []):
            body[theirs] = params[ours]
    tools = offered_tools(params)
    if tools:
        body["tools"] = [_chat_tool(tool) for tool in tools]
        choice = params.get("toolChoice")
        mode = choice.get("mode") if isinstance(choice, dict) else None
        if isinstance(mode, str) and mode in _TOOL_CHOICES:
            body["tool_choice"] = _TOOL_CHOICES[mode]
    return body


def _chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "parameters": tool.get("inputSchema") or {"type": "object"}}
    if isinstance(tool.get("description"), str):
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _chat_messages(message: Any) -> Iterator[dict[str, Any]]:
    """One MCP message may become several chat messages: each tool result is its own message."""
    if not isinstance(message, dict):
        return
    content = message.get("content")
    blocks = [block for block in _list(content) or [content] if isinstance(block, dict)]
    parts, calls = [], []
    for block in blocks:
        kind = block.get("type")
        if kind == "tool_result":
            text = _result_text(block)
            yield {"role": "tool", "tool_call_id": str(block.get("toolUseId")), "content": text}
        elif kind == "tool_use":
            calls.append(_chat_call(block))
        else:
            parts.append(_chat_part(block))
    if not parts and not calls:
        return
    role = "assistant" if message.get("role") == "assistant" else "user"
    said: dict[str, Any] = {"role": role, "content": _simplest(parts)}
    if calls:
        said["tool_calls"] = calls
    yield said


def _chat_call(block: dict[str, Any]) -> dict[str, Any]:
    arguments = msgspec.json.encode(block.get("input") or {}).decode()
    function = {"name": str(block.get("name")), "arguments": arguments}
    return {"id": str(block.get("id")), "type": "function", "function": function}


def _chat_part(block: dict[str, Any]) -> dict[str, Any]:
    kind, data, mime = block.get("type"), block.get("data"), str(block.get("mimeType", ""))
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}}
    if kind == "audio" and mime in _AUDIO_FORMATS:
        sound = {"data": data, "format": _AUDIO_FORMATS[mime]}
        return {"type": "input_audio", "input_audio": sound}
    return {"type": "text", "text": _as_text(block)}


def _simplest(parts: list[dict[str, Any]]) -> Any:
    """Many endpoints accept only plain text, so text alone is sent as a string."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts) or None
    return parts


def _result_text(block: dict[str, Any]) -> str:
    """A tool's result as text; the chat API has no other form for it, and no error flag."""
    text = "\n".join(map(_as_text, _list(block.get("content"))))
    if not text and block.get("structuredContent") is not None:
        text = msgspec.json.encode(block["structuredContent"]).decode()
    return f"error: {text}" if block.get("isError") is True else text


def _as_text(block: Any) -> str:
    """A content block as text; for images and audio only their type."""
    if not isinstance(block, dict):
        return str(block)
    if isinstance(block.get("text"), str):
        return str(block["text"])
    if block.get("type") in ("image", "audio"):
        return f"[{block['type']}, {block.get('mimeType')}]"
    return msgspec.json.encode(block).decode()


def answer_from_chat(reply: Any, params: Any, model: str) -> dict[str, Any]:
    """The result of sampling/createMessage for what the endpoint answered.

    Raises:
        ValueError: not a valid answer; the message says why.
    """
    choices = _list(reply.get("choices")) if isinstance(reply, dict) else []
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ValueError("there is no choices[0].message")
    named = reply.get("model")
    name = named if isinstance(named, str) and named else model
    text = _said(message)
    calls = _list(message.get("tool_calls"))
    if not calls:
        reason = _stop_reason(choice.get("finish_reason"))
        return text_answer(text, model=name, stop_reason=reason)
    content = [{"type": "text", "text": text}] if text else []
    content += _tool_uses(calls, params)
    return {"role": "assistant", "content": content, "model": name, "stopReason": "toolUse"}


def _said(message: dict[str, Any]) -> str:
    """The text of an answer: a string, or parts; a refusal is one too."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(map(_as_text, content))
    said = content or message.get("refusal")
    return said if isinstance(said, str) else ""


def _stop_reason(reason: Any) -> str:
    """The finish reason as MCP's stop reason; the specification allows unknown ones."""
    if not isinstance(reason, str) or reason == "tool_calls":  # no reason given
        return "endTurn"
    return _STOP_REASONS.get(reason, reason)


def _tool_uses(calls: list[Any], params: Any) -> list[dict[str, Any]]:
    """Tool calls with ids that are unique in the conversation; some models always say call_0."""
    taken, fresh = set(used_ids(params)), fresh_ids(params)
    uses = []
    for call in calls:
        use = _tool_use(call)
        while not use["id"] or use["id"] in taken:
            use["id"] = fresh()
        taken.add(use["id"])
        uses.append(use)
    return uses


def _tool_use(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError("a tool call has no function name")
    name, arguments = function["name"], function.get("arguments") or "{}"
    if isinstance(arguments, str):  # some endpoints give the object itself
        try:
            arguments = msgspec.json.decode(arguments)
        except msgspec.DecodeError as problem:
            raise ValueError(f"the arguments of {name} are not valid JSON: {problem}") from None
    if not isinstance(arguments, dict):
        raise ValueError(f"the arguments of {name} are not an object")
    identity = call.get("id")
    known = identity if isinstance(identity, str) else ""
    return {"type": "tool_use", "id": known, "name": name, "input": arguments}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
