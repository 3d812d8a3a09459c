"""A span around the processing of a server's notification, if telemetry is on.

Knows nothing of OpenTelemetry, which is loaded with telemetry.py alone. Called wherever
notifications of servers come in: fan_out.py, inbound_call.py, client_sessions.py, user_sessions.py.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.protocol.frames import Frame

_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


def heard(
    gateway: Gateway, server_id: str, frame: Frame, call: InboundCall | None = None
) -> AbstractContextManager[None]:
    """Process a notification of a server's in this block; `call` is the one that it belongs to."""
    telemetry = gateway.telemetry
    if telemetry is None:
        return _NOTHING
    return telemetry.notifications.from_server(gateway.servers.get(server_id), frame, call)
