"""Mixed load on a gateway while its servers are killed at random, and what came of it.

The gateway is a process as users start it. Its servers write down what they execute; its clients
write down what they got for each call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

import mcplens
from mcplens.background import Background
from mcplens.events import LateReply, ReplyUnmatched
from mcplens.session.client import Client
from tests.cli.shell import Shell
from tests.cli.test_gateway import TOKEN, Started, bearer, started
from tests.gateway.harness import NEW, OLD
from tests.ports import held_port
from tests.servers.run import ROOT

SERVER = [sys.executable, "-S", str(ROOT / "tests" / "servers" / "counting.py")]
STDIO_SERVERS = 8
HTTP_SERVERS = 2
PER_CALL = "pipe1"
CLIENTS = 4
CALLS_AT_ONCE = 5  # of each client
KILL_EVERY_S = 1.0
# Between two calls of one client: gateway, servers and clients share the processor.
PAUSE_S = 0.1
LARGE_EVERY = 50
LARGE_CHARACTERS = 300_000
# Far above what a call may take: a call that has nothing by then has no answer.
PATIENCE_S = 45
MEASURE_EVERY_S = 5.0
# The gateway returns memory every 20 s.
SETTLE_S = 30


class Call(msgspec.Struct, frozen=True):
    """One call of a client: what it was, and the error that it got, or None."""

    key: str
    server: str
    tool: str
    error: str | None
    code: str = ""


class Level(msgspec.Struct, frozen=True):
    """What the gateway holds: memory, and processes that it started."""

    bytes: int
    processes: int
    files: int


class Levels(msgspec.Struct, frozen=True):
    """Levels of a run: before the load, before the first kill, at the end of the load, and then."""

    began: Level
    warm: Level
    loaded: Level
    after: Level


class FaultRun:
    """A gateway under load; `calls`, `kills` and `surplus` say what happened."""

    def __init__(self, shell: Shell, seed: int) -> None:
        self.calls: list[Call] = []
        self.kills = 0
        self.surplus = 0  # replies that belong to no call, or came twice
        self.left = 0  # servers that outlived the gateway
        self.levels: list[tuple[float, Level]] = []  # during the load, by the seconds since then
        self._shell = shell
        self._random = random.Random(seed)
        self._log = shell.home / "executions"
        self._http: dict[str, asyncio.subprocess.Process] = {}
        self._ports: dict[str, int] = {}
        self._began = 0.0
        self._rounds = 0

    def __repr__(self) -> str:
        return f"<FaultRun {len(self.calls)} calls, {self.kills} kills>"

    @property
    def names(self) -> list[str]:
        return [*(f"pipe{number}" for number in range(STDIO_SERVERS)), *self._ports]

    def executions(self) -> Counter[str]:
        """How often each call was executed, by its key."""
        return Counter(self._log.read_text().split())

    async def run(self, seconds: float, *, warm_s: float) -> Levels:
        """Load for so long, of which the first `warm_s` without kills."""
        async with AsyncExitStack() as stack:
            for number in range(HTTP_SERVERS):
                self._ports[f"http{number}"] = stack.enter_context(held_port())
                await self._start_http(f"http{number}")
            stack.push_async_callback(self._stop_http)
            self._configure()
            # As a service: with a web UI, events are kept for its page.
            gateway = await stack.enter_async_context(
                started(self._shell, "--no-web", "--token", TOKEN)
            )
            work = Background()
            stack.push_async_callback(work.end)
            work.start(_read_all(gateway), "read what the gateway logs")
            clients = [
                await stack.enter_async_context(
                    mcplens.connect(
                        gateway.url,
                        headers=bearer(TOKEN),
                        protocol_version=OLD if number % 2 else NEW,
                    )
                )
                for number in range(CLIENTS)
            ]
            for client in clients:
                work.start(self._count_surplus(client), "count surplus replies")
            for client in clients:  # all that is loaded on demand is loaded, and all servers run
                await asyncio.gather(*(self._until_up(client, name) for name in self.names))
            began = level(gateway.process.pid)
            await self._load(clients, gateway, warm_s, has_kills=False)
            warm = level(gateway.process.pid)
            await self._load(clients, gateway, seconds - warm_s, has_kills=True)
            loaded = level(gateway.process.pid)
            await asyncio.gather(*(self._until_up(clients[0], name) for name in self.names))
            after = await self._settled(gateway.process.pid, warm)
            gateway.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE_S):
                await gateway.process.wait()
            self.left = self._left()
            return Levels(began, warm, loaded, after)

    async def _settled(self, pid: int, wanted: Level) -> Level:
        """The level once the gateway has returned what it needs no more."""
        ends = time.monotonic() + SETTLE_S
        while True:
            found = level(pid)
            if found.bytes <= wanted.bytes or time.monotonic() > ends:
                return found
            await asyncio.sleep(1)

    async def _count_surplus(self, client: Client) -> None:
        async for event in client.bus.subscribe():
            self.surplus += isinstance(event, LateReply | ReplyUnmatched)

    def _left(self) -> int:
        """How many servers of the gateway still run."""
        ours = {process.pid for process in self._http.values()}
        found = 0
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) not in ours:
                with contextlib.suppress(OSError):
                    found += str(self._log).encode() in (entry / "cmdline").read_bytes()
        return found

    def _configure(self) -> None:
        common = {"protocolVersion": OLD}
        servers: dict[str, dict[str, Any]] = {}
        for number in range(STDIO_SERVERS):
            command, *words = [*SERVER, str(self._log)]
            servers[f"pipe{number}"] = {"command": command, "args": words, **common}
        servers[PER_CALL]["sessionMode"] = "per-call"
        for name, port in self._ports.items():
            servers[name] = {"url": f"http://127.0.0.1:{port}/mcp", "transport": "http", **common}
        self._shell.config.parent.mkdir(parents=True, exist_ok=True)
        self._shell.config.write_text(json.dumps({"mcpServers": servers}))

    async def _start_http(self, name: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *SERVER, str(self._log), str(self._ports[name]), stdout=asyncio.subprocess.PIPE
        )
        self._http[name] = process
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            assert await process.stdout.readline() == b"ready\n"

    async def _stop_http(self) -> None:
        for process in self._http.values():
            process.kill()
            await process.wait()

    async def _load(
        self, clients: list[Client], gateway: Started, seconds: float, *, has_kills: bool
    ) -> None:
        ending = asyncio.Event()
        self._began = self._began or time.monotonic()
        self._rounds += 1
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS * CALLS_AT_ONCE):
                work = self._call_on_and_on(clients[number % CLIENTS], number, ending)
                group.create_task(work)
            if has_kills:
                group.create_task(self._kill_at_random(gateway, ending))
            group.create_task(self._measure(gateway, ending))
            await asyncio.sleep(seconds)
            ending.set()

    async def _measure(self, gateway: Started, ending: asyncio.Event) -> None:
        while not ending.is_set():
            self.levels.append((time.monotonic() - self._began, level(gateway.process.pid)))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), MEASURE_EVERY_S)

    async def _call_on_and_on(self, client: Client, number: int, ending: asyncio.Event) -> None:
        count = 0
        while not ending.is_set():
            count += 1
            server = self._random.choice(self.names)
            if server == PER_CALL and self._random.random() < 0.8:
                continue  # it starts a process for each call, one after the other
            tool = self._random.choice(("write", "write", "set", "read"))
            arguments: dict[str, Any] = {
                "key": f"{self._rounds}-{number}-{count}",
                "seconds": self._random.choice((0, 0.05, 0.3, 0.6)),
            }
            if (count + 3 * number) % LARGE_EVERY == 0:  # one client after the other
                arguments["characters"] = LARGE_CHARACTERS
            self.calls.append(await self._call(client, server, tool, arguments))
            await asyncio.sleep(PAUSE_S)

    async def _call(
        self, client: Client, server: str, tool: str, arguments: dict[str, Any]
    ) -> Call:
        """Raises TimeoutError if a call gets neither answer nor error."""
        key, error, code = arguments["key"], None, ""
        async with asyncio.timeout(PATIENCE_S):
            try:
                result = await client.call_tool(f"{server}__{tool}", arguments)
            except mcplens.InspectorError as problem:
                error, code = problem.message, str(problem.code)
            else:
                text = result.content[0].text or ""
                if result.is_error:
                    error = text
                else:
                    assert text.rstrip(".") == key, "the answer is that of another call"
        return Call(key, server, tool, error, code)

    async def _until_up(self, client: Client, server: str) -> None:
        """Call a server until it answers: it may be paused for half a minute."""
        async with asyncio.timeout(2 * PATIENCE_S):
            while True:
                key = f"up-{server}-{id(client)}-{time.monotonic_ns()}"
                if (await self._call(client, server, "read", {"key": key})).error is None:
                    return
                await asyncio.sleep(0.25)

    async def _kill_at_random(self, gateway: Started, ending: asyncio.Event) -> None:
        while not ending.is_set():
            await asyncio.sleep(KILL_EVERY_S)
            # A server by HTTP is gone for a while, and soon paused: not too often.
            name = self._random.choice([*self._http, *["pipe"] * 38])
            if name in self._http:
                self._http[name].kill()
                await self._http[name].wait()
                await self._start_http(name)
                self.kills += 1
            elif running := children(gateway.process.pid):
                os.kill(self._random.choice(running), signal.SIGKILL)
                self.kills += 1


async def _read_all(gateway: Started) -> None:
    """Read what the gateway logs, so that it is never held up."""
    assert gateway.process.stderr is not None
    while await gateway.process.stderr.read(65_536):
        pass


def children(pid: int) -> list[int]:
    """The processes that a process has started, zombies included."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def level(pid: int) -> Level:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Level(
        bytes=pages * os.sysconf("SC_PAGE_SIZE"),
        processes=len(children(pid)),
        files=len(os.listdir(f"/proc/{pid}/fd")),
    )
