"""Ids are never used twice, and an answer that comes late is known as such."""

from __future__ import annotations

import pytest

from mcplens.protocol.correlation import LATE_LIMIT, LATE_MAX_BYTES, Correlation


def test_ids_count_up_and_are_never_handed_out_again() -> None:
    correlation: Correlation[str] = Correlation()
    ids = []
    for _ in range(100):
        identity = correlation.next_id()
        ids.append(identity)
        correlation.open(identity, "x")
        correlation.close(identity)
    assert ids == list(range(1, 101))


def test_an_id_that_a_raw_frame_used_is_passed_over() -> None:
    correlation: Correlation[str] = Correlation()
    correlation.reserve(2)
    correlation.reserve(3)
    correlation.reserve("4")
    assert [correlation.next_id() for _ in range(3)] == [1, 4, 5]


def test_the_string_7_does_not_answer_the_number_7() -> None:
    correlation: Correlation[str] = Correlation()
    correlation.open(7, "request")
    assert correlation.close("7") is None
    assert correlation.close(7) == "request"


def test_a_request_is_answered_once() -> None:
    correlation: Correlation[str] = Correlation()
    correlation.open(1, "request")
    assert correlation.close(1) == "request"
    assert correlation.close(1) is None


def test_a_request_that_was_given_up_is_known_when_its_answer_comes_late() -> None:
    correlation: Correlation[str] = Correlation()
    correlation.open(1, "request")
    assert correlation.give_up(1) == "request"
    assert correlation.waiting == {}
    assert correlation.close(1) is None
    assert correlation.late(1) == "request"
    assert correlation.late(1) is None


def test_giving_up_what_does_not_wait_does_nothing() -> None:
    correlation: Correlation[str] = Correlation()
    assert correlation.give_up(1) is None
    assert correlation.late(1) is None


def test_only_the_last_requests_given_up_are_remembered() -> None:
    correlation: Correlation[int] = Correlation()
    for identity in range(LATE_LIMIT + 10):
        correlation.open(identity, identity)
        correlation.give_up(identity)
    assert correlation.late(9) is None
    assert correlation.late(10) == 10
    assert correlation.late(LATE_LIMIT + 9) == LATE_LIMIT + 9


def test_large_requests_that_were_given_up_are_remembered_within_a_limit_of_bytes() -> None:
    correlation = Correlation[int](size_of=lambda _: LATE_MAX_BYTES // 4)
    for identity in range(100):
        correlation.open(identity, identity)
        correlation.give_up(identity)
    assert [one for one in range(100) if correlation.given_up(one) is not None] == [96, 97, 98, 99]
    assert correlation.late(96) == 96
    correlation.open(100, 100)
    correlation.give_up(100)
    assert correlation.given_up(97) == 97


@pytest.mark.parametrize(
    ("waiting", "came", "meant"),
    [
        (7, "7", 7),
        ("7", 7, "7"),
        (-7, "-7", -7),
        (7, "8", None),
        (7, "x", None),
        (7, "", None),
        (7, "--7", None),
        (7, "9" * 5_000, None),
        (7, "\u0667", 7),
    ],
)
def test_an_id_of_the_wrong_type_shows_which_one_was_meant(
    waiting: int | str, came: int | str, meant: int | str | None
) -> None:
    correlation: Correlation[str] = Correlation()
    correlation.open(waiting, "request")
    assert correlation.near_miss(came) == meant
