"""LOGIC's connection state machine, every pair of state and event."""

from __future__ import annotations

import itertools

import pytest

from mcplens.protocol.lifecycle import (
    TRANSITIONS,
    ConnectionState,
    IllegalTransition,
    Lifecycle,
    Transition,
)

# LOGIC's table of transition events, row by row, then the two that the issue adds.
TABLE = """
connect             DISCONNECTED   CONNECTING
handshake_complete  CONNECTING     CONNECTED
timeout             CONNECTING     ERROR
transport_error     CONNECTING     ERROR
disconnect          CONNECTED      DISCONNECTING
connection_lost     CONNECTED      ERROR
reconnect           ERROR          CONNECTING
give_up             ERROR          DISCONNECTED
cleanup_complete    DISCONNECTING  DISCONNECTED
cancel              CONNECTING     DISCONNECTING
disconnect          ERROR          DISCONNECTED
"""
LEGAL = {
    (ConnectionState(old), Transition(event)): ConnectionState(new)
    for event, old, new in (row.split() for row in TABLE.split("\n") if row)
}
PAIRS = list(itertools.product(ConnectionState, Transition))


def test_there_are_five_states_and_the_table_is_logics() -> None:
    assert len(ConnectionState) == 5
    assert LEGAL == TRANSITIONS


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=lambda item: item.value)
def test_each_pair_is_a_move_or_an_error_that_names_both_states(
    state: ConnectionState, event: Transition
) -> None:
    lifecycle = Lifecycle(state)
    target = LEGAL.get((state, event))
    if target is not None:
        assert lifecycle.apply(event).state is target
        return
    with pytest.raises(IllegalTransition) as refusal:
        lifecycle.apply(event)
    text = str(refusal.value)
    assert event.value in text
    assert f"from {state.value}" in text
    assert f"to {refusal.value.target.value}" in text
    assert refusal.value.target in {new for (_, e), new in LEGAL.items() if e is event}
    assert lifecycle.state is state


def test_each_retry_is_counted_and_success_says_how_many_it_took() -> None:
    failure = RuntimeError("no")
    lifecycle = Lifecycle().apply(Transition.CONNECT)
    for retry in (1, 2, 3):
        lifecycle = lifecycle.apply(Transition.TIMEOUT, failure).apply(Transition.RECONNECT)
        assert lifecycle.retry_count == retry
        assert lifecycle.last_error is failure
    lifecycle = lifecycle.apply(Transition.HANDSHAKE_COMPLETE)
    assert (lifecycle.retry_count, lifecycle.last_error) == (3, None)
    again = lifecycle.apply(Transition.DISCONNECT).apply(Transition.CLEANUP_COMPLETE)
    assert again.apply(Transition.CONNECT).retry_count == 0


@pytest.mark.parametrize("event", [Transition.GIVE_UP, Transition.DISCONNECT])
def test_giving_up_keeps_the_last_error_and_is_a_failure(event: Transition) -> None:
    failure = RuntimeError("no")
    lifecycle = Lifecycle().apply(Transition.CONNECT).apply(Transition.TRANSPORT_ERROR, failure)
    assert not lifecycle.is_failed
    lifecycle = lifecycle.apply(event)
    assert lifecycle.state is ConnectionState.DISCONNECTED
    assert lifecycle.last_error is failure
    assert lifecycle.is_failed


def test_a_disconnect_that_was_asked_for_is_no_failure() -> None:
    lifecycle = Lifecycle()
    for event in ("connect", "handshake_complete", "disconnect", "cleanup_complete"):
        lifecycle = lifecycle.apply(Transition(event))
    assert lifecycle.state is ConnectionState.DISCONNECTED
    assert not lifecycle.is_failed


def test_connecting_anew_starts_with_a_clean_sheet() -> None:
    failed = Lifecycle(ConnectionState.DISCONNECTED, 3, RuntimeError("no"))
    assert failed.apply(Transition.CONNECT) == Lifecycle(ConnectionState.CONNECTING)
