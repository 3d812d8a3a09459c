"""Tools that misbehave on the wire: bytes that are no answer, or not the one that was asked for."""

from __future__ import annotations

from typing import Any

from mcplens.demo.call import Call
from mcplens.demo.registry import Answered, Failure, Json, text, tool
from mcplens.protocol.frames import encode_result


def _good(call: Call, words: str = "fine") -> bytes:
    return encode_result(call.id, {**text(words), "resultType": "complete"})


def _answer(call: Call, data: bytes) -> Json:
    """Send these bytes as the answer, whatever they are."""
    call.client.peer.answer(call.id, data)
    raise Answered


@tool("broken-json", "Answers with something that is no JSON at all.")
async def no_json(call: Call) -> Json:
    return _answer(call, b"Internal error: see the log")


@tool("broken-truncated", "Answers with the first half of an answer.")
async def truncated(call: Call) -> Json:
    data = _good(call, "this text is cut in the middle")
    return _answer(call, data[: len(data) // 2])


@tool("broken-utf8", "Answers with a byte in it that is not UTF-8.")
async def not_utf8(call: Call) -> Json:
    return _answer(call, _good(call, "caf#").replace(b"#", b"\xe9"))


@tool("broken-id", "Answers with an id that nobody asked with.")
async def wrong_id(call: Call) -> Json:
    return _answer(call, encode_result("somebody-else", text("for whom is this?")))


@tool("broken-twice", "Answers twice, and differently.")
async def twice(call: Call) -> Json:
    call.client.peer.send(_good(call, "the first answer"), during=call.id)
    return _answer(call, _good(call, "the second answer"))


@tool("broken-version", "Answers as JSON-RPC 1.0 would: without the member jsonrpc.")
async def old_version(call: Call) -> Json:
    return _answer(call, _good(call).replace(b'"jsonrpc":"2.0",', b""))


@tool("broken-batch", "Answers with an array, which only 2025-03-26 allows.")
async def batch(call: Call) -> Json:
    return _answer(call, b"[" + _good(call) + b"]")


@tool("broken-error", "Answers with an error whose code is a word.")
async def odd_error(call: Call) -> Json:
    error = b'"error":{"code":"E_OOPS","message":"oops"}'
    return _answer(call, _good(call).partition(b'"result"')[0] + error + b"}")


@tool("broken-nothing", "Answers with a result that is null.")
async def null(call: Call) -> Json:
    return _answer(call, encode_result(call.id, None))


@tool("broken-print", "Prints a line among the messages before it answers: the classic of stdio.")
async def stray_line(call: Call) -> Json:
    call.client.peer.send(b"Loading model... done.", during=call.id)
    return text("did you see the stray line?")


@tool(
    "broken-http",
    "Answers by HTTP alone: an error status with a page for people, as a proxy would.",
    {"status": {"type": "integer", "minimum": 400, "maximum": 599, "default": 502}},
)
async def http_error(call: Call) -> Json:
    status: Any = call.arguments.get("status", 502)
    page = f"<html><body><h1>{status}</h1><p>nginx</p></body></html>".encode()
    if call.client.peer.reject(call.id, status, "text/html", page):
        raise Answered
    raise Failure("there is no HTTP status on this transport")
