"""The connection state machine: five states, eleven transitions.

Pure: `Lifecycle.apply` returns the next value or raises. Driven by session/connector.py.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec


class ConnectionState(Enum):
    DISCONNECTED = "DISCONNECTED"
    CONNECTING = "CONNECTING"
    CONNECTED = "CONNECTED"
    DISCONNECTING = "DISCONNECTING"
    ERROR = "ERROR"


class Transition(Enum):
    """What can happen to a connection."""

    CONNECT = "connect"
    HANDSHAKE_COMPLETE = "handshake_complete"
    TIMEOUT = "timeout"
    TRANSPORT_ERROR = "transport_error"
    DISCONNECT = "disconnect"
    CONNECTION_LOST = "connection_lost"
    RECONNECT = "reconnect"
    GIVE_UP = "give_up"
    CLEANUP_COMPLETE = "cleanup_complete"
    CANCEL = "cancel"


_S = ConnectionState
_T = Transition

# The last two: a cancelled connect, and disconnect() in ERROR, which is give_up.
TRANSITIONS: Final[dict[tuple[ConnectionState, Transition], ConnectionState]] = {
    (_S.DISCONNECTED, _T.CONNECT): _S.CONNECTING,
    (_S.CONNECTING, _T.HANDSHAKE_COMPLETE): _S.CONNECTED,
    (_S.CONNECTING, _T.TIMEOUT): _S.ERROR,
    (_S.CONNECTING, _T.TRANSPORT_ERROR): _S.ERROR,
    (_S.CONNECTED, _T.DISCONNECT): _S.DISCONNECTING,
    (_S.CONNECTED, _T.CONNECTION_LOST): _S.ERROR,
    (_S.ERROR, _T.RECONNECT): _S.CONNECTING,
    (_S.ERROR, _T.GIVE_UP): _S.DISCONNECTED,
    (_S.DISCONNECTING, _T.CLEANUP_COMPLETE): _S.DISCONNECTED,
    (_S.CONNECTING, _T.CANCEL): _S.DISCONNECTING,
    (_S.ERROR, _T.DISCONNECT): _S.DISCONNECTED,
}

# Where a transition leads in general, for the message of an illegal one.
_TARGET_OF: Final = {event: target for (_, event), target in TRANSITIONS.items()} | {
    _T.DISCONNECT: _S.DISCONNECTING
}


class IllegalTransition(Exception):
    """A transition that the state does not allow; names both states."""

    def __init__(self, state: ConnectionState, event: Transition) -> None:
        self.state = state
        self.target = _TARGET_OF[event]
        self.event = event
        super().__init__(f"{event.value} cannot lead from {state.value} to {self.target.value}")


class Lifecycle(msgspec.Struct, frozen=True):
    """The status of a connection: its state, the retries that it took, and the last failure."""

    state: ConnectionState = ConnectionState.DISCONNECTED
    retry_count: int = 0
    last_error: Exception | None = None

    def apply(self, event: Transition, error: Exception | None = None) -> Lifecycle:
        """The next value.

        Raises:
            IllegalTransition: the state does not allow it.
        """
        target = TRANSITIONS.get((self.state, event))
        if target is None:
            raise IllegalTransition(self.state, event)
        match event:
            case _T.CONNECT:
                return Lifecycle(target)
            case _T.HANDSHAKE_COMPLETE:
                return Lifecycle(target, self.retry_count)
            case _T.RECONNECT:
                return Lifecycle(target, self.retry_count + 1, self.last_error)
            case _T.TIMEOUT | _T.TRANSPORT_ERROR | _T.CONNECTION_LOST:
                return Lifecycle(target, self.retry_count, error)
            case _:
                # give_up keeps the last error: a surface shows DISCONNECTED with one as Failed.
                return Lifecycle(target, self.retry_count, self.last_error)

    @property
    def is_failed(self) -> bool:
        """DISCONNECTED after giving up."""
        return self.state is ConnectionState.DISCONNECTED and self.last_error is not None
