"""Commands about tasks: those that a server runs for us, and those that we hold for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.call_commands import start
from mcplens.web.showing.questions import task_view
from mcplens.workspace import task_requests
from mcplens.workspace.call_specs import TaskResult
from mcplens.workspace.workspace import Workspace


async def list_tasks(workspace: Workspace, command: c.ListTasks) -> list[views.TaskView]:
    tasks = await task_requests.list_tasks(workspace, workspace.find(command.server_id))
    return [task_view(workspace, task) for task in tasks]


async def cancel_task(workspace: Workspace, command: c.CancelTask) -> views.TaskView:
    server = workspace.find(command.server_id)
    task = await task_requests.cancel_task(workspace, server, command.role, command.task_id)
    return task_view(workspace, task)


async def get_result(workspace: Workspace, command: c.GetTaskResult) -> views.CallView:
    spec = TaskResult(server_id=command.server_id, task_id=command.task_id, role=command.role)
    return await start(workspace, spec)


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.ListTasks: list_tasks,
    c.CancelTask: cancel_task,
    c.GetTaskResult: get_result,
}
