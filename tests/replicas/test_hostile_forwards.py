"""Forged and replayed forwards, forged session ids, replaced keys: refused, with an audit line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from mcplens.clock import SystemClock
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.owned_ids import OwnedIds
from mcplens.replicas.replica import Replica
from mcplens.replicas.request_proofs import (
    MAX_SKEW_S,
    NOT_OWNER_HEADER,
    PROOF_HEADER,
    WINDOW,
    ForAnotherReplica,
    ProofChecker,
    ProofMaker,
    ProofRefused,
)
from tests.gateway.harness import OLD, RunningGateway, running_gateway

OLD_KEY, KEY, OTHER_KEY = "o" * 32, "k" * 32, "x" * 32
NOW = 1_000_000.0
HEADERS = {"mcp-session-id": "s", "authorization": "Bearer of-the-caller"}


def checked(checker: ProofChecker, proof: str, now: float = NOW, **changed: str) -> str:
    method, target = changed.get("method", "POST"), changed.get("target", "/mcp")
    headers = {**HEADERS, "mcp-session-id": changed.get("session", "s")}
    claims = checker.read(proof, method, target, headers, now)
    checker.take(claims, changed.get("body", "{}").encode(), now)
    return claims.caller


def made(maker: ProofMaker, receiver: str = "two", now: float = NOW) -> str:
    return maker.make(receiver, "POST", "/mcp", HEADERS, b"{}", caller="ann", now=now)


def test_a_proof_says_who_the_caller_is_and_counts_once() -> None:
    maker, checker = ProofMaker((KEY,), "one"), ProofChecker((KEY,), "two")
    first, second, third = (made(maker) for _ in range(3))
    assert checked(checker, second) == "ann"
    assert checked(checker, first) == "ann"  # it took longer
    for again in (first, second):
        with pytest.raises(ProofRefused, match="sent again"):
            checked(checker, again)
    assert checked(checker, third) == "ann"


@pytest.mark.parametrize(
    "changed",
    [{"method": "DELETE"}, {"target": "/mcp/other"}, {"session": "t"}, {"body": '{"a":1}'}],
)
def test_a_proof_is_for_one_request_alone(changed: dict[str, str]) -> None:
    maker, checker = ProofMaker((KEY,), "one"), ProofChecker((KEY,), "two")
    with pytest.raises(ProofRefused, match=r"not signed|another body than was signed"):
        checked(checker, made(maker), NOW, **changed)


def test_a_proof_is_for_one_replica_alone() -> None:
    maker, checker = ProofMaker((KEY,), "one"), ProofChecker((KEY,), "two")
    with pytest.raises(ForAnotherReplica):
        checked(checker, made(maker, receiver="three"))


@pytest.mark.parametrize("skew_s", [-60.0, 60.0])
def test_clocks_may_differ_by_a_minute(skew_s: float) -> None:
    maker, checker = ProofMaker((KEY,), "one"), ProofChecker((KEY,), "two")
    assert checked(checker, made(maker, now=NOW + skew_s)) == "ann"
    with pytest.raises(ProofRefused, match="too old"):
        checked(checker, made(maker, now=NOW + 2 * skew_s))


def test_what_was_seen_is_remembered_for_as_long_as_it_could_be_replayed() -> None:
    maker, checker = ProofMaker((KEY,), "one"), ProofChecker((KEY,), "two")
    old = made(maker)
    assert checked(checker, old) == "ann"
    for _ in range(WINDOW + 1):
        checked(checker, made(maker))
    with pytest.raises(ProofRefused, match="sent again"):
        checked(checker, old)
    later = NOW + 3 * MAX_SKEW_S
    other = ProofMaker((KEY,), "three")
    checked(checker, made(other, now=later), later)  # what is known of others may be forgotten
    with pytest.raises(ProofRefused, match="too old"):
        checked(checker, old, later)


@pytest.mark.parametrize("proof", ["", "x", ".", "eyJ9.abc", "W10=.abc", "é.é", "A" * 10_000])
def test_what_is_not_a_proof_is_refused(proof: str) -> None:
    with pytest.raises(ProofRefused):
        checked(ProofChecker((KEY,), "two"), proof)


def test_keys_are_replaced_one_replica_after_another() -> None:
    before, during = ProofMaker((OLD_KEY,), "one"), ProofMaker((KEY, OLD_KEY), "three")
    both = ProofChecker((KEY, OLD_KEY), "two")
    assert checked(both, made(before)) == checked(both, made(during)) == "ann"
    with pytest.raises(ProofRefused, match="not signed"):
        checked(ProofChecker((KEY,), "two"), made(before))


def test_an_id_names_the_replica_that_made_it_if_a_key_of_ours_signed_it() -> None:
    one, two = "1" * 16, "2" * 16
    session_id = OwnedIds((OLD_KEY,), "session", one).new()
    assert OwnedIds((KEY, OLD_KEY), "session", two).first_owner(session_id) == one
    assert OwnedIds((KEY,), "session", two).first_owner(session_id) is None
    assert OwnedIds((OLD_KEY,), "task", two).first_owner(session_id) is None
    ours = OwnedIds((OLD_KEY,), "session", two)
    text, _, signature = session_id.split(".")
    for forged in (f"{text}.{two}.{signature}", text, "", f"{session_id}\n", "é" * 93):
        assert ours.first_owner(forged) is None


# -- over HTTP ---------------------------------------------------------------------------------


@asynccontextmanager
async def gateway_with_audit(folder: Path, *, is_shared: bool) -> AsyncIterator[RunningGateway]:
    clock = SystemClock()
    replica = Replica(MemoryStore(clock), clock, keys=(KEY,)) if is_shared else None
    async with running_gateway({}, replica=replica) as gateway:
        gateway.gateway.audit_log = AuditLog(folder / "audit.jsonl")
        yield gateway


async def reasons(gateway: RunningGateway) -> list[str]:
    assert gateway.gateway.audit_log is not None
    gateway.gateway.audit_log.flush()
    return [line.get("reason", "") for line in tail(gateway.gateway.audit_log.path, 10)]


PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
POST_HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": OLD,
}


async def test_a_forged_session_id_is_nobodys_session(tmp_path: Path) -> None:
    async with (
        gateway_with_audit(tmp_path, is_shared=True) as gateway,
        aiohttp.ClientSession() as http,
    ):
        owner = gateway.gateway.replica.id
        forged = OwnedIds((OTHER_KEY,), "session", owner).new()
        headers = {**POST_HEADERS, "mcp-session-id": forged}
        async with http.post(gateway.url(), data=PING, headers=headers) as answer:
            assert answer.status == 404
        async with http.get(gateway.url(), headers=headers) as answer:
            assert answer.status == 404
        assert (await reasons(gateway))[0] == "a session id that no replica has made"


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_forged_forward_is_refused(tmp_path: Path, is_shared: bool) -> None:
    async with (
        gateway_with_audit(tmp_path, is_shared=is_shared) as gateway,
        aiohttp.ClientSession() as http,
    ):
        maker = ProofMaker((OTHER_KEY,), "0" * 16)
        proof = maker.make(
            gateway.gateway.replica.id, "POST", "/mcp", POST_HEADERS, PING,
            caller="admin", now=SystemClock().wall(),
        )  # fmt: skip
        for path, given in (("/mcp", proof), ("/mcp", "nonsense"), ("/status", proof)):
            headers = {**POST_HEADERS, PROOF_HEADER: given}
            async with http.post(gateway.url(path), data=PING, headers=headers) as answer:
                assert answer.status == 403
        assert len([one for one in await reasons(gateway) if "between replicas" in one]) == 3


async def test_a_replayed_forward_is_refused(tmp_path: Path) -> None:
    async with (
        gateway_with_audit(tmp_path, is_shared=True) as gateway,
        aiohttp.ClientSession() as http,
    ):
        maker = ProofMaker((KEY,), "0" * 16)
        about = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "replayed"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
        body = json.dumps(message).encode()
        proof = maker.make(
            gateway.gateway.replica.id, "POST", "/mcp", POST_HEADERS, body,
            caller="ann", now=SystemClock().wall(),
        )  # fmt: skip
        headers = {**POST_HEADERS, PROOF_HEADER: proof}
        statuses = []
        for _ in range(2):
            async with http.post(gateway.url(), data=body, headers=headers) as answer:
                statuses.append(answer.status)
        assert statuses == [200, 403]
        assert "sent again" in (await reasons(gateway))[0]
        # One for the process that was here before is not an attack: that replica is gone.
        elsewhere = maker.make(
            "f" * 16, "POST", "/mcp", POST_HEADERS, body, caller="ann", now=SystemClock().wall()
        )
        headers = {**POST_HEADERS, PROOF_HEADER: elsewhere}
        async with http.post(gateway.url(), data=body, headers=headers) as answer:
            assert answer.status == 421
            assert NOT_OWNER_HEADER in answer.headers


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("proof", ["", "x", "of another key", "too old"])
async def test_a_forged_request_is_refused_before_its_body(
    tmp_path: Path, proof: str, is_shared: bool
) -> None:
    """Nothing is kept for whoever reaches the port: the body here never comes."""
    async with (
        gateway_with_audit(tmp_path, is_shared=is_shared) as gateway,
        asyncio.timeout(20),
    ):
        parts = urlsplit(gateway.origin)
        if " " in proof:
            is_old = proof == "too old"
            now = SystemClock().wall() - (2 * MAX_SKEW_S if is_old else 0)
            maker = ProofMaker((KEY if is_old else OTHER_KEY,), "0" * 16)
            receiver = gateway.gateway.replica.id
            proof = maker.make(receiver, "POST", "/mcp", POST_HEADERS, PING, caller="ann", now=now)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        headers = POST_HEADERS | {
            "host": parts.netloc, PROOF_HEADER: proof, "content-length": "1000000",
        }  # fmt: skip
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode())
        assert b" 403 " in await reader.readline()
        writer.close()
        assert "between replicas" in (await reasons(gateway))[0]
