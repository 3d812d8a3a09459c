"""What subscribers of the live servers are notified of."""

from __future__ import annotations

from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link


class ServerListener:
    """Override what you need. Called on the event loop; must not block."""

    def servers_changed(self) -> None:
        """Servers were added, removed or replaced."""

    def state_changed(self, server_id: str) -> None:
        """The state of a server changed, or all of its lists were fetched."""

    def list_changed(self, server_id: str, kind: str) -> None:
        """A list of a server changed, or became stale."""

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        """The server sent a notification that no call's hook took."""

    def configuration_failed(self, problem: Exception) -> None:
        """The configuration was changed and cannot be used; the former one stays."""


class Listeners(ServerListener):
    """Passes everything on to those who subscribed."""

    def __init__(self) -> None:
        self._listeners: list[ServerListener] = []

    def __repr__(self) -> str:
        return f"<Listeners {len(self._listeners)}>"

    def add(self, listener: ServerListener) -> None:
        self._listeners.append(listener)

    def remove(self, listener: ServerListener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def servers_changed(self) -> None:
        for listener in list(self._listeners):
            listener.servers_changed()

    def state_changed(self, server_id: str) -> None:
        for listener in list(self._listeners):
            listener.state_changed(server_id)

    def list_changed(self, server_id: str, kind: str) -> None:
        for listener in list(self._listeners):
            listener.list_changed(server_id, kind)

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        for listener in list(self._listeners):
            listener.notified(server_id, frame, link)

    def configuration_failed(self, problem: Exception) -> None:
        for listener in list(self._listeners):
            listener.configuration_failed(problem)
