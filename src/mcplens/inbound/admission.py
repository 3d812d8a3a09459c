"""The open connections of a server: those that have proved who they are, and guests.

Anyone on this machine can connect, and each connection costs a file descriptor. A guest has a short
time, and all guests share a few places; when they are taken, the oldest guest has to go. So guests
can neither keep a user's connections out nor end them. Used by uvicorn_server.py, which reports
connections, and by access control, which admits them.
"""

from __future__ import annotations

import asyncio
from typing import Final

# A page and its files are loaded by a guest, over a slow tunnel too: a response in progress has the
# same time again.
GUEST_S: Final = 20.0

# The address and port of a client; no two open connections have the same.
Client = tuple[str, int]


class _Connection:
    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.due: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"<_Connection {'guest' if self.due else 'admitted'}>"

    def is_closed(self) -> bool:
        return self.transport.is_closing()

    def forget(self) -> None:
        if self.due is not None:
            self.due.cancel()
            self.due = None

    def end(self) -> None:
        self.forget()
        self.transport.abort()


class Admission:
    """Connections by their client, oldest first; `guests` of the `most` places are for guests."""

    def __init__(self, most: int, guests: int) -> None:
        self._most_guests = guests
        self._most_admitted = most - guests
        self._guests: dict[Client, _Connection] = {}
        self._admitted: dict[Client, _Connection] = {}

    def __repr__(self) -> str:
        return f"<Admission {len(self._admitted)} admitted, {len(self._guests)} guests>"

    def enter(self, client: Client, transport: asyncio.Transport) -> None:
        """A new connection, which is a guest until it is admitted."""
        self._drop_closed()
        guest = _Connection(transport)
        loop = asyncio.get_running_loop()
        # The second time it has to go, whatever it is doing.
        guest.due = loop.call_later(GUEST_S, self._give_up, guest, True)
        self._guests[client] = guest
        if len(self._guests) > self._most_guests:
            self._guests.pop(next(iter(self._guests))).end()

    def admit(self, client: Client) -> None:
        """A request of this connection has proved that it is a user's."""
        connection = self._guests.get(client)
        if connection is None:
            return
        self._drop_closed()
        if len(self._admitted) >= self._most_admitted:
            connection.end()
            return
        del self._guests[client]
        connection.forget()
        self._admitted[client] = connection

    def _drop_closed(self) -> None:
        for connections in (self._guests, self._admitted):
            closed = [client for client, one in connections.items() if one.is_closed()]
            for client in closed:
                connections.pop(client).forget()

    def _give_up(self, guest: _Connection, is_first: bool) -> None:
        transport = guest.transport
        protocol = transport.get_protocol()
        if is_first and getattr(protocol, "is_responding", False):
            loop = asyncio.get_running_loop()
            guest.due = loop.call_later(GUEST_S, self._give_up, guest, False)
        else:
            guest.end()
