"""Calls: what is kept of them, and how they end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from mcplens.app import create_mcp_client
from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.errors import InspectorError, ProtocolError
from mcplens.session.queue import CallTag, Progress
from mcplens.workspace import calls as kept
from mcplens.workspace.call_specs import ToolCall
from mcplens.workspace.calls import Call, Calls, OnProgress, Outcome, Work

SPEC = ToolCall(server_id="s", name="t")


def some_calls(changed: Callable[[str], None] = lambda call_id: None) -> Calls:
    clock = ManualClock()
    return Calls(clock, Bus(clock).next_call_id, changed)


def result(size_bytes: int) -> Work:
    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        return Outcome(b"x" * size_bytes)

    return work


async def run(calls: Calls, work: Work) -> Call:
    client = create_mcp_client(server_id="s")
    call = calls.start(client, SPEC, "tool", "tools/call", "t", {}, work)
    assert call.running is not None
    await asyncio.wait([call.running])
    return call


async def test_the_oldest_that_ended_are_forgotten_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "MOST_KEPT", 3)
    told: list[str] = []
    calls = some_calls(told.append)
    made = [await run(calls, result(1)) for _ in range(5)]
    assert [call.call_id for call in calls] == [call.call_id for call in made[2:]]
    assert calls.get(made[0].call_id) is None
    assert told.count(made[0].call_id) > 1
    with pytest.raises(InspectorError, match="no longer kept"):
        calls.find(made[0].call_id)


async def test_results_beyond_the_bound_go_but_the_newest_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "MOST_RESULT_BYTES", 100)
    calls = some_calls()
    first, second = await run(calls, result(80)), await run(calls, result(200))
    assert first.outcome is not None
    assert first.outcome.raw is None
    assert first.size_bytes == 80
    assert second.outcome is not None
    assert second.outcome.raw is not None


async def test_of_a_large_error_the_beginning_is_kept() -> None:
    async def fail(tag: CallTag, on_progress: OnProgress) -> Outcome:
        raise ProtocolError("INVALID_RESPONSE", "m" * 10**6, raw=b"x" * 10**6, value=["v"] * 10**6)

    call = await run(some_calls(), fail)
    assert isinstance(call.error, ProtocolError)
    assert call.error.size_bytes < 64 * 1024
    assert call.error.details["raw"].startswith(b"xxx")
    assert "Traffic shows all of it" in call.error.details["left_out"]


async def test_a_call_tells_its_progress_and_is_called_off() -> None:
    calls = some_calls()

    async def wait(tag: CallTag, on_progress: OnProgress) -> Outcome:
        on_progress(Progress(1, 2, "half"))
        await asyncio.Event().wait()
        raise AssertionError

    client = create_mcp_client(server_id="s")
    call = calls.start(client, SPEC, "tool", "tools/call", "t", {}, wait)
    await asyncio.sleep(0)
    assert calls.find(call.call_id).progress == Progress(1, 2, "half")
    calls.cancel(call.call_id)
    assert call.running is not None
    await asyncio.wait([call.running])
    assert call.status == "cancelled"


async def test_a_bug_ends_its_call_alone() -> None:
    calls = some_calls()

    async def fail(tag: CallTag, on_progress: OnProgress) -> Outcome:
        raise ZeroDivisionError

    call = await run(calls, fail)
    assert call.status == "error"
    assert call.error is not None
    assert call.error.code == "INTERNAL_ERROR"


async def test_too_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_RUNNING", 0)
    calls = some_calls()
    with pytest.raises(InspectorError, match="running already"):
        await run(calls, result(1))
