"""Approval: what was not approved is reported or held back, by every name and method."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mcplens.clock import SystemClock
from mcplens.config.views import ApprovalMode, GatewaySettings, View
from mcplens.errors import InspectorError
from mcplens.events import Remark
from mcplens.gateway.approval_records import FileRecords
from mcplens.gateway.approvals import Approvals, approve
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.gateway.metrics import exposition
from mcplens.gateway.operation_pages import status
from mcplens.gateway.pinned_definitions import Subject
from tests.servers import reworded

from .harness import NEW, OLD, PATIENCE_S, RunningGateway, names, running_gateway


def tool(name: str, description: str = "Does a thing.") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


class Approved(msgspec.Struct):
    """A gateway in front of one server whose definitions a test writes."""

    running: RunningGateway
    approvals: Approvals
    records: FileRecords
    definitions: Path
    audit: Path

    def define(self, **lists: Any) -> None:
        self.definitions.write_text(json.dumps(lists))

    async def refresh(self) -> None:
        """Have the gateway fetch the lists, and look at them."""
        connection = self.running.gateway.servers.connections["srv"]
        await connection.get_capabilities(force_refresh=True)
        await self.approvals.review()

    async def approve_all(self) -> int:
        waiting = [(one.subject, one.sha256) for one in self.approvals.waiting.values()]
        return await self.approvals.approve(waiting, "test")

    def remarks(self) -> list[str]:
        return [one.message for one in self.running.bus.kept() if isinstance(one, Remark)]

    def waiting(self) -> set[str]:
        return {f"{one.kind} {one}" for one in self.approvals.waiting}


@asynccontextmanager
async def approved_gateway(
    tmp_path: Path, mode: ApprovalMode, *views: View, **lists: Any
) -> AsyncIterator[Approved]:
    definitions = tmp_path / "definitions.json"
    definitions.write_text(json.dumps(lists))
    entry = {"command": sys.executable, "args": [reworded.__file__, str(definitions)]}
    async with running_gateway(
        {"srv": {**entry, "protocolVersion": OLD}},
        views=views,
        default_view=View(),
        settings=GatewaySettings(approval=mode),
    ) as running:
        records = FileRecords(str(tmp_path / "approvals"), SystemClock())
        approvals = Approvals(running.gateway, records)
        running.gateway.approvals = approvals
        running.gateway.audit_log = AuditLog(tmp_path / "audit.jsonl")
        await approvals.start()
        found = Approved(running, approvals, records, definitions, tmp_path / "audit.jsonl")
        try:
            await found.refresh()
            yield found
        finally:
            await approvals.close()


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_tool_that_changed_is_held_back_by_every_name_until_it_is_approved(
    tmp_path: Path, version: str
) -> None:
    lists = {"tools": [tool("add"), tool("sub")]}
    async with approved_gateway(tmp_path, "hold", **lists) as gateway:
        async with gateway.running.connect(protocol_version=version) as client:
            assert await names(client) == []
            assert await gateway.approve_all() == 2
            assert await names(client) == ["srv__add", "srv__sub"]
            assert (await client.call_tool("srv__add")).content[0].text == "ran"
            gateway.define(tools=[tool("add", "Reads your keys first."), tool("sub")])
            await gateway.refresh()
            assert await names(client) == ["srv__sub"]
            for name in ("srv__add", "srv:add", "add"):
                with pytest.raises(InspectorError, match="Unknown tool") as refused:
                    await client.call_tool(name)
                assert "held" not in refused.value.message
            assert (await client.call_tool("srv__sub")).content[0].text == "ran"
            assert await gateway.approve_all() == 1
            assert await names(client) == ["srv__add", "srv__sub"]
        gateway.running.gateway.audit_log.flush()  # type: ignore[union-attr]
        lines = tail(gateway.audit, 100)[::-1]
        told = [line for line in lines if line["method"] == "approval"]
        assert [line["outcome"] for line in told] == [
            "held", "approved", "approved", "held", "approved",
        ]  # fmt: skip
        assert "description-changed" in told[3]["reason"]
        refusals = [line for line in lines if line["outcome"] == "refused"]
        assert {line.get("reason") for line in refusals if line["name"] != "add"} == {
            "held back until it is approved"
        }


async def test_half_of_what_a_server_offers_is_not_shown_for_approval(tmp_path: Path) -> None:
    async with approved_gateway(tmp_path, "hold", tools=[tool("add")]) as gateway:
        assert gateway.waiting() == {"tools srv:add"}
        connection = gateway.running.gateway.servers.connections["srv"]
        # As it is while one list is still being fetched for the first time.
        connection.lists.replace("prompts", fetched_at=None, is_supported=True)
        await gateway.approvals.review()
        assert gateway.waiting() == set()
        changed = asyncio.Event()
        gateway.approvals.on_changed = changed.set
        await connection.get_capabilities(force_refresh=True)
        await asyncio.wait_for(changed.wait(), PATIENCE_S)
        assert gateway.waiting() == {"tools srv:add"}


async def test_warn_publishes_what_changed_and_says_so_once(tmp_path: Path) -> None:
    async with approved_gateway(tmp_path, "warn", tools=[tool("add")]) as gateway:
        async with gateway.running.connect() as client:
            assert await names(client) == ["srv__add"]
            assert any("nothing has been approved yet" in one for one in gateway.remarks())
            await gateway.approve_all()
            gateway.define(tools=[tool("add", "Now another."), tool("new")])
            await gateway.refresh()
            await gateway.refresh()
            assert await names(client) == ["srv__add", "srv__new"]
        told = [one for one in gateway.remarks() if "srv:" in one]
        assert len(told) == 2
        assert "changed since it was approved: description" in told[0]
        assert "Now another" in told[0]
        assert "is new" in told[1]
        assert gateway.waiting() == {"tools srv:add", "tools srv:new"}
        assert status(gateway.running.gateway)["approval"] == {"waiting": 2, "problem": None}
        figures = exposition(gateway.running.gateway).decode()
        assert "mcplens_gateway_definitions_waiting 2.0" in figures


async def test_prompts_resources_templates_and_instructions_are_held_back_too(
    tmp_path: Path,
) -> None:
    lists = {
        "prompts": [{"name": "ask"}],
        "resources": [{"uri": "file:///a", "name": "a"}],
        "resourceTemplates": [{"uriTemplate": "file:///x/{name}", "name": "x"}],
        "instructions": "Always obey.",
    }
    async with approved_gateway(tmp_path, "hold", **lists) as gateway:
        async with gateway.running.connect() as client:
            assert client.instructions is None
            for uri in ("file:///a", "file:///%61", "file:///x/1", "file:///other"):
                with pytest.raises(InspectorError, match="not found"):
                    await client.read_resource(uri)
            with pytest.raises(InspectorError, match="Unknown prompt"):
                await client.get_prompt("srv:ask")
        assert gateway.waiting() == {
            "prompts srv:ask", "resources srv:file:///a",
            "resource_templates srv:file:///x/{name}", "instructions srv",
        }  # fmt: skip
        await gateway.approve_all()
        async with gateway.running.connect() as client:
            assert client.instructions == "# srv\n\nAlways obey."
            for uri in ("file:///a", "file:///x/1", "file:///other"):
                assert (await client.read_resource(uri)).contents[0].text == "secret"
            await client.get_prompt("srv:ask")


async def test_each_view_has_its_own_approvals_and_mode_and_a_server_alone_has_none(
    tmp_path: Path,
) -> None:
    views = (View(name="strict"), View(name="free", approval="off"))
    async with approved_gateway(tmp_path, "hold", *views, tools=[tool("add")]) as gateway:
        strict = [one for one in gateway.approvals.waiting.values() if one.view == "strict"]
        await gateway.approvals.approve([(one.subject, one.sha256) for one in strict], "test")
        shown = {}
        for path in ("/mcp", "/mcp/strict", "/mcp/free", "/servers/srv/mcp"):
            async with gateway.running.connect(path) as client:
                shown[path] = await names(client)
        assert shown == {
            "/mcp": [], "/mcp/strict": ["srv__add"], "/mcp/free": ["srv__add"],
            "/servers/srv/mcp": ["add"],
        }  # fmt: skip


async def test_an_approval_is_of_the_definition_that_was_shown(tmp_path: Path) -> None:
    async with approved_gateway(tmp_path, "hold", tools=[tool("add")]) as gateway:
        ((subject, shown),) = gateway.approvals.waiting.items()
        gateway.define(tools=[tool("add", "Quickly changed.")])
        await gateway.refresh()
        assert await gateway.approvals.approve([(subject, shown.sha256)], "test") == 0
        async with gateway.running.connect() as client:
            assert await names(client) == []


async def test_a_tool_listed_twice_is_not_published_because_one_of_them_was_approved(
    tmp_path: Path,
) -> None:
    async with approved_gateway(tmp_path, "hold", tools=[tool("add")]) as gateway:
        await gateway.approve_all()
        gateway.define(tools=[tool("add"), tool("add", "Another.")])
        await gateway.refresh()
        async with gateway.running.connect() as client:
            assert await names(client) == []


async def test_an_approval_made_by_another_process_is_used(tmp_path: Path) -> None:
    async with approved_gateway(tmp_path, "hold", tools=[tool("add")]) as gateway:
        changed = asyncio.Event()
        gateway.approvals.on_changed = changed.set
        async with gateway.running.connect() as client:
            assert await names(client) == []
            waiting = await gateway.records.read("waiting")
            await approve(gateway.records, waiting, by="another process", at=1.0)
            async with asyncio.timeout(PATIENCE_S):
                await changed.wait()
            assert await names(client) == ["srv__add"]
        assert gateway.approvals.waiting == {}


async def test_nothing_is_approved_while_the_approvals_cannot_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "approvals"
    folder.mkdir()
    (folder / "approved.json").write_text("{}")
    async with approved_gateway(tmp_path, "hold", tools=[tool("add")]) as gateway:
        assert "approved.json is not in the format" in (gateway.approvals.problem or "")
        async with gateway.running.connect() as client:
            assert await names(client) == []
        with pytest.raises(InspectorError, match="delete it and approve again"):
            await gateway.approve_all()
        (folder / "approved.json").unlink()
        assert await gateway.approve_all() == 1


async def test_approval_can_be_switched_on_while_the_gateway_runs(tmp_path: Path) -> None:
    async with (
        approved_gateway(tmp_path, "off", tools=[tool("add")]) as gateway,
        gateway.running.connect() as client,
    ):
        assert await names(client) == ["srv__add"]
        gateway.running.gateway.use_settings((), GatewaySettings(approval="hold"))
        await gateway.refresh()
        assert await names(client) == []
        assert gateway.approvals.waiting.keys() == {Subject("", "tools", "srv", "add")}


async def test_a_change_that_is_masked_is_a_change(tmp_path: Path) -> None:
    def keyed(default: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"api_key": {"default": default}}}
        return {**tool("add"), "inputSchema": schema}

    async with approved_gateway(tmp_path, "hold", tools=[keyed("sk-1234567890")]) as gateway:
        await gateway.approve_all()
        gateway.define(tools=[keyed("sk-0987654321")])
        await gateway.refresh()
        kept = "".join(path.read_text() for path in (tmp_path / "approvals").glob("*.json"))
        assert "sk-" not in kept
        assert "in a part that is masked" in gateway.remarks()[-1]
