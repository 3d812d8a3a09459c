"""`python -m mcplens.demo` as a process: its options, its streams, its end."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import mcplens
from mcplens import InspectorError

from .doors import COMMAND, HANDSHAKE, PATIENCE_S

PIPE = asyncio.subprocess.PIPE
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {}},
}
ECHO = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "echo", "arguments": {"text": "piped"}},
}


@asynccontextmanager
async def running(*options: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, list[str]]]:
    """The process, and the URLs that it printed (one for each kind asked for)."""
    count = sum(option in ("--http", "--sse", "--ws") for option in options)
    process = await asyncio.create_subprocess_exec(*COMMAND, *options, stdin=PIPE, stderr=PIPE)
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            lines = [(await process.stderr.readline()).decode() for _ in range(count)]
        yield process, [line.partition(": ")[2].strip() for line in lines]
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            await process.communicate()


async def run(*options: str, given: bytes = b"") -> tuple[int | None, bytes, bytes]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *options, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate(given)
    return process.returncode, out, err


async def test_all_kinds_are_served_on_one_port_and_said_on_stderr() -> None:
    async with running("--http", "--sse", "--ws") as (process, urls):
        ports = {url.rpartition(":")[2].partition("/")[0] for url in urls}
        assert len(ports) == 1
        assert [url.rpartition("/")[2] for url in urls] == ["mcp", "sse", "ws"]
        for url in urls:
            async with mcplens.connect(url) as client:
                assert client.server_info["name"] == "mcplens-demo"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0


async def test_the_port_can_be_chosen_and_one_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = await run("--http", str(port))
        assert code == 1
        assert f"port {port} on 127.0.0.1 is already in use".encode() in err
        assert b"Traceback" not in err
    async with running("--http", str(port)) as (_, (url,)):
        assert url == f"http://127.0.0.1:{port}/mcp"


async def test_a_token_is_asked_for_where_one_is_set() -> None:
    async with running("--ws", "--http", "--token", "secret") as (_, urls):
        for url in urls:
            with pytest.raises(InspectorError) as refused:
                async with mcplens.connect(url):
                    pass
            assert refused.value.code == "AUTHENTICATION_FAILED"
            headers = {"Authorization": "Bearer secret"}
            async with mcplens.connect(url, headers=headers) as client:
                assert await client.list_tools()


async def test_messages_can_be_piped_in_and_are_answered_before_the_end() -> None:
    given = b"".join(json.dumps(message).encode() + b"\n" for message in (INITIALIZE, ECHO))
    code, out, err = await run(given=given)
    assert (code, err) == (0, b"")
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1, 2]


async def test_a_client_before_its_handshake_is_told_so() -> None:
    _, out, _ = await run(given=json.dumps(ECHO).encode() + b"\n")
    assert json.loads(out)["error"]["code"] == -32600


async def test_a_stray_print_does_not_get_among_the_messages() -> None:
    code = (
        "import asyncio; from mcplens.demo.server import Demo; from mcplens.demo import basics;"
        "from mcplens.clock import SystemClock; from mcplens.inbound.stdio import serve_stdio;"
        "demo = Demo(); print_ = demo.received;"
        "demo.received = lambda *a: (print('a stray line', flush=True), print_(*a));"
        "asyncio.run(serve_stdio(demo, SystemClock()))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate(json.dumps(INITIALIZE).encode() + b"\n")
    assert json.loads(out)["id"] == 1
    assert b"a stray line" in err


async def test_help_names_the_options() -> None:
    code, out, _ = await run("--help")
    assert code == 0
    assert all(option in out for option in (b"--http", b"--sse", b"--ws", b"--token"))


async def test_on_stdio_no_web_library_is_loaded() -> None:
    code = (
        "import sys; import mcplens.demo.__main__, mcplens.demo.server, mcplens.inbound.stdio;"
        "mcplens.demo.server.Demo();"
        "heavy = ('uvicorn', 'aiohttp', 'websockets', 'jsonschema_rs', 'mcplens.session');"
        "print([name for name in heavy if name in sys.modules])"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=PIPE)
    async with asyncio.timeout(PATIENCE_S):
        out, _ = await process.communicate()
    assert out == b"[]\n"
