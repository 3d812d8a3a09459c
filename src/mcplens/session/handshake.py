"""Opens a session: which era the server lives in, and what both sides agree on.

`auto` asks server/discover first and falls back to initialize; a pinned revision goes straight to
its own way. The outcome is remembered per server for the life of this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from mcplens.clock import Clock
from mcplens.errors import HttpError, InspectorError, ProtocolError, ServerError
from mcplens.protocol.deadlines import NEVER
from mcplens.protocol.eras import (
    HANDSHAKE_VERSIONS,
    SERVER_INFO,
    STATELESS_ERRORS,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSIONS,
    Era,
    choose_version,
    envelope_meta,
    era_of,
    standard_headers,
)
from mcplens.protocol.frames import Frame, decode_value
from mcplens.protocol.result_types import (
    DiscoverResult,
    InitializeResult,
    ShapeError,
    decode_result,
)
from mcplens.session.capabilities import for_stateless
from mcplens.session.queue import CallTag, QueueEntry
from mcplens.session.session import Session

# The connection's own timeout bounds the handshake, so its requests have none (NEVER).

# What a silent legacy server costs, once.
PROBE_TIMEOUT_S: Final = 2.0
# Over HTTP a legacy server refuses the probe at once, with a status; silence is nearly always a
# stateless server that is slow, and a strict one refuses what it would get next.
HTTP_PROBE_TIMEOUT_S: Final = 10.0


class Introduction(msgspec.Struct, frozen=True):
    """What was agreed on, and why this revision."""

    version: str
    capabilities: dict[str, Any]
    server_info: dict[str, Any]
    instructions: str | None
    reason: str
    is_complete: bool = True  # False if the server said nothing about itself
    allowed: set[str] = msgspec.field(default_factory=set)  # methods that were looked up


class _RememberedRevision(msgspec.Struct, frozen=True):
    version: str
    reason: str


_revisions: dict[str, _RememberedRevision] = {}


def forget_revisions() -> None:
    """Probe every server again."""
    _revisions.clear()


async def perform_handshake(
    session: Session, wanted: str, timeout_s: float | None = None
) -> Introduction:
    """Open the session in the wanted revision, or find out which one with `auto`.

    `timeout_s` is how long the caller waits; probing leaves time for what follows it.

    Raises:
        InspectorError: the server refused, answered nonsense, or speaks no revision of ours.
    """
    if wanted != "auto":
        if wanted not in VERSIONS:
            known = ", ".join(VERSIONS)
            raise ProtocolError(
                "PROTOCOL_VERSION_MISMATCH",
                f"{wanted} is not a revision that we support: use {known}",
            )
        return await _open_pinned(session, wanted, "pinned", is_pinned=True)
    if not session.transport.can_be_stateless:
        return await _initialize(session, HANDSHAKE_VERSIONS[0], "this transport predates probing")
    identity = session.transport.identity
    remembered = _revisions.get(identity)
    if remembered is not None:
        try:
            return await _open_remembered(session, remembered)
        except BaseException as problem:
            _revisions.pop(identity, None)  # cancelled or timed out, it failed as well
            if session.is_lost or not isinstance(problem, InspectorError):
                raise
    introduction = await _probe(session, timeout_s)
    _revisions[identity] = _RememberedRevision(introduction.version, introduction.reason)
    return introduction


async def _open_remembered(session: Session, remembered: _RememberedRevision) -> Introduction:
    """As last time; a server that no longer answers as it did then has to be probed again."""
    version, reason = remembered.version, f"remembered: {remembered.reason}"
    if era_of(version) is Era.HANDSHAKE:
        return await _initialize(session, version, reason)
    return _discovered(await _discover(session, version), version, reason)


async def _open_pinned(
    session: Session, version: str, reason: str, *, is_pinned: bool = False
) -> Introduction:
    if era_of(version) is Era.HANDSHAKE:
        return await _initialize(session, version, reason, is_pinned=is_pinned)
    entry = _discover(session, version)
    try:
        return _discovered(await entry, version, reason)
    except ServerError as error:
        if error.rpc_code == UNSUPPORTED_VERSION:
            if version not in _supported(error.data):
                raise _mismatch(version, _supported(error.data)) from None
            asked_for = Introduction(version, {}, {}, None, reason, is_complete=False)
            return await _ask_again(session, asked_for)
        # server/discover is optional for servers that a client knows how to speak to.
        reason = f"{reason}; server/discover is not offered"
        return Introduction(version, {}, {}, None, reason, is_complete=False)


async def _ask_again(session: Session, found: Introduction) -> Introduction:
    """-32022 named a revision of ours: ask once more, in that one; the server need not answer."""
    if found.is_complete:
        return found
    try:
        return _discovered(await _discover(session, found.version), found.version, found.reason)
    except ServerError:
        return found


async def _probe(session: Session, timeout_s: float | None) -> Introduction:
    """server/discover first; anything but a stateless answer, or silence, leads to initialize."""
    version = STATELESS_VERSIONS[0]
    is_http = session.transport.exchange_per_request
    probe_s = _http_probe_s(timeout_s) if is_http else PROBE_TIMEOUT_S
    discover = _discover(session, version)
    await _first_of([discover], session.clock, probe_s)
    while not discover.is_settled and session.in_flight.is_standing_still:
        await _first_of([discover], session.clock, probe_s)  # a person signs in
    if discover.is_settled:
        found = _judge_discover(discover, version)
        if isinstance(found, Introduction):
            return await _ask_again(session, found)
        return await _initialize(session, HANDSHAKE_VERSIONS[0], found)
    reason = f"server/discover had no answer within {probe_s:.2g} s"
    if is_http:
        # Its stream is closed first: nothing of the probe overlaps with the handshake.
        session.give_up(discover, "no answer")
        return await _initialize_unprobed(session, reason)
    initialize = _send_initialize(session, HANDSHAKE_VERSIONS[0])
    return await _whichever_wins(session, discover, initialize, reason)


def _http_probe_s(timeout_s: float | None) -> float:
    return HTTP_PROBE_TIMEOUT_S if timeout_s is None else min(HTTP_PROBE_TIMEOUT_S, timeout_s / 3)


async def _initialize_unprobed(session: Session, reason: str) -> Introduction:
    """initialize after a probe without an answer; a slow stateless server may refuse it."""
    try:
        return await _initialize(session, HANDSHAKE_VERSIONS[0], reason)
    except (ServerError, HttpError) as refusal:
        if session.is_lost or (isinstance(refusal, HttpError) and refusal.status in _NO_VERDICT):
            raise
        discover = _discover(session, STATELESS_VERSIONS[0])
        await _first_of([discover], session.clock, None)
        found = _judge_discover(discover, STATELESS_VERSIONS[0])
        if isinstance(found, str):
            raise
        return await _ask_again(session, found)


async def _whichever_wins(
    session: Session, discover: QueueEntry, initialize: QueueEntry, reason: str
) -> Introduction:
    """A stateless answer that comes late still wins, without a new process."""
    version = STATELESS_VERSIONS[0]
    await _first_of([discover, initialize], session.clock, None)
    while True:
        if discover.is_settled:
            found = _judge_discover(discover, version)
            if isinstance(found, Introduction):
                session.give_up(initialize, "the server is stateless")
                return await _ask_again(session, found)
        if initialize.is_settled:
            break
        await _first_of([initialize], session.clock, None)
    try:
        introduction = _initialized(session, await initialize, HANDSHAKE_VERSIONS[0], reason)
    except ServerError as error:
        if error.rpc_code != UNSUPPORTED_VERSION:
            raise
        chosen = choose_version(_supported(error.data))
        if chosen is None:
            raise _mismatch(HANDSHAKE_VERSIONS[0], _supported(error.data)) from None
        session.give_up(discover, "asked again")
        return await _open_pinned(session, chosen, "initialize was refused as too old")
    session.give_up(discover, "the server spoke initialize")
    return introduction


def _judge_discover(entry: QueueEntry, version: str) -> Introduction | str:
    """The stateless introduction, or why the server is taken for a handshake one."""
    error = entry.error
    if error is None:
        frame: Frame = entry.result
        try:
            return _discovered(frame, version, "server/discover was answered")
        except InspectorError as problem:
            return f"the answer to server/discover names no revision of ours: {problem.message}"
    code, data = _rpc_error(error)
    if code == UNSUPPORTED_VERSION and choose_version(_supported(data)):
        chosen = choose_version(_supported(data)) or version
        reason = f"the server asked for {chosen}"
        return Introduction(chosen, {}, {}, None, reason, is_complete=False)
    if isinstance(error, HttpError) and error.status in (401, 403):
        raise error
    if isinstance(error, HttpError) and error.status is None:
        raise error
    if error.category in ("connection", "timeout") or error.code in _FATAL:
        raise error
    if code in STATELESS_ERRORS and code != UNSUPPORTED_VERSION:
        raise error
    if code is not None:
        return f"server/discover was answered with error {code}"
    if isinstance(error, HttpError):
        return f"server/discover was answered with HTTP {error.status}"
    return f"server/discover was answered with {error.code}"


# HTTP statuses that say nothing about the era; None is a connection that failed.
_NO_VERDICT: Final = (None, 401, 403, 429)

# No handshake can follow these: the channel itself is gone or refused.
_FATAL: Final = ("SERVER_EXITED", "CONNECTION_LOST", "RATE_LIMITED")


def _rpc_error(error: InspectorError) -> tuple[int | None, Any]:
    if isinstance(error, ServerError):
        return error.rpc_code, error.data
    rpc = error.details.get("rpc_error")
    return (rpc.get("code"), rpc.get("data")) if isinstance(rpc, dict) else (None, None)


def _discover(session: Session, version: str) -> QueueEntry:
    meta = envelope_meta(version, for_stateless(session.client_capabilities), session.client_info)
    headers = standard_headers("server/discover", None) | {"MCP-Protocol-Version": version}
    return session.sender.start_now(
        "server/discover",
        {"_meta": meta},
        tag=CallTag(purpose="handshake"),
        headers=headers,
        timeout_s=NEVER,
    )


def _discovered(frame: Frame, version: str, reason: str) -> Introduction:
    try:
        result = decode_result(frame.body, DiscoverResult)
    except ShapeError as problem:
        raise _invalid("server/discover", str(problem), frame) from None
    chosen = version if version in result.supported_versions else None
    chosen = chosen or choose_version(result.supported_versions)
    if chosen is None:
        raise _mismatch(version, result.supported_versions)
    info = result.meta.get(SERVER_INFO)
    return Introduction(
        chosen,
        result.capabilities,
        info if isinstance(info, dict) else {},
        result.instructions,
        reason,
    )


def _send_initialize(session: Session, version: str) -> QueueEntry:
    params = {
        "protocolVersion": version,
        "capabilities": session.client_capabilities,
        "clientInfo": session.client_info,
    }
    return session.sender.start_now(
        "initialize", params, tag=CallTag(purpose="handshake"), timeout_s=NEVER
    )


async def _initialize(
    session: Session, version: str, reason: str, *, is_pinned: bool = False
) -> Introduction:
    entry = _send_initialize(session, version)
    try:
        frame = await entry
    except ServerError as error:
        supported = _supported(error.data)
        chosen = choose_version(supported)
        if error.rpc_code == UNSUPPORTED_VERSION and chosen and not is_pinned:
            return await _open_pinned(session, chosen, "initialize was refused as too old")
        if supported and version not in supported:
            raise _mismatch(version, supported) from None
        raise
    return _initialized(session, frame, version, reason, is_pinned=is_pinned)


def _initialized(
    session: Session, frame: Frame, offered: str, reason: str, *, is_pinned: bool = False
) -> Introduction:
    try:
        result = decode_result(frame.body, InitializeResult)
    except ShapeError as problem:
        raise _invalid("initialize", str(problem), frame) from None
    answered = result.protocol_version
    if answered not in HANDSHAKE_VERSIONS or (is_pinned and answered != offered):
        raise _mismatch(offered, [answered])
    session.transport.negotiated(answered, is_stateless=False)
    session.sender.notify("notifications/initialized")
    return Introduction(
        answered, result.capabilities, result.server_info, result.instructions, reason
    )


def _supported(data: Any) -> list[str]:
    supported = data.get("supported") if isinstance(data, dict) else None
    return [str(version) for version in supported] if isinstance(supported, list) else []


def _mismatch(offered: str, answered: Iterable[str]) -> ProtocolError:
    theirs = ", ".join(answered) or "none that it names"
    return ProtocolError(
        "PROTOCOL_VERSION_MISMATCH",
        f"we offered {offered}, the server speaks {theirs}; we speak {', '.join(VERSIONS)}",
        details={"offered": offered, "answered": list(answered)},
    )


def _invalid(method: str, problem: str, frame: Frame) -> ProtocolError:
    try:
        value, _ = decode_value(frame.body)
    except ValueError:
        value = None
    return ProtocolError(
        "INVALID_RESPONSE",
        f"the answer to {method} breaks its shape: {problem}",
        raw=frame.raw,
        value=value,
        findings=(problem,),
    )


async def _first_of(entries: list[QueueEntry], clock: Clock, timeout_s: float | None) -> None:
    """Wait until one of them is settled, or for so long; raises nothing of theirs."""
    woken = asyncio.get_running_loop().create_future()

    def wake(*_: object) -> None:
        if not woken.done():
            woken.set_result(None)

    timer = None
    if timeout_s is not None:
        timer = clock.call_at(clock.monotonic() + timeout_s, wake)
    for entry in entries:
        entry.future.add_done_callback(wake)
    try:
        await woken
    finally:
        if timer is not None:
            timer.cancel()
        for entry in entries:
            entry.future.remove_done_callback(wake)
