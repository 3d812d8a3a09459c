"""The list of faults, and the bytes of those that are a matter of bytes alone. Pure.

A frame is what a transport carries as one message: a line on stdio, a JSON body or the data of
an SSE event over HTTP, a text frame on a WebSocket.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ALL = frozenset({"stdio", "http", "sse", "ws"})
HTTP = frozenset({"http"})
HTTP_AND_SSE = frozenset({"http", "sse"})
STDIO = frozenset({"stdio"})
WS = frozenset({"ws"})
SSE = frozenset({"sse"})
NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Fault:
    """What goes wrong, where it can, and what the caller should see of it."""

    description: str
    transports: frozenset[str] = ALL
    outcome: str = "error"  # or "result", or "either": the protocol leaves it open
    kills: frozenset[str] = field(default=NONE)  # transports whose channel is gone afterwards
    at_start: bool = False  # it shows before the handshake is done, not at the call of "bad"


FAULTS: dict[str, Fault] = {
    "invalid_json": Fault("invalid JSON whose id can be read"),
    "invalid_json_no_id": Fault("invalid JSON without an id"),
    "not_json_line": Fault("a line of plain text, and no answer"),
    "batch": Fault("the right answer inside an array"),
    "wrong_id": Fault("the answer under the id of the first request, long answered"),
    "string_id": Fault('the id as a string: "7" for 7'),
    "unknown_id": Fault("the answer under an id that nobody used"),
    "result_and_error": Fault("result and error together"),
    "neither": Fault("neither result nor error"),
    "array_result": Fault("an array as result"),
    "null_result": Fault("null as result"),
    "error_without_code": Fault("an error without a code"),
    "error_string_code": Fault("an error whose code is a string"),
    "wrong_jsonrpc": Fault('"jsonrpc": "1.0"'),
    "missing_jsonrpc": Fault("no jsonrpc member"),
    "bom": Fault("a byte order mark before the right answer", outcome="either"),
    "nul": Fault("a raw NUL byte inside a string"),
    "lone_surrogate": Fault("an escaped lone surrogate in a text", outcome="either"),
    "non_utf8": Fault("a raw byte 0xff in a string", outcome="either"),
    "deep_nesting": Fault("5,000 levels of nesting in the result, the id before it"),
    "deep_nesting_id_last": Fault("5,000 levels of nesting in the result, the id after it"),
    "half_line_exit": Fault("half of the answer, then the process exits with code 7", kills=ALL),
    "burst_10000": Fault("10,000 notifications, then the right answer", outcome="result"),
    "big_40mb": Fault("a right answer of 40 MB", outcome="result"),
    "stderr_50mb": Fault("50 MB on stderr, then the right answer", STDIO, "result"),
    "nothing": Fault("no answer, ever"),
    "exit_at_once": Fault(
        "exits with code 3 before it says anything", STDIO, kills=STDIO, at_start=True
    ),
    "silent_start": Fault("never says anything at all", kills=ALL, at_start=True),
    "stray_stdout": Fault("log lines on stdout around a right but late answer", STDIO, "either"),
    "duplicate_reply": Fault("the right answer twice", outcome="result"),
    "id_null_error": Fault("an error with the id null"),
    "flood": Fault("notifications as fast as they can be read, until cancelled or closed"),
    "http_500_html": Fault("500 with a page of HTML", HTTP_AND_SSE),
    "http_200_html": Fault("200 with a page of HTML", HTTP),
    "http_202_to_request": Fault("202 to a request, and no answer", HTTP),
    "http_401": Fault("401 with WWW-Authenticate", HTTP_AND_SSE),
    "http_403": Fault("403", HTTP_AND_SSE),
    "http_404": Fault("404", HTTP_AND_SSE),
    "http_429": Fault("429 with Retry-After: 7", HTTP_AND_SSE),
    "http_503": Fault("503", HTTP_AND_SSE),
    "sse_cut_no_ids": Fault("an SSE stream cut in the middle of an event", HTTP_AND_SSE, kills=SSE),
    "sse_cut_with_ids": Fault(
        "an SSE stream cut after an event id; a GET resumes it", HTTP, "result"
    ),
    "connection_reset": Fault(
        "the connection is reset", frozenset({"http", "sse", "ws"}), kills=WS
    ),
    "short_body": Fault("a body shorter than its Content-Length", HTTP),
    "dripping_headers": Fault("a byte of a header every 0.2 s, for ever", HTTP_AND_SSE),
    "redirect_cross_origin": Fault("307 to another origin", HTTP_AND_SSE),
    "redirect_same_origin": Fault("307 to a path that works, same origin", HTTP_AND_SSE, "result"),
    "empty_body": Fault("200 with an empty JSON body", HTTP),
    "wrong_content_type": Fault("the right JSON as text/plain", HTTP, "either"),
    "ws_binary_frame": Fault("the right answer in a binary frame", WS, "either"),
    "ws_close_1011": Fault("the socket is closed with 1011 and a reason", WS, kills=WS),
    "ws_no_subprotocol": Fault("the handshake selects no subprotocol", WS, "either", at_start=True),
    "sse_foreign_endpoint": Fault(
        "the endpoint event names another origin", SSE, kills=SSE, at_start=True
    ),
}


def dump(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


def text_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def right(request_id: Any, text: str = "bad, but right") -> bytes:
    return dump({"jsonrpc": "2.0", "id": request_id, "result": text_result(text)})


def noise(number: int) -> bytes:
    params = {"level": "info", "logger": "misbehaving", "data": number}
    return dump({"jsonrpc": "2.0", "method": "notifications/message", "params": params})


def _reply(**members: Any) -> Callable[[Any, Any], list[bytes]]:
    return lambda request_id, _: [dump({"jsonrpc": "2.0", "id": request_id, **members})]


def _nested(request_id: Any, *, id_last: bool) -> bytes:
    deep = b'"result":' + b'{"a":' * 5000 + b"1" + b"}" * 5000
    own_id = b'"id":' + dump(request_id)
    return b'{"jsonrpc":"2.0",' + b",".join([deep, own_id] if id_last else [own_id, deep]) + b"}"


_RIGHT = text_result("bad, but right")
_FAILURE = {"code": -32000, "message": "and yet it failed"}

# fault -> (id of the call, id of the first request of the session) -> frames
FRAMES: dict[str, Callable[[Any, Any], list[bytes]]] = {
    "invalid_json": lambda id_, _: [
        b'{"jsonrpc":"2.0","id":' + dump(id_) + b',"result":{"content":[}}'
    ],
    "invalid_json_no_id": lambda id_, _: [b'{"jsonrpc":"2.0","result":{"content":[}}'],
    "not_json_line": lambda id_, _: [b"INFO tool bad was called"],
    "batch": lambda id_, _: [b"[" + right(id_) + b"]"],
    "wrong_id": lambda id_, first: [right(first)],
    "string_id": lambda id_, _: [right(str(id_) if not isinstance(id_, str) else id_ + " ")],
    "unknown_id": lambda id_, _: [right("nobody-asked")],
    "result_and_error": _reply(result=_RIGHT, error=_FAILURE),
    "neither": _reply(),
    "array_result": _reply(result=[1, 2]),
    "null_result": _reply(result=None),
    "error_without_code": _reply(error={"message": "no code"}),
    "error_string_code": _reply(error={"code": "-32000", "message": "the code is a string"}),
    "wrong_jsonrpc": lambda id_, _: [dump({"jsonrpc": "1.0", "id": id_, "result": _RIGHT})],
    "missing_jsonrpc": lambda id_, _: [dump({"id": id_, "result": _RIGHT})],
    "bom": lambda id_, _: [b"\xef\xbb\xbf" + right(id_)],
    "nul": lambda id_, _: [right(id_, "a?b").replace(b"?", b"\0")],
    "lone_surrogate": lambda id_, _: [right(id_, "a\ud800b")],
    "non_utf8": lambda id_, _: [right(id_, "a?b").replace(b"?", b"\xff")],
    "deep_nesting": lambda id_, _: [_nested(id_, id_last=False)],
    "deep_nesting_id_last": lambda id_, _: [_nested(id_, id_last=True)],
    "burst_10000": lambda id_, _: [*map(noise, range(10_000)), right(id_)],
    "big_40mb": lambda id_, _: [right(id_, "x" * 40_000_000)],
    "duplicate_reply": lambda id_, _: [right(id_), right(id_)],
    "id_null_error": lambda id_, _: [dump({"jsonrpc": "2.0", "id": None, "error": _FAILURE})],
}
