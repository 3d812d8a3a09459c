"""Masks the values of secret keys, and known secrets, in rows.

Pure; called by row_encoding.py before rows are written, and where rows are shown or exported, since
a key may have become secret later. recorded_secrets.py finds the secrets.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.known_secrets import known_secrets
from mcplens.store.lenient_json import from_json, to_json
from mcplens.store.recorded_secrets import (
    KeyMasker,
    Mask,
    Maskers,
    mask_argv,
    mask_named_headers,
)
from mcplens.store.rows import Row, payload_field

# A payload of this size is searched by itself: to copy it costs more than one search less saves.
_LARGE_BYTES: Final = 8 * 1024


def mask_rows(rows: list[Row], maskers: Maskers) -> list[Row]:
    """The rows with the secret keys of their servers, and known secrets, masked."""
    # Once per server, not per row: there may be a flood of them.
    found = {server_id: maskers.of(server_id) for server_id in {row.server_id for row in rows}}
    if not any(found.values()):
        return rows
    if not any(one.names for one in found.values() if one is not None) and not _have_known(rows):
        return [_mask_piece_of(row, found[row.server_id]) for row in rows]
    return [row if (one := found[row.server_id]) is None else mask_row(row, one) for row in rows]


def _have_known(rows: list[Row]) -> bool:
    """Whether a known secret is anywhere in these rows: one search for all is much faster."""
    small: list[bytes] = []
    last = None
    for row in rows:
        payload = row.payload
        if payload is None or payload is last:  # an HTTP answer is the message in it
            continue
        last = payload
        if len(payload) < _LARGE_BYTES:
            small.append(payload)
        elif known_secrets.find(payload):
            return True
    if known_secrets.find(b"\n".join(small)):
        return True
    details = [row.detail for row in rows if row.detail is not None]
    return bool(known_secrets.find(to_json(details)))


def _mask_piece_of(row: Row, masker: KeyMasker | None) -> Row:
    """The row of a batch without known secrets: one may still go on from piece to piece."""
    if masker is not None:
        if row.kind == "HttpBytesReceived":
            return mask_row(row, masker)
        if row.kind == "HttpExchangeEnded":
            masker.end_stream((row.server_id, row.http_id))
    return row


def mask_row(row: Row, masker: KeyMasker) -> Row:
    """The row with the values of secret keys, and known secrets, masked; earlier masks stay."""
    name, detail, payload = row.kind, row.detail, row.payload
    marks: list[Mask] = []
    known: list[Any] = []
    stream = (row.server_id, row.http_id)
    if detail is not None:
        detail = {**without_secrets(detail, masker.names)}
        known = list(detail.pop("masked", ()))
        shown, secrets = masker.mask(to_json(detail))
        if secrets:
            detail = from_json(shown)
            marks.append(Mask("detail"))
        if "headers" in detail:
            detail["headers"], named = mask_named_headers(detail["headers"], masker.names)
            marks += named
    if payload is not None:
        is_piece = name == "HttpBytesReceived"
        payload, secrets = masker.mask_piece(stream, payload) if is_piece else masker.mask(payload)
        field = payload_field(name)
        marks += [Mask(field, start, end, key) for start, end, key in secrets]
    if name == "HttpExchangeEnded":
        masker.end_stream(stream)
    known += [mark for mark in map(msgspec.to_builtins, marks) if mark not in known]
    if known:
        detail = {**(detail or {}), "masked": known}
    return msgspec.structs.replace(row, detail=detail, payload=payload)


def without_secrets(detail: dict[str, Any], names: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The detail with secrets masked in commands: its `argv`, and that of an error."""
    argv = detail.get("argv")
    if isinstance(argv, list) and (shown := mask_argv(argv, names)) != argv:
        mark = msgspec.to_builtins(Mask("argv"))
        return {**detail, "argv": shown, "masked": [*detail.get("masked", ()), mark]}
    error: Any = detail.get("error")
    about: Any = error.get("details") if isinstance(error, dict) else None
    command = about.get("command") if isinstance(about, dict) else None
    if isinstance(command, list) and (shown := mask_argv(command, names)) != command:
        mark = msgspec.to_builtins(Mask("error"))
        error = {**error, "details": {**about, "command": shown}}
        return {**detail, "error": error, "masked": [*detail.get("masked", ()), mark]}
    return detail
