"""What passes is noted with its time and read later, in order; a fault of ours stops no byte."""

import pytest

from mcplens.bus import Publisher
from mcplens.clock import SystemClock
from mcplens.events import Remark
from mcplens.tap import backlog
from mcplens.tap.backlog import TapBus


def taken_by(bus: TapBus, publish: Publisher) -> list[bytes]:
    """What is read, in its order; each piece is published too."""
    taken: list[bytes] = []

    def take(data: bytes) -> None:
        taken.append(data)
        publish(Remark(message=data.decode()))

    for number in range(3):
        bus.backlog.add(take, b"%d" % number, 1)
    return taken


def test_nothing_is_read_before_the_bus_is_and_then_with_the_time_it_passed() -> None:
    bus = TapBus()
    bus.expect_readers()
    before = SystemClock().monotonic()
    taken = taken_by(bus, Publisher(bus, "server"))
    passed = SystemClock().monotonic()
    assert taken == []
    kept = bus.kept()
    assert taken == [b"0", b"1", b"2"]
    assert bus.last_seq == 3
    times = [event.mono for event in kept]
    assert times == sorted(times)
    assert before <= times[0] <= times[-1] <= passed


def test_nothing_is_kept_while_nobody_reads() -> None:
    bus = TapBus()
    taken = taken_by(bus, Publisher(bus, "server"))
    assert bus.kept() == []
    bus.expect_readers()
    assert not bus.kept()
    assert not taken


def test_beyond_the_bound_whoever_passes_more_reads_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "_MOST_BYTES", 10)
    bus = TapBus()
    bus.expect_readers()
    taken: list[bytes] = []
    for _ in range(10):
        bus.backlog.add(taken.append, b"12345678", 8)
    assert len(taken) >= 8


def test_a_fault_while_reading_is_reported_once_and_ends_the_recording() -> None:
    warnings: list[str] = []
    bus = TapBus(warnings.append)
    bus.expect_readers()

    def fail(_: bytes) -> None:
        raise RuntimeError("a fault of ours")

    taken: list[bytes] = []
    bus.backlog.add(fail, b"x")
    bus.backlog.add(taken.append, b"y")
    assert bus.kept() == []
    bus.backlog.add(taken.append, b"z")
    assert bus.kept() == []
    assert taken == []
    (warning,) = warnings
    assert "not recorded" in warning
