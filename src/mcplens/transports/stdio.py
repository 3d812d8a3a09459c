"""stdio: a server as a child process, one message per line.

Owns the process from launch to the end of its shutdown: close stdin, wait, SIGTERM, wait, SIGKILL,
to the whole group. Its stderr is published as events; lines on stdout that are not messages
are published as malformed, with the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from mcplens.clock import within
from mcplens.errors import InspectorError, TransportError, classify
from mcplens.events import ProcessExited, ProcessStarted, StderrLine
from mcplens.logs import get_logger
from mcplens.protocol.frames import Malformed, RequestId, parse
from mcplens.protocol.line_splitter import LineSplitter
from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Closing, Outgoing, Transport
from mcplens.transports.child_pipes import PipeReader, PipeWriter
from mcplens.transports.child_process import ChildProcess, describe_exit, signal_name
from mcplens.transports.launch import Launch, needs_shell_path, require_posix, resolve_launch
from mcplens.transports.lease_guard import LeaseGuard

_STDERR_LINE_BYTES: Final = 64 * 1024
_LAST_WORDS: Final = 20
_NODE_VERSION: Final = re.compile(r"Node\.js v\d+\.\d+\.\d+")
_ADVICE: Final = re.compile(r"(?:Run|See|Try) ['\"`][^'\"`]*--help['\"`]")  # as docker ends
_BELOW_CAUSE: Final = re.compile(r"\s|[{}\]]")
# Colours and the like, which are for a terminal.
_ANSI: Final = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z`-~])"
# How long a line on stderr may lack its end before it is shown without.
_PART_S: Final = 1.0
# After the exit, how long the rest of its output may take to arrive.
_WIND_UP_S: Final = 0.5
# A server that exits closes its streams first. On a busy machine, or with much to clean up, its
# exit follows late; its code and last words say more than the closed stream.
_EXIT_NOTICED_S: Final = 2.0

_STRAY: Final = "; the server prints to stdout, which is only for messages: logs belong on stderr"
# Stray lines that are quoted where connecting fails, and how much of each.
_QUOTED_LINES: Final = 3
_QUOTED_CHARACTERS: Final = 200


PLATFORM: Final[str] = sys.platform
_log: Final = get_logger(__name__)


class StdioTransport(Transport):
    """A command that is started and spoken to over its standard streams."""

    kind = "stdio"

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        inherit_env: bool = True,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        close_wait_s: float = 2.0,
        terminate_wait_s: float = 2.0,
    ) -> None:
        super().__init__(max_message_bytes=max_message_bytes)
        self._command = tuple(command)
        self._env = env
        self._cwd = cwd
        self._inherit_env = inherit_env
        self._close_wait_s = close_wait_s
        self._terminate_wait_s = terminate_wait_s
        self.guard: LeaseGuard | None = None  # of a server that may run only under a lease
        self._child: ChildProcess | None = None
        self._stdin: PipeWriter | None = None
        self._readers: list[PipeReader] = []
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._has_spoken = False  # on stderr, since something was last sent to it
        self._stray_lines: list[str] = []  # printed to stdout before the handshake was done
        self._is_negotiated = False
        self._started_at = 0.0
        self._stopped_after_s: float | None = None
        self._is_closing = False
        self._is_winding_up = False
        self._is_wound_up = False
        self._is_waiting_for_rest = False  # of a line on stderr

    def __repr__(self) -> str:
        return f"<StdioTransport {self._command} {self._child or 'not started'}>"

    @property
    def identity(self) -> str:
        return f"stdio:{self._cwd or ''}:{self._command}"

    def describe(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"transport": self.kind, "command": list(self._command)}
        if self._child is not None:
            facts["pid"] = self._child.pid
            code = self._child.return_code
            if code is not None:
                facts |= {"exit_code": code if code >= 0 else None, "signal": signal_name(code)}
        if self._last_words:
            facts["stderr"] = list(self._last_words)
        if self._stray_lines:
            facts["stdout"] = list(self._stray_lines)
        return facts

    @property
    def stray_lines(self) -> Sequence[str]:
        return self._stray_lines

    @property
    def lack(self) -> str:
        if not self._stray_lines:
            return ""
        shown = ", ".join(repr(line) for line in self._stray_lines)
        return (
            f"the server printed {shown} to stdout, which is only for messages: "
            "logs belong on stderr"
        )

    def negotiated(self, protocol_version: str, *, is_stateless: bool) -> None:
        self._is_negotiated = True
        self._stray_lines = []  # they kept it from nothing

    def unfinished(self, request_id: RequestId | None = None) -> bytes:
        return self._readers[0].unfinished if self._readers else b""

    # -- opening -------------------------------------------------------------------------------

    async def _open(self) -> None:
        require_posix(PLATFORM)
        launch = await self._resolve()
        try:
            child = self._child = ChildProcess(launch, self.guard)
        except OSError as problem:
            raise classify(problem, f"starting {launch.argv[0]}") from None
        # Arguments and environment may hold secrets.
        arguments = len(launch.argv) - 1
        _log.debug("started %s with %d arguments as pid %d", launch.argv[0], arguments, child.pid)
        self._started_at = self._clock.monotonic()
        argv, env_names = list(launch.argv), sorted(self._env or ())
        self._publish(
            ProcessStarted(pid=child.pid, argv=argv, cwd=launch.folder, env_names=env_names)
        )
        self._stdin = await PipeWriter.open(child)
        stdout = LineSplitter(self.max_message_bytes)
        self._readers = [
            await PipeReader.open(child.stdout, stdout, self._line, self._stream_ended),
            await PipeReader.open(
                child.stderr,
                LineSplitter(_STDERR_LINE_BYTES),
                self._stderr_line,
                lambda: None,
                self._stderr_begun,
            ),
        ]
        child.exited.add_done_callback(lambda _: self._stream_ended())

    async def _resolve(self) -> Launch:
        def resolve() -> Launch:
            return resolve_launch(
                self._command, env=self._env, cwd=self._cwd, inherit_env=self._inherit_env
            )

        # Asking the user's shell for its PATH takes up to 4 s, once.
        if needs_shell_path(self._command, env=self._env, cwd=self._cwd):
            return await asyncio.to_thread(resolve)
        return resolve()

    # -- out -----------------------------------------------------------------------------------

    def write(self, out: Outgoing) -> None:
        self._has_spoken = False
        stdin, readers = self._stdin, self._readers
        problem: str | None = "is not running"
        if stdin is not None:
            # Answers that came together are followed by requests that leave together.
            gather = readers[0].lines_at_once > 1 if readers else False
            problem = stdin.write(out.message.raw, gather)
        if problem is not None and out.is_request and out.id is not None:
            self._not_written(out.id, problem)

    def _not_written(self, request_id: RequestId, problem: str) -> None:
        child, stdin = self._child, self._stdin
        if child is None or stdin is None or self._is_closing or not stdin.is_closed:
            error = TransportError("CONNECTION_LOST", f"not sent: the server {problem}")
            self._receiver.request_failed(request_id, error)
        else:
            self._work.start(self._fail_by_exit(request_id, child), "stdio write failed")

    async def _fail_by_exit(self, request_id: RequestId, child: ChildProcess) -> None:
        """The server closed its stdin: it has exited, is about to, or will never read again."""
        has_exited = await self._exits_within(child, _EXIT_NOTICED_S)
        if not has_exited or self._is_wound_up:
            self._receiver.request_failed(request_id, self._exit_error(child, "stdin"))

    # -- in ------------------------------------------------------------------------------------

    def _line(self, line: bytes | Malformed) -> None:
        if isinstance(line, Malformed):
            self._receiver.message_received(line, len(line.raw))
            return
        message = parse(line)
        if type(message) is Malformed and not message.is_reply_like:
            message = msgspec.structs.replace(message, reason=message.reason + _STRAY)
            self._note_stray(line)
        self._receiver.message_received(message, len(line))

    def _note_stray(self, line: bytes) -> None:
        """Until the handshake is done, stray lines may be why it never is: the user is told."""
        if self._is_negotiated or len(self._stray_lines) == _QUOTED_LINES:
            return
        text = line[: 4 * _QUOTED_CHARACTERS].decode("utf-8", "backslashreplace").strip()
        if not text:
            return
        self._stray_lines.append(text[:_QUOTED_CHARACTERS])
        if len(self._stray_lines) == 1:
            self._remark(self.lack)

    def _stderr_line(self, line: bytes | Malformed) -> None:
        if self._child is None:
            return
        data = line.raw if isinstance(line, Malformed) else line
        self._has_spoken = True
        self._last_words.append(data[:2000].decode("utf-8", "backslashreplace"))
        request_seq = self._receiver.only_request_seq()
        written = StderrLine(
            pid=self._child.pid,
            data=data,
            request_seq=request_seq,
            is_inferred=request_seq is not None,
        )
        self._publish(written, len(data))

    def _stderr_begun(self) -> None:
        """A line came in part: a prompt, or the rest follows soon."""
        if not self._is_waiting_for_rest:
            self._is_waiting_for_rest = True
            self._work.start(self._flush_part(), "stderr part")

    async def _flush_part(self) -> None:
        await self._clock.sleep(_PART_S)
        self._is_waiting_for_rest = False
        self._readers[1].flush()

    # -- the server goes away ------------------------------------------------------------------

    def _stream_ended(self) -> None:
        """Its output ended or it exited: the other will follow, and then the connection is lost."""
        if not self._is_closing and not self._is_winding_up:
            self._is_winding_up = True
            self._work.start(self._wind_up(), "stdio wind-up")

    async def _wind_up(self) -> None:
        child = self._child
        assert child is not None

        async def all_read() -> None:
            await asyncio.wait([reader.closed for reader in self._readers])

        # The server may live on without stdout, or a grandchild may hold the streams.
        if await self._exits_within(child, _EXIT_NOTICED_S):
            with contextlib.suppress(TimeoutError):
                await within(self._clock, _WIND_UP_S, all_read())
        for reader in self._readers:
            reader.flush()
        self._publish_exit(child)
        self._is_wound_up = True
        if not self._is_closing:
            self._receiver.connection_lost(self._exit_error(child))

    def _exit_error(self, child: ChildProcess, closed: str = "stdout") -> InspectorError:
        code = child.return_code
        # Where the message is cut short, a long path would push out why the server ended.
        name = os.path.basename(self._command[0])
        if code is None:
            message = f"{name} closed its {closed} but still runs (pid {child.pid})"
        else:
            message = f"{name} {describe_exit(code)}"
        message += f"; {self.lack}" if self.lack else ""
        if last := _cause(self._last_words):
            is_old = self._is_negotiated and not self._has_spoken
            when = ", before the last message to it" if is_old else ""
            message += f"; its last line on stderr{when}: {last}"
        return TransportError("SERVER_EXITED", message, details=self.describe())

    def _publish_exit(self, child: ChildProcess) -> None:
        code = child.return_code
        if code is not None and not child.is_exit_published:
            child.is_exit_published = True
            exit_code = code if code >= 0 else None
            exited = ProcessExited(
                pid=child.pid,
                exit_code=exit_code,
                signal=signal_name(code),
                stopped_after_s=self._stopped_after_s,
            )
            self._publish(exited)
            _log.debug("pid %d %s", child.pid, describe_exit(code))

    # -- closing -------------------------------------------------------------------------------

    async def _close(self, how: Closing) -> None:
        child = self._child
        if child is None or self._is_closing:
            return
        self._is_closing = True
        if self._stdin is not None:
            self._stdin.close(at_once=how is not Closing.GRACEFUL)
        try:
            if how is Closing.KILL:
                self._stop(child, signal.SIGKILL)
                await self._exits_within(child, 2.0)
            elif how is Closing.GRACEFUL and not await self._exits_within(
                child, self._close_wait_s
            ):
                _log.debug(
                    "pid %d still runs %g s after its stdin was closed: sending SIGTERM",
                    child.pid,
                    self._close_wait_s,
                )
                self._stop(child, signal.SIGTERM)
                if not await self._exits_within(child, self._terminate_wait_s):
                    _log.warning(
                        "pid %d ignored SIGTERM for %g s: killing it",
                        child.pid,
                        self._terminate_wait_s,
                    )
                    self._stop(child, signal.SIGKILL)
                    await self._exits_within(child, 2.0)
        finally:
            self._publish_exit(child)
            if self._stdin is not None:
                self._stdin.close(at_once=True)
            for reader in self._readers:
                reader.close()
            child.release(
                self._close_wait_s if child.return_code is None else 0.5, self._terminate_wait_s
            )

    def _stop(self, child: ChildProcess, number: int) -> None:
        if child.return_code is None and self._stopped_after_s is None:
            self._stopped_after_s = self._clock.monotonic() - self._started_at
        child.signal_group(number)

    async def _exits_within(self, child: ChildProcess, seconds: float) -> bool:
        async def exited() -> None:
            await asyncio.wait([child.exited])

        try:
            await within(self._clock, seconds, exited())
        except TimeoutError:
            return False
        return True


def _cause(lines: Sequence[str]) -> str:
    """Why a server ended, by its last lines: a traceback ends with its cause, but one of Node has
    a stack, fields of the error and the version of Node below it, and some end with advice."""
    is_of_node = False
    for line in (re.sub(_ANSI, "", line).rstrip() for line in reversed(lines)):
        if _NODE_VERSION.fullmatch(line):
            is_of_node = True
        elif line and not _ADVICE.match(line) and not (is_of_node and _BELOW_CAUSE.match(line)):
            return line.strip()
    return ""
