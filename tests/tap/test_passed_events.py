"""A message that is published as one event is recorded as the events that it stands for."""

from pathlib import Path

import msgspec
import pytest

from mcplens.bus import DEFAULT_MAX_EVENTS
from mcplens.events import Event, RequestPassed, ResultPassed
from mcplens.protocol.frames import RequestId, parse
from mcplens.protocol.secret_masking import mask
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.row_encoding import RowEncoder
from mcplens.tap.backlog import TapBus, TapPublisher
from mcplens.tap.conversation import Conversation
from mcplens.tap.passed_events import events_of

HEADERS = [("Content-Type", "application/json"), ("Authorization", mask("Bearer x"))]


def passed(
    request_id: RequestId, method: str, headers: list[tuple[str, str]] | None
) -> list[Event]:
    """A request and its result, with everything that they can have."""
    line = {"jsonrpc": "2.0", "id": request_id, "method": method}
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": request_id, "result": {}}
    exchange_id = None if headers is None else 7
    about = (request_id, method, "c1", "call", exchange_id, headers)
    url = "http://127.0.0.1/mcp?token=" + mask("x")
    request = RequestPassed(
        msgspec.json.encode(line), *about, url,
        run_id="r", seq=13, wall=5.0, mono=1.0, server_id="s",
    )  # fmt: skip
    result = ResultPassed(
        msgspec.json.encode(reply), *about, 12, 0.5, 200, "OK", 0.75,
        run_id="r", seq=17, wall=5.5, mono=1.5, server_id="s",
    )  # fmt: skip
    return [request, result]


@pytest.mark.parametrize("headers", [None, HEADERS], ids=["alone", "over HTTP"])
@pytest.mark.parametrize(
    ("request_id", "method"),
    [(1, "tools/call"), ("one", "tools/list"), ("i" * 500, "m" * 500), (2, "")],
    ids=["number", "text", "too long", "no method"],
)
def test_the_rows_are_those_of_the_events(
    request_id: RequestId, method: str, headers: list[tuple[str, str]] | None
) -> None:
    for event in passed(request_id, method, headers):
        assert isinstance(event, RequestPassed | ResultPassed)
        events = events_of(event)
        assert [one.seq for one in events] == list(range(event.from_seq, event.seq + 1))
        assert len(events) == event.event_count
        for keys in ((), ("id",)):
            whole = RowEncoder(keys).encode([event])
            assert whole == RowEncoder(keys).encode(events)


def test_what_fell_out_of_the_ring_is_recorded_as_missed(tmp_path: Path) -> None:
    bus = TapBus()
    bus.expect_readers()
    conversation = Conversation(TapPublisher(bus, "s"))
    # Two events each, of which the ring holds so many pairs.
    for number in range(DEFAULT_MAX_EVENTS + 10):
        conversation.client_said(parse(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number))
    Recorder(bus, tmp_path / "recording.sqlite3").close()
    with History(tmp_path / "recording.sqlite3") as history:
        rows = [row for _, row in history.scan()]
    assert (rows[0].kind, rows[0].detail) == ("EventsMissed", {"first_seq": 1, "last_seq": 20})
    assert [row.seq for row in rows[1:]] == list(range(21, 2 * DEFAULT_MAX_EVENTS + 21))
