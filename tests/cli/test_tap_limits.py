"""What `mcplens tap` stands: huge messages, floods, no newline, half-closed streams, full disks."""

import hashlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from mcplens.events import FrameReceived, FrameSent
from mcplens.protocol.frames import Malformed
from mcplens.store.history import History
from mcplens.store.row_decoding import decode_row
from tests.cli.shell import MCPLENS, Shell, read_until

pytestmark = pytest.mark.slow

MEGABYTE = 1_000_000
# Two copies of the longest message that is kept, and what Python and SQLite need themselves.
MOST_MEMORY_BYTES = 400 * MEGABYTE


def frames(shell: Shell) -> list[FrameSent | FrameReceived]:
    with History(shell.state / "recording.sqlite3") as history:
        events = [decode_row(run_id, row).event for run_id, row in history.scan()]
    return [event for event in events if isinstance(event, FrameSent | FrameReceived)]


def run_tap(shell: Shell, server: list[str], pieces: Iterable[bytes] = ()) -> tuple[str, int, int]:
    """The digest of what comes back, the exit code, and the most memory that the tap took."""
    process = shell.start("tap", "--", *server, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    to_tap = process.stdin

    def write() -> None:
        for piece in pieces:
            to_tap.write(piece)
        to_tap.close()

    writer = threading.Thread(target=write)
    writer.start()
    digest, memory = hashlib.sha256(), 0
    while data := process.stdout.read1(1 << 20):  # type: ignore[attr-defined]  # buffered
        digest.update(data)
        memory = most_memory(process.pid) or memory
    process.stdout.close()
    writer.join()
    return digest.hexdigest(), process.wait(), memory


def most_memory(pid: int) -> int:
    """The most bytes that a process has held since it began; 0 once it has ended.

    Not what `wait4` says: that counts the memory of the process that forked it.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def test_a_message_of_100_megabytes_passes_whole_and_its_start_is_recorded(shell: Shell) -> None:
    start, middle, end = b'{"jsonrpc":"2.0","id":1,"result":"', b"x" * MEGABYTE, b'"}\n'

    digest, code, memory = run_tap(shell, ["cat"], (start, *([middle] * 100), end))
    whole = hashlib.sha256(start + middle * 100 + end).hexdigest()
    assert (digest, code) == (whole, 0)
    assert memory < MOST_MEMORY_BYTES
    sent, received = frames(shell)
    for frame in (sent, received):
        assert isinstance(frame.message, Malformed)
        assert "longer than the limit" in frame.message.reason
        assert frame.message.raw.startswith(start)


def test_a_response_of_100_megabytes_passes_whole_over_http(shell: Shell) -> None:
    pieces = [b'{"jsonrpc":"2.0","id":1,"result":"', *([b"x" * MEGABYTE] * 100), b'"}']
    size = sum(map(len, pieces))
    ask = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b'Content-Length: 42\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"server"}'
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % size

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            server, _ = listener.accept()
            with server:
                while b'"server"}' not in server.recv(65536):
                    pass
                server.sendall(head)
                for piece in pieces:
                    server.sendall(piece)

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        with shell.start("tap", url, stderr=subprocess.DEVNULL) as tap:
            assert tap.stdout is not None
            address = read_until(tap.stdout.fileno(), b"\n").decode()
            port = int(address.split(":")[2].split("/")[0])
            digest, memory = hashlib.sha256(), 0
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                client.sendall(ask)
                while data := client.recv(1 << 20):
                    digest.update(data)
            memory = most_memory(tap.pid)
            tap.send_signal(signal.SIGINT)
            assert tap.wait(30) == 0
        thread.join()
    assert digest.hexdigest() == hashlib.sha256(head + b"".join(pieces)).hexdigest()
    assert memory < MOST_MEMORY_BYTES
    _, received = frames(shell)
    assert isinstance(received.message, Malformed)
    assert "longer than the limit" in received.message.reason


# Writes lines as fast as it can, and says what it wrote.
FLOOD = """
import hashlib, os, sys
line = b'{"jsonrpc":"2.0","method":"notifications/x","params":["' + b"y" * 400 + b'"]}\\n'
block, digest = line * 200, hashlib.sha256()
for _ in range(1000):
    digest.update(block)
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(1, rest):]
open(sys.argv[1], "w").write(digest.hexdigest())
"""


def test_a_flood_of_the_server_loses_no_byte_and_needs_no_memory(shell: Shell) -> None:
    said = shell.home / "digest"
    server = [sys.executable, "-c", FLOOD, str(said)]
    digest, code, memory = run_tap(shell, server)
    assert code == 0
    assert digest == said.read_text()
    assert memory < MOST_MEMORY_BYTES


def test_bytes_without_a_newline_pass_at_once(shell: Shell) -> None:
    with shell.start("tap", "--", "cat") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1')
        process.stdin.flush()
        read_until(process.stdout.fileno(), b'{"jsonrpc":"2.0","id":1')
        process.stdin.write(b',"method":"ping"}')
        process.stdin.close()
        assert process.stdout.read() == b',"method":"ping"}'
        assert process.wait(30) == 0
    # What the stream ends with is a message all the same.
    assert [frame.method for frame in frames(shell)] == ["ping", "ping"]


def test_a_client_that_closes_its_half_still_gets_the_answer(shell: Shell) -> None:
    with shell.start("tap", "--", "sh", "-c", "cat >/dev/null; echo late; exit 4") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"question\n")
        process.stdin.close()
        assert process.stdout.read() == b"late\n"
        assert process.wait(30) == 4


def test_a_server_that_closes_its_half_is_still_written_to(shell: Shell) -> None:
    script = "exec 1>&-; cat >heard; exit 6"
    with shell.start("tap", "--", "sh", "-c", script) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read() == b""
        process.stdin.write(b"still\n")
        process.stdin.close()
        assert process.wait(30) == 6
    assert (shell.home / "heard").read_bytes() == b"still\n"


def test_a_full_disk_stops_the_recording_and_nothing_else(shell: Shell) -> None:
    # What is random cannot be packed.
    texts = (os.urandom(2_500).hex().encode() for _ in range(2_000))
    lines = b"".join(b'{"jsonrpc":"2.0","method":"x","params":"%s"}\n' % text for text in texts)
    # No file may grow beyond 256 KB: writing more fails, as it does on a full disk.
    script = f"ulimit -f 256; exec {MCPLENS} tap -- cat"
    process = subprocess.run(
        ["bash", "-c", script],
        input=lines,
        capture_output=True,
        cwd=shell.home,
        env=shell.environment,
        timeout=120,
    )
    assert process.returncode == 0
    assert process.stdout == lines
    assert b"recorded" in process.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_client_that_kills_the_tap_ends_the_server(shell: Shell, number: signal.Signals) -> None:
    script = "echo $$; cat >/dev/null"
    with shell.start("tap", "--", "sh", "-c", script) as process:
        assert process.stdout is not None
        pid = int(read_until(process.stdout.fileno(), b"\n"))
        descriptor = os.pidfd_open(pid)
        process.send_signal(number)
        assert process.wait(30) == -number
        assert process.stdout.read() == b""  # its end is seen
    ready, _, _ = select.select([descriptor], [], [], 30)
    os.close(descriptor)
    assert ready
