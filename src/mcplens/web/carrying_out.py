"""Carries out what the page asks for: which function a command means.

A function takes the workspace and the command; it gives the value of the Reply, or raises an
InspectorError, which becomes the Failure. Every command has one. Called by the socket.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcplens.web import (
    call_commands,
    example_commands,
    pin_commands,
    question_commands,
    server_commands,
    task_commands,
)
from mcplens.workspace.workspace import Workspace

Carry = Callable[[Workspace, Any], Awaitable[Any]]


CARRIERS: Final[dict[type, Carry]] = {
    **server_commands.CARRIERS,
    **call_commands.CARRIERS,
    **question_commands.CARRIERS,
    **task_commands.CARRIERS,
    **pin_commands.CARRIERS,
    **example_commands.CARRIERS,
}


async def carry_out(workspace: Workspace, command: Any) -> Any:
    """Do what a command says, and give what its Reply carries.

    Raises:
        InspectorError: it cannot be done.
    """
    return await CARRIERS[type(command)](workspace, command)
