"""Start a test server for a test and end it: `async with serve("good", "--transport", "http")`."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# The SDK servers import for seconds on a loaded machine; this bounds a start that never comes.
START_TIMEOUT_S = 60
# A server ends at once when its stdin closes; this only bounds one that is stuck.
STOP_TIMEOUT_S = 5


@dataclass
class Server:
    """A server to connect to: by `argv` and `cwd` on stdio (not started here), else by `url`."""

    argv: list[str]
    cwd: str = str(ROOT)
    url: str = ""
    port: int = 0
    process: asyncio.subprocess.Process | None = None
    announced: dict[str, Any] = field(default_factory=dict)


def argv(name: str, *args: str) -> list[str]:
    """The command of server good, bad, sdk_mcp or sdk_fastmcp; its cwd must be `ROOT`."""
    return [sys.executable, "-m", f"tests.servers.{name}", *args]


@asynccontextmanager
async def serve(name: str, *args: str) -> AsyncIterator[Server]:
    """Run a network server for the length of the block; for stdio only say how to launch it.

    Raises:
        RuntimeError: the server ended before it announced its port.
    """
    server = Server(argv(name, *args))
    if "--transport" not in args or args[args.index("--transport") + 1] == "stdio":
        yield server
        return
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *server.argv, cwd=server.cwd, stdin=pipe, stdout=pipe
    )
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            line = await process.stdout.readline() if process.stdout else b""
        if not line:
            raise RuntimeError(f"{' '.join(server.argv)} ended before it announced its port")
        server.announced = json.loads(line)
        server.url, server.port, server.process = (
            server.announced["url"],
            server.announced["port"],
            process,
        )
        yield server
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await process.communicate(b"")  # closes stdin, which ends the server
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
