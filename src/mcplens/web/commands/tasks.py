"""Commands about tasks of both roles."""

from __future__ import annotations

from typing import Literal

from mcplens.web.commands.base import Command


class ListTasks(Command, frozen=True, kw_only=True):
    """The tasks of both roles; the server is asked for its own where it can be."""

    server_id: str


class CancelTask(Command, frozen=True, kw_only=True):
    """`role` says whose task it is: one that the server runs, or one that we hold."""

    server_id: str
    task_id: str
    role: Literal["client", "receiver"] = "client"


class GetTaskResult(Command, frozen=True, kw_only=True):
    """A call that waits for the end of a task and has its result."""

    server_id: str
    task_id: str
    role: Literal["client", "receiver"] = "client"
