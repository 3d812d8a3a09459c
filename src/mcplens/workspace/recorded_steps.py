"""A recorded request as a step that can be saved: what was sent, and how it was answered.

Masked values become variables, as they do when a call is saved. Called by `mcplens history
save-test` and by the web UI; reads the recording, which blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcplens.collections.model import StepKind, step_of_tool
from mcplens.errors import InspectorError
from mcplens.events import FrameReceived
from mcplens.protocol.frames import Frame, Kind
from mcplens.store.filters import Filter
from mcplens.store.history import Entry, History
from mcplens.store.replay import KNOWN, is_request, request_to_replay
from mcplens.workspace.saved_calls import NewStep

# Requests of a run that are made tests, if none is named.
CALLS: Final = frozenset({"tools/call", "resources/read", "prompts/get"})
# Events of one call that are looked at, and of a run at a time.
_MOST_EVENTS: Final = 1_000


class _Masked(Mapping[str, Any]):
    """A value for every masked key; saving makes a variable of it."""

    def __getitem__(self, key: str) -> str:
        return f"masked {key}"

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


def requests_of(history: History, run_id: str, server_id: str | None = None) -> list[int]:
    """The calls of tools, resources and prompts in a run, in order; each once."""
    found: dict[object, int] = {}
    for method in CALLS:
        wanted = Filter(
            run_id=run_id, server_id=server_id, direction="sent", status="request", method=method
        )
        for entry in _all_events(history, wanted):
            if entry.request_seq is None:  # a call of several rounds is one
                found.setdefault(entry.call_id or entry.seq, entry.seq)
    return sorted(found.values())


def _all_events(history: History, wanted: Filter) -> Iterator[Entry]:
    page = history.events(wanted, limit=_MOST_EVENTS)
    while page:
        yield from page
        page = history.events(wanted, after=(page[-1].run_id, page[-1].seq), limit=_MOST_EVENTS)


def recorded_step(history: History, run_id: str, seq: int, name: str) -> NewStep:
    """The request at this position as a test.

    Raises:
        InspectorError: it is not a request, has no answer, or holds a secret that was masked.
    """
    stored = history.event(run_id, seq)
    if stored is None or not is_request(stored):
        text = f"event {seq} of that run is not a request that was sent"
        raise InspectorError("INVALID_REQUEST", text)
    replay = request_to_replay(stored, _Masked())
    if KNOWN in replay.missing:
        text = "it holds a secret that was masked within a text; make the call again and save that"
        raise InspectorError("INVALID_REQUEST", text)
    result, error_code = _answer(history, run_id, seq)
    kind, target, arguments = _parts(replay.method, dict(replay.params or {}))
    return NewStep(
        name=name or target,
        description="",
        server_id=replay.server_id,
        kind=kind,
        target=target,
        arguments=arguments,
        result=result,
        error_code=error_code,
        is_test=True,
        is_recorded=True,
    )


def _parts(method: str, params: dict[str, Any]) -> tuple[StepKind, str, dict[str, Any]]:
    params.pop("_meta", None)
    if method == "tools/call" and isinstance(params.get("name"), str):
        return step_of_tool(params["name"], params.get("arguments", {}))
    if method == "resources/read" and isinstance(params.get("uri"), str):
        return "read", params["uri"], {}
    given = params.get("arguments", {})
    if method == "prompts/get" and isinstance(params.get("name"), str) and isinstance(given, dict):
        return "prompt", params["name"], given
    return "request", method, params


def _answer(history: History, run_id: str, seq: int) -> tuple[Any, int | None]:
    """The last answer of the call: input rounds and tasks come before it."""
    record = history.request_record(run_id, seq)
    entries = [] if record is None else list(record.entries)
    call_id = next((entry.call_id for entry in entries if entry.call_id), None)
    if call_id is not None:
        entries += history.events(Filter(run_id=run_id, call_id=call_id), limit=_MOST_EVENTS)
    for at in sorted({entry.seq for entry in entries}, reverse=True):
        stored = history.event(run_id, at)
        message = getattr(stored.event, "message", None) if stored is not None else None
        is_received = stored is not None and isinstance(stored.event, FrameReceived)
        if not isinstance(message, Frame) or not is_received:
            continue
        if message.kind is Kind.ERROR and message.error is not None:
            return None, message.error.code
        value = message.value() if message.kind is Kind.RESULT else None
        if not isinstance(value, dict) or value.get("resultType", "complete") != "complete":
            continue
        if "task" not in value and "tools" not in value:  # not how a task began, nor a lookup
            return value, None
    raise InspectorError("INVALID_REQUEST", "it was not answered, so there is nothing to expect")
