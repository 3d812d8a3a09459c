"""Sampling in the words of OpenAI's chat API, and back. Pure; called by session/model.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mcplens.protocol.sampling import offered_tools, text_answer

_STOP_REASONS: Final = {"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse"}
_TOOL_CHOICES: Final = {"auto": "auto", "required": "required", "none": "none"}
_AUDIO_FORMATS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3"}


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
        if params.get(ours) is not None:
            body[theirs] = params[ours]
    tools = offered_tools(params)
    if tools:
        body["tools"] = [_chat_tool(tool) for tool in tools]
        choice = params.get("toolChoice")
        mode = choice.get("mode") if isinstance(choice, dict) else None
        if mode in _TOOL_CHOICES:
            body["tool_choice"] = _TOOL_CHOICES[mode]
    return body


def _chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "parameters": tool.get("inputSchema") or {"type": "object"}}
    if isinstance(tool.get("description"), str):
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _chat_messages(message: Any) -> Iterator[dict[str, Any]]:
    """One message of ours may be several of theirs: each tool's result is one of its own."""
    if not isinstance(message, dict):
        return
    content = message.get("content")
    blocks = [block for block in _list(content) or [content] if isinstance(block, dict)]
    parts, calls = [], []
    for block in blocks:
        kind = block.get("type")
        if kind == "tool_result":
            text = _as_text(block.get("content"))
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
    return {"type": "text", "text": _as_text([block])}


def _simplest(parts: list[dict[str, Any]]) -> Any:
    """Many endpoints know plain text only, so text alone is sent as that."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts) or None
    return parts


def _as_text(content: Any) -> str:
    texts = []
    for block in _list(content) or [content]:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block is not None:
            texts.append(block if isinstance(block, str) else msgspec.json.encode(block).decode())
    return "\n".join(texts)


def answer_from_chat(reply: Any, params: Any, model: str) -> dict[str, Any]:
    """The result of sampling/createMessage for what the endpoint answered.

    Raises:
        ValueError: it is no answer, and why.
    """
    choices = _list(reply.get("choices")) if isinstance(reply, dict) else []
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ValueError("there is no choices[0].message")
    named = reply.get("model")
    name = named if isinstance(named, str) and named else model
    text = message.get("content")
    uses = [_tool_use(call) for call in _list(message.get("tool_calls"))]
    if not uses:
        reason = _STOP_REASONS.get(str(choice.get("finish_reason")), "endTurn")
        reason = "endTurn" if reason == "toolUse" else reason
        return text_answer(text if isinstance(text, str) else "", model=name, stop_reason=reason)
    said = [{"type": "text", "text": text}] if isinstance(text, str) and text else []
    return {"role": "assistant", "content": said + uses, "model": name, "stopReason": "toolUse"}


def _tool_use(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError("a tool call has no function name")
    try:
        arguments = msgspec.json.decode(function.get("arguments") or "{}")
    except (msgspec.DecodeError, TypeError) as problem:
        text = f"the arguments of {function['name']} are no JSON: {problem}"
        raise ValueError(text) from None
    identity = call.get("id")
    return {
        "type": "tool_use",
        "id": identity if isinstance(identity, str) and identity else f"call_{function['name']}",
        "name": function["name"],
        "input": arguments if isinstance(arguments, dict) else {},
    }


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
