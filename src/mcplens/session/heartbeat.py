"""Pings the server now and then, shows when it does not answer, and finds out that it is dead.

2026-07-28 has no ping: there the loop is off, and latency is asked for by server/discover.
"""

from __future__ import annotations

import asyncio
from typing import Final

from mcplens.errors import InspectorError, TransportError
from mcplens.events import PingAnswered, PingUnanswered
from mcplens.session.connection import Connection
from mcplens.session.queue import CallTag, QueueEntry
from mcplens.session.session import Session

# An answer that takes longer is shown as missing.
PING_TIMEOUT_S: Final = 30.0
# Two in a row with nothing else received: the server is gone.
DEAD_AFTER: Final = 2


class Heartbeat:
    """The ping loop of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._task: asyncio.Task[None] | None = None
        self._unanswered = 0
        self._silent = 0  # of these, how many in a row with nothing else received either
        self._heard = -1  # frames received when the last one was missed

    def __repr__(self) -> str:
        return f"<Heartbeat {'on' if self._task else 'off'}, {self._unanswered} unanswered>"

    def start(self) -> None:
        session = self._connection.session
        interval_s = self._connection.config.ping_interval_s
        if session is None or session.is_stateless or interval_s <= 0:
            return
        self._unanswered = self._silent = 0
        self._heard = -1
        self._task = asyncio.get_running_loop().create_task(self._loop(interval_s), name="ping")

    def stop(self) -> None:
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = None

    async def _loop(self, interval_s: float) -> None:
        connection = self._connection
        while True:
            await connection.clock.sleep(interval_s)
            session = connection.session
            if session is None:
                return
            received_before = session.receiver.frames_received
            started = connection.clock.monotonic()
            entry = session.sender.start_now(
                "ping", tag=CallTag(purpose="heartbeat"), timeout_s=PING_TIMEOUT_S, is_quiet=True
            )
            try:
                await entry
            except InspectorError as error:
                if error.category == "server":  # it answered, if only to refuse
                    self._answered(entry, started)
                    continue
                if session.is_lost:
                    return
                if self._is_dead(session, entry, received_before):
                    return
            else:
                self._answered(entry, started)

    def _answered(self, entry: QueueEntry, started: float) -> None:
        self._unanswered = self._silent = 0
        latency_s = self._connection.clock.monotonic() - started
        self._connection.latency_s = latency_s
        self._connection.publish(PingAnswered(latency_s=latency_s, request_seq=_seq_of(entry)))

    def _is_dead(self, session: Session, entry: QueueEntry, received_before: int) -> bool:
        """A ping was missed: show it, and end the connection if that is enough."""
        connection = self._connection
        self._unanswered += 1
        heard, self._heard = self._heard, session.receiver.frames_received
        if received_before != self._heard:
            self._silent = 0
        else:
            self._silent = self._silent + 1 if received_before == heard else 1
        unanswered = PingUnanswered(
            in_a_row=self._unanswered, timeout_s=PING_TIMEOUT_S, request_seq=_seq_of(entry)
        )
        connection.publish(unanswered)
        if self._silent < DEAD_AFTER or session.in_flight.calls():
            return False
        message = f"{self._silent} pings in a row had no answer, and nothing else came"
        session.lose(TransportError("CONNECTION_LOST", message))
        return True


def _seq_of(ping: QueueEntry) -> int | None:
    return None if ping.sent is None else ping.sent.seq
