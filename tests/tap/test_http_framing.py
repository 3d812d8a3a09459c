"""HTTP is taken apart however it is cut, no byte is lost, and what is not HTTP passes as it is."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.tap.http_framing import Framing, Kind, Part, RequestFraming, ResponseFraming
from mcplens.tap.http_head import Heads, RequestHead, ResponseHead

HEADS = Heads(b"server:1", lambda host: host.startswith("localhost"))

REQUESTS = (
    b"POST /a HTTP/1.1\r\nhOsT:  localhost:9\r\nContent-Length: 4\r\n\r\nnull",
    b"GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: 1\r\n\r\n",
    b"\r\nHEAD /d HTTP/1.1\nHost: localhost\n\n",
)
RESPONSES = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
)


def cut(framing: Framing, data: bytes, size: int) -> list[Part]:
    parts: list[Part] = []
    for at in range(0, len(data), size):
        parts += framing.feed(data[at : at + size])
    return parts


def shown(parts: list[Part]) -> list[tuple[str, bytes]]:
    """The first line and the body of each message."""
    messages: list[tuple[str, bytes]] = []
    for kind, value, _ in parts:
        if kind is Kind.WHOLE:
            messages.append((" ".join(value[0].first), value[1]))
        elif kind in (Kind.HEAD, Kind.INFORMED):
            messages.append((" ".join(value.first), b""))
        elif kind is Kind.DATA and value:
            first, body = messages[-1]
            messages[-1] = first, body + value
    return messages


def raw(parts: list[Part]) -> bytes:
    return b"".join(part.raw for part in parts)


@given(size=st.integers(min_value=1, max_value=200))
def test_requests_and_responses_are_found_however_they_are_cut(size: int) -> None:
    asked: deque[str] = deque()
    sent = cut(RequestFraming(HEADS, asked), b"".join(REQUESTS), size)
    expected = b"".join(REQUESTS).replace(b"localhost:9", b"localhost")
    assert raw(sent) == expected.replace(b"localhost", b"server:1")
    assert shown(sent) == [
        ("POST /a HTTP/1.1", b"null"),
        ("GET /b HTTP/1.1", b""),
        ("POST /c HTTP/1.1", b"abcd"),
        ("HEAD /d HTTP/1.1", b""),
    ]
    assert list(asked) == ["POST", "GET", "POST", "HEAD"]
    framing = ResponseFraming(HEADS, asked)
    came = cut(framing, b"".join(RESPONSES), size)
    assert raw(came) == b"".join(RESPONSES)
    assert shown(came) == [
        ("HTTP/1.1 100 Continue", b""),
        ("HTTP/1.1 200 OK", b"{}"),
        ("HTTP/1.1 204 No Content", b""),
        ("HTTP/1.1 200 OK", b"ab"),
        ("HTTP/1.1 200 OK", b""),
    ]
    assert framing.is_between


@given(data=st.binary(max_size=400), size=st.integers(min_value=1, max_value=50))
def test_any_bytes_pass_as_they_are(data: bytes, size: int) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        framing = ResponseFraming(HEADS, deque(["GET"]))
        parts = cut(framing, start + data, size)
        assert raw(parts) + raw(framing.eof()) == start + data


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"nonsense\r\n\r\nand more", "not the first line of an HTTP response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nand more", "Content-Length"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\nand more", "a header without a colon"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nand more\r\n", "size of a chunk"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            "longer than its size",
        ),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000, "no head within"),
    ],
)
def test_what_is_wrong_is_named_and_passes(response: bytes, problem: str) -> None:
    parts = ResponseFraming(HEADS, deque(["GET"])).feed(response)
    assert raw(parts) == response
    assert any(problem in part.value for part in parts if part.kind is Kind.PROBLEM)


def test_every_host_of_a_request_is_judged_and_written_over() -> None:
    head = RequestHead(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHOST : evil\r\nX-Host: localhost\r\n\r\n",
        b"server:1",
        lambda host: host == "localhost",
    )
    assert head.refused_host == "evil"
    assert b"evil" not in head.passed
    assert b"X-Host: localhost" in head.passed
    folded = b"GET / HTTP/1.1\r\nHost:\r\n evil\r\n\r\n"
    assert RequestHead(folded, b"server:1", lambda host: host == "localhost").refused_host == ""


def test_a_switch_of_protocols_ends_http_and_a_refusal_does_not() -> None:
    upgrade = b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n"
    for answer, kind in ((b"101 Yes", Kind.BEYOND), (b"400 No", Kind.WHOLE)):
        asked: deque[str] = deque()
        requests, responses = RequestFraming(HEADS, asked), ResponseFraming(HEADS, asked)
        assert shown(requests.feed(upgrade + REQUESTS[0])) == [("GET / HTTP/1.1", b"")]
        assert requests.is_held
        head = b"HTTP/1.1 " + answer + b"\r\nContent-Length: 0\r\n\r\n"
        is_switched = responses.feed(head)[0].kind is Kind.SWITCHED
        (rest,) = requests.release(is_switched=is_switched)
        assert rest.kind is kind


def test_heads_that_repeat_are_read_once() -> None:
    heads = Heads(b"server:1", lambda host: True)
    first = heads.response(b"HTTP/1.1 200 OK\r\n\r\n")
    assert heads.response(b"HTTP/1.1 200 OK\r\n\r\n") is first
    assert isinstance(first, ResponseHead)
    for number in range(1_000):
        heads.response(b"HTTP/1.1 200 OK\r\nX: %d\r\n\r\n" % number)
    assert "of responses" in repr(heads)
    assert int(repr(heads).split(",")[1].split()[0]) <= 128
