"""Events and runs as the page is shown them; made by event_rows.py and recording_queries.py."""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.protocol.frames import RequestId


class EventView(msgspec.Struct, frozen=True):
    """One event, live or recorded, as a row shows it.

    `kind` is the event's type (docs/reference/events.md). `head` is how the bytes of its message
    (without `_meta`) or body begin, `detail` its other fields. `is_cut` says that `detail`, or the
    line of stderr, lacks what was too large. `is_error` is said by a result: a tool that ran and
    failed. `is_expected` is an error that is no fault: a server of an older revision does not know
    server/discover, which is how mcplens finds out.

    The links are those of the event: the HTTP exchange that carried it, the frame of the request
    that it belongs to, that of the request which caused it, the call and its purpose. They are null
    where the event has none, and in recordings of versions that did not write them.
    """

    run_id: str
    seq: int
    wall: float
    mono: float
    server_id: str
    kind: str
    method: str | None
    request_id: RequestId | None
    status: str | int | None
    size_bytes: int
    head: str
    malformed: str | None
    detail: dict[str, Any]
    is_cut: bool
    is_error: bool
    exchange_id: int | None
    request_seq: int | None
    caused_by_seq: int | None
    is_inferred: bool
    call_id: str | None
    purpose: str | None
    is_expected: bool


class EventPage(msgspec.Struct, frozen=True):
    """Events of the recording; go on with `after` (or `before`) the last one if `has_more`."""

    events: list[EventView]
    has_more: bool


class MatchesView(msgspec.Struct, frozen=True):
    """Which events of a run hold a text, in order; all up to `last_seq` were looked at.

    `is_cut` says that there are older ones that are not told.
    """

    seqs: list[int]
    last_seq: int
    is_cut: bool


class RunView(msgspec.Struct, frozen=True):
    """One run of mcplens that was recorded; `client` is the name of a tapped client.

    `message_count` is null where counting would mean reading too much; then there are no errors
    and no names of what was called either.
    """

    run_id: str
    started: float
    ended: float | None
    title: str
    version: str
    servers: list[str]
    event_count: int
    size_bytes: int
    last_seq: int
    is_live: bool
    client: str | None
    message_count: int | None
    error_count: int
    called: list[str]


class RunPage(msgspec.Struct, frozen=True):
    runs: list[RunView]
    has_more: bool


class WholeEvent(msgspec.Struct, frozen=True):
    """One event with all fields; `text` is its message or body, None if that is not UTF-8.

    `has_exact` says that the bytes without masks are still in memory, for RevealBytes.
    """

    event: EventView
    text: str | None
    text_is_cut: bool
    masked: list[Any]
    has_exact: bool


class ImportedView(msgspec.Struct, frozen=True):
    """What the import of a trace did; `broken` has the first of the lines that were left out."""

    run_ids: list[str]
    event_count: int
    known_count: int
    broken: list[str]
    broken_count: int
