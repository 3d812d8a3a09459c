"""A server behind our own standard streams: every byte is passed on, and read later.

A thread for each stream reads and writes as a pipe would: it stops while the other side does not
read, and stops nothing else. What passes is only noted (backlog.py), and passed on whether or not
it can be parsed. The server's exit code, signals and closed streams are passed on in both
directions. Used by `mcplens tap`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO, Final

from mcplens.bus import Publisher
from mcplens.errors import classify
from mcplens.events import Event, ProcessExited, ProcessStarted, StderrLine
from mcplens.protocol.frames import Malformed, parse
from mcplens.protocol.line_splitter import LineSplitter
from mcplens.tap.backlog import Backlog
from mcplens.tap.conversation import Conversation
from mcplens.transports import watchdog
from mcplens.transports.child_process import signal_name
from mcplens.transports.launch import Launch

# As much as a pipe holds.
_READ_BYTES: Final = 64 * 1024
# A longer message is passed on like any other, but only its start is recorded.
_MESSAGE_BYTES: Final = 64 * 1024 * 1024
_STDERR_LINE_BYTES: Final = 64 * 1024
# A process that the server left behind may hold its streams open: how long we wait for their end.
_DRAIN_S: Final = 2.0
# A server that exits closes its stderr a moment before: how long until that is told apart.
_EXIT_S: Final = 0.2
# What is left of the server's process group is ended by the watchdog, step by step.
_TERMINATE_AFTER_S: Final = 2.0
_KILL_AFTER_S: Final = 2.0
# The recorder works in a thread of its own: how long it may keep us from passing bytes on.
_SWITCH_S: Final = 0.0002

_PASSED_ON: Final = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")
    if hasattr(signal, name)
)

Observe = Callable[[bytes], None]


class StdioTap:
    """One run of a server for the client that started us."""

    def __init__(
        self,
        launch: Launch,
        conversation: Conversation,
        publish: Publisher,
        backlog: Backlog,
        *,
        env_names: tuple[str, ...] = (),
    ) -> None:
        self._launch = launch
        self._conversation = conversation
        self._publish = publish
        self._backlog = backlog
        self._env_names = env_names
        self._has_exited = threading.Event()
        self._client = _Lines(_MESSAGE_BYTES, self._client_line)
        self._pid = 0

    def __repr__(self) -> str:
        return f"<StdioTap {self._launch.argv[0]} {f'pid {self._pid}' if self._pid else 'new'}>"

    def run(self) -> int:
        """Run the server until it exits; returns its code as Popen has it (negative: a signal).

        Raises:
            InspectorError: the command cannot be started.
        """
        launch = self._launch
        sys.setswitchinterval(_SWITCH_S)
        watchdog.start()
        try:
            process = watchdog.OutlivingProcess(
                launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=launch.env,
                cwd=launch.cwd,
                bufsize=0,
                process_group=0,
            )
        except OSError as problem:
            raise classify(problem, f"starting {launch.argv[0]}") from None
        self._pid = process.pid
        watchdog.watch(process.pid)
        started = ProcessStarted(
            pid=process.pid,
            argv=list(launch.argv),
            cwd=launch.folder,
            env_names=list(self._env_names),
        )
        self._backlog.add(self._publish_event, started)
        with _signals_passed_on(process.pid):
            outputs = self._start_relays(process)
            code = process.wait()
            self._has_exited.set()
            for relay in outputs:
                relay.join(_DRAIN_S)
        self._ended(process.pid, code)
        return code

    def _start_relays(self, process: subprocess.Popen[bytes]) -> list[threading.Thread]:
        """Relay all three streams; those from the server are returned."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        server = _Lines(_MESSAGE_BYTES, self._server_line)
        stderr = _Lines(_STDERR_LINE_BYTES, self._stderr_line)
        relays = [
            self._relay("stdin", 0, _taken(process.stdin), self._client),
            self._relay("stdout", _taken(process.stdout), 1, server),
            self._relay("stderr", _taken(process.stderr), 2, stderr),
        ]
        return relays[1:]

    def _relay(self, name: str, source: int, sink: int, lines: _Lines) -> threading.Thread:
        add, feed = self._backlog.add, lines.feed

        def work() -> None:
            # Noted first: an answer must not be seen before its request.
            relay(source, sink, lambda data: add(feed, data, len(data)), self._is_kept)
            add(lines.flush, b"")

        thread = threading.Thread(target=work, name=f"tap {name}", daemon=True)
        thread.start()
        return thread

    def _is_kept(self, sink: int) -> bool:
        """Whether a stream stays open: at the end of the server we may have to warn on stderr."""
        return sink == 2 and self._has_exited.wait(_EXIT_S)

    # -- what is read of the backlog -------------------------------------------------------------

    def _publish_event(self, event: Event) -> None:
        self._publish(event)

    def _client_line(self, line: bytes | Malformed) -> None:
        self._conversation.client_said(line if isinstance(line, Malformed) else parse(line))

    def _server_line(self, line: bytes | Malformed) -> None:
        self._conversation.server_said(line if isinstance(line, Malformed) else parse(line))

    def _stderr_line(self, line: bytes | Malformed) -> None:
        data = line.raw if isinstance(line, Malformed) else line
        request_seq = self._conversation.only_request_seq()
        written = StderrLine(
            pid=self._pid,
            data=data,
            request_seq=request_seq,
            is_inferred=request_seq is not None,
        )
        self._publish(written, len(data))

    def _ended(self, pid: int, code: int) -> None:
        # The server may exit at the end of its input before the thread that closed it goes on.
        self._backlog.add(self._client.flush, b"")
        exit_code = code if code >= 0 else None
        exited = ProcessExited(pid=pid, exit_code=exit_code, signal=signal_name(code))
        self._backlog.add(self._publish_event, exited)
        self._backlog.add(lambda _: self._conversation.ended(), None)
        watchdog.finish(pid, _TERMINATE_AFTER_S, _KILL_AFTER_S)


class _Lines:
    """One stream as lines, for a function that reads them."""

    def __init__(self, limit_bytes: int, on_line: Callable[[bytes | Malformed], None]) -> None:
        self._splitter = LineSplitter(limit_bytes)
        self._on_line = on_line
        self._is_in_line = False  # a line has begun that no newline has ended

    def __repr__(self) -> str:
        return f"<_Lines {self._splitter!r}>"

    def feed(self, data: bytes) -> None:
        # Most reads give one line: that is cheaper to see than to split.
        if not self._is_in_line and data.find(b"\n") == len(data) - 1:
            self._on_line(data[:-1])
            return
        for line in self._splitter.feed(data):
            self._on_line(line)
        self._is_in_line = self._splitter.is_in_line

    def flush(self, _: bytes) -> None:
        """What the stream ends with, if that is not a newline."""
        rest = self._splitter.flush()
        if rest is not None:
            self._on_line(rest)


def relay(source: int, sink: int, observe: Observe, is_kept: Callable[[int], bool]) -> None:
    """Pass bytes on until either end closes; then the other end is closed too, unless it is kept.

    They are observed first.
    """
    try:
        while data := _read(source):
            observe(data)
            _write(sink, data)
    except OSError:
        pass  # whoever reads has closed the pipe; closing ours tells the one who writes
    finally:
        for descriptor in (source,) if is_kept(sink) else (source, sink):
            with contextlib.suppress(OSError):
                _close(descriptor)


def _taken(pipe: IO[bytes]) -> int:
    """The descriptor of a pipe, which nobody else closes."""
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    return descriptor


def _close(descriptor: int) -> None:
    if descriptor > 2:
        os.close(descriptor)
        return
    # A file that is opened later must not get the number of a standard stream.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, _READ_BYTES)
        except BlockingIOError:  # whoever started us may have made its pipes non-blocking
            select.select([descriptor], [], [])


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


@contextlib.contextmanager
def _signals_passed_on(group: int) -> Iterator[None]:
    """Send the server, and all that it started, the signals that we get.

    A thread does it: a handler runs between two instructions of the main thread, which waits for
    the server to exit and would not run one for a signal that came just before it waits.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def pass_on() -> None:
        while number := os.read(reading, 1):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if number[0] in _PASSED_ON:
                    os.killpg(group, number[0])

    passing = threading.Thread(target=pass_on, name="mcplens tap signals", daemon=True)
    passing.start()
    former_descriptor = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    former = {}
    for number in _PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            former[number] = signal.signal(number, lambda _number, _frame: None)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(former_descriptor)
        os.close(writing)
        passing.join()
        os.close(reading)


def end_like(code: int) -> None:
    """End this process as the server ended: with its exit code, or by its signal."""
    if code < 0:
        with contextlib.suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # its core dump is enough
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # Threads may still wait for a client that neither reads nor leaves.
    os._exit(code if code >= 0 else 128 - code)
