"""Query parameters of HTTP requests: event filters, positions, limits. Called by routes.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import QueryParams

from mcplens.errors import InspectorError
from mcplens.protocol.frames import RequestId
from mcplens.store.filters import Filter
from mcplens.store.history import Place

_TEXTS = ("server_id", "method", "direction", "call_id", "purpose")
_LINKS = ("request_seq", "exchange_id")
# Of a number that SQLite can hold.
_MOST_DIGITS = 18


def wanted(query: QueryParams) -> Filter:
    """The event filter of a query.

    Raises:
        InspectorError: a value is not valid.
    """
    fields: dict[str, Any] = {name: query[name] for name in _TEXTS if query.get(name)}
    if fields.get("direction", "sent") not in ("sent", "received"):
        raise _wrong("direction", "sent or received")
    if query.get("run"):
        fields["run_id"] = query["run"]
    if kinds := query.getlist("kind"):
        fields["kinds"] = frozenset(kinds)
    if query.get("request_id"):
        fields["request_id"] = _request_id(query["request_id"])
    if query.get("status"):
        text = query["status"]
        fields["status"] = int(text) if _is_whole(text) else text
    for name in _LINKS:
        if query.get(name):
            if not _is_whole(query[name]):
                raise _wrong(name, "a whole number")
            fields[name] = int(query[name])
    for name in ("since", "until"):
        if query.get(name):
            fields[name] = _number(query, name)
    if query.get("text"):
        fields |= {"text": query["text"], "ignore_case": is_set(query, "ignore_case")}
    return Filter(**fields)


def place(query: QueryParams, name: str) -> Place | None:
    """A position in the recording: `run:seq`, or `seq` if the query names a run."""
    text = query.get(name)
    if not text:
        return None
    run, _, seq = text.rpartition(":")
    run = run or query.get("run", "")
    if not run or not _is_whole(seq):
        raise _wrong(name, "run:seq, or seq together with run")
    return run, int(seq)


def seq(text: str) -> int:
    """The number of an event in a path.

    Raises:
        InspectorError: it is not one.
    """
    if not _is_whole(text):
        raise _wrong("the number of an event", "a whole number")
    return int(text)


def _is_whole(text: str) -> bool:
    """Whether a text is a whole number, of a size that something can have."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def limit(query: QueryParams, default: int) -> int:
    text = query.get("limit") or str(default)
    if not _is_whole(text) or int(text) < 1:
        raise _wrong("limit", "a number of at least 1")
    return int(text)


def is_set(query: Mapping[str, str], name: str) -> bool:
    return query.get(name, "") in ("1", "true")


def _request_id(text: str) -> RequestId:
    """1 and "1" are different ids: text in quotes, or that is not a number, is a string."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    return int(text) if text.lstrip("-").isdecimal() else text


def _number(query: QueryParams, name: str) -> float:
    try:
        return float(query[name])
    except ValueError:
        raise _wrong(name, "a number") from None


def _wrong(name: str, expected: str) -> InspectorError:
    return InspectorError("INVALID_REQUEST", f"{name} must be {expected}")
