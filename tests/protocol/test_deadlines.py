"""The two clocks of a request: its timeout, restarted by progress, and the absolute maximum."""

from __future__ import annotations

import pytest

from mcplens.protocol.deadlines import NEVER, Deadline


def test_a_request_expires_after_its_timeout() -> None:
    assert Deadline(100.0, 60.0, 300.0).due() == 160.0


def test_progress_restarts_the_timeout() -> None:
    deadline = Deadline(100.0, 60.0, 300.0)
    deadline.progress(150.0)
    assert deadline.due() == 210.0


def test_progress_never_moves_the_absolute_maximum() -> None:
    deadline = Deadline(100.0, 60.0, 300.0)
    deadline.progress(390.0)
    assert deadline.due() == 400.0


def test_progress_can_be_told_not_to_restart_the_timeout() -> None:
    deadline = Deadline(100.0, 60.0, 300.0, progress_resets=False)
    deadline.progress(150.0)
    assert deadline.due() == 160.0


def test_a_timeout_longer_than_the_maximum_ends_with_the_maximum() -> None:
    deadline = Deadline(100.0, 600.0, 300.0)
    assert deadline.due() == 400.0
    deadline.progress(350.0)
    assert deadline.due() == 400.0


@pytest.mark.parametrize(
    ("timeout_s", "max_total_s", "due"),
    [
        (None, None, NEVER),
        (NEVER, None, NEVER),
        (60.0, None, 160.0),
        (None, 300.0, 400.0),
        (0.0, 300.0, 100.0),
    ],
)
def test_no_limit_is_a_limit_that_never_comes(
    timeout_s: float | None, max_total_s: float | None, due: float
) -> None:
    assert Deadline(100.0, timeout_s, max_total_s).due() == due


def test_both_clocks_stand_still_while_a_person_answers() -> None:
    deadline = Deadline(100.0, 60.0, 300.0)
    deadline.pause(130.0)
    assert (deadline.is_paused, deadline.due()) == (True, NEVER)
    deadline.resume(1_130.0)
    assert (deadline.is_paused, deadline.due()) == (False, 1_160.0)
    deadline.progress(1_150.0)
    assert deadline.due() == 1_210.0
    deadline.progress(1_399.0)
    assert deadline.due() == 1_400.0


def test_the_clocks_go_on_only_when_the_last_question_is_answered() -> None:
    deadline = Deadline(100.0, 60.0, 300.0)
    deadline.pause(110.0)
    deadline.pause(120.0)
    deadline.resume(140.0)
    assert deadline.due() == NEVER
    deadline.resume(210.0)
    assert deadline.due() == 260.0


def test_progress_during_a_question_gives_the_whole_timeout_and_no_more() -> None:
    deadline = Deadline(100.0, 60.0, 300.0)
    deadline.pause(110.0)
    deadline.progress(150.0)
    deadline.resume(200.0)
    assert deadline.due() == 260.0


def test_resuming_what_was_not_paused_changes_nothing() -> None:
    deadline = Deadline(100.0, 60.0, 300.0)
    deadline.resume(150.0)
    assert deadline.due() == 160.0


def test_a_request_without_limits_can_be_given_some_later() -> None:
    deadline = Deadline(100.0, NEVER, NEVER)
    assert deadline.due() == NEVER
    deadline.restart(1_000.0, 60.0, 300.0)
    assert deadline.due() == 1_060.0
    deadline.restart(1_000.0, None, 300.0)
    assert deadline.due() == 1_300.0


def test_limits_given_during_a_question_begin_when_it_is_answered() -> None:
    deadline = Deadline(100.0, NEVER, None)
    deadline.pause(150.0)
    deadline.restart(200.0, 60.0, 300.0)
    assert deadline.due() == NEVER
    deadline.resume(500.0)
    assert deadline.due() == 560.0
