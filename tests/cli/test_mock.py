"""`mcplens mock` on the command line: which recording, who may connect, what it says."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import MCPLENS, TIMEOUT_S, Shell
from tests.mocking.traces import Trace

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {},
               "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
ACCEPT = {"Accept": "application/json, text/event-stream"}


def recorded(folder: Path) -> str:
    trace = Trace()
    trace.introduce()
    trace.request(1, "tools/list")
    trace.reply(1, {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]})
    trace.call(2, "add", {"a": 1}, "one")
    return str(trace.write(folder))


def test_a_recorded_server_is_called_like_a_real_one(shell: Shell, tmp_path: Path) -> None:
    mock = ("--", MCPLENS, "mock", recorded(tmp_path))
    done = shell.run("call", "add", "a:=1", *mock)
    assert (done.code, done.text) == (exit_codes.DONE, "one\n")
    missed = shell.run("call", "add", "a:=2", *mock)
    assert missed.code == exit_codes.REFUSED
    assert 'the nearest recorded call is tools/call {"arguments":{"a":1},"name":"add"}' in (
        " ".join(missed.err.split())
    )


def test_a_run_of_the_recording_is_served_without_a_file(shell: Shell) -> None:
    assert shell.run("call", "demo", "add", "a=2", "b=3").code == exit_codes.DONE
    run = shell.run("history", "list", "--json").text.split('"run_id":"')[1][:8]
    done = shell.run("call", "add", "a=2", "b=3", "--", MCPLENS, "mock", "--run", run)
    assert (done.code, done.text.split()[0]) == (exit_codes.DONE, "5")


def test_what_is_not_clear_is_a_usage_error(shell: Shell, tmp_path: Path) -> None:
    trace = Trace(run_id="aaaa1111")
    trace.call(1, "x", {}, "one")
    trace.begin("bbbb2222")
    trace.call(2, "x", {}, "two")
    path = str(trace.write(tmp_path))
    (tmp_path / "other.json").write_text("{}")
    for words, said in [
        ([path], "s in run aaaa1111, s in run bbbb2222"),
        ([path, "--server", "t"], "no request to 't'"),
        ([], "name a trace file, or a run of the recording with --run"),
        ([str(tmp_path / "none.jsonl")], "there is no file"),
        ([str(tmp_path / "other.json")], "cannot be read as a trace"),
        ([path, "--stdio", "--http"], "exclude each other"),
        ([path, "--port", "1"], "need --http"),
    ]:
        done = shell.run("mock", *words)
        assert done.code == exit_codes.USAGE, words
        assert said in " ".join(done.err.split())


@pytest.mark.parametrize("options", [["--token", "a-token-of-ours"], ["--no-auth"]])
async def test_over_http_it_checks_host_origin_and_token(
    shell: Shell, tmp_path: Path, options: list[str]
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(MCPLENS, "mock", recorded(tmp_path), "--http", *options),
        env=shell.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(TIMEOUT_S):
            url = (await process.stdout.readline()).decode().strip()
        assert url.startswith("http://127.0.0.1:")
        token = {"Authorization": "Bearer a-token-of-ours"} if "--token" in options else {}
        async with aiohttp.ClientSession() as session:

            async def status(headers: dict[str, str]) -> int:
                async with session.post(url, json=HELLO, headers=ACCEPT | headers) as response:
                    return response.status

            assert await status(token) == 200
            assert await status({}) == (401 if token else 200)
            assert await status(token | {"Host": "evil.example"}) == 421
            assert await status(token | {"Origin": "https://evil.example"}) == 403
    finally:
        process.terminate()
        async with asyncio.timeout(TIMEOUT_S):
            code = await process.wait()
    assert code == 0
