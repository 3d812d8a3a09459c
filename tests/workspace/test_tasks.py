"""Tasks as the workspace keeps them."""

from __future__ import annotations

from typing import Any

from mcplens.events import ClientTaskChanged
from mcplens.protocol.tasks import Task
from mcplens.workspace.tasks import Tasks

CREATED = "2026-01-01T00:00:00Z"
CREATED_AT = 1767225600.0


def changed(wall: float, status: str, *, is_gone: bool = False) -> ClientTaskChanged:
    task: dict[str, Any] = {"taskId": "t", "status": status}
    return ClientTaskChanged(
        wall=wall, server_id="s", task_id="t", method="tools/call", status=status, task=task,
        is_gone=is_gone, request_seq=None, call_id=None,
    )  # fmt: skip


def known(status: str, last_updated_at: str | None = None) -> Task:
    return Task("t", status, CREATED, last_updated_at or CREATED)


def test_the_elapsed_time_of_a_task_ends_with_it() -> None:
    tasks = Tasks(lambda key, server_id: None)
    tasks.handle_event(changed(100, "working"))
    assert tasks.handle_event(changed(103, "completed")).ended == 103
    # What is heard of it later does not make it longer.
    assert tasks.listed("s", known("completed"), 200).ended == 103
    assert tasks.handle_event(changed(300, "completed", is_gone=True)).ended == 103


def test_a_task_that_is_gone_has_ended() -> None:
    tasks = Tasks(lambda key, server_id: None)
    assert tasks.handle_event(changed(100, "working")).ended is None
    assert tasks.handle_event(changed(160, "working", is_gone=True)).ended == 160


def test_a_task_that_was_over_when_it_was_listed_ended_at_its_last_update() -> None:
    tasks = Tasks(lambda key, server_id: None)
    task = tasks.listed("s", known("completed", "2026-01-01T00:00:05Z"), CREATED_AT + 900)
    assert (task.ended or 0) - task.started == 5
