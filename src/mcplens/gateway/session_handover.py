"""Hands the sessions of a replica that is about to end over to the others, one by one.

A session goes as soon as it has no call under way. What comes for it in that moment waits until
the store lets another replica have it. Owned by shared_sessions.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.session_search import SessionSearch, later
from mcplens.gateway.session_writer import SessionWriter
from mcplens.inbound.http_peers import HttpSessionPeer

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.inbound.streamable_http import StreamableHttp


class SessionHandovers:
    """The sessions that are being handed over, and the requests that wait for it."""

    def __init__(self, gateway: Gateway, writer: SessionWriter) -> None:
        self._gateway = gateway
        self._writer = writer
        self._store = gateway.replica.store
        # New requests of a session wait until its calls have ended and another replica has it.
        self.is_parking = False
        self._handovers: dict[str, asyncio.Task[None]] = {}  # by session id
        self._parked: dict[str, asyncio.Event] = {}  # requests that wait for one of these

    def __repr__(self) -> str:
        return f"<SessionHandovers {len(self._handovers)} under way>"

    def begin_idle(self) -> None:
        """Let other replicas have the sessions that have no call under way here."""
        for session in self._writer.sessions():
            self._hand_over(session)

    def call_ended(self, client: InboundClient) -> None:
        """A call ended while this replica is about to end: its session may go now.

        At once, before its client can send the next call: one that calls without a pause would
        never be found idle.
        """
        peer = client.peer
        if isinstance(peer, HttpSessionPeer) and self._writer.owns(peer) and self.is_possible:
            self._hand_over(peer)

    def _hand_over(self, session: HttpSessionPeer) -> None:
        client = self._gateway.clients.get(session)
        if client is not None and client.calls:
            return
        # First here, then in the store: what comes in between waits, and finds the next owner.
        releasing = self._writer.hand_over(session)
        session.hang_up_all(session.limits.retry_ms)
        session.close("another replica goes on with the session")
        session_id = session.id
        self._handovers[session_id] = work = self._gateway.spawn(releasing, "hand a session over")
        work.add_done_callback(lambda _: self._handovers.pop(session_id, None))
        if (parked := self._parked.pop(session_id, None)) is not None:
            parked.set()

    async def ended(self) -> None:
        """Wait until the store knows of all sessions that were handed over."""
        while self._handovers:
            await asyncio.wait(list(self._handovers.values()))

    @property
    def is_possible(self) -> bool:
        """Whether sessions can go to other replicas now."""
        return self._store.state.status == "up"

    def park(self) -> None:
        """Let new requests of sessions wait until these are handed over, if they can be."""
        self.is_parking = self.is_possible

    def refuse_parked(self) -> None:
        """Refuse the requests that still wait for a session to be handed over."""
        self.is_parking = False
        for parked in self._parked.values():
            parked.set()
        self._parked.clear()

    async def passed(self, search: SessionSearch, endpoint: StreamableHttp) -> None:
        """Wait for a session that is being handed over, or will be when its calls have ended.

        Raises:
            Refusal: this replica ends, and the session is still here.
        """
        if self.is_parking and search.session_id in endpoint.sessions:
            parked = self._parked.setdefault(search.session_id, asyncio.Event())
            await parked.wait()
            if search.session_id in endpoint.sessions:
                raise later("this replica is shutting down", search)
        handover = self._handovers.get(search.session_id)
        if handover is not None:
            await asyncio.wait([handover])
