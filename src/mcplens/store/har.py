"""Exports recorded HTTP exchanges as a HAR 1.2 file.

Secrets are masked as in the recording. Called by the web UI and the command line.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from mcplens.store.filters import Filter, SeqRanges
from mcplens.store.history import History, Place
from mcplens.store.lenient_json import to_json
from mcplens.store.recorded_secrets import KeysOf
from mcplens.store.rows import FRAME_KINDS, Row
from mcplens.version import VERSION

HTTP_KINDS: Final = frozenset(
    {"HttpRequestSent", "HttpResponseReceived", "HttpBytesReceived", "HttpExchangeEnded"}
)


class _Open(msgspec.Struct):
    """An exchange whose end was not read yet."""

    request: Row
    response: Row | None = None
    pieces: list[bytes] = []
    elapsed_s: float | None = None
    error: str | None = None


def export_har(
    history: History,
    file: BinaryIO,
    wanted: Filter | None = None,
    keys_of: KeysOf | None = None,
) -> int:
    """Write the HTTP exchanges that match a filter; returns how many.

    If single events are selected (`seqs`), the whole exchanges that carried them are written.
    """
    creator = {"name": "mcplens", "version": VERSION}
    file.write(b'{"log":{"version":"1.2","creator":' + to_json(creator) + b',"entries":[')
    count = 0
    wanted = wanted or Filter()
    every = msgspec.structs.replace(wanted, seqs=None, kinds=HTTP_KINDS)
    chosen = None
    if wanted.seqs is not None:
        with_frames = msgspec.structs.replace(every, kinds=HTTP_KINDS | FRAME_KINDS)
        chosen = _chosen(history.scan(with_frames), wanted.seqs)
    for entry in _entries(history.scan_masked(every, keys_of), chosen):
        file.write((b",\n" if count else b"\n") + to_json(entry))
        count += 1
    file.write(b"\n]}}\n")
    return count


class _Chosen(msgspec.Struct):
    """Selected exchanges by run and id; in rows without links, where ids repeat, by first seq."""

    ids: set[tuple[str, int]] = set()
    begins: set[Place] = set()

    def holds(self, run_id: str, request: Row) -> bool:
        if request.exchange_id is None:
            return (run_id, request.seq) in self.begins
        return (run_id, request.exchange_id) in self.ids


def _chosen(rows: Iterable[tuple[str, Row]], seqs: SeqRanges) -> _Chosen:
    """The exchanges that carried these events, or that they are part of."""
    chosen = _Chosen()
    begun: dict[tuple[str, str, int | None], int] = {}
    for run_id, row in rows:
        if row.exchange_id is not None:
            if row.seq in seqs:
                chosen.ids.add((run_id, row.exchange_id))
        elif row.kind in HTTP_KINDS:
            key = (run_id, row.server_id, row.http_id)
            if row.kind == "HttpRequestSent":
                begun[key] = row.seq
            if row.seq in seqs and key in begun:
                chosen.begins.add((run_id, begun[key]))
    return chosen


def _entries(rows: Iterable[tuple[str, Row]], chosen: _Chosen | None) -> Iterator[dict[str, Any]]:
    """One entry per exchange, in the order of their ends; unfinished ones last."""
    unfinished: dict[tuple[str, str, int | None], _Open] = {}
    for run_id, row in rows:
        key = (run_id, row.server_id, row.http_id)
        if row.kind == "HttpRequestSent":
            if key in unfinished:  # without links, ids start again with each connection
                yield _entry(unfinished.pop(key))
            if chosen is None or chosen.holds(run_id, row):
                unfinished[key] = _Open(row)
            continue
        exchange = unfinished.get(key)
        if exchange is None:
            continue
        if row.kind == "HttpResponseReceived":
            exchange.response = row
        elif row.payload is not None:
            exchange.pieces.append(row.payload)
        if row.kind == "HttpExchangeEnded":
            detail = row.detail or {}
            exchange.elapsed_s = detail.get("elapsed_s")
            exchange.error = detail.get("error")
            yield _entry(unfinished.pop(key))
    for exchange in unfinished.values():
        yield _entry(exchange)


def _entry(exchange: _Open) -> dict[str, Any]:
    request, response = exchange.request, exchange.response
    asked = request.detail or {}
    answered = (response.detail or {}) if response is not None else {}
    wait_s = answered.get("elapsed_s")
    total_s = exchange.elapsed_s if exchange.elapsed_s is not None else wait_s
    entry: dict[str, Any] = {
        "startedDateTime": datetime.fromtimestamp(request.wall, UTC).isoformat(),
        "time": _ms(total_s),
        "request": {
            "method": request.method or "",
            "url": asked.get("url", ""),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _pairs(asked.get("headers", ())),
            "queryString": _pairs(parse_qsl(urlsplit(asked.get("url", "")).query)),
            "headersSize": -1,
            "bodySize": len(request.payload or b""),
        },
        "response": _response(exchange, answered),
        "cache": {},
        "timings": {
            "send": 0,
            "wait": _ms(wait_s),
            "receive": _ms(total_s - wait_s) if total_s is not None and wait_s is not None else -1,
        },
        "_server": request.server_id,
    }
    if request.payload:
        mime = _header(asked.get("headers", ()), "content-type")
        entry["request"]["postData"] = {"mimeType": mime, **_content(request.payload)}
    if exchange.error is not None:
        entry["_error"] = exchange.error
    return entry


def _response(exchange: _Open, answered: dict[str, Any]) -> dict[str, Any]:
    body = b"".join(exchange.pieces)
    headers = answered.get("headers", ())
    status = exchange.response.status if exchange.response is not None else 0
    content = {"size": len(body), "mimeType": _header(headers, "content-type")}
    return {
        "status": status or 0,
        "statusText": answered.get("reason", ""),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "content": content | (_content(body) if body else {}),
        "redirectURL": _header(headers, "location"),
        "headersSize": -1,
        "bodySize": len(body),
    }


def _content(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(data).decode(), "encoding": "base64"}


def _pairs(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _header(headers: Any, wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")


def _ms(seconds: float | None) -> float:
    return -1 if seconds is None else round(seconds * 1000, 3)
