"""The HTTP side of a recording as a HAR 1.2 file, for the tools that read those.

Secrets are masked as they are in the recording. Called by the surfaces.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from mcplens.store.any_json import to_json
from mcplens.store.carriers import FRAME_KINDS, Place, carriers
from mcplens.store.filters import Filter
from mcplens.store.history import History
from mcplens.store.masks import KeysOf
from mcplens.store.redaction import scan_masked
from mcplens.store.rows import Row
from mcplens.version import VERSION

HTTP_KINDS: Final = frozenset(
    {"HttpRequestSent", "HttpResponseReceived", "HttpBytesReceived", "HttpExchangeEnded"}
)


class _Open(msgspec.Struct):
    """An exchange whose end has not been seen."""

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
    """Write the HTTP exchanges that are wanted, and say how many they are.

    Where events are chosen one by one, these are whole exchanges that they were carried by.
    """
    creator = {"name": "mcplens", "version": VERSION}
    file.write(b'{"log":{"version":"1.2","creator":' + to_json(creator) + b',"entries":[')
    count = 0
    wanted = wanted or Filter()
    every = msgspec.structs.replace(wanted, seqs=None, kinds=HTTP_KINDS)
    begins = None
    if wanted.seqs is not None:
        with_frames = msgspec.structs.replace(every, kinds=HTTP_KINDS | FRAME_KINDS)
        begins = carriers(history.scan(with_frames), wanted.seqs)
    for entry in _entries(scan_masked(history, every, keys_of), begins):
        file.write((b",\n" if count else b"\n") + to_json(entry))
        count += 1
    file.write(b"\n]}}\n")
    return count


def _entries(
    rows: Iterable[tuple[str, Row]], begins: Collection[Place] | None
) -> Iterator[dict[str, Any]]:
    """One entry per exchange, in the order of their ends; unfinished ones last.

    Only those that begin at these places, if any are given.
    """
    unfinished: dict[tuple[str, str, int], _Open] = {}
    for run_id, row in rows:
        detail = row[8] or {}
        key = (run_id, row[3], detail.get("exchange_id", 0))
        if row[4] == "HttpRequestSent":
            if key in unfinished:  # a server that is connected anew counts anew
                yield _entry(unfinished.pop(key))
            if begins is None or (run_id, row[0]) in begins:
                unfinished[key] = _Open(row)
            continue
        exchange = unfinished.get(key)
        if exchange is None:
            continue
        if row[4] == "HttpResponseReceived":
            exchange.response = row
        elif row[9] is not None:
            exchange.pieces.append(row[9])
        if row[4] == "HttpExchangeEnded":
            exchange.elapsed_s = detail.get("elapsed_s")
            exchange.error = detail.get("error")
            yield _entry(unfinished.pop(key))
    for exchange in unfinished.values():
        yield _entry(exchange)


def _entry(exchange: _Open) -> dict[str, Any]:
    request, response = exchange.request, exchange.response
    asked = request[8] or {}
    answered = (response[8] or {}) if response is not None else {}
    wait_s = answered.get("elapsed_s")
    total_s = exchange.elapsed_s if exchange.elapsed_s is not None else wait_s
    entry: dict[str, Any] = {
        "startedDateTime": datetime.fromtimestamp(request[1], UTC).isoformat(),
        "time": _ms(total_s),
        "request": {
            "method": request[5] or "",
            "url": asked.get("url", ""),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _pairs(asked.get("headers", ())),
            "queryString": _pairs(parse_qsl(urlsplit(asked.get("url", "")).query)),
            "headersSize": -1,
            "bodySize": len(request[9] or b""),
        },
        "response": _response(exchange, answered),
        "cache": {},
        "timings": {
            "send": 0,
            "wait": _ms(wait_s),
            "receive": _ms(total_s - wait_s) if total_s is not None and wait_s is not None else -1,
        },
        "_server": request[3],
    }
    if request[9]:
        mime = _header(asked.get("headers", ()), "content-type")
        entry["request"]["postData"] = {"mimeType": mime, **_content(request[9])}
    if exchange.error is not None:
        entry["_error"] = exchange.error
    return entry


def _response(exchange: _Open, answered: dict[str, Any]) -> dict[str, Any]:
    body = b"".join(exchange.pieces)
    headers = answered.get("headers", ())
    status = exchange.response[7] if exchange.response is not None else 0
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
