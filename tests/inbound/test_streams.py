"""Bounded buffers: what waits for a client, and what is kept for one that comes back."""

import asyncio

from mcplens.clock import ManualClock
from mcplens.inbound.limits import Limits
from mcplens.inbound.streams import ReplayBuffer, SendQueue, Stream


class Overrun:
    count = 0

    def __call__(self) -> None:
        self.count += 1


async def test_an_outbox_gives_what_waits_in_order_and_then_its_end() -> None:
    send_queue = SendQueue(100, Overrun())
    for data in (b"one", b"two"):
        send_queue.put(data)
    send_queue.finish()
    send_queue.put(b"too late")
    assert await send_queue.take() == [b"one", b"two"]
    assert await send_queue.take() is None


async def test_an_outbox_that_is_not_read_is_overrun_once_and_emptied() -> None:
    overrun = Overrun()
    send_queue = SendQueue(10, overrun)
    for _ in range(5):
        send_queue.put(b"four")
    assert overrun.count == 1
    assert await send_queue.take() is None


async def test_one_message_always_fits_however_large() -> None:
    overrun = Overrun()
    send_queue = SendQueue(10, overrun)
    send_queue.put(b"x" * 1000)
    assert overrun.count == 0
    assert await send_queue.take() == [b"x" * 1000]


async def test_what_a_reader_has_in_hand_still_counts() -> None:
    overrun = Overrun()
    send_queue = SendQueue(10, overrun)
    send_queue.put(b"12345678")
    await send_queue.take()
    send_queue.put(b"12345678")  # the first may still be on its way
    assert overrun.count == 1


async def test_a_silent_outbox_lets_its_reader_say_that_it_is_alive() -> None:
    clock = ManualClock()
    send_queue = SendQueue(10, Overrun())
    taking = asyncio.ensure_future(send_queue.take(clock, 15.0))
    await clock.settle()
    await clock.advance(15.0)
    assert await taking == []


def session(
    clock: ManualClock | None = None, **limits: int
) -> tuple[ReplayBuffer, list[Stream], list[Stream]]:
    emptied: list[Stream] = []
    replay = ReplayBuffer(Limits(**limits), clock or ManualClock(), emptied.append)
    return replay, [Stream(name, replay) for name in ("s0", "s1")], emptied


def test_delivered_events_are_kept_up_to_the_limit_and_the_oldest_goes_first() -> None:
    _, (one, two), emptied = session(max_replay_events=2)
    one.put(b"a")
    one.deliver(1)
    for data in (b"b", b"c"):
        two.put(data)
    two.deliver(2)
    assert one.is_empty
    assert emptied == [one]
    assert [two.peek(1), two.peek(2)] == [b"b", b"c"]


async def test_what_was_delivered_a_while_ago_is_dropped() -> None:
    clock = ManualClock()
    replay, (one, two), emptied = session(clock, max_replay_s=60)
    one.put(b"not delivered")
    two.put(b"a")
    two.deliver(1)
    await clock.advance(50)
    two.put(b"b")
    two.deliver(2)
    await clock.advance(10)
    assert (two.forgotten, two.peek(2)) == (1, b"b")
    reader = two.attach(lambda: None)
    await clock.advance(120)
    assert two.peek(2) == b"b", "it may be on its way to the reader"
    two.detach(reader)
    await clock.advance(60)
    assert (one.peek(1), emptied) == (b"not delivered", [two])
    assert clock.timer_count == 1
    replay.close()
    assert clock.timer_count == 0


def test_what_was_not_delivered_is_kept_beyond_the_limit_of_replay() -> None:
    _, (one, _), _ = session(max_replay_events=2, max_backlog_events=100)
    for number in range(50):
        one.put(b"%d" % number)
    assert one.forgotten == 0
    one.deliver(50)
    assert one.forgotten == 48


def test_what_nobody_reads_is_forgotten_when_the_backlog_is_full() -> None:
    _, (one, _), _ = session(max_backlog_bytes=10, max_replay_bytes=5)
    for _ in range(10):
        one.put(b"four")
    assert one.last == 10
    assert one.forgotten == 8
    assert one.peek(10) == b"four"


def test_a_reader_that_is_too_far_behind_is_told_once() -> None:
    _, (one, _), _ = session(max_backlog_bytes=10, max_replay_bytes=5)
    gaps: list[str] = []
    reader = one.attach(lambda: gaps.append("a gap"))
    for _ in range(10):
        one.put(b"four")
    assert gaps == ["a gap"]
    one.detach(reader)


def test_the_newest_event_is_always_kept() -> None:
    _, (one, _), _ = session(max_backlog_bytes=10, max_replay_bytes=5)
    one.put(b"x" * 1000)
    assert one.peek(1) == b"x" * 1000


def test_a_new_reader_sends_the_one_before_away() -> None:
    _, (one, _), _ = session()
    first = one.attach(lambda: None)
    second = one.attach(lambda: None)
    assert (one.is_reader(first), one.is_reader(second)) == (False, True)
