"""Queries on the recording, run on threads: SQLite would block the event loop, and every server.

Each query opens and closes the recording. Events of this run that are still in memory are taken
from there. Called by routes.py and by the commands of api/calls.py, api/history.py and
api/exact_bytes.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from mcplens.errors import ConfigurationError, InspectorError
from mcplens.events import ClientIntroduced, Event, FrameReceived
from mcplens.store.filters import EventMatcher, Filter
from mcplens.store.history import History, IsStopped, Place, RunSummary, check
from mcplens.store.live_runs import is_live
from mcplens.store.pins import find_pin
from mcplens.store.replay import is_request
from mcplens.store.row_decoding import StoredEvent, decode_row
from mcplens.store.row_encoding import RowEncoder, exact_row
from mcplens.store.rows import Row
from mcplens.store.run_facts import RunFacts
from mcplens.web.api.events import EventPage, EventView, MatchesView, RunPage, RunView
from mcplens.web.event_rows import event_view
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace.workspace import Workspace

T = TypeVar("T")

# About 2 MB; a page reads 200,000 events in all.
MOST_EVENTS: Final = 5_000
# Three runs a day for a year.
MOST_RUNS: Final = 1_000
# A client introduces itself in its first request.
_FIRST_EVENTS: Final = 20
# Events that are read for one list of runs: a tenth of a second.
MOST_COUNTED: Final = 50_000
# As many as a page keeps rows.
MOST_MATCHES: Final = 100_000


async def read(workspace: Workspace, work: Callable[[History], T]) -> T:
    """Run a query on the recording.

    Raises:
        ConfigurationError: it cannot be read.
    """

    def ask() -> T:
        with History(workspace.recording_path) as history:
            return work(history)

    return await run_in_thread(ask)


async def runs(workspace: Workspace, limit: int) -> RunPage:
    """The newest runs."""
    limit = min(limit, MOST_RUNS)

    def look(history: History) -> list[RunView]:
        found = history.runs(limit + 1)
        known = _facts_of(history, found)
        return [
            run_view(
                run,
                is_live=_is_live(history, run),
                client=_client_of(history, run),
                facts=known.get(run.run_id),
            )
            for run in found
        ]

    found = await read(workspace, look)
    return RunPage(found[:limit], len(found) > limit)


def run_view(
    run: RunSummary, *, is_live: bool, client: ClientIntroduced | None, facts: RunFacts | None
) -> RunView:
    name = None if client is None else client.client_info.get("name")
    return RunView(
        run.run_id,
        run.started,
        run.ended,
        run.title,
        run.version,
        run.servers,
        run.event_count,
        run.size_bytes,
        run.last_seq,
        is_live,
        name if isinstance(name, str) else None,
        None if facts is None else facts.message_count,
        0 if facts is None else facts.error_count,
        [] if facts is None else facts.called,
    )


def _facts_of(history: History, runs: list[RunSummary]) -> dict[str, RunFacts]:
    """What each run says about its session, of the newest runs that are quick to read."""
    known = {}
    left = MOST_COUNTED
    for run in runs:
        if run.event_count > left:
            continue
        left -= run.event_count
        known[run.run_id] = facts = RunFacts(run.run_id)
        for _, row in history.scan(Filter(run_id=run.run_id)):
            facts.add(row)
    return known


def _is_live(history: History, run: RunSummary) -> bool:
    return run.ended is None and is_live(history.path, run.run_id)


def _client_of(history: History, run: RunSummary) -> ClientIntroduced | None:
    """The client of a tapped session, which introduces itself in its first messages."""
    if not run.title.startswith("tap "):
        return None
    for _, row in islice(history.scan(Filter(run_id=run.run_id)), _FIRST_EVENTS):
        if row.kind == "ClientIntroduced":
            event = decode_row(run.run_id, row).event
            return event if isinstance(event, ClientIntroduced) else None
    return None


def events(
    workspace: Workspace,
    wanted: Filter,
    is_stopped: IsStopped,
    *,
    after: Place | None,
    before: Place | None,
    newest_first: bool,
    limit: int,
) -> EventPage:
    """A page of recorded events; may take long.

    Raises:
        CancelledRequest: it was cancelled.
        ConfigurationError: the recording cannot be read.
    """
    limit = min(limit, MOST_EVENTS)
    found: list[EventView] = []
    with History(workspace.recording_path, is_stopped) as history:
        rows = history.scan(wanted, after=after, before=before, newest_first=newest_first)
        for run_id, row in rows:
            if len(found) == limit:
                return EventPage(found, True)
            found.append(event_view(run_id, row))
    return EventPage(found, False)


def matches(
    workspace: Workspace, wanted: Filter, after_seq: int, is_stopped: IsStopped
) -> MatchesView:
    """The events of one run that match a filter; may take long.

    Searches events that are in memory there, and older ones in the recording.

    Raises:
        CancelledRequest: it was cancelled.
        InspectorError: no run is named, or the recording of another run cannot be read.
    """
    run_id = wanted.run_id
    if run_id is None:
        raise InspectorError("INVALID_REQUEST", "name the run to search")
    is_live = run_id == workspace.bus.run_id
    kept = workspace.bus.since(after_seq) if is_live else []
    is_whole = bool(kept) and kept[0].seq == after_seq + 1
    is_done = is_live and (is_whole or not workspace.bus.last_seq > after_seq)

    seqs: list[int] = []
    last_seq = after_seq
    if not is_done:
        before = (run_id, kept[0].seq) if kept else None
        try:
            with History(workspace.recording_path, is_stopped) as history:
                rows = history.scan(wanted, after=(run_id, after_seq), before=before)
                seqs += deque((row.seq for _, row in rows), MOST_MATCHES + 1)
                run = history.run(run_id)
                last_seq = after_seq if run is None else run.last_seq
        except ConfigurationError:
            if not is_live:
                raise
    if kept:
        seqs += _matches_in_memory(kept, wanted, is_stopped)
        last_seq = kept[-1].seq
    return MatchesView(seqs[-MOST_MATCHES:], last_seq, len(seqs) > MOST_MATCHES)


def _matches_in_memory(kept: list[Event], wanted: Filter, is_stopped: IsStopped) -> Iterator[int]:
    matcher = EventMatcher(wanted)
    for row in RowEncoder().encode(kept):
        check(is_stopped)
        if matcher.matches(row):
            yield row.seq


def kept_event(workspace: Workspace, run_id: str, seq: int) -> Event | None:
    """An event of this run that is still in memory."""
    if run_id == workspace.bus.run_id:
        for event in workspace.bus.since(seq - 1)[:1]:
            if event.seq == seq:
                return event
    return None


async def row_of(workspace: Workspace, run_id: str, seq: int, *, is_exact: bool = False) -> Row:
    """One event as a row: from memory, from its run, or from its pin.

    `is_exact` leaves known secrets in it, if it is in memory: for what is sent again.

    Raises:
        InspectorError: it is not recorded.
    """
    event = kept_event(workspace, run_id, seq)
    if event is not None:
        return exact_row(event) if is_exact else RowEncoder().encode([event])[0]

    def find() -> Row | None:
        path = workspace.recording_path
        with History(path) as history:
            for _, row in history.scan(Filter(run_id=run_id), after=(run_id, seq - 1)):
                if row.seq == seq:
                    return row
                break
        pinned = find_pin(path, run_id, seq)
        return None if pinned is None else pinned.row

    found = await run_in_thread(find)
    if found is None:
        raise InspectorError("INVALID_REQUEST", f"the event {run_id}/{seq} is not recorded")
    return found


async def event(
    workspace: Workspace, run_id: str, seq: int
) -> tuple[EventView, StoredEvent, bytes]:
    """One event: its view with all fields, the event itself, and its bytes.

    Raises:
        InspectorError: it is not recorded.
    """
    row = await row_of(workspace, run_id, seq)
    return event_view(run_id, row, is_whole=True), decode_row(run_id, row), row.payload or b""


async def reply_to(workspace: Workspace, request_seqs: Sequence[int]) -> Place:
    """The frame of this run that answered the last of these requests.

    Raises:
        InspectorError: there is none, or it is not recorded.
    """
    run_id, path = workspace.bus.run_id, workspace.recording_path
    request_seq = request_seqs[-1] if request_seqs else -1
    frames = [one for one in workspace.bus.since(request_seq) if isinstance(one, FrameReceived)]
    rows = RowEncoder().encode([one for one in frames if one.request_seq == request_seq])

    def find() -> list[Row]:
        with History(path) as history:
            wanted = Filter(run_id=run_id, request_seq=request_seq)
            return [row for _, row in history.scan(wanted)]

    for row in rows or await run_in_thread(find):
        if row.kind == "FrameReceived" and row.status in ("result", "error"):
            return run_id, row.seq
    raise InspectorError("INVALID_REQUEST", "the message that carried this result is not recorded")


async def recorded_request(workspace: Workspace, run_id: str, seq: int) -> StoredEvent:
    """A recorded request.

    Raises:
        InspectorError: it is not a request, or not recorded.
    """
    row = await row_of(workspace, run_id, seq, is_exact=True)
    stored = decode_row(run_id, row)
    if not is_request(stored):
        raise InspectorError("INVALID_REQUEST", f"the event {run_id}/{seq} is not a request")
    return stored
