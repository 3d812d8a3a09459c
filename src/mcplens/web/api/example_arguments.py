"""Plausible arguments for a schema, for the page's "Fill with an example"."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.protocol.schema_examples import example_object
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import raw_json
from mcplens.workspace.workspace import Workspace


class ExampleArguments(msgspec.Struct, frozen=True):
    """An object that a schema describes; empty if it describes none."""

    arguments: Raw


class MakeExample(Command, frozen=True, kw_only=True):
    """Ask for arguments that fit a JSON Schema: its own examples and defaults, else made up."""

    schema: Raw


@command
async def make_example(_: Workspace, command: MakeExample) -> ExampleArguments:
    try:
        schema = msgspec.json.decode(command.schema)
    except RecursionError:
        text = "The schema is nested too deeply to make an example of it"
        raise InspectorError("INVALID_REQUEST", text) from None
    return ExampleArguments(raw_json(msgspec.json.encode(example_object(schema))))
