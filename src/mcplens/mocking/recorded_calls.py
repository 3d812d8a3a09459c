"""The calls of one server in one recorded run, as a table that is searched by method and params.

Messages are in a temporary file (in memory while they are few), only keys and places are in memory:
a recording of any size can be served. Filled by recording_reader.py; read by the mock and by
verify.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, Final, Literal

import msgspec

from mcplens.mocking.params_matching import (
    Span,
    call_key,
    decode_masked,
    likeness,
    own_params,
    shown,
)
from mcplens.protocol.eras import Era, era_of
from mcplens.protocol.frames import RequestId
from mcplens.protocol.json_comparison import is_same

StepKind = Literal["notification", "question", "answer"]
# Messages beyond this are on the disk.
_MOST_IN_MEMORY: Final = 32 * 1024 * 1024
# Decoded calls that are kept: a client repeats a few calls most of the time.
_MOST_DECODED: Final = 256
# Different calls of a method among which the nearest is looked for.
_MOST_COMPARED: Final = 500


class Step(msgspec.Struct, frozen=True, array_like=True):
    """What else was said for a call: by the server, or as an answer to its question."""

    kind: StepKind
    raw: bytes
    after_s: float = 0.0  # since the step before it, or the request
    id: RequestId | None = None  # of the question, and of the answer to it
    masked: tuple[Span, ...] = ()

    def value(self) -> Any:
        """The message; masked values in it are `MaskedValue`."""
        return decode_masked(self.raw, self.masked)


class RecordedCall(msgspec.Struct, frozen=True, array_like=True):
    """A request with all that followed from it; without an id, a notification of the client."""

    seq: int
    method: str
    raw: bytes
    id: RequestId | None = None
    masked: tuple[Span, ...] = ()
    steps: tuple[Step, ...] = ()  # before the reply
    reply: bytes | None = None
    reply_after_s: float = 0.0
    trailing: tuple[Step, ...] = ()  # what the server said on its own afterwards
    reply_masked: tuple[Span, ...] = ()
    why_unanswered: str = "it has no answer"
    purpose: str | None = None
    reply_seq: int | None = None

    @property
    def params(self) -> Any:
        """Its params; masked values in them are `MaskedValue`."""
        message = decode_masked(self.raw, self.masked)
        return message.get("params") if isinstance(message, dict) else None

    @property
    def questions(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind == "question")


class RecordedServer:
    """One server of one run. Close it, or use it in a `with` block."""

    def __init__(self, run_id: str, server_id: str) -> None:
        self.run_id = run_id
        self.server_id = server_id
        # What the server said of itself; also where its handshake was not recorded.
        self.introduction: dict[str, Any] = {}
        self.count = 0
        self._file = tempfile.SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115
        self._end = 0
        self._found: dict[bytes, list[tuple[int, int]]] = {}  # key -> seq and place of its calls
        self._places: dict[bytes, array[int]] = {}
        self._order: array[int] = array("q")
        self._masked: dict[str, list[int]] = {}  # method -> calls with masked params
        self._methods: dict[str, list[int]] = {}  # method -> its different calls
        self._decoded = lru_cache(_MOST_DECODED)(self._read)

    def __repr__(self) -> str:
        return f"<RecordedServer {self.server_id} of run {self.run_id[:8]}, {self.count} calls>"

    def __enter__(self) -> RecordedServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    # -- writing -------------------------------------------------------------------------------

    def add(self, call: RecordedCall) -> None:
        """Add a call; `seal` makes it searchable."""
        try:
            data = msgspec.msgpack.encode(call)
        except (UnicodeEncodeError, OverflowError):
            return  # a method or an id that no client can send again
        place, self._end = self._end, self._end + 8 + len(data)
        self._file.seek(place)
        self._file.write(len(data).to_bytes(8, "big") + data)
        self.count += 1
        try:
            params = call.params
        except ValueError:
            return  # cut off, or nested too deeply to be compared
        is_masked = bool(call.masked) and not _is_plain(params)
        key = b"" if is_masked else call_key(call.method, params)
        if is_masked:
            self._masked.setdefault(call.method, []).append(place)
        known = self._methods.setdefault(call.method, [])
        if (is_masked or key not in self._found) and len(known) < _MOST_COMPARED:
            known.append(place)
        self._found.setdefault(key or b"masked", []).append((call.seq, place))

    def seal(self) -> None:
        """All calls are there: bring them into the order in which they were sent."""
        every: list[tuple[int, int]] = []
        for key, found in self._found.items():
            found.sort()
            every += found
            self._places[key] = array("q", (place for _, place in found))
        every.sort()
        self._order = array("q", (place for _, place in every))
        self._found.clear()

    # -- reading -------------------------------------------------------------------------------

    @property
    def protocol_version(self) -> str | None:
        version = self.introduction.get("protocol_version")
        return version if isinstance(version, str) else None

    @property
    def era(self) -> Era:
        """The era of the recording; the older one where nothing tells."""
        if self.protocol_version is not None:
            return era_of(self.protocol_version)
        is_stateless = "server/discover" in self._methods and "initialize" not in self._methods
        return Era.STATELESS if is_stateless else Era.HANDSHAKE

    @property
    def methods(self) -> list[str]:
        """The methods that were recorded."""
        return list(self._methods)

    def calls(self) -> Iterator[RecordedCall]:
        """All calls in the order in which they were sent."""
        return map(self._read, self._order)

    def at(self, number: int) -> RecordedCall | None:
        """A call by its number in that order; None after the last."""
        return self._decoded(self._order[number]) if number < len(self._order) else None

    def of_method(self, method: str) -> RecordedCall | None:
        """The first call of a method, whatever its params are."""
        places = self._methods.get(method)
        return self._decoded(places[0]) if places else None

    def find(self, method: str, params: Any) -> tuple[bytes, Sequence[int]]:
        """A key of this call, and the places of the recorded calls that are the same, in order."""
        key = call_key(method, params)
        places = self._places.get(key)
        if places is not None:
            return key, places
        wanted = own_params(method, params)
        found = [
            place
            for place in self._masked.get(method, ())
            if is_same(own_params(method, self._decoded(place).params), wanted)
        ]
        return key, found

    def load(self, place: int) -> RecordedCall:
        """The call at a place."""
        return self._decoded(place)

    def nearest(self, method: str, params: Any) -> RecordedCall | None:
        """The recorded call that is most like this one; None if nothing of the kind is there."""
        wanted = shown(own_params(method, params))
        places = self._methods.get(method) or [
            place for found in self._methods.values() for place in found[:1]
        ]
        if method in self._methods:
            scores = [(likeness(wanted, describe(self._read(at))[len(method) + 1 :]), at)
                      for at in places]  # fmt: skip
        else:
            scores = [(likeness(method, self._read(at).method), at) for at in places]
        return self._read(max(scores, key=lambda one: one[0])[1]) if scores else None

    def _read(self, place: int) -> RecordedCall:
        self._file.seek(place)
        size = int.from_bytes(self._file.read(8), "big")
        return msgspec.msgpack.decode(self._file.read(size), type=RecordedCall)


def describe(call: RecordedCall) -> str:
    """A call as one line: its method and params."""
    try:
        params = own_params(call.method, call.params)
    except ValueError:
        return call.method
    return f"{call.method} {shown(params)}"


def _is_plain(value: Any) -> bool:
    """Whether nothing in a value is masked."""
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, str | int | float | bool | None)
