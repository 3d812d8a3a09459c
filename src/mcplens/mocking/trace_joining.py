"""Adds the messages of one recorded run to another, so that a trace stays one run of one server.

Called by the cassettes of the pytest plugin (mode `new`). The file is written beside the trace
first, and takes its place when it is whole; what it had before stays as it was, byte for byte.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from mcplens.store.lenient_json import from_json, to_json
from mcplens.store.trace import RUN_TYPE

# Links to an exchange of the same run; links by `seq` end in that.
_EXCHANGE: Final = "exchange_id"
_CALL: Final = "call_id"


class _Last:
    """The largest numbers of a run: those of another one are counted on from them."""

    def __init__(self) -> None:
        self.run_id: str | None = None
        self.seq = 0
        self.exchange = 0
        self.mono = 0.0

    def __repr__(self) -> str:
        return f"<_Last seq {self.seq} of run {self.run_id}>"

    def take(self, event: dict[str, Any]) -> None:
        self.run_id = event.get("run_id", self.run_id)
        self.seq = max(self.seq, event.get("seq") or 0)
        self.exchange = max(self.exchange, event.get(_EXCHANGE) or 0)
        self.mono = max(self.mono, event.get("mono") or 0.0)


def append_run(path: str, added: str) -> None:
    """Add the events of a trace to the last run of another.

    Raises:
        OSError: the trace cannot be written.
    """
    path = os.path.realpath(path)
    descriptor, fresh = tempfile.mkstemp(
        prefix=f"{os.path.basename(path)}.", dir=os.path.dirname(path)
    )
    try:
        with open(descriptor, "wb") as new:
            with open(path, "rb") as old:
                last = _copy(old, new)
            with open(added, "rb") as other:
                for event in _events(other):
                    new.write(to_json(_moved(event, last)) + b"\n")
        shutil.copymode(path, fresh)
        os.replace(fresh, path)
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)


def _copy(old: BinaryIO, new: BinaryIO) -> _Last:
    """Copy all whole lines; gives where they end."""
    last = _Last()
    for line in old:
        if not line.endswith(b"\n"):  # its writer was killed
            break
        new.write(line)
        event = _decoded(line)
        if event is not None:
            last.take(event)
    return last


def _events(trace: BinaryIO) -> Iterator[dict[str, Any]]:
    for line in trace:
        event = _decoded(line)
        if event is not None and event.get("type", RUN_TYPE) != RUN_TYPE:
            yield event


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        event = from_json(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def _moved(event: dict[str, Any], last: _Last) -> dict[str, Any]:
    """The event as one of the other run, after all of that run's own."""
    moved = {**event, "run_id": last.run_id, "mono": last.mono + (event.get("mono") or 0.0)}
    for name, value in event.items():
        if value is None:
            continue
        if name == "seq" or name.endswith("_seq"):
            moved[name] = value + last.seq
        elif name.endswith("_seqs"):
            moved[name] = [one + last.seq for one in value]
        elif name == _EXCHANGE:
            moved[name] = value + last.exchange
        elif name == _CALL:
            moved[name] = f"{value}+{last.seq}"
    return moved
