"""Carries out commands about what is kept: pins, which are events with a label, and whole runs.

Each about a pin gives all pins, so that a page need not ask again. Called by carrying_out.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from mcplens.store import pins
from mcplens.store.forgetting import forget_run
from mcplens.store.masks import Maskers
from mcplens.store.rows import mask_rows
from mcplens.web import commands as c
from mcplens.web.recorded import beside, row_of
from mcplens.web.rows import event_view
from mcplens.web.views import PinView
from mcplens.workspace.workspace import Workspace


async def pin(workspace: Workspace, command: c.Pin) -> list[PinView]:
    row = await row_of(workspace, command.run_id, command.seq)
    # What is in memory still has its secrets.
    (row,) = mask_rows([row], Maskers(workspace.secret_keys.of))
    path, wall = workspace.recording_path, workspace.clock.wall()
    await beside(partial(pins.pin, path, command.run_id, row, command.label, wall))
    return await list_pins(workspace)


async def unpin(workspace: Workspace, command: c.Unpin) -> list[PinView]:
    await beside(partial(pins.unpin, workspace.recording_path, command.run_id, command.seq))
    return await list_pins(workspace)


async def list_pins(workspace: Workspace, command: c.ListPins | None = None) -> list[PinView]:
    def look() -> list[PinView]:
        found = pins.pins(workspace.recording_path)
        return [PinView(one.label, one.pinned, event_view(one.run_id, one.row)) for one in found]

    return await beside(look)


async def forget(workspace: Workspace, command: c.ForgetRun) -> None:
    run_id, goes_on = command.run_id, command.run_id == workspace.bus.run_id
    await beside(partial(forget_run, workspace.recording_path, run_id, goes_on=goes_on))


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.Pin: pin,
    c.Unpin: unpin,
    c.ListPins: list_pins,
    c.ForgetRun: forget,
}
