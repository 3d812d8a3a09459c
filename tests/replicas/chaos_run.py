"""Mixed load on replicas while parts of the arrangement fail, and what came of it.

A replica is killed and started again, the store is restarted, the balancer cuts connections, a
server hangs: one after the other, again and again. The servers write down what they execute; the
clients write down what they got for each call.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

import mcplens
from mcplens.background import Background
from mcplens.events import LateReply, ReplyUnmatched, StateChanged
from mcplens.session.client import Client
from tests.gateway.fault_run import Level, level
from tests.gateway.harness import NEW, OLD
from tests.ports import held_port
from tests.replicas.arrangement import Arrangement, arrangement, counting_server
from tests.replicas.processes import HttpServer, Replica, until
from tests.replicas.redis_server import RedisServer, redis_server

REPLICAS = 3
VERSIONS = (NEW, OLD)
STDIO_SERVERS = ("pipe1", "pipe2")
STEADY, HANGING = "steady", "hanging"  # servers by HTTP that all replicas share
# Of a call to the server that hangs; shorter than it hangs.
HANGING_TIMEOUT_MS = 1_500
HANG_S = 2.5
# Far above what a call may take: one that has nothing by then has no answer.
PATIENCE_S = 45
# Between two calls of one client, for each client: all share the processor.
PAUSE_S = 0.01
# In this order, so that each part fails several times in a short run.
FAULTS = ("replica", "cut", "hang", "store", "cut")
FAULT_EVERY_S = 1.0


class Call(msgspec.Struct, frozen=True):
    """One call of a client: what it was, and the error that it got, or None."""

    key: str
    client: str
    server: str
    error: str | None


class ChaosRun:
    """Replicas under load; `calls`, `faults` and `surplus` say what happened."""

    def __init__(self, folder: Path, *, clients: int, seed: int) -> None:
        self.calls: list[Call] = []
        self.faults: Counter[str] = Counter()
        self.surplus: list[str] = []  # replies that belong to no call, or came twice
        self.sessions: Counter[str] = Counter()  # how often each client connected
        self.before: list[Level] = []
        self.after: list[Level] = []
        self._folder = folder
        self._count = clients
        self._random = random.Random(seed)
        self._executions = folder / "executions"
        self._http: dict[str, HttpServer] = {}
        self._has_session = {number for number in range(clients) if _version(number) == OLD}
        # Those that have had no answer since a replica was killed: perhaps nobody took them over.
        self._unclaimed: set[int] = set()
        self._claimed = asyncio.Event()
        self._kills = 0

    def __repr__(self) -> str:
        return f"<ChaosRun {len(self.calls)} calls, {dict(self.faults)}>"

    def executions(self) -> Counter[str]:
        """How often each call was executed, by its key."""
        return Counter(self._executions.read_text().split())

    async def run(self, seconds: float) -> None:
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(redis_server(self._folder))
            for name in (STEADY, HANGING):
                port = stack.enter_context(held_port())
                server = self._http[name] = HttpServer(name, self._folder, port, self._executions)
                stack.push_async_callback(server.end)
                await server.start()
            site = await stack.enter_async_context(
                arrangement(
                    self._folder,
                    self._servers(),
                    count=REPLICAS,
                    gateway={"startupBudgetSeconds": 20, "drainSeconds": 5},
                    store=store,
                )
            )
            watching = Background()
            stack.push_async_callback(watching.end)
            clients = [
                await self._connect(stack, watching, site, number) for number in range(self._count)
            ]
            self.before = [level(replica.pid) for replica in site.replicas]
            await self._load(site, store, clients, seconds)
            await self._settle(site, clients)
            self.after = [level(replica.pid) for replica in site.replicas]
            pids = [pid for replica in site.replicas for pid in _children(replica.pid)]
            for replica in site.replicas:
                assert await replica.end(signal.SIGTERM) == 0
            await self._end_of(pids)

    async def _end_of(self, pids: list[int]) -> None:
        """Servers and watchdogs end with their replicas."""

        async def are_gone() -> bool:
            return not any(map(_exists, pids))

        async with asyncio.timeout(PATIENCE_S):
            await until(are_gone)

    def _servers(self) -> dict[str, dict[str, Any]]:
        found = {name: counting_server(self._executions) for name in STDIO_SERVERS}
        found |= {name: server.entry for name, server in self._http.items()}
        found[HANGING]["requestTimeout"] = HANGING_TIMEOUT_MS
        return found

    async def _connect(
        self, stack: AsyncExitStack, watching: Background, site: Arrangement, number: int
    ) -> Client:
        connecting = site.connect(protocol_version=_version(number))
        client = await stack.enter_async_context(connecting)
        watching.start(self._watch(client, number), "watch a client")
        return client

    async def _watch(self, client: Client, number: int) -> None:
        async for event in client.bus.subscribe(0):
            if isinstance(event, LateReply | ReplyUnmatched):
                self.surplus.append(repr(event))
            elif isinstance(event, StateChanged) and event.new == "CONNECTED":
                self.sessions[f"{number}"] += 1

    # -- load --------------------------------------------------------------------------------------

    async def _load(
        self, site: Arrangement, store: RedisServer, clients: list[Client], seconds: float
    ) -> None:
        ending = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for number, client in enumerate(clients):
                group.create_task(self._call_on_and_on(client, number, ending))
            group.create_task(self._fail(group, site, store, ending))
            await asyncio.sleep(seconds)
            ending.set()

    async def _call_on_and_on(self, client: Client, number: int, ending: asyncio.Event) -> None:
        names = [*STDIO_SERVERS, STEADY, STEADY, HANGING]
        for count in itertools.count():
            if ending.is_set():
                return
            seconds = self._random.choice((0, 0, 0.05, 0.5, 1.3))  # the last by a stream
            server = self._random.choice(names)
            arguments = {"key": f"{number}-{count}", "seconds": seconds}
            kills = self._kills
            call = await self._call(client, f"{number}", server, arguments)
            self.calls.append(call)
            if call.error is None and kills == self._kills:
                self._unclaimed.discard(number)
            if not self._unclaimed:
                self._claimed.set()
            await asyncio.sleep(PAUSE_S * self._count)

    async def _call(
        self, client: Client, name: str, server: str, arguments: dict[str, Any]
    ) -> Call:
        """Raises TimeoutError if a call gets neither answer nor error."""
        key, error = arguments["key"], None
        async with asyncio.timeout(PATIENCE_S):
            try:
                result = await client.call_tool(f"{server}__write", arguments)
            except mcplens.InspectorError as problem:
                error = problem.message
            else:
                text = result.content[0].text or ""
                error = text if result.is_error else None
                assert error is not None or text == key, "the answer is that of another call"
        return Call(key, name, server, error)

    async def _settle(self, site: Arrangement, clients: list[Client]) -> None:
        """Everything works again: each client reaches each server."""
        for replica in site.replicas:
            await site.balancer.sees(replica.name)
        for number, client in enumerate(clients):
            for server in (*STDIO_SERVERS, STEADY, HANGING):
                await self._until_answered(client, number, server)

    async def _until_answered(self, client: Client, number: int, server: str) -> None:
        attempts = itertools.count()

        async def is_answered() -> bool:
            arguments = {"key": f"settled-{number}-{server}-{next(attempts)}"}
            return (await self._call(client, f"{number}", server, arguments)).error is None

        async with asyncio.timeout(2 * PATIENCE_S):
            await until(is_answered)

    # -- faults ------------------------------------------------------------------------------------

    async def _fail(
        self,
        group: asyncio.TaskGroup,
        site: Arrangement,
        store: RedisServer,
        ending: asyncio.Event,
    ) -> None:
        returning: asyncio.Task[None] | None = None
        for kind in itertools.cycle(FAULTS):
            await asyncio.sleep(FAULT_EVERY_S)
            if ending.is_set():
                return
            self.faults[kind] += 1
            match kind:
                case "replica":
                    if returning is not None:
                        await returning  # one of them is gone at a time
                    await self._written(store)
                    await self._kill(replica := self._random.choice(site.replicas))
                    returning = group.create_task(_come_back(site, replica))
                case "cut":
                    await site.balancer.drop_connections(self._random.choice(site.replicas).name)
                case "store":
                    async with asyncio.timeout(PATIENCE_S):
                        await self._claimed.wait()
                    await store.kill()
                    await asyncio.sleep(0.3)
                    await store.start()
                case "hang":
                    process = self._http[HANGING].process
                    assert process is not None
                    process.send_signal(signal.SIGSTOP)
                    await asyncio.sleep(HANG_S)
                    process.send_signal(signal.SIGCONT)

    async def _kill(self, replica: Replica) -> None:
        await replica.end(signal.SIGKILL)
        self._kills += 1
        self._unclaimed = set(self._has_session)
        self._claimed.clear()

    async def _written(self, store: RedisServer) -> None:
        """Wait until a store that forgot everything has the facts of all sessions again.

        They have two copies, one at the replica and one in the store: a session that loses both at
        once is lost, which no test can expect otherwise.
        """

        async def are_all_there() -> bool:
            reply = await store.command("KEYS", "mcplens:v1:facts:*")
            return reply.startswith(b"*%d\r\n" % len(self._has_session))

        async with asyncio.timeout(PATIENCE_S):
            await until(are_all_there)


def _version(number: int) -> str:
    return VERSIONS[number % len(VERSIONS)]


async def _come_back(site: Arrangement, replica: Replica) -> None:
    await replica.start()
    await site.balancer.sees(replica.name)


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
