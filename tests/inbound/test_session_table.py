"""The table of sessions: ids, limits, idle time."""

import re

import pytest

from mcplens.clock import ManualClock
from mcplens.inbound.limits import Limits
from mcplens.inbound.refusal import Refusal
from mcplens.inbound.session_table import SessionTable, new_session_id


class Fake:
    def __init__(self, table: "SessionTable[Fake]", caller: str = "") -> None:
        self.id = new_session_id()
        self.caller = caller
        self.closed = ""
        self._table = table
        table.add(self)

    def close(self, reason: str = "") -> None:
        self.closed = reason
        self._table.remove(self)


def table(**limits: float) -> tuple["SessionTable[Fake]", ManualClock]:
    clock = ManualClock()
    return SessionTable(clock, Limits(**limits)), clock  # type: ignore[arg-type]


def test_session_ids_are_long_random_and_visible_ascii() -> None:
    ids = {new_session_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"[\x21-\x7e]{43,}", one) for one in ids)


@pytest.mark.parametrize(("session_id", "status"), [(None, 400), ("unknown", 404), ("", 404)])
def test_no_id_is_400_and_an_unknown_one_404(session_id: str | None, status: int) -> None:
    sessions, _ = table()
    with pytest.raises(Refusal) as caught:
        sessions.get(session_id, "")
    assert caught.value.status == status


def test_a_session_does_not_exist_for_another_caller() -> None:
    sessions, _ = table()
    session = Fake(sessions, caller="ada")
    assert sessions.get(session.id, "ada") is session
    with pytest.raises(Refusal) as caught:
        sessions.get(session.id, "bob")
    assert caught.value.status == 404


async def test_an_idle_session_is_over_after_its_time() -> None:
    sessions, clock = table(idle_s=60)
    first = Fake(sessions)
    await clock.advance(30)
    second = Fake(sessions)
    await clock.advance(30)
    assert (first.closed, second.closed) == ("idle for 60 s", "")
    await clock.advance(30)
    assert len(sessions) == 0


async def test_a_session_with_an_open_exchange_is_not_idle() -> None:
    sessions, clock = table(idle_s=60)
    session = Fake(sessions)
    sessions.begin(session)
    sessions.begin(session)
    await clock.advance(600)
    sessions.end(session)
    await clock.advance(600)
    assert session.closed == ""
    sessions.end(session)
    await clock.advance(60)
    assert session.closed


async def test_a_full_table_gives_up_the_session_that_is_idle_longest() -> None:
    sessions, _ = table(max_sessions=2)
    busy, idle = Fake(sessions), Fake(sessions)
    sessions.begin(busy)
    sessions.make_room()
    assert (busy.closed, idle.closed) == ("", "closed to make room for another session")


def test_a_full_table_of_busy_sessions_is_503() -> None:
    sessions, _ = table(max_sessions=1)
    sessions.begin(Fake(sessions))
    with pytest.raises(Refusal) as caught:
        sessions.make_room()
    assert (caught.value.status, "Retry-After" in caught.value.headers) == (503, True)


async def test_closing_the_table_ends_every_session_and_its_timer() -> None:
    sessions, clock = table()
    all_of_them = [Fake(sessions) for _ in range(3)]
    sessions.close_all("bye")
    assert [session.closed for session in all_of_them] == ["bye"] * 3
    assert clock.timer_count == 0
