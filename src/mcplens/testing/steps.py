"""Carries out one step of a test: sends what it says, and observes what comes.

Whatever a server does, a step ends: requests have their time limits, and so has waiting.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

import msgspec

from mcplens.bus import Bus
from mcplens.clock import Clock, within
from mcplens.collections.test_file import TestStep
from mcplens.errors import InspectorError, ProtocolError, ServerError, TimeoutExpired
from mcplens.events import FrameReceived, ReplyUnmatched, StateChanged
from mcplens.protocol.frames import Frame, Kind, decode_value
from mcplens.session.client import Client
from mcplens.session.results import LIST_KEYS
from mcplens.testing.matching import differences
from mcplens.testing.observation import Observation

_METHODS: Final = {
    "tools": "tools/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
    "prompts": "prompts/list",
}
# A server whose lists never end.
_MOST_PAGES: Final = 1_000
# Most servers reject an invalid message at once; some never reply.
_REPLY_WAIT_S: Final = 2.0
# States of a connection that can bring no more notifications.
_LOST: Final = ("ERROR", "DISCONNECTING", "DISCONNECTED")


class Sender:
    """Sends the steps of one file."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        # From where a `wait` looks: the start of the step before, or what was found last.
        self._wait_from = 0

    def __repr__(self) -> str:
        return f"<Sender, waits from {self._wait_from}>"

    async def send(
        self,
        client: Client,
        step: TestStep,
        target: str,
        arguments: dict[str, Any],
        timeout_s: float | None,
        seen: Observation,
    ) -> None:
        """Carry out a step; what came of it is in `seen`, an error too."""
        if step.kind != "wait":
            self._wait_from = self._bus.last_seq
        begun = self._clock.monotonic()
        try:
            await self._do(client, step, target, arguments, timeout_s, seen)
        except InspectorError as error:
            _take_error(seen, error)
        seen.elapsed_s = self._clock.monotonic() - begun

    async def _do(
        self,
        client: Client,
        step: TestStep,
        target: str,
        arguments: dict[str, Any],
        timeout_s: float | None,
        seen: Observation,
    ) -> None:
        match step.kind:
            case "call":
                result = await client.call_tool(
                    target, arguments, timeout_s=timeout_s, on_progress=_no_matter
                )
                _take(seen, result.raw, result.findings)
            case "read":
                _take(seen, (await client.read_resource(target, timeout_s=timeout_s)).raw)
            case "prompt":
                given = {key: _as_text(value) for key, value in arguments.items()}
                _take(seen, (await client.get_prompt(target, given, timeout_s=timeout_s)).raw)
            case "complete":
                await self._complete(client, target, arguments, timeout_s, seen)
            case "list":
                await self._list(client, _METHODS[target], timeout_s, seen)
            case "request":
                reply = await client.request(
                    target, arguments, timeout_s=timeout_s, on_progress=_no_matter
                )
                _take(seen, reply.raw, reply.findings)
            case "notify":
                client.notify(target, arguments or None)
            case "raw":
                await self._raw(client, target, timeout_s, seen)
            case "wait":
                await self._wait(client, target, arguments, timeout_s)

    async def _complete(
        self,
        client: Client,
        target: str,
        arguments: dict[str, Any],
        timeout_s: float | None,
        seen: Observation,
    ) -> None:
        is_resource = "://" in target or "{" in target
        ref = {"type": "ref/resource", "uri": target}
        if not is_resource:
            ref = {"type": "ref/prompt", "name": target}
        context = arguments.get("context")
        found = await client.complete(
            ref,
            str(arguments.get("argument", "")),
            _as_text(arguments.get("value", "")),
            context if isinstance(context, dict) else None,
            timeout_s=timeout_s,
        )
        _take(seen, found.raw)

    async def _list(
        self, client: Client, method: str, timeout_s: float | None, seen: Observation
    ) -> None:
        """All pages as one result."""
        key = LIST_KEYS[method]
        cursor: Any = None
        for _ in range(_MOST_PAGES):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            reply = await client.request(method, params, timeout_s=timeout_s)
            seen.findings += reply.findings
            page = reply.value if isinstance(reply.value, dict) else {}
            former = seen.value.get(key) or []
            items = page.get(key) if isinstance(page.get(key), list) else []
            seen.result = {**page, key: [*former, *(items or [])]}
            seen.has_result = True
            cursor = page.get("nextCursor")
            if cursor is None:
                return
        seen.findings.append(f"{method} has more than {_MOST_PAGES} pages")

    async def _raw(
        self, client: Client, target: str, timeout_s: float | None, seen: Observation
    ) -> None:
        after = self._bus.last_seq
        data = target.encode("utf-8", "surrogateescape")
        frame = await client.send_raw(data, timeout_s=timeout_s, force=True)
        if frame is not None:
            _take(seen, bytes(frame.body))
            return
        reply = await self._unmatched_reply(client, after)
        if reply is not None and reply.error is not None:
            error = reply.error
            raise ServerError(error.code, error.message, error.data, raw=reply.raw)
        if reply is not None:
            _take(seen, bytes(reply.body))

    async def _unmatched_reply(self, client: Client, after: int) -> Frame | None:
        """A reply without an id that we know, if one comes at once."""
        found: list[Frame] = []

        async def collect() -> None:
            async for event in client.events(after):
                if isinstance(event, StateChanged):
                    return  # disconnected: no more replies
                if isinstance(event, ReplyUnmatched) and isinstance(event.message, Frame):
                    found.append(event.message)
                    return

        with contextlib.suppress(TimeoutError):
            await within(self._clock, _REPLY_WAIT_S, collect())
        return found[0] if found else None

    async def _wait(
        self, client: Client, method: str, wanted: dict[str, Any], timeout_s: float | None
    ) -> None:
        """Wait for a notification that no `wait` before has found."""

        async def look() -> None:
            async for event in client.events(self._wait_from):
                if isinstance(event, StateChanged) and event.new in _LOST:
                    text = f"the connection ended before {method} came"
                    raise ProtocolError("CONNECTION_LOST", text)
                if isinstance(event, FrameReceived) and _is_wanted(event, method, wanted):
                    self._wait_from = event.seq
                    return

        try:
            await within(self._clock, timeout_s, look())
        except TimeoutError:
            text = f"{method} did not come within {timeout_s:g} s"
            raise TimeoutExpired("REQUEST_TIMEOUT", text) from None


def _is_wanted(event: FrameReceived, method: str, wanted: dict[str, Any]) -> bool:
    frame = event.message
    if not isinstance(frame, Frame) or frame.kind is not Kind.NOTIFICATION:
        return False
    if frame.method != method:
        return False
    try:
        return not differences(wanted, frame.value()) if wanted else True
    except ValueError:
        return False


def _no_matter(*progress: Any) -> None:
    """Progress is asked for, and observed on the bus."""


def _take(seen: Observation, raw: bytes, findings: tuple[str, ...] = ()) -> None:
    try:
        seen.result, unusual = decode_value(msgspec.Raw(raw))
    except ValueError as problem:
        raise ProtocolError("INVALID_RESPONSE", f"the answer is not JSON: {problem}") from None
    seen.has_result = True
    seen.findings += [*findings, *unusual]


def _take_error(seen: Observation, error: InspectorError) -> None:
    """A result that breaks its shape is still a result; `valid` says what is wrong with it."""
    if isinstance(error, ProtocolError) and isinstance(error.value, dict):
        seen.result, seen.has_result = error.value, True
        seen.findings += error.findings
        return
    seen.error = error


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
