"""Users of the gateway who sign in to servers themselves, if there are such servers.

`sessions` is there only then (user_setup.py makes it), so that nothing of it is loaded otherwise.
Owned by gateway.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mcplens.errors import InspectorError
from mcplens.gateway import callers
from mcplens.gateway.refused import Refused
from mcplens.inbound.refusal import INVALID_REQUEST

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient
    from mcplens.gateway.user_sessions import UserSessions

# Errors by which a server says that a token is not accepted.
NOT_ACCEPTED: Final = ("AUTHENTICATION_FAILED", "SIGN_IN_FAILED")


class Users:
    """What the gateway asks about its users."""

    def __init__(self, gateway: Gateway) -> None:
        self.sessions: UserSessions | None = None
        self.on_changed: Callable[[], None] = lambda: None  # somebody signed in or out
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<Users {self.sessions or 'without sessions'}>"

    @property
    def connections(self) -> list[ServerConnection]:
        return [] if self.sessions is None else self.sessions.connections

    async def session(self, call: InboundCall, connection: ServerConnection) -> ServerConnection:
        """The session of a call's user with a server to which each user signs in.

        Raises:
            Refused, InputNeeded, InspectorError: as `UserSessions.session`.
        """
        return await self._known().session(call, connection)

    async def session_for(
        self, connection: ServerConnection, client: InboundClient
    ) -> ServerConnection:
        """The session of a client's user, who is not offered a sign-in.

        Raises:
            Refused, InspectorError: as `UserSessions.known`.
        """
        return await self._known().known(connection, client)

    async def find_session(
        self, connection: ServerConnection, client: InboundClient
    ) -> ServerConnection | None:
        """The same; None if the user is not signed in, or the server cannot be reached."""
        try:
            return await self.session_for(connection, client)
        except (InspectorError, Refused):
            return None

    def lost_sign_in(self, call: InboundCall, error: InspectorError) -> bool:
        """Whether a call failed since its user's token is not accepted; the token is forgotten."""
        connection = self._gateway.servers.get(call.server_id)
        if connection is None or not connection.entry.is_per_user:
            return False
        if error.code not in NOT_ACCEPTED or self.sessions is None:
            return False
        work = self.sessions.forget(call.client.peer.caller, connection)
        self._gateway.spawn(work, "forget a token")
        return True

    async def close(self) -> None:
        if self.sessions is not None:
            await self.sessions.close()

    def _known(self) -> UserSessions:
        if self.sessions is None:
            text = "this gateway has no sign-ins of users (auth.perUser)"
            raise InspectorError("NOT_CONNECTED", text)
        return self.sessions


def user_of(client: InboundClient, connection: ServerConnection) -> str:
    """The user of a client.

    Raises:
        Refused: the caller is not one user.
    """
    caller = client.peer.caller
    if not callers.is_user(caller):
        text = (
            f"{connection.server_id} wants each user to sign in, and this caller is not one user: "
            "use a token of gateway.oauth or one of gateway.tokens"
        )
        raise Refused(INVALID_REQUEST, text)
    return caller
