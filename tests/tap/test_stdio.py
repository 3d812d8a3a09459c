"""`mcplens tap -- COMMAND` in front of a server that never reads, or leaves processes behind."""

import os
import select
import signal
import sys

import pytest

from mcplens.events import FrameSent, ProcessExited
from mcplens.store.history import History
from mcplens.store.row_decoding import decode_row
from tests.cli.shell import Shell, read_until
from tests.cli.test_tap_limits import MEGABYTE, most_memory

# Reads nothing, but writes to both streams when it gets a signal.
DEAF = """
import os, signal
def answer(*_):
    os.write(1, b"still here\\n")
    os.write(2, b"and here\\n")
signal.signal(signal.SIGUSR1, answer)
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""
LINE = b'{"jsonrpc":"2.0","method":"notifications/x","params":["%s"]}\n' % (b"y" * 4_000)


def fill(descriptor: int) -> int:
    """Write until nobody takes any more; gives how much was taken."""
    os.set_blocking(descriptor, False)
    taken = 0
    # A second without a reader: a pipe that is read again is writable at once.
    while select.select([], [descriptor], [], 1.0)[1]:
        taken += os.write(descriptor, LINE)
    return taken


def test_a_server_that_never_reads_stops_its_client_as_a_pipe_would_and_nothing_else(
    shell: Shell,
) -> None:
    with shell.start("tap", "--", sys.executable, "-c", DEAF) as tap:
        assert tap.stdin is not None
        assert tap.stdout is not None
        assert tap.stderr is not None
        read_until(tap.stdout.fileno(), b"ready\n")
        taken = fill(tap.stdin.fileno())
        # Two pipes of 64 KiB, and one read of ours; without the tap it is one pipe.
        assert 64 * 1024 <= taken < MEGABYTE
        assert most_memory(tap.pid) < 100 * MEGABYTE
        # Signals, and what the server says, pass on as before.
        # Again and again: one that comes as the last is being handled must not wait for the next.
        for _ in range(200):
            tap.send_signal(signal.SIGUSR1)
            read_until(tap.stdout.fileno(), b"still here\n")
            read_until(tap.stderr.fileno(), b"and here\n")
        tap.send_signal(signal.SIGTERM)
        assert tap.wait(30) == -signal.SIGTERM
        assert tap.stdout.read() == b""
        with pytest.raises(BrokenPipeError):
            os.write(tap.stdin.fileno(), LINE)
    with History(shell.state / "recording.sqlite3") as history:
        recorded = [decode_row(run_id, row).event for run_id, row in history.scan()]
    sent = [event for event in recorded if isinstance(event, FrameSent)]
    assert LINE.removesuffix(b"\n") in {event.message.raw for event in sent}
    (exited,) = [event for event in recorded if isinstance(event, ProcessExited)]
    assert exited.signal == "SIGTERM"


def test_what_a_server_leaves_running_ends_with_it(shell: Shell) -> None:
    script = "sleep 600 & echo $!; read line; exit 3"
    with shell.start("tap", "--", "sh", "-c", script) as tap:
        assert tap.stdin is not None
        assert tap.stdout is not None
        left = os.pidfd_open(int(read_until(tap.stdout.fileno(), b"\n")))
        tap.stdin.write(b"\n")
        tap.stdin.close()
        assert tap.stdout.read() == b""  # though what is left holds the server's end of it open
        assert tap.wait(30) == 3
    ended = select.select([left], [], [], 30)[0]
    os.close(left)
    assert ended
