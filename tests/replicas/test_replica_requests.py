"""Requests of a replica's own at another one: those that are forged are refused and noted."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

import mcplens
from mcplens.clock import SystemClock
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.gateway.replica_authorizer import ReplicaAuthorizer
from mcplens.gateway.server_handler import path_of
from mcplens.gateway.singletons import detour_entry
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.replica import Replica
from mcplens.replicas.request_proofs import PROOF_HEADER, ProofMaker
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    entries_of,
    running_gateway,
    texts,
)

KEY, OTHER = "k" * 32, "o" * 32
NAME = "the demo/1"
BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@asynccontextmanager
async def holder(folder: Path) -> AsyncIterator[tuple[RunningGateway, Path]]:
    """A gateway that is open to other replicas, and its audit log."""
    log = folder / "audit.jsonl"
    replica = another("first")
    async with (
        running_gateway({NAME: STDIO_DEMO}, token="a-token-of-clients", replica=replica) as gateway,
        asyncio.timeout(PATIENCE_S),
    ):
        gateway.gateway.audit_log = AuditLog(log)
        yield gateway, log


def another(name: str = "second") -> Replica:
    clock = SystemClock()
    return Replica(MemoryStore(clock), clock, name=name, keys=(KEY,))


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_replica_uses_a_server_of_another_like_any_other_server(
    tmp_path: Path, version: str
) -> None:
    async with holder(tmp_path) as (gateway, log):
        (entry,) = entries_of({NAME: {**STDIO_DEMO, "singleton": True}})
        url = detour_entry(entry, gateway.origin).url
        assert url is not None
        authorizer = ReplicaAuthorizer(another(), SystemClock(), gateway.origin)
        options: dict[str, Any] = {"authorizer": authorizer, "protocol_version": version}
        async with mcplens.connect(url, sse_fallback=False, **options) as client:
            assert texts(await client.call_tool("add", {"a": 1, "b": 2})) == "3"
        gateway.gateway.audit_log.close()  # type: ignore[union-attr]
        lines = tail(log, 50)
        assert {line["caller"] for line in lines if line["method"] == "tools/call"} == {
            "the replica second"
        }


async def test_forged_changed_repeated_and_misdirected_requests_are_refused_and_noted(
    tmp_path: Path,
) -> None:
    async with holder(tmp_path) as (gateway, log), aiohttp.ClientSession() as session:
        path = path_of(NAME)

        async def post(value: str, path: str = path, body: bytes = BODY) -> tuple[int, str]:
            headers = {
                PROOF_HEADER: value,
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            }
            url = URL(gateway.url(path), encoded=True)
            async with session.post(url, data=body, headers=headers) as response:
                return response.status, await response.text()

        def signed(key: str = KEY, **changes: Any) -> str:
            given: dict[str, Any] = {"receiver": gateway.origin, "method": "POST", "body": BODY}
            given |= {"target": path, "name": "second", "now": SystemClock().wall()}
            return ProofMaker((key,), secrets.token_hex(8)).make_own(**given | changes)

        assert (await post("forged"))[0] == 403
        assert (await post(signed(key=OTHER)))[0] == 403
        assert (await post(signed(receiver="http://10.0.0.9:1")))[0] == 403
        assert (await post(signed(receiver=gateway.gateway.replica.id)))[0] == 403
        assert (await post(signed(now=SystemClock().wall() - 120)))[0] == 403
        assert (await post(signed(), body=BODY + b" "))[0] == 403
        assert (await post(signed(target="/mcp"), path="/mcp"))[0] == 403
        assert (await post(signed(target="/status"), path="/status"))[0] == 403
        value = signed()
        assert (await post(value))[0] == 400  # there is no session yet
        assert (await post(value))[0] == 403
        gateway.gateway.audit_log.close()  # type: ignore[union-attr]
        refused = [line for line in tail(log, 50) if line["outcome"] == "refused"]
        reasons = [line["reason"] for line in refused if "between replicas" in line["reason"]]
        assert len(reasons) == 9
        assert "sent again" in reasons[0]


def test_an_entry_of_another_replica_starts_nothing() -> None:
    (entry,) = entries_of({NAME: {**STDIO_DEMO, "env": {"A": "b"}, "singleton": True}})
    found = detour_entry(entry, "http://10.0.0.1:80")
    assert found.command is None
    assert found.env == {}
    assert found.url == "http://10.0.0.1:80/servers/the%20demo%2F1/mcp"
