"""Examples: calls of a tool that are kept under a name.

Each command gives all examples of that tool, so that a page need not ask again.
"""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.protocol.frames import decode_value
from mcplens.store.lenient_json import to_json
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import raw_json
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace.calls import Call
from mcplens.workspace.examples import Example
from mcplens.workspace.workspace import Workspace


class ExampleView(msgspec.Struct, frozen=True):
    """A call of a tool that was saved under a name; `result` is null if it was large.

    The arguments are JSON text, since a page that reads numbers loses digits of large ones."""

    name: str
    saved: float
    arguments: str
    result: Raw


async def _of_tool(workspace: Workspace, server_id: str, tool: str) -> list[ExampleView]:
    found = await run_in_thread(partial(workspace.examples.of_tool, server_id, tool))
    return [
        ExampleView(
            one.name, one.saved, to_json(one.arguments).decode(), raw_json(to_json(one.result))
        )
        for one in found
    ]


class SaveExample(Command, frozen=True, kw_only=True):
    """Save a call of a tool under a name, without values that are named like secrets."""

    call_id: str
    name: str


@command
async def save(workspace: Workspace, command: SaveExample) -> list[ExampleView]:
    call = workspace.calls.find(command.call_id)
    if call.kind != "tool":
        raise InspectorError("INVALID_REQUEST", "only the call of a tool can be an example")
    example = _example(call, command.name, workspace.clock.wall())
    await run_in_thread(partial(workspace.examples.save, example))
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


class DeleteExample(Command, frozen=True, kw_only=True):
    server_id: str
    tool: str
    name: str


@command
async def delete(workspace: Workspace, command: DeleteExample) -> list[ExampleView]:
    examples = workspace.examples
    await run_in_thread(partial(examples.delete, command.server_id, command.tool, command.name))
    return await _of_tool(workspace, command.server_id, command.tool)


class ListExamples(Command, frozen=True, kw_only=True):
    """The examples of a tool, of this run and of others."""

    server_id: str
    tool: str


@command
async def list_examples(workspace: Workspace, command: ListExamples) -> list[ExampleView]:
    return await _of_tool(workspace, command.server_id, command.tool)
