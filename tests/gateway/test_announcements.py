"""Which changes of lists are announced to the clients of a view."""

from __future__ import annotations

import itertools

import pytest

from mcplens.config.views import View
from mcplens.gateway.catalog import KINDS, ChangedList, Kind
from mcplens.gateway.view_handler import ViewHandler
from tests.gateway.harness import STDIO_DEMO, names, running_gateway


@pytest.mark.parametrize("kinds", list(itertools.permutations(KINDS[:3])))
async def test_a_renamed_tool_changes_the_tools_alone_whatever_was_looked_at_first(
    kinds: tuple[Kind, ...],
) -> None:
    async with running_gateway({"demo": STDIO_DEMO}) as running:
        handler = running.gateway.handler_at("/mcp")
        assert isinstance(handler, ViewHandler)
        async with running.connect() as client:
            assert "echo" in await names(client)
        handler.view = View(separator="none", rename={"demo:echo": "say"})
        changed = [ChangedList("demo", kind) for kind in kinds]
        assert handler.published_changes(changed) == {"tools"}
        assert handler.published_changes(changed) == set()
