"""Carries out commands about examples: calls of a tool that are kept under a name.

Each gives all examples of that tool, so that a page need not ask again. Called by
carrying_out.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from mcplens.errors import InspectorError
from mcplens.protocol.frames import decode_value
from mcplens.store.any_json import to_json
from mcplens.web import commands as c
from mcplens.web.plain import raw_json
from mcplens.web.recorded import beside
from mcplens.web.views import ExampleView
from mcplens.workspace.calls import Call
from mcplens.workspace.examples import Example
from mcplens.workspace.workspace import Workspace


async def save(workspace: Workspace, command: c.SaveExample) -> list[ExampleView]:
    call = workspace.calls.find(command.call_id)
    if call.kind != "tool":
        raise InspectorError("INVALID_REQUEST", "only the call of a tool can be an example")
    example = _example(call, command.name, workspace.clock.wall())
    await beside(partial(workspace.examples.save, example))
    return await _of_tool(workspace, call.server_id, call.name)


def _example(call: Call, name: str, saved: float) -> Example:
    outcome = call.outcome
    raw = outcome.raw if outcome is not None else None
    return Example(
        server_id=call.server_id,
        tool=call.name,
        name=name,
        saved=saved,
        arguments=decode_value(call.request)[0].get("arguments", {}),
        result=None if raw is None else decode_value(raw)[0],
    )


async def delete(workspace: Workspace, command: c.DeleteExample) -> list[ExampleView]:
    examples = workspace.examples
    await beside(partial(examples.delete, command.server_id, command.tool, command.name))
    return await _of_tool(workspace, command.server_id, command.tool)


async def list_examples(workspace: Workspace, command: c.ListExamples) -> list[ExampleView]:
    return await _of_tool(workspace, command.server_id, command.tool)


async def _of_tool(workspace: Workspace, server_id: str, tool: str) -> list[ExampleView]:
    found = await beside(partial(workspace.examples.of_tool, server_id, tool))
    return [
        ExampleView(
            one.name, one.saved, to_json(one.arguments).decode(), raw_json(to_json(one.result))
        )
        for one in found
    ]


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.SaveExample: save,
    c.DeleteExample: delete,
    c.ListExamples: list_examples,
}
