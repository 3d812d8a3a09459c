"""What a task is: how its status moves, and how it is written and read in both revisions."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from mcplens.protocol.tasks import (
    RELATED_TASK,
    STATUSES,
    TERMINAL,
    IllegalTaskMove,
    Task,
    TaskProblem,
    can_move,
    iso_time,
    moved,
    read_task,
    related_task_of,
    to_wire,
    with_related_task,
)

CREATED, LATER = "2026-01-02T03:04:05.000+00:00", "2026-01-02T03:04:06.500+00:00"
# basic/utilities/tasks#task-status-lifecycle, row by row.
TABLE = """
working         input_required
working         completed
working         failed
working         cancelled
input_required  working
input_required  completed
input_required  failed
input_required  cancelled
"""
LEGAL = {tuple(row.split()) for row in TABLE.split("\n") if row}
PAIRS = list(itertools.product(sorted(STATUSES), sorted(STATUSES)))


def task(status: str = "working", **more: Any) -> Task:
    return Task("t-1", status, CREATED, CREATED, **{"ttl": 60_000} | more)


# -- moving --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_status_moves_as_the_specification_says(old: str, new: str) -> None:
    assert can_move(old, new) == ((old, new) in LEGAL or old == new)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_each_pair_is_a_move_or_an_error_that_names_both(old: str, new: str) -> None:
    if (old, new) in LEGAL:
        assert moved(task(old), new, LATER).status == new
    elif old in TERMINAL:
        with pytest.raises(IllegalTaskMove, match=f"t-1 cannot go from {old} to {new}"):
            moved(task(old), new, LATER)


def test_an_unknown_status_is_no_move() -> None:
    assert not can_move("working", "done")
    assert not can_move("done", "done")
    with pytest.raises(IllegalTaskMove, match="from working to done") as refusal:
        moved(task(), "done", LATER)
    assert (refusal.value.task_id, refusal.value.old, refusal.value.new) == (
        "t-1",
        "working",
        "done",
    )


def test_a_move_changes_the_status_the_time_and_the_message_and_nothing_else() -> None:
    old = task("input_required", status_message="Awaiting user input", poll_interval=5)
    new = moved(old, "failed", LATER, "declined")
    assert new == Task("t-1", "failed", CREATED, LATER, 60_000, 5, "declined")
    assert old.status == "input_required"


def test_the_message_of_the_old_status_does_not_stay() -> None:
    asked = task("input_required", status_message="Awaiting user input")
    assert moved(asked, "completed", LATER).status_message is None


def test_a_task_that_goes_on_may_get_a_new_message() -> None:
    assert moved(task(), "working", LATER, "half done").status_message == "half done"


def test_a_task_knows_whether_it_is_over() -> None:
    assert {status for status in STATUSES if task(status).is_terminal} == TERMINAL


# -- writing -------------------------------------------------------------------------------------


def test_a_task_is_written_with_what_is_set() -> None:
    assert to_wire(task(poll_interval=200, status_message="soon")) == {
        "taskId": "t-1",
        "status": "working",
        "createdAt": CREATED,
        "lastUpdatedAt": CREATED,
        "ttl": 60_000,
        "pollInterval": 200,
        "statusMessage": "soon",
    }


def test_ttl_is_written_even_if_there_is_no_limit() -> None:
    written = to_wire(task(ttl=None))
    assert sorted(written) == ["createdAt", "lastUpdatedAt", "status", "taskId", "ttl"]
    assert b'"ttl":null' in msgspec.json.encode(written)


def test_times_are_iso_8601_with_their_offset() -> None:
    assert iso_time(0.25) == "1970-01-01T00:00:00.250+00:00"
    assert iso_time(1_767_323_045) == CREATED


# -- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_what_was_written_is_read_as_it_was(status: str) -> None:
    for one in (task(status), task(status, ttl=None, poll_interval=0, status_message="")):
        assert read_task(to_wire(one)) == one


def test_the_words_of_the_extension_are_read_too() -> None:
    value = {
        "resultType": "task",
        "taskId": "t-1",
        "status": "working",
        "createdAt": CREATED,
        "lastUpdatedAt": LATER,
        "ttlMs": 60_000,
        "pollIntervalMs": 200,
        "inputRequests": {},
    }
    assert read_task(value) == Task("t-1", "working", CREATED, LATER, 60_000, 200)
    assert read_task(value | {"ttlMs": None}).ttl is None


def test_what_is_missing_is_taken_as_unsaid() -> None:
    assert read_task({"taskId": "t", "status": "failed"}) == Task("t", "failed", "", "")
    created = {"taskId": "t", "status": "failed", "createdAt": CREATED}
    assert read_task(created).last_updated_at == CREATED


def test_milliseconds_may_be_written_as_a_float() -> None:
    read = read_task({"taskId": "t", "status": "working", "ttl": 1500.0, "pollInterval": 1e3})
    assert (read.ttl, read.poll_interval) == (1500, 1000)
    assert isinstance(read.ttl, int)


def test_a_time_beyond_all_measure_is_cut_to_one_that_can_be_reckoned_with() -> None:
    read = read_task({"taskId": "t", "status": "working", "ttl": 10**400})
    assert read.ttl == 2**53 - 1


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "a task must be an object, not None"),
        ([{"taskId": "t"}], "a task must be an object"),
        ("t", "a task must be an object, not 't'"),
        ({}, "taskId must be a non-empty string, not None"),
        ({"taskId": 7}, "taskId .* not 7"),
        ({"taskId": ""}, "taskId .* not ''"),
        ({"taskId": "t"}, "status must be one of working, .* not None"),
        ({"taskId": "t", "status": "done"}, "status .* not 'done'"),
        ({"taskId": "t", "status": ["working"]}, r"status .* not \['working'\]"),
        ({"ttl": "60000"}, "ttl must be a number of milliseconds, not '60000'"),
        ({"ttl": -1}, "ttl .* not -1"),
        ({"ttl": True}, "ttl .* not True"),
        ({"ttl": float("inf")}, "ttl .* not inf"),
        ({"ttl": float("nan")}, "ttl .* not nan"),
        ({"ttlMs": {}}, "ttlMs .* not {}"),
        ({"pollInterval": -0.5}, "pollInterval .* not -0.5"),
        ({"pollIntervalMs": "soon"}, "pollIntervalMs .* not 'soon'"),
        ({"createdAt": 1_767_323_045}, "createdAt must be a string, not 1767323045"),
        ({"lastUpdatedAt": []}, r"lastUpdatedAt must be a string, not \[\]"),
        ({"statusMessage": {"text": "no"}}, "statusMessage must be a string"),
    ],
)
def test_what_is_no_task_is_named(value: Any, problem: str) -> None:
    if isinstance(value, dict) and value and "taskId" not in value:
        value = {"taskId": "t", "status": "working"} | value
    with pytest.raises(TaskProblem, match=problem):
        read_task(value)


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(TaskProblem) as problem:
        read_task("x" * 10_000)
    assert len(str(problem.value)) < 120


# -- which task something belongs to -------------------------------------------------------------


def test_params_and_results_name_their_task() -> None:
    assert related_task_of(with_related_task({"a": 1}, "t-1")) == "t-1"
    assert with_related_task({"a": 1}, "t-1") == {
        "a": 1,
        "_meta": {RELATED_TASK: {"taskId": "t-1"}},
    }


def test_other_metadata_stays_and_the_given_value_is_not_changed() -> None:
    given = {"_meta": {"mine": 1, RELATED_TASK: {"taskId": "other"}}}
    assert with_related_task(given, "t-1")["_meta"] == {"mine": 1, RELATED_TASK: {"taskId": "t-1"}}
    assert related_task_of(given) == "other"


def test_metadata_that_is_none_is_replaced() -> None:
    assert related_task_of(with_related_task({"_meta": 5}, "t-1")) == "t-1"


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"_meta": None},
        {"_meta": {RELATED_TASK: "t"}},
        {"_meta": {RELATED_TASK: {}}},
        {"_meta": {RELATED_TASK: {"taskId": 7}}},
    ],
)
def test_what_names_no_task_belongs_to_none(value: Any) -> None:
    assert related_task_of(value) is None
