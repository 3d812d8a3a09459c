"""Commands about tasks: those that a server runs for us, and those that we hold for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.call_commands import started
from mcplens.web.question_pictures import task_view
from mcplens.web.question_views import TaskView
from mcplens.workspace import requests
from mcplens.workspace.workspace import Workspace


async def list_tasks(workspace: Workspace, command: c.ListTasks) -> list[TaskView]:
    server = workspace.find(command.server_id)
    client = server.ready()
    # 2026-07-28 has no list: whoever has no id of a task cannot ask for it.
    if not client.connection.is_stateless:
        server.ready("tasks/list")
        for task in await client.list_client_tasks():
            workspace.tasks.listed(server.server_id, task, workspace.clock.wall())
    workspace.follower.catch_up()
    return [task_view(workspace, task) for task in workspace.tasks.of_server(server.server_id)]


async def cancel_task(workspace: Workspace, command: c.CancelTask) -> TaskView:
    server_id, task_id = command.server_id, command.task_id
    server = workspace.find(server_id)
    if command.role == "receiver":
        workspace.tasks.find(server_id, command.role, task_id)
        server.ready().receiver_tasks.cancel_receiver_task(task_id)
    else:
        task = await server.ready("tasks/cancel").cancel_client_task(task_id)
        workspace.tasks.listed(server_id, task, workspace.clock.wall())
    workspace.follower.catch_up()
    return task_view(workspace, workspace.tasks.find(server_id, command.role, task_id))


async def get_result(workspace: Workspace, command: c.GetTaskResult) -> views.CallView:
    server = workspace.find(command.server_id)
    get = requests.get_task_result if command.role == "client" else requests.get_held_result
    return await started(workspace, get(server, workspace.calls, command.task_id), command)


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.ListTasks: list_tasks,
    c.CancelTask: cancel_task,
    c.GetTaskResult: get_result,
}
