"""The audit log: a line of JSON for each request of a client, and never what was in it.

Lines are appended to a file that only its owner can read, in one write per turn of the event loop,
so that they survive the process. A full file is set aside; the oldest of those is deleted. The
payloads are in the recording, found by `run` and `seq`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.gateway import callers
from mcplens.known_secrets import known_secrets

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall

_log = logging.getLogger("mcplens.gateway")

FILE_NAME: Final = "gateway-audit.jsonl"
# About 200,000 calls; with the files that are set aside, 100 MB in all.
MAX_BYTES: Final = 20_000_000
KEPT_FILES: Final = 4


class AuditLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a request after its end; `name` is a tool, a prompt or a URI.

    `caller` is the name of the token or the subject of the user, "" if no token is asked for.
    `reason` is there where the client was not told all of it, and where access control refused a
    request: `method` and `path` are then those of HTTP.
    """

    time: float
    run: str
    seq: int
    client: str
    client_id: str
    path: str
    method: str
    name: str | None
    server: str
    outcome: str
    seconds: float
    request_bytes: int
    answer_bytes: int
    reason: str = ""
    caller: str = ""


_encode: Final = msgspec.json.Encoder().encode


def line_of(
    call: InboundCall, outcome: str, answer_bytes: int, elapsed_s: float, *, time: float, run: str
) -> AuditLine:
    """The line of a call that ended just now."""
    return AuditLine(
        time=_in_microseconds(time),
        run=run,
        seq=call.seq,
        client=call.client.name,
        client_id=call.client.id,
        path=call.client.path,
        method=call.method,
        name=call.name,
        server=call.server_id,
        outcome=outcome,
        seconds=_in_microseconds(elapsed_s),
        request_bytes=call.size_bytes,
        answer_bytes=answer_bytes,
        reason=call.reason,
        caller=callers.name_of(call.client.peer.caller),
    )


def _in_microseconds(seconds: float) -> float:
    """Rounded to six digits; `round` makes a text of it for that, which costs ten times as much."""
    return int(seconds * 1e6 + 0.5) / 1e6


class AuditLog:
    """Appends to one file; `close` writes what is left."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self.problem: str | None = None  # why nothing is written any more
        self._max_bytes = max_bytes
        self._lines: list[bytes] = []
        self._file = -1
        self._size = 0
        self._is_flush_due = False
        self._open()

    def __repr__(self) -> str:
        return f"<AuditLog {self.path}, {self._size} bytes>"

    def add(self, line: AuditLine) -> None:
        """Write a line at the end of this turn of the event loop."""
        if self._file < 0:
            return
        self._lines.append(_encode(line) + b"\n")
        if not self._is_flush_due:
            self._is_flush_due = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Write what was added."""
        self._is_flush_due = False
        lines, self._lines = self._lines, []
        if not lines or self._file < 0:
            return
        data = known_secrets.mask_text(b"".join(lines).decode()).encode()
        try:
            self._size += os.write(self._file, data)
            if self._size >= self._max_bytes:
                self._set_aside()
        except OSError as problem:
            self._failed(problem)

    def close(self) -> None:
        self.flush()
        self._close_file()

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(self.path, flags, 0o600)
            self._size = os.fstat(self._file).st_size
        except OSError as problem:
            self._failed(problem)

    def _set_aside(self) -> None:
        self._close_file()
        for number in range(KEPT_FILES, 0, -1):
            older = self._numbered(number)
            newer = self._numbered(number - 1) if number > 1 else self.path
            with contextlib.suppress(FileNotFoundError):
                newer.replace(older)
        self._open()

    def _numbered(self, number: int) -> Path:
        return self.path.with_suffix(f".{number}.jsonl")

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _failed(self, problem: OSError) -> None:
        """Calls go on; who operates the gateway is warned."""
        self._close_file()
        self.problem = f"{self.path} cannot be written: {problem.strerror or problem}"
        _log.warning("the audit log stopped: %s", self.problem)


def tail(path: Path, count: int, *, max_bytes: int = 256_000) -> list[dict[str, Any]]:
    """The newest lines, the newest first; what is not a line of ours is left out."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - max_bytes))
            lines = file.read().splitlines()
    except OSError:
        return []
    found: list[dict[str, Any]] = []
    for line in reversed(lines):
        with contextlib.suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=dict[str, Any]))
        if len(found) == count:
            break
    return found
