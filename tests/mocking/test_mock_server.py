"""A mock in this process: the order of equal calls, questions, time, strictness, both eras."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens import ServerError
from mcplens.clock import SystemClock
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer
from mcplens.mocking import MockServer, mock_transport, read_trace_file
from mcplens.protocol.frames import encode_request
from tests.interaction.scenario import text_of
from tests.mocking.traces import Trace, mask

ERAS = ["2025-11-25", "2026-07-28"]
ROOT = {"uri": "file:///recorded", "name": "recorded"}


class Waits(SystemClock):
    """A clock that does not wait, and remembers for how long it should have."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def sleep(self, delay_s: float) -> None:
        self.waited.append(delay_s)


@contextlib.asynccontextmanager
async def serving(
    trace: Trace, folder: Path, *, protocol: str = "2025-11-25", mock: Any = None, **options: Any
) -> AsyncIterator[mcplens.Client]:
    with read_trace_file(trace.write(folder)) as recording:
        server = MockServer(recording, **(mock or {}))
        transport = mock_transport(server)
        try:
            async with asyncio.timeout(20):
                async with mcplens.connect(
                    transport, protocol_version=protocol, **options
                ) as client:
                    yield client
        finally:
            await server.close()


def recorded(version: str = "2025-11-25") -> Trace:
    trace = Trace()
    trace.introduce(version)
    return trace


@pytest.mark.parametrize("protocol", ERAS)
@pytest.mark.parametrize("version", ERAS)
async def test_equal_calls_are_answered_in_order_and_the_last_is_repeated(
    tmp_path: Path, version: str, protocol: str
) -> None:
    trace = recorded(version)
    trace.call(1, "next", {}, "one")
    trace.call(2, "next", {}, "two")
    async with serving(trace, tmp_path, protocol=protocol) as client:
        assert client.protocol_version == protocol
        assert client.server_info["name"] == "recorded"
        said = [text_of(await client.call_tool("next")) for _ in range(3)]
        assert said == ["one", "two", "two"]
        with pytest.raises(ServerError) as caught:
            await client.call_tool("text", {"a": 1})
        assert caught.value.details["data"] == {"nearest": 'tools/call {"name":"next"}'}
        assert "was not recorded; the nearest recorded call is tools/call" in str(caught.value)


def asking(trace: Trace, identity: int, answer: Any, text: str) -> None:
    """A call whose server asks for the roots."""
    seq = trace.request(identity, "tools/call", {"name": "ask"})
    question = {"id": identity, "method": "roots/list"}
    trace.frame("FrameReceived", question, after_s=0.5, caused_by_seq=seq)
    trace.frame("FrameSent", {"id": identity, "result": answer}, after_s=9.0)
    trace.reply(identity, {"content": [{"type": "text", "text": text}]}, after_s=1.5)


@pytest.mark.parametrize("protocol", ERAS)
async def test_a_question_is_asked_and_the_answer_chooses_the_recording(
    tmp_path: Path, protocol: str
) -> None:
    trace = recorded()
    asking(trace, 1, {"roots": []}, "nothing")
    asking(trace, 2, {"roots": [ROOT]}, "a root")
    answers: list[dict[str, Any]] = [{"roots": [ROOT]}, {"roots": [{"uri": "file:///else"}]}]

    async def roots(params: Any) -> Any:
        return answers.pop(0)

    handlers = {"roots/list": roots}
    async with serving(trace, tmp_path, protocol=protocol, request_handlers=handlers) as client:
        assert text_of(await client.call_tool("ask")) == "a root"
        with pytest.raises(ServerError, match="does not have this answer to roots/list"):
            await client.call_tool("ask")
    async with serving(trace, tmp_path, protocol=protocol) as client:
        with pytest.raises(ServerError, match="this client does not declare roots"):
            await client.call_tool("ask")
    answers.append({"roots": [{"uri": "file:///else"}]})
    lenient = {"any_answer": True}
    async with serving(
        trace, tmp_path, protocol=protocol, mock=lenient, request_handlers=handlers
    ) as client:
        assert text_of(await client.call_tool("ask")) == "nothing"


async def test_a_recording_of_2026_07_28_asks_an_older_client_by_requests(tmp_path: Path) -> None:
    trace = recorded("2026-07-28")
    trace.request(1, "tools/call", {"name": "ask"})
    asked = {"who": {"method": "roots/list"}}
    trace.reply(1, {"resultType": "input_required", "inputRequests": asked, "requestState": "s1"})
    again = {"inputResponses": {"who": {"roots": [ROOT]}}, "requestState": "s1"}
    trace.request(2, "tools/call", {"name": "ask", **again})
    trace.reply(2, {"resultType": "complete", "content": [{"type": "text", "text": "done"}]})

    async def roots(params: Any) -> Any:
        return {"roots": [ROOT]}

    for protocol in ERAS:
        handlers = {"roots/list": roots}
        async with serving(trace, tmp_path, protocol=protocol, request_handlers=handlers) as client:
            assert text_of(await client.call_tool("ask")) == "done"


@pytest.mark.parametrize("protocol", ERAS)
async def test_what_was_masked_in_a_question_or_notification_is_sent_as_masked_text(
    tmp_path: Path, protocol: str
) -> None:
    trace = Trace()
    trace.introduce(logging={})
    seq = trace.request(1, "tools/call", {"name": "ask"})
    log = {"level": "error", "data": {"pin": "*****"}}
    said: dict[str, Any] = {"method": "notifications/message", "params": log}
    trace.frame("FrameReceived", said, request_seq=seq, masked=mask(said, "*****", "pin"))
    params = {"_meta": {"pin": "*****"}}
    question = {"id": 1, "method": "roots/list", "params": params}
    trace.frame("FrameReceived", question, caused_by_seq=seq, masked=mask(question, "*****", "pin"))
    trace.frame("FrameSent", {"id": 1, "result": {"roots": []}})
    trace.reply(1, {"content": []})
    asked: list[Any] = []
    logged: list[Any] = []

    async def roots(request: Any) -> Any:
        asked.append(request.params)
        return {"roots": []}

    async with serving(
        trace,
        tmp_path,
        protocol=protocol,
        request_handlers={"roots/list": roots},
        notification_handlers={"notifications/message": logged.append},
        log_level="debug",
    ) as client:
        await client.call_tool("ask")
    assert (logged, asked) == ([log], [params])


async def test_recorded_timing_waits_as_the_server_did_but_not_as_the_client_did(
    tmp_path: Path,
) -> None:
    trace = recorded()
    asking(trace, 1, {"roots": []}, "late")
    clock = Waits()

    async def roots(params: Any) -> Any:
        return {"roots": []}

    timed = {"timing": "recorded", "clock": clock}
    handlers = {"roots/list": roots}
    async with serving(trace, tmp_path, mock=timed, request_handlers=handlers) as client:
        assert text_of(await client.call_tool("ask")) == "late"
    assert clock.waited == [0.5, 1.5]


async def test_strict_wants_the_recorded_order_and_ids(tmp_path: Path) -> None:
    trace = recorded()
    trace.request(1, "initialize")
    trace.reply(1, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "recorded", "version": "1"}})  # fmt: skip
    trace.call(2, "a", {}, "one")
    trace.call(9, "b", {}, "two")
    strict = {"strict": True}
    async with serving(trace, tmp_path, mock=strict) as client:
        with pytest.raises(ServerError, match=r'strict: expected tools/call {"name":"a"}, got'):
            await client.call_tool("b")
    async with serving(trace, tmp_path, mock=strict) as client:
        assert text_of(await client.call_tool("a")) == "one"
        with pytest.raises(ServerError, match="with the id 9, got 3"):
            await client.call_tool("b")


async def test_a_call_without_a_recorded_answer_says_why(tmp_path: Path) -> None:
    trace = Trace()
    trace.introduce(prompts={})
    seq = trace.request(1, "tools/call", {"name": "slow"})
    error = {"code": "REQUEST_TIMEOUT", "message": "no answer within 60 s"}
    trace.event("RequestEnded", request_id=1, method="tools/call", status="error", elapsed_s=60.0,
                error=error, request_seq=seq)  # fmt: skip
    async with serving(trace, tmp_path) as client:
        with pytest.raises(ServerError, match="no answer to tools/call: no answer within 60 s"):
            await client.call_tool("slow")
        with pytest.raises(ServerError, match="prompts/list was not recorded"):
            await client.request("prompts/list")


async def test_only_the_recorded_era_is_served_if_that_is_wanted(tmp_path: Path) -> None:
    trace = recorded()
    trace.call(1, "a", {}, "one")
    recorded_only = {"speaks": "recorded"}
    async with serving(trace, tmp_path, protocol="auto", mock=recorded_only) as client:
        assert client.protocol_version == "2025-11-25"
        assert text_of(await client.call_tool("a")) == "one"
    async with serving(trace, tmp_path, protocol="2026-07-28", mock=recorded_only) as client:
        with pytest.raises(ServerError, match="the recording is of 2025-11-25"):
            await client.call_tool("a")


class SlowPeer(Peer):
    """A client that reads only while the mock waits for it."""

    def __init__(self, mock: MockServer) -> None:
        super().__init__(mock, Limits())
        self.unread: list[bytes] = []
        self.most = 0
        self.answered = asyncio.Event()

    @property
    def is_backed_up(self) -> bool:
        return len(self.unread) > 100

    def _put(self, data: bytes, during: Any) -> None:
        self.unread.append(data)
        self.most = max(self.most, len(self.unread))
        if b'"result"' in data:
            self.answered.set()

    def _shut(self, reason: str) -> None:
        self.unread.clear()


class Reading(SystemClock):
    """A clock by which the slow client reads whenever somebody waits."""

    peer: SlowPeer

    async def sleep(self, delay_s: float) -> None:
        if delay_s:
            self.peer.unread.clear()
        await super().sleep(0)


async def test_a_recorded_flood_waits_for_a_client_that_reads_slowly(tmp_path: Path) -> None:
    trace = recorded()
    seq = trace.request(1, "tools/call", {"name": "flood"})
    for number in range(2_000):
        params = {"level": "info", "data": number}
        log = {"method": "notifications/message", "params": params}
        trace.frame("FrameReceived", log, request_seq=seq)
    trace.reply(1, {"content": []})
    clock = Reading()
    with read_trace_file(trace.write(tmp_path)) as recording:
        mock = MockServer(recording, clock=clock)
        peer = clock.peer = SlowPeer(mock)
        peer.take(encode_request(7, "tools/call", {"name": "flood"}))
        async with asyncio.timeout(20):
            await peer.answered.wait()
        await mock.close()
    assert mock.answered == 1
    assert peer.unread[-1] == b'{"jsonrpc":"2.0","id":7,"result":{"content": []}}'
    assert 100 < peer.most <= 200
