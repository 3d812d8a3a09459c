"""What was recorded, read beside the loop: SQLite and large files would hold up every server.

Each question opens the recording, on a thread of a small pool, and closes it. What is still in
memory of this run is answered from there. Called by the HTTP routes and by `ReplayCall`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol.frames import ABSENT, Frame, Kind, decode_value
from mcplens.store.filters import Filter
from mcplens.store.history import History, Place
from mcplens.store.rows import RowEncoder, Stored, decode_row, to_json
from mcplens.web.rows import event_view
from mcplens.web.views import EventPage, EventView, RunPage, RunView
from mcplens.workspace.workspace import Workspace

T = TypeVar("T")

# One long export must not keep a page of Traffic waiting.
_threads: Final = ThreadPoolExecutor(4, thread_name_prefix="mcplens history")
MOST_EVENTS: Final = 1_000
MOST_RUNS: Final = 200


class RecordedRequest(msgspec.Struct, frozen=True):
    """A request that was sent once, for sending it again."""

    server_id: str
    method: str
    params: bytes | None


async def beside(work: Callable[[], T]) -> T:
    """Run blocking work on a thread."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work)


async def read(workspace: Workspace, work: Callable[[History], T]) -> T:
    """Ask the recording something.

    Raises:
        ConfigurationError: it cannot be read.
    """

    def ask() -> T:
        with History(workspace.recording_path) as history:
            return work(history)

    return await beside(ask)


async def runs(workspace: Workspace, limit: int) -> RunPage:
    """The newest runs."""
    limit = min(limit, MOST_RUNS)
    found = await read(workspace, lambda history: history.runs(limit + 1))
    live = workspace.bus.run_id
    shown = [
        RunView(
            run.run_id,
            run.started,
            run.ended,
            run.title,
            run.version,
            run.servers,
            run.event_count,
            run.size_bytes,
            run.last_seq,
            run.run_id == live,
        )
        for run in found[:limit]
    ]
    return RunPage(shown, len(found) > limit)


async def events(
    workspace: Workspace,
    wanted: Filter,
    *,
    after: Place | None,
    before: Place | None,
    newest_first: bool,
    limit: int,
) -> EventPage:
    """A page of recorded events."""
    limit = min(limit, MOST_EVENTS)

    def page(history: History) -> EventPage:
        found: list[EventView] = []
        rows = history.scan(wanted, after=after, before=before, newest_first=newest_first)
        for run_id, row in rows:
            if len(found) == limit:
                return EventPage(found, True)
            found.append(event_view(run_id, row))
        return EventPage(found, False)

    return await read(workspace, page)


async def event(workspace: Workspace, run_id: str, seq: int) -> tuple[EventView, Stored, bytes]:
    """One event: as a row, as it was published, and its bytes.

    Raises:
        InspectorError: it is not there, or no longer.
    """
    if run_id == workspace.bus.run_id:
        for published in workspace.bus.since(seq - 1)[:1]:
            if published[2] == seq:
                (row,) = RowEncoder().encode([published])
                return event_view(run_id, row), decode_row(run_id, row), row[9] or b""

    def find(history: History) -> tuple[EventView, Stored, bytes] | None:
        for _, row in history.scan(Filter(run_id=run_id), after=(run_id, seq - 1)):
            if row[0] != seq:
                return None
            return event_view(run_id, row), decode_row(run_id, row), row[9] or b""
        return None

    found = await read(workspace, find)
    if found is None:
        raise InspectorError("INVALID_REQUEST", f"the event {run_id}/{seq} is not recorded")
    return found


async def recorded_request(workspace: Workspace, run_id: str, seq: int) -> RecordedRequest:
    """The request that an event is.

    Raises:
        InspectorError: it is none, or not recorded.
    """
    _, stored, _ = await event(workspace, run_id, seq)
    message: Any = getattr(stored.event, "message", None)
    if not isinstance(message, Frame) or message.kind is not Kind.REQUEST:
        raise InspectorError("INVALID_REQUEST", f"the event {run_id}/{seq} is no request")
    params = None if message.body is ABSENT else _without_token(bytes(message.body))
    return RecordedRequest(stored.event.server_id, message.method, params)


def _without_token(params: bytes) -> bytes:
    """Params without the progress token, which was that of the first time."""
    value = decode_value(params)[0]
    meta = value.get("_meta") if isinstance(value, dict) else None
    if not isinstance(meta, dict) or "progressToken" not in meta:
        return params
    kept = {name: meta[name] for name in meta if name != "progressToken"}
    value = {name: value[name] for name in value if name != "_meta"}
    return to_json(value | ({"_meta": kept} if kept else {}))
