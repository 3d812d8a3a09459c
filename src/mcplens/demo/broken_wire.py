"""Tools that send invalid bytes, or a wrong answer."""

from __future__ import annotations

from typing import Any

from mcplens.demo.registry import Answered, Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.protocol.frames import encode_result


def _good(context: RequestContext, words: str = "fine") -> bytes:
    return encode_result(context.id, {**text(words), "resultType": "complete"})


def _answer(context: RequestContext, data: bytes) -> Json:
    """Send these bytes as the answer, whatever they are."""
    context.client.peer.answer(context.id, data)
    raise Answered


@tool("broken-json", "Answers with something that is not JSON at all.")
async def no_json(context: RequestContext) -> Json:
    return _answer(context, b"Internal error: see the log")


@tool("broken-truncated", "Answers with the first half of an answer.")
async def truncated(context: RequestContext) -> Json:
    data = _good(context, "this text is cut in the middle")
    return _answer(context, data[: len(data) // 2])


@tool("broken-utf8", "Answers with a byte in it that is not UTF-8.")
async def not_utf8(context: RequestContext) -> Json:
    return _answer(context, _good(context, "caf#").replace(b"#", b"\xe9"))


@tool("broken-id", "Answers with an id that nobody asked with.")
async def wrong_id(context: RequestContext) -> Json:
    return _answer(context, encode_result("somebody-else", text("for whom is this?")))


@tool("broken-twice", "Answers twice, and differently.")
async def twice(context: RequestContext) -> Json:
    context.client.peer.send(_good(context, "the first answer"), during=context.id)
    return _answer(context, _good(context, "the second answer"))


@tool("broken-version", "Answers as JSON-RPC 1.0 would: without the member jsonrpc.")
async def old_version(context: RequestContext) -> Json:
    return _answer(context, _good(context).replace(b'"jsonrpc":"2.0",', b""))


@tool("broken-batch", "Answers with an array, which only 2025-03-26 allows.")
async def batch(context: RequestContext) -> Json:
    return _answer(context, b"[" + _good(context) + b"]")


@tool("broken-error", "Answers with an error whose code is a word.")
async def odd_error(context: RequestContext) -> Json:
    error = b'"error":{"code":"E_OOPS","message":"oops"}'
    return _answer(context, _good(context).partition(b'"result"')[0] + error + b"}")


@tool("broken-nothing", "Answers with a result that is null.")
async def null(context: RequestContext) -> Json:
    return _answer(context, encode_result(context.id, None))


@tool(
    "broken-print",
    "Prints a line between the messages before it answers: the classic stdio mistake.",
)
async def stray_line(context: RequestContext) -> Json:
    context.client.peer.send(b"Loading model... done.", during=context.id)
    return text("did you see the stray line?")


@tool(
    "broken-http",
    "Answers by HTTP alone: an error status with a page for people, as a proxy would.",
    {"status": {"type": "integer", "minimum": 400, "maximum": 599, "default": 502}},
)
async def http_error(context: RequestContext) -> Json:
    status: Any = context.arguments.get("status", 502)
    page = f"<html><body><h1>{status}</h1><p>nginx</p></body></html>".encode()
    if context.client.peer.reject(context.id, status, "text/html", page):
        raise Answered
    raise ToolFailure("there is no HTTP status on this transport")
