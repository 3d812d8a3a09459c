"""What the traffic of a server adds up to, from its events."""

from mcplens.events import FrameReceived, FrameSent, RequestEnded
from mcplens.protocol.frames import Malformed, parse
from mcplens.workspace.statistics import ServerStatistics

MESSAGE = Malformed(b"x", "any")


def ended(elapsed_s: float, status: str = "completed", purpose: str = "call") -> RequestEnded:
    error = {"message": "m" * 1000} if status == "failed" else None
    return RequestEnded(
        request_id=1,
        method="tools/call",
        status=status,
        elapsed_s=elapsed_s,
        error=error,
        request_seq=7,
        purpose=purpose,
    )


def test_requests_errors_and_bytes_are_counted_but_no_pings_handshakes_and_streams() -> None:
    kept = ServerStatistics()
    assert kept.percentile_s(0.5) is None
    sent = FrameSent(message=MESSAGE, size_bytes=10, exchange_id=None, request_seq=None)
    came = FrameReceived(message=MESSAGE, size_bytes=30, exchange_id=None, request_seq=None)
    assert not kept.handle_event(sent)
    assert not kept.handle_event(came)
    for purpose in ("heartbeat", "handshake", "listening"):
        assert not kept.handle_event(ended(9, purpose=purpose))
    assert kept.handle_event(ended(0.1))
    assert kept.handle_event(ended(0.2, "cancelled"))
    assert kept.errors == 0
    assert kept.handle_event(ended(0.3, "failed"))
    assert (kept.requests, kept.errors) == (3, 1)
    assert (kept.sent_bytes, kept.received_bytes) == (10, 30)
    assert [one.is_failed for one in kept.recent] == [False, False, True]
    assert kept.last_error is not None
    assert (kept.last_error.method, kept.last_error.request_seq) == ("tools/call", 7)
    assert len(kept.last_error.message) < 400  # whatever a server says


def test_percentiles_are_those_of_the_newest_requests_and_the_memory_is_bounded() -> None:
    kept = ServerStatistics()
    for _ in range(10_000):
        kept.handle_event(ended(5.0))
    for hundredths in range(200):
        kept.handle_event(ended(hundredths / 100))
    assert len(kept.recent) == 200
    assert (kept.percentile_s(0.5), kept.percentile_s(0.95)) == (1.0, 1.9)
    assert kept.requests == 10_200


def test_only_connections_after_the_first_are_reconnects() -> None:
    kept = ServerStatistics()
    assert kept.reconnects == 0
    kept.connected()
    assert kept.reconnects == 0
    kept.connected()
    assert kept.reconnects == 1


def test_a_tool_that_failed_is_an_error_with_its_own_words() -> None:
    kept = ServerStatistics()
    for request_seq, result in ((6, '{"isError":true}'), (7, "{}"), (7, _FAILED)):
        data = b'{"jsonrpc":"2.0","id":1,"result":' + result.encode() + b"}"
        kept.handle_event(
            FrameReceived(
                message=parse(data), size_bytes=1, exchange_id=None, request_seq=request_seq
            )
        )
        assert kept.handle_event(ended(0.1))  # the request of frame 7
    assert [one.is_failed for one in kept.recent] == [False, False, True]
    assert kept.handle_event(ended(0.1))
    assert (kept.requests, kept.errors) == (4, 1)
    assert kept.last_error is not None
    assert kept.last_error.message == "no such file"


_FAILED = '{"content":[{"type":"text","text":"no such file"}],"isError":true}'
