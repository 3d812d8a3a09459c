"""Approvals in the shared store: in force on all replicas, and forged by nobody."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from mcplens.config.views import GatewaySettings
from mcplens.errors import InspectorError
from mcplens.gateway.approval_store import StoreRecords
from mcplens.gateway.approvals import Approvals, approve
from mcplens.gateway.pinned_definitions import PinnedDefinition, Subject, pin
from mcplens.replicas.state_store import StateStore
from tests.gateway.harness import OLD, PATIENCE_S, names, running_gateway
from tests.replicas.redis_server import RedisServer
from tests.servers import reworded

KEY, OTHER = "k" * 32, "o" * 32
ADD: dict[str, Any] = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}


def definition(name: str = "add") -> PinnedDefinition:
    return pin(Subject("", "tools", "srv", name), json.dumps(ADD).encode(), "0" * 64, at=1.0)


async def test_what_one_replica_approves_is_in_force_on_the_other_within_a_second(
    store: StateStore, tmp_path: Path
) -> None:
    definitions = tmp_path / "definitions.json"
    definitions.write_text(json.dumps({"tools": [ADD]}))
    entry = {"command": sys.executable, "args": [reworded.__file__, str(definitions)]}
    async with AsyncExitStack() as stack:
        replicas = []
        for _ in range(2):
            running = await stack.enter_async_context(
                running_gateway(
                    {"srv": {**entry, "protocolVersion": OLD}},
                    settings=GatewaySettings(approval="hold"),
                )
            )
            approvals = Approvals(running.gateway, StoreRecords(store, [KEY]))
            running.gateway.approvals = approvals
            stack.push_async_callback(approvals.close)
            await approvals.start()
            await running.gateway.servers.settled(PATIENCE_S)
            await approvals.review()
            replicas.append((running, approvals))
        (_, first), (other, second) = replicas
        assert len(first.waiting) == len(second.waiting) == 1
        changed = asyncio.Event()
        second.on_changed = changed.set
        async with other.connect() as client:
            assert await names(client) == []
            chosen = [(one.subject, one.sha256) for one in first.waiting.values()]
            assert await first.approve(chosen, "test") == 1
            async with asyncio.timeout(PATIENCE_S):
                await changed.wait()
            assert await names(client) == ["add"]
        assert await StoreRecords(store, [KEY]).read("waiting") == ()


async def test_nobody_without_the_key_approves_anything(store: StateStore) -> None:
    ours, forger = StoreRecords(store, [KEY]), StoreRecords(store, [OTHER])
    await approve(forger, [definition()], by="forger", at=1.0)
    with pytest.raises(InspectorError, match=r"not signed by a key of gateway\.replica\.keys"):
        await ours.read("approved")
    # What waits is signed too, and is not what was approved.
    await ours.update("waiting", lambda _: (definition(),))
    waiting = await store.get("approvals:waiting")
    assert waiting is not None
    await store.put("approvals:approved", waiting, 60)
    with pytest.raises(InspectorError, match="not signed"):
        await ours.read("approved")
    await store.put("approvals:approved", b"\xff nonsense", 60)
    with pytest.raises(InspectorError, match="not signed"):
        await ours.read("approved")
    assert len(await approve(ours, [definition()], by="us", at=1.0)) == 1
    assert [one.by for one in await ours.read("approved")] == ["us"]


async def test_a_key_is_rotated_while_the_former_one_still_verifies(store: StateStore) -> None:
    await approve(StoreRecords(store, [KEY]), [definition()], by="us", at=1.0)
    both = StoreRecords(store, [OTHER, KEY])
    assert len(await both.read("approved")) == 1
    await approve(both, [definition("sub")], by="us", at=2.0)
    assert len(await StoreRecords(store, [OTHER]).read("approved")) == 2


async def test_approvals_of_two_replicas_at_once_are_both_kept(store: StateStore) -> None:
    records = [StoreRecords(store, [KEY]) for _ in range(4)]
    await asyncio.gather(
        *(
            approve(each, [definition(f"tool{at}")], by="us", at=1.0)
            for at, each in enumerate(records)
        )
    )
    assert len(await records[0].read("approved")) == 4


async def test_without_the_store_nothing_new_is_approved_and_what_was_stays(
    redis: RedisServer, tmp_path: Path
) -> None:
    from mcplens.clock import SystemClock
    from mcplens.replicas.redis_store import RedisStore

    definitions = tmp_path / "definitions.json"
    definitions.write_text(json.dumps({"tools": [ADD]}))
    entry = {"command": sys.executable, "args": [reworded.__file__, str(definitions)]}
    store = RedisStore(redis.settings(), SystemClock())
    await store.open()
    try:
        async with running_gateway(
            {"srv": {**entry, "protocolVersion": OLD}}, settings=GatewaySettings(approval="hold")
        ) as running:
            approvals = Approvals(running.gateway, StoreRecords(store, [KEY]))
            running.gateway.approvals = approvals
            await approvals.start()
            await running.gateway.servers.settled(PATIENCE_S)
            await approvals.review()
            chosen = [(one.subject, one.sha256) for one in approvals.waiting.values()]
            await approvals.approve(chosen, "test")
            await redis.kill()
            definitions.write_text(json.dumps({"tools": [ADD, {**ADD, "name": "sub"}]}))
            connection = running.gateway.servers.connections["srv"]
            await connection.get_capabilities(force_refresh=True)
            await approvals.review()
            async with running.connect() as client:
                assert await names(client) == ["add"]
            chosen = [(one.subject, one.sha256) for one in approvals.waiting.values()]
            with pytest.raises(InspectorError):
                await approvals.approve(chosen, "test")
            await approvals.close()
    finally:
        await store.close()
