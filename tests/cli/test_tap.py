"""`mcplens tap` between clients and servers that we did not write, and some that send rubbish."""

import asyncio
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

import mcplens
from mcplens.events import ClientIntroduced, FrameReceived, FrameSent, ServerIntroduced
from mcplens.protocol.frames import Malformed
from mcplens.store.history import History
from mcplens.store.row_decoding import decode_row
from tests.auth.protected import consent, keep_sign_ins_in, protected
from tests.cli.shell import MCPLENS, Shell, read_until

# Sends back what it gets, wrong bytes too, in pieces; says goodbye on both streams at the end.
PARROT = """
import os
while data := os.read(0, 777):
    os.write(1, data)
    os.write(2, b"got %d\\n" % len(data))
os.write(1, b"no newline at the end \\xff")
"""


def parrot(*words: str) -> list[str]:
    return [*words, sys.executable, "-c", PARROT]


def events(shell: Shell) -> list[object]:
    with History(shell.state / "recording.sqlite3") as history:
        return [decode_row(run_id, row).event for run_id, row in history.scan()]


def test_every_byte_is_the_same_with_and_without_the_tap(shell: Shell) -> None:
    chance = random.Random(7)
    lines = [chance.randbytes(chance.randrange(2_000)) for _ in range(200)]
    sent = b"\n".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}', *lines, b"x" * 300_000, b"end"])
    direct = subprocess.run(parrot(), input=sent, capture_output=True, timeout=60)
    tapped = shell.run("tap", "--", *parrot(), stdin=sent)
    assert tapped.out == direct.stdout == sent + b"no newline at the end \xff"
    assert tapped.err.count("got ") == tapped.err.count("\n")
    assert sum(int(line[4:]) for line in tapped.err.splitlines()) == len(sent)
    sizes = [event.size_bytes for event in events(shell) if isinstance(event, FrameSent)]
    assert sum(sizes) + len(sizes) - 1 == len(sent)


@pytest.mark.parametrize("how", ["exit 7", "kill -TERM $$", "kill -KILL $$"])
def test_the_client_sees_how_the_server_ended(shell: Shell, how: str) -> None:
    direct = subprocess.run(["sh", "-c", how], timeout=60).returncode
    assert shell.run("tap", "--", "sh", "-c", how).code == direct


def test_signals_reach_the_server_and_its_answer_the_client(shell: Shell) -> None:
    script = "trap 'echo stopped; exit 3' TERM; echo ready; while :; do sleep 0.1; done"
    with shell.start("tap", "--", "sh", "-c", script) as process:
        assert process.stdout is not None
        read_until(process.stdout.fileno(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        read_until(process.stdout.fileno(), b"stopped\n")
        assert process.wait(30) == 3


def test_a_killed_tap_leaves_no_server_behind(shell: Shell) -> None:
    script = "echo $$; trap '' TERM; exec 0</dev/null; while :; do sleep 0.1; done"
    with shell.start("tap", "--", "sh", "-c", script) as process:
        assert process.stdout is not None
        pid = int(read_until(process.stdout.fileno(), b"\n"))
        descriptor = os.pidfd_open(pid)
        process.kill()
        # The client sees a closed pipe only once nobody writes to it.
        assert process.stdout.read() == b""
        assert process.wait(30) == -signal.SIGKILL
    ready, _, _ = select.select([descriptor], [], [], 30)
    os.close(descriptor)
    assert ready


def test_a_closed_stream_is_closed_on_the_other_side_too(shell: Shell) -> None:
    script = "exec 1>&-; cat >/dev/null; echo bye >&2; exit 5"
    with shell.start("tap", "--", "sh", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.read() == b""  # while the server goes on
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(30) == 5


def test_a_client_that_reads_no_answer_stops_only_itself(shell: Shell) -> None:
    script = "yes flood & cat >&2; kill %1; wait"
    with shell.start("tap", "--", "bash", "-c", script) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"still heard\n")
        process.stdin.flush()
        read_until(process.stderr.fileno(), b"still heard\n")
        process.kill()
        process.wait(30)


def test_a_recording_that_cannot_be_opened_stops_nothing(shell: Shell) -> None:
    shell.state.parent.mkdir(parents=True)
    shell.state.write_text("a file where the folder should be")
    ran = shell.run("tap", "--", "cat", stdin=b"hello\n")
    assert (ran.code, ran.out) == (0, b"hello\n")
    assert "not recorded" in ran.err


async def test_a_url_is_tapped_without_a_recording_if_it_cannot_be_opened(
    shell: Shell, url: str
) -> None:
    shell.state.parent.mkdir(parents=True)
    shell.state.write_text("a file where the folder should be")
    with shell.start("tap", url) as tap:
        assert tap.stdout is not None
        assert tap.stderr is not None
        address = read_until(tap.stdout.fileno(), b"\n").decode().strip()
        read_until(tap.stderr.fileno(), b"not recorded")
        async with Client(address) as client:
            assert (await client.list_tools()).tools
        tap.send_signal(signal.SIGINT)
        assert tap.wait(30) == 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_real_client_and_its_server_are_recorded_with_links(
    shell: Shell, mode: str
) -> None:
    server = StdioServerParameters(
        command=MCPLENS,
        args=["tap", "--trace", "all.jsonl", "demo"],
        env=shell.environment,
        cwd=str(shell.home),
    )
    async with Client(server, mode=mode) as client:
        result = await client.call_tool("add", {"a": 2, "b": 3})
        assert result.content[0].text == "5"  # type: ignore[union-attr]
    recorded = events(shell)
    sent = {event.seq: event for event in recorded if isinstance(event, FrameSent)}
    replies = [event for event in recorded if isinstance(event, FrameReceived) and event.method]
    assert all(not isinstance(event.message, Malformed) for event in sent.values())
    (reply,) = [event for event in replies if event.method == "tools/call"]
    assert reply.request_seq is not None
    assert sent[reply.request_seq].method == "tools/call"
    assert sent[reply.request_seq].call_id == reply.call_id
    names = [event.client_info["name"] for event in recorded if isinstance(event, ClientIntroduced)]
    assert names == ["mcp"]
    assert any(isinstance(event, ServerIntroduced) for event in recorded)
    lines = (shell.home / "all.jsonl").read_bytes().splitlines()
    traced = [event["seq"] for event in map(json.loads, lines) if "seq" in event]
    assert traced == list(range(1, len(recorded) + 1))


def test_a_tapped_session_is_followed_live_until_its_writer_is_killed(shell: Shell) -> None:
    with shell.start("tap", "--", "cat") as tap:
        assert tap.stdin is not None
        assert tap.stdout is not None
        tap.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        tap.stdin.flush()
        read_until(tap.stdout.fileno(), b"ping")
        _until_recorded(shell)
        with shell.start("watch", "--run", "--json") as watch:
            assert watch.stdout is not None
            read_until(watch.stdout.fileno(), b'"FrameSent"')
            tap.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/late"}\n')
            tap.stdin.flush()
            read_until(watch.stdout.fileno(), b"notifications/late")
            tap.kill()
            tap.wait(30)
            assert watch.wait(30) == 0
    assert "no run is live" in shell.run("watch", "--run").err


async def test_a_tapped_url_is_live_before_its_first_message(shell: Shell, url: str) -> None:
    with shell.start("tap", url) as tap:
        assert tap.stdout is not None
        address = read_until(tap.stdout.fileno(), b"\n").decode().strip()
        _until_recorded(shell, "waiting for a client")
        with shell.start("watch", "--run", "--json") as watch:
            assert watch.stdout is not None
            read_until(watch.stdout.fileno(), b"waiting for a client")
            async with Client(address) as client:
                await client.list_tools()
            read_until(watch.stdout.fileno(), b"tools/list")
            tap.send_signal(signal.SIGINT)
            assert tap.wait(30) == 0
            assert watch.wait(30) == 0


async def test_a_url_is_tapped_at_the_address_that_is_printed(shell: Shell, url: str) -> None:
    with shell.start("tap", url) as tap:
        assert tap.stdout is not None
        address = read_until(tap.stdout.fileno(), b"\n").decode().strip()
        assert address != url
        async with Client(address) as client:
            assert (await client.list_tools()).tools
        tap.send_signal(signal.SIGINT)
        assert tap.wait(30) == 0
    recorded = events(shell)
    assert [event.method for event in recorded if isinstance(event, FrameSent)].count("tools/list")
    assert {event.exchange_id for event in recorded if isinstance(event, FrameReceived)} != {None}


async def test_a_client_that_compares_signs_in_at_the_address_that_was_asked_for(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_sign_ins_in(tmp_path / "client", monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
    async with protected() as server:
        with shell.start("tap", server.url, "--rewrite-auth", "--listen", listen) as tap:
            assert tap.stdout is not None
            line = await asyncio.to_thread(read_until, tap.stdout.fileno(), b"\n")
            address = line.decode().strip()
            assert address.startswith(f"http://{listen}/")
            async with mcplens.connect(address, sign_in=consent) as client:
                await client.call_tool("echo")
            tap.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(tap.wait, 30) == 0
        assert server.forms[0]["resource"] == server.url  # its own name, not the tap's
        recorded = repr(events(shell))
    assert "grant_type=authorization_code" in recorded
    assert server.forms[0]["code_verifier"] not in recorded


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://127.0.0.1:9/mcp", "--listen", "nowhere"], "HOST:PORT"),
        (["http://127.0.0.1:9/mcp", "--listen", "192.0.2.1:0"], "cannot listen on 192.0.2.1:0"),
        (["ftp://127.0.0.1:9/mcp"], "not an http, https, ws or wss address"),
    ],
)
def test_what_cannot_be_tapped_says_so(shell: Shell, words: list[str], said: str) -> None:
    ran = shell.run("tap", *words)
    assert ran.code == 2
    assert said in ran.err


def _until_recorded(shell: Shell, what: str = "FrameSent") -> None:
    path = shell.state / "recording.sqlite3"
    for _ in range(600):
        if path.exists() and what in shell.run("history", "show", "--json").text:
            return
    raise AssertionError("nothing was recorded")
