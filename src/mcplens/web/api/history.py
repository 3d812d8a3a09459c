"""What is kept of the recording: pins, which are events with a label, and whole runs.

Each command about a pin gives all pins, so that a page need not ask again. Events and runs are
read over HTTP (routes.py), in the views of events.py.
"""

from __future__ import annotations

from functools import partial

import msgspec

from mcplens.store import pins, run_deletion
from mcplens.store.recorded_secrets import Maskers
from mcplens.store.row_masking import mask_rows
from mcplens.web.api.events import EventView
from mcplens.web.event_rows import event_view
from mcplens.web.recording_queries import row_of
from mcplens.web.registry import Command, command, latest_view
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace.workspace import Workspace


class RecordingView(msgspec.Struct, frozen=True):
    """Why recording does not work, or stopped working; null while it works."""

    problem: str | None


@latest_view("recording")
def latest_recording(workspace: Workspace, key: str) -> RecordingView:
    return RecordingView(workspace.recording_problem)


class PinView(msgspec.Struct, frozen=True):
    """A pinned event; it is kept when its run is deleted."""

    label: str
    pinned: float
    event: EventView


async def _all_pins(workspace: Workspace) -> list[PinView]:
    def look() -> list[PinView]:
        found = pins.pins(workspace.recording_path)
        return [PinView(one.label, one.pinned, event_view(one.run_id, one.row)) for one in found]

    return await run_in_thread(look)


class Pin(Command, frozen=True, kw_only=True):
    """Keep an event, under a label; one that is pinned gets the new label."""

    run_id: str
    seq: int
    label: str = ""


@command
async def pin(workspace: Workspace, command: Pin) -> list[PinView]:
    row = await row_of(workspace, command.run_id, command.seq)
    # What is in memory still has its secrets.
    (row,) = mask_rows([row], Maskers(workspace.secret_keys.of))
    path, wall = workspace.recording_path, workspace.clock.wall()
    await run_in_thread(partial(pins.pin, path, command.run_id, row, command.label, wall))
    return await _all_pins(workspace)


class Unpin(Command, frozen=True, kw_only=True):
    run_id: str
    seq: int


@command
async def unpin(workspace: Workspace, command: Unpin) -> list[PinView]:
    await run_in_thread(partial(pins.unpin, workspace.recording_path, command.run_id, command.seq))
    return await _all_pins(workspace)


class ListPins(Command, frozen=True, kw_only=True):
    """All pins, of this run and of others."""


@command
async def list_pins(workspace: Workspace, command: ListPins) -> list[PinView]:
    return await _all_pins(workspace)


class ForgetRun(Command, frozen=True, kw_only=True):
    """Delete what is recorded of a run; of this one, all up to now. Pins are kept."""

    run_id: str


@command
async def delete_run(workspace: Workspace, command: ForgetRun) -> None:
    run_id, goes_on = command.run_id, command.run_id == workspace.bus.run_id
    await run_in_thread(
        partial(run_deletion.delete_run, workspace.recording_path, run_id, goes_on=goes_on)
    )
