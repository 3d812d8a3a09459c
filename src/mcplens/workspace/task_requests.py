"""What is asked about tasks at once: which there are, and that one is to end.

Results are waited for, and so are calls (requests.py). Called by the web UI.
"""

from __future__ import annotations

from mcplens.workspace.server import Server
from mcplens.workspace.tasks import Role, TaskState
from mcplens.workspace.workspace import Workspace


async def list_tasks(workspace: Workspace, server: Server) -> list[TaskState]:
    """The tasks of both roles; the server is asked for its own where it can be.

    Raises:
        InspectorError: it is not connected, or does not answer.
    """
    client = server.ready()
    # 2026-07-28 has no list: whoever has no id of a task cannot ask for it.
    if not client.connection.is_stateless:
        server.ready("tasks/list")
        for task in await client.list_client_tasks():
            workspace.tasks.listed(server.server_id, task, workspace.clock.wall())
    workspace.bus_reader.catch_up()
    return workspace.tasks.of_server(server.server_id)


async def cancel_task(workspace: Workspace, server: Server, role: Role, task_id: str) -> TaskState:
    """Call a task off, ours or the server's; gives where it stands then.

    Raises:
        InspectorError: it is not known, or the server does not do it.
    """
    if role == "receiver":
        workspace.tasks.find(server.server_id, role, task_id)
        server.ready().receiver_tasks.cancel_receiver_task(task_id)
    else:
        task = await server.ready("tasks/cancel").cancel_client_task(task_id)
        workspace.tasks.listed(server.server_id, task, workspace.clock.wall())
    workspace.bus_reader.catch_up()
    return workspace.tasks.find(server.server_id, role, task_id)
