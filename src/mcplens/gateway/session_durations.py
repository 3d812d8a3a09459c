"""How long the gateway's sessions with servers last, for `mcp.client.session.duration`.

Sessions that belong to one client or one user alone are not counted. Owned by telemetry.py, and
knows nothing of OpenTelemetry itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcplens.downstream.listener import ServerListener
from mcplens.downstream.status import ServerStatus
from mcplens.gateway.telemetry_attributes import Attributes, metric_attributes, server_attributes

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway


class SessionDurations(ServerListener):
    """Calls `record` with the length of each session in seconds, and its attributes."""

    def __init__(self, gateway: Gateway, record: Callable[[float, Attributes], None]) -> None:
        self._servers = gateway.servers
        self._monotonic = gateway.clock.monotonic
        self._record = record
        self._began: dict[str, tuple[float, Attributes]] = {}  # by server
        self._unlisten = gateway.servers.listen(self)
        for server_id in gateway.servers.connections:
            self.state_changed(server_id)

    def __repr__(self) -> str:
        return f"<SessionDurations {len(self._began)} open>"

    def state_changed(self, server_id: str) -> None:
        connection = self._servers.get(server_id)
        state = None if connection is None else connection.state
        if connection is not None and state is not None and state.status is ServerStatus.RUNNING:
            began = (self._monotonic(), server_attributes(connection))
            self._began.setdefault(server_id, began)
        else:
            error = None if state is None or state.error is None else str(state.error["code"])
            self._end(server_id, error)

    def servers_changed(self) -> None:
        for server_id in self._began.keys() - self._servers.connections.keys():
            self._end(server_id, None)

    def _end(self, server_id: str, error: str | None) -> None:
        found = self._began.pop(server_id, None)
        if found is None:
            return
        began_at, attributes = found
        if error is not None:
            attributes["error.type"] = error
        self._record(self._monotonic() - began_at, metric_attributes(attributes))

    def close(self) -> None:
        """What is still open counts up to now."""
        self._unlisten()
        for server_id in [*self._began]:
            self._end(server_id, None)
