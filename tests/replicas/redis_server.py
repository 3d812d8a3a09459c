"""A real redis-server of a test, on a port of its own: started, stopped, paused, filled up."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcplens.clock import Clock, SystemClock
from mcplens.config.replica_settings import StoreSettings
from mcplens.replicas.redis_store import RedisStore
from mcplens.replicas.state_store import StateStore, StoreStatus
from tests.ports import held_port

# Programs that speak the protocol; either serves.
_PROGRAMS = ("redis-server", "valkey-server")


class RedisServer:
    """One redis-server process, which can be ended and started again on its port."""

    def __init__(self, port: int, folder: Path, options: tuple[str, ...] = ()) -> None:
        self.port = port
        self._folder = folder
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def settings(self, **changes: object) -> StoreSettings:
        return StoreSettings(**({"url": self.url, "timeout_s": 2.0} | changes))  # type: ignore[arg-type]

    async def start(self) -> None:
        program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
        if program is None:
            pytest.fail("these tests need redis-server or valkey-server (make test installs it)")
        given = {"port": str(self.port), "bind": "127.0.0.1", "save": "", "dir": str(self._folder)}
        options = [part for name, value in given.items() for part in (f"--{name}", value)]
        self._process = await asyncio.create_subprocess_exec(
            program,
            *options,
            *self._options,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(20):
            async for line in self._process.stdout:
                if b"Ready to accept connections" in line:
                    return
        pytest.fail("redis-server did not start")

    async def kill(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            await process.communicate()

    def pause(self) -> None:
        """Let it answer nothing, while its connections stay open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    async def command(self, *words: str) -> bytes:
        """The raw reply to one command, on a connection of its own."""
        return await asyncio.to_thread(self._command, words)

    def _command(self, words: tuple[str, ...]) -> bytes:
        parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
            return connection.recv(65_536)


@asynccontextmanager
async def redis_server(folder: Path, *options: str) -> AsyncIterator[RedisServer]:
    with held_port() as port:
        server = RedisServer(port, folder, options)
        await server.start()
        try:
            yield server
        finally:
            await server.kill()


@asynccontextmanager
async def redis_store(server: RedisServer, clock: Clock | None = None) -> AsyncIterator[RedisStore]:
    store = RedisStore(server.settings(), clock or SystemClock())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def becomes(store: StateStore, status: StoreStatus) -> None:
    """Wait until the store has a state."""
    if store.state.status == status:
        return
    changed = asyncio.Event()

    def look(_state: object) -> None:
        if store.state.status == status:
            changed.set()

    end = store.listen_to_state(look)
    try:
        async with asyncio.timeout(20):
            await changed.wait()
    finally:
        end()
