"""Tasks of both roles: those that a server runs for us, and those that we hold for it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mcplens.web.api.calls import CallView, start
from mcplens.web.registry import Command, command, latest_view
from mcplens.web.safe_json import json_safe
from mcplens.workspace.call_specs import TaskResult
from mcplens.workspace.tasks import TaskState
from mcplens.workspace.workspace import Workspace


class TaskView(msgspec.Struct, frozen=True, kw_only=True):
    """A task: one that the server runs for us (`client`), or one that we hold (`receiver`).

    `expires` is when it is forgotten (null: never), `request_seq` the frame of the request that
    became this task, and `question_id` what it waits for. `is_gone` says that it is no longer
    followed. `created` is by the clock of the side that runs it, `started` by that of this machine,
    if it saw the beginning. `ended` is when it was over, or gone, on the clock of `started`.
    """

    task_id: str
    server_id: str
    role: Literal["client", "receiver"]
    method: str
    status: str
    message: str | None
    created: float
    started: float
    updated: float
    ended: float | None
    expires: float | None
    poll_interval_s: float | None
    request_seq: int | None
    call_id: str | None
    question_id: str | None
    task: dict[str, Any]
    is_over: bool
    is_gone: bool


def task_view(workspace: Workspace, task: TaskState) -> TaskView:
    """A task as it was last reported."""
    return TaskView(
        task_id=task.task_id,
        server_id=task.server_id,
        role=task.role,
        method=task.method,
        status=task.status,
        message=task.message,
        created=task.created,
        started=task.started,
        updated=task.updated,
        ended=task.ended,
        expires=task.expires,
        poll_interval_s=task.seconds("pollInterval", "pollIntervalMs"),
        request_seq=task.request_seq,
        call_id=task.call_id,
        question_id=task.question_id,
        task=json_safe(task.task),
        is_over=task.is_over,
        is_gone=task.is_gone,
    )


@latest_view("tasks")
def latest_task(workspace: Workspace, key: str) -> TaskView | None:
    task = workspace.tasks.get(key)
    return None if task is None else task_view(workspace, task)


class ListTasks(Command, frozen=True, kw_only=True):
    """The tasks of both roles; the server is asked for its own where it can be."""

    server_id: str


@command
async def list_tasks(workspace: Workspace, command: ListTasks) -> list[TaskView]:
    server = workspace.find(command.server_id)
    client = server.ready()
    # 2026-07-28 has no tasks/list: only a task whose id is known can be asked for.
    if not client.connection.is_stateless:
        server.ready("tasks/list")
        for task in await client.list_client_tasks():
            workspace.tasks.listed(server.server_id, task, workspace.clock.wall())
    workspace.bus_reader.catch_up()
    return [task_view(workspace, state) for state in workspace.tasks.of_server(server.server_id)]


class CancelTask(Command, frozen=True, kw_only=True):
    """`role` says whose task it is: one that the server runs, or one that we hold."""

    server_id: str
    task_id: str
    role: Literal["client", "receiver"] = "client"


@command
async def cancel_task(workspace: Workspace, command: CancelTask) -> TaskView:
    server = workspace.find(command.server_id)
    role, task_id = command.role, command.task_id
    if role == "receiver":
        workspace.tasks.find(server.server_id, role, task_id)
        server.ready().receiver_tasks.cancel_receiver_task(task_id)
    else:
        task = await server.ready("tasks/cancel").cancel_client_task(task_id)
        workspace.tasks.listed(server.server_id, task, workspace.clock.wall())
    workspace.bus_reader.catch_up()
    return task_view(workspace, workspace.tasks.find(server.server_id, role, task_id))


class GetTaskResult(Command, frozen=True, kw_only=True):
    """A call that waits for a task to end, and has its result."""

    server_id: str
    task_id: str
    role: Literal["client", "receiver"] = "client"


@command
async def get_task_result(workspace: Workspace, command: GetTaskResult) -> CallView:
    spec = TaskResult(server_id=command.server_id, task_id=command.task_id, role=command.role)
    return await start(workspace, spec)
