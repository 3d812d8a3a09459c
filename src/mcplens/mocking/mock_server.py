"""A recorded server as a server: answers each request as it was answered in the recording.

A handler for every transport of mcplens.inbound, in both eras. Requests are matched by method and
canonical params, equal ones in the order in which they were recorded; the last one is repeated.
Strict, they must come in the recorded order and with the recorded ids.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Literal

from mcplens.background import Background
from mcplens.clock import Clock, SystemClock
from mcplens.contracts.canonical import decode
from mcplens.inbound.peer import LISTEN, Peer
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from mcplens.inbound.request_validation import CAPABILITIES_KEY, HeaderParameters, Incoming
from mcplens.mocking.era_conversion import (
    convert_result,
    discover_result,
    initialize_result,
    read_introduction,
    shared_introduction,
)
from mcplens.mocking.mock_client import MockClient, Positions
from mcplens.mocking.params_matching import own_params, shown
from mcplens.mocking.playback import NOT_RECORDED, NotRecorded, Playback, method_missing
from mcplens.mocking.recorded_calls import RecordedCall, RecordedServer, describe
from mcplens.protocol.eras import HANDSHAKE_VERSIONS, SUBSCRIPTION_ID, UNSUPPORTED_VERSION, Era
from mcplens.protocol.frames import ABSENT, Frame, Kind, RequestId, parse
from mcplens.protocol.json_comparison import is_same

Timing = Literal["instant", "recorded"]
Speaks = Literal["both", "recorded"]
# Answers a request that the recording cannot answer.
Beyond = Callable[[Playback], Awaitable[None]]

_INTRODUCTIONS: Final = ("initialize", "server/discover")
# Answered with nothing by every server; a recording may lack them.
_EMPTY_ANSWERS: Final = ("ping", "logging/setLevel")
_SUBSCRIBING: Final = ("resources/subscribe", "resources/unsubscribe")
_FILTER_OF: Final = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
# Messages that are sent in a row, and how long a client that is behind is waited for at a time.
_FEW: Final = 50
_DRAIN_S: Final = 0.01
_UPDATED: Final = "notifications/resources/updated"


class MockServer:
    """Serves a recording. `any_answer`: go on as recorded, whatever clients answer to questions.
    `beyond` answers what the recording cannot, for a client of the recorded era.
    """

    def __init__(
        self,
        recording: RecordedServer,
        *,
        clock: Clock | None = None,
        timing: Timing = "instant",
        strict: bool = False,
        any_answer: bool = False,
        speaks: Speaks = "both",
        beyond: Beyond | None = None,
    ) -> None:
        self.recording = recording
        self.clock = clock or SystemClock()
        self.takes_any_answer = any_answer
        self.introduction = _introduction(recording)
        self._is_timed = timing == "recorded"
        self._is_strict = strict
        self._speaks_both = speaks == "both"
        self._beyond = beyond
        self._clients: dict[Peer, MockClient] = {}
        # In 2026-07-28 over HTTP a client lasts for one request, so all of them share a place.
        self._shared = Positions()
        self._listening: list[Playback] = []
        self._work = Background()
        # Requests that the recording could not answer, for a summary.
        self.unanswered = 0
        self.answered = 0

    def __repr__(self) -> str:
        return f"<MockServer of {self.recording!r}, {len(self._clients)} clients>"

    async def close(self) -> None:
        """Stop all work."""
        await self._work.end()

    async def wait(self, seconds: float) -> None:
        """Wait as long as the recorded server did, if time is played too."""
        if self._is_timed and seconds > 0:
            await self.clock.sleep(seconds)

    async def give_way(self, peer: Peer, number: int) -> None:
        """Let a client read what was sent: a recorded flood is faster than any client."""
        if number % _FEW == _FEW - 1:
            await self.clock.sleep(0)
            while peer.is_open and peer.is_backed_up:
                await self.clock.sleep(_DRAIN_S)

    # -- PeerHandler ---------------------------------------------------------------------------

    def received(self, peer: Peer, incoming: Incoming) -> None:
        frame = incoming.message
        if not isinstance(frame, Frame):
            return  # the transport has refused it already
        client = self._clients.get(peer)
        if client is None:
            is_shared = incoming.era is Era.STATELESS and peer.has_headers
            client = MockClient(peer, self._shared if is_shared else Positions())
            self._clients[peer] = client
        if frame.kind is Kind.REQUEST:
            self._start(client, frame, incoming.era)
        elif frame.kind is Kind.NOTIFICATION:
            self._notified(client, frame, incoming.era)
        else:
            client.answered(frame)

    def disconnected(self, peer: Peer, reason: str) -> None:
        client = self._clients.pop(peer, None)
        if client is not None:
            client.leave()

    def header_parameters(self, tool: str) -> HeaderParameters:
        return {}  # what is not in the body does not change the recorded answer

    # -- requests ------------------------------------------------------------------------------

    def _start(self, client: MockClient, frame: Frame, era: Era) -> None:
        identity = frame.id
        assert identity is not None
        try:
            # Numbers as they are written, as in the recording.
            given = None if frame.body is ABSENT else decode(bytes(frame.body))
        except ValueError as problem:
            client.peer.refuse(identity, INVALID_PARAMS, f"params cannot be read: {problem}")
            return
        params = given if isinstance(given, dict) else {}
        playback = Playback(self, client, identity, frame.method, params, era)
        if era is Era.STATELESS:
            meta = params.get("_meta")
            declared = meta.get(CAPABILITIES_KEY) if isinstance(meta, dict) else None
            client.capabilities = declared if isinstance(declared, dict) else {}
        if self._is_at_once(playback):
            return
        task = self._work.start(self._answer(playback), f"mock {frame.method}")
        client.running[identity] = task
        task.add_done_callback(lambda _: client.running.pop(identity, None))

    def _is_at_once(self, playback: Playback) -> bool:
        """Answer a call that is nothing but its reply, without a task: most calls are."""
        if self._is_timed or playback.is_converted or self._is_strict:
            return False
        if playback.method in _INTRODUCTIONS or playback.method == LISTEN:
            return False
        key, places = self.recording.find(playback.method, playback.params)
        if not places:
            return False
        positions = playback.client.positions
        count = positions.counts.get(key, 0)
        call = self.recording.load(places[min(count, len(places) - 1)])
        if call.steps or call.trailing or call.reply is None:
            return False
        positions.choose(key, places)
        playback.answer(parse(call.reply))
        self.answered += 1
        return True

    async def _answer(self, playback: Playback) -> None:
        peer, identity = playback.client.peer, playback.id
        assert identity is not None
        try:
            await self._play_or_ask(playback)
            self.answered += 1
        except NotRecorded as problem:
            self.unanswered += 1
            peer.refuse(identity, problem.code, str(problem), problem.data)
        except asyncio.CancelledError:
            peer.drop(identity)
            raise
        except Exception as problem:  # a message that no server should have sent, or a bug of ours
            peer.refuse(identity, INTERNAL_ERROR, f"{type(problem).__name__}: {problem}")

    async def _play_or_ask(self, playback: Playback) -> None:
        try:
            await self._play(playback)
        except NotRecorded:
            if self._beyond is None or playback.is_converted:
                raise
            await self._beyond(playback)

    async def _play(self, playback: Playback) -> None:
        method, params, client = playback.method, playback.params, playback.client
        if playback.is_converted and not self._speaks_both:
            version = self.recording.protocol_version
            text = f"{method} is not offered in this revision: the recording is of {version}"
            code = METHOD_NOT_FOUND if method in _INTRODUCTIONS else UNSUPPORTED_VERSION
            raise NotRecorded(text, code=code)
        if method in _INTRODUCTIONS:
            await self._introduce(playback)
            return
        if method == LISTEN and LISTEN not in self.recording.methods:
            await self._listen_only(playback)
            return
        is_coming_back = playback.is_converted and "requestState" in params
        if is_coming_back:
            rounds = ("requestState", "inputResponses")
            first = {name: item for name, item in params.items() if name not in rounds}
            await playback.go_on(self.recording.find(method, first)[1])
            return
        if self._has_empty_answer(playback):
            info = self.introduction.get("server_info") or {}
            playback.give(convert_result({}, method, playback.era, info))
            return
        call, places = self.choose(client, method, params, playback.id)
        await playback.play(call, places)

    def _has_empty_answer(self, playback: Playback) -> bool:
        if self._is_strict or playback.method in self.recording.methods:
            return False
        is_subscribing = playback.method in _SUBSCRIBING and playback.is_converted
        return playback.method in _EMPTY_ANSWERS or is_subscribing

    def choose(
        self, client: MockClient, method: str, params: dict[str, Any], identity: RequestId | None
    ) -> tuple[RecordedCall, Sequence[int]]:
        """The recorded call that answers a request, and the places of all that are equal to it.

        Raises:
            NotRecorded: there is none.
        """
        if self._is_strict:
            return self._next(client, method, params, identity), []
        key, places = self.recording.find(method, params)
        if not places and method == LISTEN and (call := self.recording.of_method(method)):
            return call, []
        if not places:
            raise self._not_recorded(method, params)
        return self.recording.load(client.positions.choose(key, places)), places

    def _not_recorded(self, method: str, params: dict[str, Any]) -> NotRecorded:
        if method not in self.recording.methods:
            return method_missing(method, self.recording.methods)
        near = self.recording.nearest(method, params)
        nearest = describe(near) if near is not None else None
        text = f"{method} {shown(own_params(method, params))} was not recorded"
        return NotRecorded(f"{text}; the nearest recorded call is {nearest}", nearest)

    def _next(
        self, client: MockClient, method: str, params: dict[str, Any], identity: RequestId | None
    ) -> RecordedCall:
        """The next request in the recorded order, which this one must be."""
        positions = client.positions
        while (call := self.recording.at(positions.number)) is not None and call.id is None:
            positions.number += 1
        if call is None:
            raise NotRecorded(f"the recording is over: {method} is one request too many")
        expected = describe(call)
        is_expected = method == call.method and (
            method in _INTRODUCTIONS
            or is_same(own_params(method, call.params), own_params(method, params))
        )
        if not is_expected:
            given = f"{method} {shown(own_params(method, params))}"
            raise NotRecorded(f"strict: expected {expected}, got {given}", expected)
        if (identity, type(identity)) != (call.id, type(call.id)):
            text = f"strict: expected {expected} with the id {call.id!r}, got {identity!r}"
            raise NotRecorded(text, expected)
        positions.number += 1
        return call

    # -- introductions -------------------------------------------------------------------------

    async def _introduce(self, playback: Playback) -> None:
        """Answer initialize or server/discover; in the other era, from what was recorded."""
        client, method = playback.client, playback.method
        if self._is_strict:
            self._next(client, method, playback.params, playback.id)
        call = self.recording.of_method(method)
        frame = parse(call.reply) if call is not None and call.reply is not None else None
        result = frame.value() if isinstance(frame, Frame) and frame.error is None else None
        about = self.introduction
        if playback.is_converted:
            about, result = shared_introduction(about), None
        if method == "server/discover":
            if isinstance(result, dict):
                playback.answer(frame)
            else:
                playback.give(discover_result(about))
            return
        version = self._version_for(playback.params.get("protocolVersion"))
        client.peer.protocol_version = version
        declared = playback.params.get("capabilities")
        client.capabilities = declared if isinstance(declared, dict) else {}
        if isinstance(result, dict):
            playback.give({**result, "protocolVersion": version})
        else:
            playback.give(initialize_result(about, version))
        if call is not None and not playback.is_converted:
            await playback.follow(call)

    def _version_for(self, offered: Any) -> str:
        """The client's revision, if it is one of the recorded era; else the recorded one."""
        recorded = self.recording.protocol_version
        if self._is_strict and recorded in HANDSHAKE_VERSIONS:
            return str(recorded)
        if offered in HANDSHAKE_VERSIONS:
            return str(offered)
        return recorded if recorded in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]

    # -- notifications -------------------------------------------------------------------------

    def _notified(self, client: MockClient, frame: Frame, era: Era) -> None:
        if frame.method == "notifications/cancelled":
            params = frame.value()
            identity = params.get("requestId") if isinstance(params, dict) else None
            task = client.running.get(identity) if isinstance(identity, int | str) else None
            if task is not None:
                task.cancel()
            return
        call = self.recording.of_method(frame.method)
        if call is not None and call.trailing and era is self.recording.era:
            playback = Playback(self, client, None, frame.method, {}, era)
            self._work.start(self._follow(playback, call), f"mock after {frame.method}")

    async def _follow(self, playback: Playback, call: RecordedCall) -> None:
        with contextlib.suppress(ValueError):  # a recorded message that cannot be read
            await playback.follow(call)

    # -- subscriptions of 2026-07-28 -----------------------------------------------------------

    async def _listen_only(self, playback: Playback) -> None:
        """A stream of changes that the recording does not have: acknowledge it and keep it open."""
        wanted = playback.params.get("notifications")
        meta = {SUBSCRIPTION_ID: playback.id}
        params = {"notifications": wanted if isinstance(wanted, dict) else {}, "_meta": meta}
        method = "notifications/subscriptions/acknowledged"
        playback.client.notify(method, params, playback.id)
        await self.listen(playback)

    async def listen(self, playback: Playback) -> None:
        """Send changes to a client until it leaves."""
        self._listening.append(playback)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self._listening.remove(playback)

    def publish(self, method: str, params: dict[str, Any]) -> None:
        """Send a recorded change to all who subscribed to it."""
        for playback in self._listening:
            wanted = playback.params.get("notifications")
            wanted = wanted if isinstance(wanted, dict) else {}
            uris = wanted.get("resourceSubscriptions") or ()
            if wanted.get(_FILTER_OF.get(method, "")) or (
                method == _UPDATED and params.get("uri") in uris
            ):
                meta = {SUBSCRIPTION_ID: playback.id}
                playback.client.notify(method, {**params, "_meta": meta}, playback.id)


def _introduction(recording: RecordedServer) -> dict[str, Any]:
    """What the recorded server said of itself, from its events or from its own words."""
    found = dict(recording.introduction)
    for method in _INTRODUCTIONS:
        call = recording.of_method(method)
        frame = parse(call.reply) if call is not None and call.reply is not None else None
        if isinstance(frame, Frame) and frame.error is None:
            said = read_introduction(method, frame.value())
            found = {**said, **{name: item for name, item in found.items() if item}}
            recording.introduction = found
    return found


__all__ = ["NOT_RECORDED", "Beyond", "MockServer", "Speaks", "Timing"]
