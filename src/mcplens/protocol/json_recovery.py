"""Recovers what it can from broken JSON: top-level keys, their spans, and readable ids.

Used only when a frame does not decode; it never raises and is linear in what it looks at.
Called by frames.py.
"""

from __future__ import annotations

import re
from typing import Final

RequestId = int | str

# Strings (closed or cut off), brackets, and the two separators; everything else is skipped over.
# A string that is cut off after a backslash matches too: else each quote in it is tried anew.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],:]', re.DOTALL)
_ID: Final = re.compile(rb'\s*(-?\d{1,40}(?![\d.eE])|"(?:[^"\\]|\\.){0,1000}")')

# A reply's id stands near its start or its end; more than this is not worth the time.
SCAN_LIMIT_BYTES: Final = 1 << 20


def top_level_spans(data: bytes) -> dict[str, tuple[int, int]]:
    """Where the value of each key of the outermost object lies, as far as the text is whole."""
    spans: dict[str, tuple[int, int]] = {}
    start = data.find(b"{")
    if start < 0:
        return spans
    depth = 0
    key: str | None = None
    value_start = -1
    last_string: bytes | None = None
    for token in _TOKEN.finditer(data, start):
        text = token.group()
        mark = text[:1]
        if mark == b'"':
            if depth == 1 and key is None:
                last_string = text
        elif mark in b"{[":
            depth += 1
        elif depth == 1 and mark == b":" and key is None and last_string is not None:
            key, value_start = _text_of(last_string), token.end()
            last_string = None
        elif depth == 1 and mark in b",}" and key is not None:
            spans[key] = (value_start, token.start())
            key = None
        if mark in b"}]":
            depth -= 1
            if depth <= 0:
                break
    if key is not None:
        spans[key] = (value_start, len(data))
    return spans


def readable_ids(data: bytes) -> tuple[RequestId, ...]:
    """The ids that broken JSON answers, as far as readable; not the id of a request."""
    head = data[:SCAN_LIMIT_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n\0")
    if head.startswith(b"["):
        return _batch_ids(head)
    found = _reply_id(head)
    if found is None and len(data) > SCAN_LIMIT_BYTES:
        found = _id_at_end(data[-SCAN_LIMIT_BYTES:])
    return () if found is None else (found,)


def _reply_id(data: bytes) -> RequestId | None:
    spans = top_level_spans(data)
    if "id" not in spans or "method" in spans:
        return None
    return _id_value(data[slice(*spans["id"])])


def _id_at_end(tail: bytes) -> RequestId | None:
    """The id after a long result: `…,"id":7}`."""
    at = tail.rfind(b'"id"')
    if at < 0:
        return None
    after = tail[at + 4 :].lstrip()
    return _id_value(after[1:]) if after.startswith(b":") else None


def _id_value(text: bytes) -> RequestId | None:
    match = _ID.match(text)
    if match is None:
        return None
    value = _json(match.group(1))
    return value if isinstance(value, int | str) else None


def _batch_ids(data: bytes) -> tuple[RequestId, ...]:
    ids: list[RequestId] = []
    depth, member_start = 0, 0
    for token in _TOKEN.finditer(data):
        mark = token.group()[:1]
        if mark in b"{[" and mark:
            depth += 1
            if depth == 2:
                member_start = token.start()
        elif mark in b"}]":
            depth -= 1
            if depth == 1:
                found = _reply_id(data[member_start : token.end()])
                if found is not None:
                    ids.append(found)
    return tuple(ids)


def _text_of(string: bytes) -> str:
    value = _json(string)
    return value if isinstance(value, str) else string.strip(b'"').decode("utf-8", "replace")


def _json(text: bytes) -> object:
    import json  # only broken frames pay for it

    try:
        return json.loads(text)
    except ValueError:
        return None
