"""The stdio transport with real processes: launch, streams, exit, shutdown, and no orphans."""

import asyncio
import contextlib
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens.events import FrameReceived, ProcessExited, ProcessStarted, Remark, StderrLine
from mcplens.protocol.frames import Malformed
from tests.node_tools import node

# A server in a few lines: answers the handshake and tools/call; `extra` is run at its start.
SERVER = """
import json, os, signal, subprocess, sys, time
def say(message): sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
{extra}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}},
                  "serverInfo": {{"name": "small", "version": "1"}}}}
    elif method == "tools/call":
        name = message["params"]["name"]
        text = os.environ.get(name, "") if name.isupper() else name
        if name == "die":
            sys.stderr.write("\\x1b[1;31mI am dying\\x1b[0m\\n"); sys.stderr.flush(); os._exit(5)
        if name == "killed": os.kill(os.getpid(), signal.SIGKILL)
        if name == "half": sys.stdout.write('{{"jsonrpc": "2.0", "id": '); continue
        if name == "deaf": os.close(0)
        result = {{"content": [{{"type": "text", "text": text}}]}}
    else:
        say({{"jsonrpc": "2.0", "id": message["id"], "error": {{"code": -32601, "message": "no"}}}})
        continue
    say({{"jsonrpc": "2.0", "id": message["id"], "result": result}})
    if method == "tools/call" and name == "deaf": time.sleep(60)
{after}
"""


@pytest.fixture
def server(tmp_path: Path) -> Any:
    def write(extra: str = "", after: str = "") -> list[str]:
        script = tmp_path / "server.py"
        script.write_text(SERVER.format(extra=textwrap.dedent(extra), after=textwrap.dedent(after)))
        return [sys.executable, "-u", str(script)]

    return write


async def until(client: mcplens.Client, kind: type) -> Any:
    async with asyncio.timeout(20):
        async for event in client.events():
            if isinstance(event, kind):
                return event
    raise AssertionError(f"no {kind.__name__} came")


@contextlib.asynccontextmanager
async def lifeline(folder: Path) -> AsyncIterator[tuple[str, asyncio.Future[None]]]:
    """Code for a server that opens a pipe which its children inherit, and the end of them all."""
    path = folder / "lifeline"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    loop = asyncio.get_running_loop()
    gone: asyncio.Future[None] = loop.create_future()

    def readable() -> None:
        if not os.read(reader, 1024) and not gone.done():
            loop.remove_reader(reader)
            gone.set_result(None)

    loop.add_reader(reader, readable)
    try:
        yield f"os.set_inheritable(os.open({str(path)!r}, os.O_WRONLY), True)\n", gone
    finally:
        loop.remove_reader(reader)
        os.close(reader)


GRANDCHILD = (
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], close_fds=False)\n"
)


async def test_a_command_that_does_not_exist_is_named_with_what_was_searched() -> None:
    with pytest.raises(mcplens.ConfigurationError) as caught:
        async with mcplens.connect(["no-such-command-anywhere"], env={"PATH": "/nowhere:/bin"}):
            pass
    assert caught.value.code == "COMMAND_NOT_FOUND"
    assert "no-such-command-anywhere" in caught.value.message
    assert "/nowhere" in caught.value.details["searched"]


async def test_placeholders_in_env_are_resolved_and_only_names_are_told(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_OF_TOKEN", "s3cret")
    async with mcplens.connect(server(), env={"TOKEN": "${SOURCE_OF_TOKEN}"}) as client:
        assert (await client.call_tool("TOKEN")).content[0].text == "s3cret"
        started = await until(client, ProcessStarted)
    assert started.env_names == ["TOKEN"]
    assert "s3cret" not in repr(started)


async def test_an_unset_placeholder_is_an_error_that_names_it(server: Any) -> None:
    with pytest.raises(mcplens.ConfigurationError, match="NOT_SET_ANYWHERE"):
        async with mcplens.connect(server(), env={"TOKEN": "${NOT_SET_ANYWHERE}"}):
            pass


async def test_stderr_comes_line_by_line_as_events(server: Any) -> None:
    command = server(r'sys.stderr.write("one\ntwo \xff"); sys.stderr.buffer.write(b"\xfe\n")')
    async with mcplens.connect(command) as client:
        lines = []
        async with asyncio.timeout(20):
            async for event in client.events():
                if isinstance(event, StderrLine):
                    lines.append(event.data)
                    if len(lines) == 2:
                        break
    assert lines[0] == b"one"
    assert lines[1].endswith(b"\xfe"), "a byte that is no UTF-8 is kept"


async def test_a_prompt_on_stderr_is_shown_though_its_line_has_no_end(server: Any) -> None:
    async with mcplens.connect(server('sys.stderr.write("Password: ")')) as client:
        shown = await until(client, StderrLine)
    assert shown.data == b"Password: "


async def test_a_timeout_tells_of_a_message_that_came_in_part(server: Any) -> None:
    async with mcplens.connect(server(), protocol_version="2025-11-25") as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("half", {}, timeout_s=0.5)
    assert 'a message has come whose end is missing: \'{"jsonrpc": ' in caught.value.message
    silent = server("sys.stdout.write('Loading...'); time.sleep(60)")
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect(
            silent, protocol_version="2025-11-25", connection_timeout_s=2, max_retries=0
        ):
            pass
    assert caught.value.code == "CONNECTION_TIMEOUT"
    assert caught.value.message.endswith("whose end is missing: 'Loading...'")


async def test_an_exit_in_a_call_reports_code_and_last_words(server: Any) -> None:
    async with mcplens.connect(server()) as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("die")
        assert caught.value.code == "SERVER_EXITED"
        assert caught.value.details["exit_code"] == 5
        assert caught.value.details["stderr"] == ["\x1b[1;31mI am dying\x1b[0m"]
        assert "code 5" in caught.value.message
        assert caught.value.message.endswith(": I am dying"), "without the codes of a terminal"
        exited = await until(client, ProcessExited)
        assert (exited.exit_code, exited.stopped_after_s) == (5, None)


async def test_a_signal_is_named(server: Any) -> None:
    async with mcplens.connect(server()) as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("killed")
    assert caught.value.details["signal"] == "SIGKILL"
    assert "SIGKILL" in caught.value.message


async def test_a_stray_line_is_kept_shown_and_explained(server: Any) -> None:
    async with mcplens.connect(server('print("starting up", flush=True)')) as client:
        frames = [e.message for e in client.bus.kept() if isinstance(e, FrameReceived)]
        stray = [message for message in frames if isinstance(message, Malformed)]
        assert [message.raw for message in stray] == [b"starting up"]
        assert "prints to stdout" in stray[0].reason


async def test_a_server_that_prints_instead_of_speaking_is_quoted_and_not_tried_again(
    server: Any,
) -> None:
    command = server('print("Listening on port 8000", flush=True); time.sleep(60)')
    connecting = mcplens.connect(command, connection_timeout_s=2, max_retries=3)
    with pytest.raises(mcplens.InspectorError) as caught:
        async with connecting:
            pass
    error, told = caught.value, connecting.client.bus.kept()
    assert error.code == "CONNECTION_TIMEOUT"
    assert "'Listening on port 8000' to stdout" in error.message
    assert error.message.endswith("logs belong on stderr")
    assert error.details["stdout"] == ["Listening on port 8000"]
    assert not error.retryable
    assert "attempts" not in error.details
    remarks = [event for event in told if isinstance(event, Remark)]
    assert "Listening on port 8000" in remarks[0].message
    exits = [event for event in told if isinstance(event, ProcessExited)]
    assert [event.signal for event in exits] == ["SIGKILL"]
    assert exits[0].stopped_after_s is not None, "mcplens stopped it"


async def test_a_program_that_prints_and_exits_is_quoted() -> None:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect([sys.executable, "-c", "print('Usage: server PORT')"]):
            pass
    assert caught.value.code == "SERVER_EXITED"
    assert "'Usage: server PORT' to stdout" in caught.value.message


async def test_a_server_that_ignores_stdin_and_sigterm_is_killed_by_the_ladder(
    server: Any,
) -> None:
    command = server(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)", after="while True: time.sleep(60)"
    )
    client = mcplens.create_mcp_client(
        mcplens.create_stdio_transport(command, close_wait_s=0.2, terminate_wait_s=0.2)
    )
    await mcplens.connect_client(client)
    async with asyncio.timeout(20):
        await mcplens.disconnect_client(client)
    exited = [event for event in client.bus.kept() if isinstance(event, ProcessExited)]
    assert [event.signal for event in exited] == ["SIGKILL"]
    assert exited[0].stopped_after_s is not None


async def test_a_polite_server_exits_when_its_stdin_closes(server: Any) -> None:
    client = mcplens.create_mcp_client(mcplens.create_stdio_transport(server()))
    await mcplens.connect_client(client)
    await mcplens.disconnect_client(client)
    exited = [event for event in client.bus.kept() if isinstance(event, ProcessExited)]
    assert [event.exit_code for event in exited] == [0]
    assert exited[0].stopped_after_s is None


async def test_leaving_the_block_does_not_wait_for_a_slow_server_which_still_ends(
    server: Any, tmp_path: Path
) -> None:
    async with lifeline(tmp_path) as (hold, gone), asyncio.timeout(20):
        command = server(hold + GRANDCHILD, after="time.sleep(60)")
        async with mcplens.connect(command, close_wait_s=0.2, terminate_wait_s=0.2):
            pass
        assert not gone.done()
        await gone


async def test_a_connect_timeout_kills_the_process_and_its_children_at_once(
    server: Any, tmp_path: Path
) -> None:
    async with lifeline(tmp_path) as (hold, gone), asyncio.timeout(20):
        command = server(hold + GRANDCHILD + "time.sleep(60)")
        with pytest.raises(mcplens.InspectorError) as caught:
            async with mcplens.connect(command, connection_timeout_s=1.5):
                pass
        assert caught.value.code == "CONNECTION_TIMEOUT"
        assert caught.value.details["pid"]
        await gone


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, None])
async def test_no_orphan_stays_however_we_end(
    server: Any, tmp_path: Path, end: signal.Signals | None
) -> None:
    """A whole mcplens in a process of its own; its server has a grandchild, like npx has."""
    async with lifeline(tmp_path) as (hold, gone), asyncio.timeout(30):
        command = server(hold + GRANDCHILD, after="time.sleep(60)")
        program = (
            "import asyncio, mcplens, sys\n"
            "async def main():\n"
            f"    async with mcplens.connect({command!r}) as client:\n"
            "        print('connected', flush=True)\n"
            f"        await asyncio.sleep({0 if end is None else 60})\n"
            "try: asyncio.run(main())\n"
            "except KeyboardInterrupt: sys.exit(130)\n"
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"connected\n"
        if end is not None:
            process.send_signal(end)
        code = await process.wait()
        await gone
    assert code == {signal.SIGKILL: -9, signal.SIGINT: 130, None: 0}[end]


async def test_a_40_mb_line_arrives_whole(server: Any) -> None:
    extra = """
        big = {"content": [{"type": "text", "text": "x" * 40_000_000}]}
        _say = say
        def say(message):
            if message.get("result", {}).get("content", [{}])[0].get("text") == "big":
                message["result"] = big
            _say(message)
    """
    async with mcplens.connect(server(extra)) as client:
        result = await client.call_tool("big")
    assert len(result.content[0].text or "") == 40_000_000


async def test_a_line_over_the_limit_fails_its_request_and_the_next_one_works(server: Any) -> None:
    async with mcplens.connect(server(), max_message_bytes=4096) as client:
        with pytest.raises(mcplens.ProtocolError, match="limit of 4096"):
            await client.call_tool("x" * 10_000)
        assert (await client.call_tool("next")).content[0].text == "next"


async def test_a_server_that_closes_its_stdin_makes_the_next_call_fail_clearly(
    server: Any,
) -> None:
    async with mcplens.connect(server()) as client:
        await client.call_tool("deaf")
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("again")
    assert caught.value.code == "SERVER_EXITED"
    assert "closed its stdin but still runs" in caught.value.message


async def test_a_server_that_closes_its_stdin_some_time_before_it_exits_is_reported_by_its_exit(
    tmp_path: Path,
) -> None:
    script = tmp_path / "leaving.py"
    script.write_text(
        "import json, os, sys, time\n"
        "asked = json.loads(sys.stdin.readline())\n"
        "os.close(0)\n"
        "error = {'code': -32601, 'message': 'not known'}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'error': error}), flush=True)\n"
        "time.sleep(0.5)\n"
        "sys.exit('no database')\n"
    )
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect([sys.executable, str(script)]):
            pass
    assert caught.value.code == "SERVER_EXITED"
    assert caught.value.details["exit_code"] == 1
    assert caught.value.details["stderr"] == ["no database"]


async def test_a_server_that_closes_its_stdout_some_time_before_it_exits_is_reported_by_its_exit(
    tmp_path: Path,
) -> None:
    script = tmp_path / "leaving.py"
    script.write_text(
        "import os, sys, time\nos.close(1)\ntime.sleep(0.7)\nsys.exit('no database')\n"
    )
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect([sys.executable, str(script)]):
            pass
    assert caught.value.code == "SERVER_EXITED"
    assert caught.value.details["exit_code"] == 1
    assert "no database" in caught.value.message


async def test_the_last_line_of_a_long_farewell_is_told() -> None:
    farewell = (
        "import sys; sys.exit('starting up\\nTraceback:\\n  at line 1\\nRuntimeError: boom\\n')"
    )
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect([sys.executable, "-c", farewell]):
            pass
    words = "exited with code 1; its last line on stderr: RuntimeError: boom"
    assert caught.value.message == f"{Path(sys.executable).name} {words}"
    assert caught.value.details["stderr"][0] == "starting up"


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("throw new TypeError('boom')", "TypeError: boom"),
        (
            "throw Object.assign(new Error('no such file'), {code: 'E1', at: ['a']})",
            "Error: no such file",
        ),
        (
            "console.error(`x: no daemon\\n\\nRun 'docker run --help' for more`); process.exit(1)",
            "x: no daemon",
        ),
    ],
)
async def test_the_cause_of_a_crash_is_told_and_not_the_version_or_advice_below_it(
    program: str, cause: str
) -> None:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect([node(), "-e", program]):
            pass
    assert caught.value.message.endswith(f"its last line on stderr: {cause}")


async def test_last_words_from_before_the_last_message_are_told_as_such(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(
        "import json, sys, os\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['method'] == 'tools/call' and asked['params']['name'] == 'crash':\n"
        "        os._exit(3)\n"
        "    if asked['method'] == 'tools/call':\n"
        "        print('the other tool failed', file=sys.stderr, flush=True)\n"
        "    about = {'protocolVersion': '2025-11-25', 'serverInfo': {'name': 's'},\n"
        "             'capabilities': {'tools': {}}, 'content': []}\n"
        "    if 'id' in asked:\n"
        "        answer = {'jsonrpc': '2.0', 'id': asked['id'], 'result': about}\n"
        "        print(json.dumps(answer), flush=True)\n"
    )
    command = [sys.executable, str(script)]
    async with mcplens.connect(command, protocol_version="2025-11-25", max_retries=0) as client:
        await client.call_tool("fails")
        async with asyncio.timeout(20):
            async for event in client.events(0):
                if isinstance(event, StderrLine):
                    break
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("crash")
    told = "its last line on stderr, before the last message to it: the other tool failed"
    assert told in caught.value.message


async def test_on_windows_a_command_is_refused_in_one_sentence_that_names_what_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcplens.transports.stdio.PLATFORM", "win32")
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect([sys.executable, "-c", "pass"], max_retries=3):
            pass
    assert caught.value.message == (
        "mcplens cannot start servers on Windows: connect to one by its URL (HTTP, SSE or "
        "WebSocket), or run mcplens in WSL"
    )
    assert not caught.value.retryable
