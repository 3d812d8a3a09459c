"""Ctrl-C: the request is cancelled on the server first; a second one leaves at once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from mcplens.cli import exit_codes
from tests.cli.shell import Shell, good, read_until

# Answers the handshake and no call, and writes down what it is told.
SERVER = """
import json, sys
with open(sys.argv[1], "w", buffering=1) as told:
    for line in sys.stdin:
        told.write(line)
        message = json.loads(line)
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "deaf", "version": "1"}
        if message["method"] == "initialize":
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
        elif message["method"] == "tools/call":
            print("called", file=sys.stderr, flush=True)
        elif "id" in message:
            error = {"code": -32601, "message": "no"}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"""


def interrupt(process: "subprocess.Popen[bytes]", after: bytes) -> bytes:
    """Press Ctrl-C once this was shown; gives what was shown from then on."""
    assert process.stderr is not None
    read_until(process.stderr.fileno(), after)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    return err


def test_ctrl_c_cancels_the_call_on_an_http_server_and_ends_with_130(
    shell: Shell, url: str
) -> None:
    before = json.loads(shell.run("call", url, "seen").out)["cancelled"]
    process = shell.start("call", url, "progress", "steps=100000", "delay=0.01", "-v")
    err = interrupt(process, b"step 1")
    assert process.returncode == exit_codes.INTERRUPTED == 130
    assert b"Traceback" not in err
    assert err.endswith(b"mcplens: interrupted\n")
    after = json.loads(shell.run("call", url, "seen").out)["cancelled"]
    assert len(after) == len(before) + 1


def test_ctrl_c_cancels_the_call_on_a_stdio_server(shell: Shell, tmp_path: Path) -> None:
    pipe = tmp_path / "told"
    os.mkfifo(pipe)
    process = shell.start(
        "call", "any", "--args", "{}", "--", sys.executable, "-c", SERVER, str(pipe)
    )
    with open(pipe) as told:
        interrupt(process, b"called")
        methods = [json.loads(line)["method"] for line in told]  # until the server is gone
    assert process.returncode == exit_codes.INTERRUPTED
    assert methods[-2:] == ["tools/call", "notifications/cancelled"]


def test_ctrl_c_while_connecting_ends_with_130(shell: Shell) -> None:
    silent = "import sys; print('here', file=sys.stderr, flush=True); sys.stdin.read()"
    process = shell.start("tools", "--", sys.executable, "-c", silent)
    err = interrupt(process, b"here")
    assert process.returncode == exit_codes.INTERRUPTED
    assert b"Traceback" not in err


def test_a_second_ctrl_c_leaves_at_once(shell: Shell) -> None:
    process = shell.start("call", "slow", "seconds=60", "-v", *good("--stubborn", "term"))
    assert process.stderr is not None
    read_until(process.stderr.fileno(), b"tools/call")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=5)
    assert process.returncode == exit_codes.INTERRUPTED
    assert b"Traceback" not in err


def test_an_interrupt_that_strikes_in_a_task_is_told_in_one_line() -> None:
    script = (
        "import asyncio\n"
        "from mcplens.cli import command_runner\n"
        "async def strike(): raise KeyboardInterrupt\n"
        "async def work():\n"
        "    asyncio.get_running_loop().set_exception_handler(command_runner._unhandled)\n"
        "    asyncio.get_running_loop().create_task(strike())\n"
        "    await asyncio.sleep(60)\n"
        "options = command_runner.CommandOptions(None)\n"
        "with command_runner.reporting(options, 'x'): asyncio.run(work())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (exit_codes.INTERRUPTED, "mcplens: interrupted\n")
