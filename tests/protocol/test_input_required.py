"""What a server wants to know before it answers, read from its result."""

from __future__ import annotations

import pytest

from mcplens.protocol.input_required import (
    MOST_QUESTIONS,
    InputProblem,
    InputRequest,
    members,
    read_input_requests,
    read_input_required,
)


def test_questions_and_state_are_read_and_the_bytes_of_both_kept() -> None:
    body = (
        b'{"resultType":"input_required", "requestState":  "s\\u0041\\/" ,\n'
        b' "inputRequests": {"a": { "method":"roots/list" }, "b": {"method":'
        b'"elicitation/create","params":{"n":1.50}}}}'
    )
    wanted = read_input_required(body)
    assert wanted.state is not None
    assert bytes(wanted.state) == b'"s\\u0041\\/"'
    first, second = wanted.requests
    assert first == InputRequest("a", "roots/list", {}, b'{ "method":"roots/list" }')
    assert (second.key, second.method, second.params) == ("b", "elicitation/create", {"n": 1.5})
    assert second.raw.endswith(b'{"n":1.50}}')


@pytest.mark.parametrize(
    "state", [b'"lone \\ud800"', b'"\\u0000"', b"[1, 2]", b"1e400", b'{"a": "\\udc00"}']
)
def test_a_state_of_any_kind_survives(state: bytes) -> None:
    wanted = read_input_required(b'{"requestState": ' + state + b"}")
    assert wanted.state is not None
    assert bytes(wanted.state) == state


def test_null_is_as_good_as_nothing() -> None:
    both = b'{"requestState":null,"inputRequests":{"a":{"method":"roots/list","params":null}}}'
    assert read_input_required(both).state is None
    assert read_input_required(b'{"requestState":"s","inputRequests":null}').requests == ()
    with pytest.raises(InputProblem, match="neither"):
        read_input_required(b'{"requestState":null,"inputRequests":null}')


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"[]", "the result is not an object"),
        (b'"\\ud800"', "the result is not an object"),
        (b'{"inputRequests":"x"}', "inputRequests is not an object"),
        (b'{"inputRequests":{"a":null}}', r"\['a'\] must be an object, not NoneType"),
        (b'{"inputRequests":{"a":{"method":7}}}', "asks for 7"),
        (b'{"inputRequests":{"a":{"method":["x"]}}}', "asks for"),
    ],
)
def test_what_cannot_be_asked_says_why(body: bytes, problem: str) -> None:
    with pytest.raises(InputProblem, match=problem):
        read_input_required(body)


def test_a_flood_of_questions_is_refused() -> None:
    one = b'"%d":{"method":"roots/list"}'
    flood = b",".join(one % number for number in range(MOST_QUESTIONS + 1))
    with pytest.raises(InputProblem, match="1001 questions"):
        read_input_requests(b"{" + flood + b"}")
    assert len(read_input_requests(b"{" + flood.rpartition(b",")[0] + b"}")) == MOST_QUESTIONS


def test_members_of_an_object_with_unusual_json_are_found_all_the_same() -> None:
    found = members(b'{"a": "\\ud800", "b" : {"c":[1,2]}}', "it")
    assert {key: bytes(value) for key, value in found.items()} == {
        "a": b'"\\ud800"',
        "b": b'{"c":[1,2]}',
    }
