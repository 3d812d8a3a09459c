"""Sessions for one user alone, with servers to which each user signs in (`auth.perUser`).

A user is one caller of access control: somebody of the identity provider, or the holder of a named
token. What a session offers is published to that user only (user_catalogs.py). Knows who signed in
and out, here and at other replicas. Owned by gateway.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from mcplens.auth.addresses import canonical
from mcplens.clock import Timer, within
from mcplens.downstream.listener import ServerListener
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway.catalog import KINDS
from mcplens.gateway.inbound_call import admits, opened
from mcplens.gateway.notification_tracing import heard
from mcplens.gateway.sealed_store import SealedStore, place_of
from mcplens.gateway.sign_in_links import SignInLinks
from mcplens.gateway.sign_in_offers import offer_sign_in
from mcplens.gateway.sign_in_pages import SignInPages
from mcplens.gateway.sign_outs import SignOuts
from mcplens.gateway.task_notifications import pass_progress_on, pass_status_on
from mcplens.gateway.user_catalogs import UserCatalogs
from mcplens.gateway.user_tokens import UserTokens
from mcplens.gateway.user_tools import UserTools
from mcplens.gateway.users import NOT_ACCEPTED, user_of
from mcplens.protocol.frames import Frame
from mcplens.session.attribution import Link

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient

# A session that nobody used for so long is closed; the next call opens it again.
IDLE_S: Final = 900.0
# Sessions at once; beyond it the one that was idle longest is closed.
MOST_SESSIONS: Final = 500
_SIGNED_IN: Final = "user-signed-in"
_SIGNED_OUT: Final = "user-signed-out"
_NOT_PASSED_ON: Final = frozenset({
    "notifications/cancelled", "notifications/tools/list_changed",
    "notifications/prompts/list_changed", "notifications/resources/list_changed",
})  # fmt: skip

_Key = tuple[str, str]  # caller and server


class _UserNotifications(ServerListener):
    """Passes what a server says in a user's session on to the clients of this user."""

    def __init__(self, gateway: Gateway, sessions: UserSessions, caller: str) -> None:
        self._gateway = gateway
        self._sessions = sessions
        self._caller = caller

    def list_changed(self, server_id: str, kind: str) -> None:
        self._sessions.changed(self._caller, server_id)

    def notified(self, server_id: str, frame: Frame, link: Link) -> None:
        with heard(self._gateway, server_id, frame):
            self._sessions.notified((self._caller, server_id), frame)


class UserSessions:
    """Sessions by user and server."""

    def __init__(self, gateway: Gateway, sealed: SealedStore) -> None:
        self.links = SignInLinks(gateway, sealed, self._signed_in)
        self.sign_outs = SignOuts(gateway, sealed, self.links, self._signed_out)
        self.pages = SignInPages(gateway, self.links, self.sign_outs)
        self.tools = UserTools(self)
        self.catalogs = UserCatalogs(gateway, self)
        self._gateway = gateway
        self._sealed = sealed
        self._sessions: dict[_Key, ServerConnection] = {}  # the one used last is last
        self._used_at: dict[_Key, float] = {}
        self._with_token: set[_Key] = set()  # sessions whose user had a token when they were used
        # For sign-ins, by digest; each is kept by those who wait for it.
        self._waiting = WeakValueDictionary[str, asyncio.Event]()
        self._timer: Timer | None = None
        subscribe = sealed.store.subscribe
        self._unsubscribe = (
            subscribe(_SIGNED_IN, self._woken), subscribe(_SIGNED_OUT, self._ended)
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<UserSessions {len(self._sessions)} open>"

    @property
    def connections(self) -> list[ServerConnection]:
        return list(self._sessions.values())

    # -- sessions ----------------------------------------------------------------------------------

    async def session(self, call: InboundCall, connection: ServerConnection) -> ServerConnection:
        """The session of a call's user; who is not signed in is offered a sign-in.

        Raises:
            Refused: the caller is not one user, or did not sign in.
            InputNeeded: a client of 2026-07-28 is to come again after the sign-in.
            InspectorError: there is no connection.
        """
        caller = user_of(call.client, connection)
        own = self.own(caller, connection)
        if own.introduction is not None and own.live.client is not None:
            return own
        if not await self.has_token(caller, connection):
            await offer_sign_in(self, call, connection.server_id)
        own = self.own(caller, connection)  # a sign-in meanwhile closed one without a token
        try:
            await opened(own)
        except InspectorError as error:
            if error.code not in NOT_ACCEPTED:
                raise
            await self.forget(caller, connection)
            await offer_sign_in(self, call, connection.server_id)
            own = self.own(caller, connection)
            await opened(own)
        return own

    async def known(self, connection: ServerConnection, client: InboundClient) -> ServerConnection:
        """The session of a client's user, if they are signed in; nothing is offered.

        Raises:
            InspectorError: they are not, or there is no connection.
            Refused: the caller is not one user.
        """
        caller = user_of(client, connection)
        own = self.own(caller, connection)
        if own.introduction is None or own.live.client is None:
            if not await self.has_token(caller, connection):
                text = f"{connection.server_id} wants each user to sign in; call one of its tools"
                raise InspectorError("AUTHENTICATION_FAILED", text)
            own = self.own(caller, connection)
            await opened(own)
        return own

    def own(self, caller: str, connection: ServerConnection) -> ServerConnection:
        """The session of a user with a server, made if there is none; it may not be open."""
        key = (caller, connection.server_id)
        own = self._sessions.pop(key, None)
        if own is not None and own.entry is not connection.entry:
            # It is configured otherwise by now. Not waited for: another call would make one too.
            self._gateway.spawn(own.close(), "close a user's session")
            own = None
        if own is None:
            tokens = self._tokens(caller, connection.server_id)
            own = connection.for_user(tokens, _UserNotifications(self._gateway, self, caller))
        self._sessions[key] = own
        self._used_at[key] = self._gateway.clock.monotonic()
        if len(self._sessions) > MOST_SESSIONS:
            self._close_soon(next(iter(self._sessions)))
        self._watch()
        return own

    def _tokens(self, caller: str, server_id: str) -> UserTokens:
        return UserTokens(self._sealed, caller, server_id, self._gateway.clock.wall)

    async def has_token(self, caller: str, connection: ServerConnection) -> bool:
        """Whether a user is signed in to a server; raises StoreUnavailable."""
        tokens = self._tokens(caller, connection.server_id)
        has_one = await tokens.load(canonical(connection.entry.url or "")) is not None
        if has_one:
            self._with_token.add((caller, connection.server_id))
        return has_one

    async def forget(self, caller: str, connection: ServerConnection) -> None:
        """A user's token is not accepted any more: it is not used again."""
        tokens = self._tokens(caller, connection.server_id)
        await tokens.forget(canonical(connection.entry.url or ""))
        self._close_soon((caller, connection.server_id))
        self.changed(caller, connection.server_id)

    def _close_soon(self, key: _Key) -> None:
        own = self._sessions.pop(key, None)
        self._used_at.pop(key, None)
        self._with_token.discard(key)
        if own is not None:
            self._gateway.spawn(own.close(), "close a user's session")

    def _watch(self) -> None:
        """One timer for all, set to the session that is idle longest."""
        if self._timer is None and self._used_at:
            due = min(self._used_at.values()) + IDLE_S
            self._timer = self._gateway.clock.call_at(due, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = self._gateway.clock.monotonic()
        for key, used_at in list(self._used_at.items()):
            if self._sessions[key].is_in_use:
                self._used_at[key] = now
            elif now - used_at >= IDLE_S:
                self._close_soon(key)
        self._watch()

    async def close(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        if self._timer is not None:
            self._timer.cancel()
        for own in self.connections:
            await own.close()
        self._sessions.clear()
        await self._sealed.close()

    # -- sign-ins ----------------------------------------------------------------------------------

    async def until_signed_in(self, caller: str, server_id: str) -> bool:
        """Wait for a sign-in, here or at another replica, as long as a person has for one."""
        connection = self._gateway.server(server_id)
        if connection is None:
            return False
        digest = _digest(caller, server_id)
        limit_s = self._gateway.servers.settings.authorization_timeout_s

        async def wait() -> None:
            while True:  # it is woken too when sign-ins may have gone unnoticed
                event = self._waiting.setdefault(digest, asyncio.Event())
                if await self.has_token(caller, connection):
                    return
                await event.wait()

        with contextlib.suppress(TimeoutError):
            await within(self._gateway.clock, limit_s or None, wait())
        return await self.has_token(caller, connection)

    def _signed_in(self, caller: str, server_id: str) -> None:
        message = _digest(caller, server_id).encode()
        self._woken(message)
        self._publish(_SIGNED_IN, message)

    def _publish(self, channel: str, message: bytes) -> None:
        work = self._sealed.done(self._sealed.store.publish(channel, message))
        self._gateway.spawn(work, "tell replicas of a sign-in or a sign-out")

    def _woken(self, message: bytes | None) -> None:
        """A user signed in, here or elsewhere; None: some may have, unnoticed."""
        for digest, event in list(self._waiting.items()):
            if message is None or digest == message.decode():
                event.set()
                self._waiting.pop(digest, None)
        users = {client.peer.caller for client in self._gateway.clients.values()}
        for caller in users | {key[0] for key in self._sessions}:
            for connection in self.per_user():
                server_id = connection.server_id
                if message is not None and _digest(caller, server_id) != message.decode():
                    continue
                key = (caller, server_id)
                own = self._sessions.get(key)
                if own is not None and own.live.client is None and key not in self._with_token:
                    self._close_soon(key)  # the new token counts
                self.changed(caller, server_id)
        self._gateway.users.on_changed()

    def _signed_out(self, caller: str, server_id: str) -> None:
        message = _digest(caller, server_id).encode()
        self._ended(message)
        self._publish(_SIGNED_OUT, message)

    def _ended(self, message: bytes | None) -> None:
        """A user signed out, here or elsewhere; None: some may have, unnoticed."""
        if message is None:
            self._gateway.spawn(self._close_without_token(), "close what users signed out of")
            return
        for caller, server_id in [*self._sessions]:
            if _digest(caller, server_id) == message.decode():
                self._close_soon((caller, server_id))
                self.changed(caller, server_id)
        self._gateway.users.on_changed()

    async def _close_without_token(self) -> None:
        for caller, server_id in [*self._with_token]:
            connection = self._gateway.server(server_id)
            if connection is None or not await self.has_token(caller, connection):
                self._close_soon((caller, server_id))
                self.changed(caller, server_id)

    # -- what users see ----------------------------------------------------------------------------

    def per_user(self) -> list[ServerConnection]:
        """The servers that each user signs in to."""
        return [one for one in self._gateway.usable() if one.entry.is_per_user]

    def find(self, caller: str, server_id: str) -> ServerConnection | None:
        """The session of a user with a server, open or not."""
        return self._sessions.get((caller, server_id))

    def is_open(self, caller: str, connection: ServerConnection) -> bool:
        """Whether a user's session with a server was opened."""
        own = self.find(caller, connection.server_id)
        return own is not None and own.introduction is not None

    def publish_anew(self) -> None:
        """What views show of the same lists may have changed."""
        for caller, server_id in [*self._sessions]:
            self.changed(caller, server_id)

    def changed(self, caller: str, server_id: str) -> None:
        """What a user sees of a server changed: the user's clients are told."""
        self.catalogs.changed(caller)
        for kind in KINDS:
            self._gateway.fan_out.list_changed_for(caller, server_id, kind)

    def notified(self, key: _Key, frame: Frame) -> None:
        """A notification in a user's session that belongs to no call."""
        caller, server_id = key
        if frame.method in _NOT_PASSED_ON:
            return
        own = self._sessions.get(key)
        if frame.method == "notifications/resources/updated" and own is not None:
            self._gateway.fan_out.updated(own, frame)
            return
        for client in list(self._gateway.clients.values()):
            if client.peer.caller != caller:
                continue
            if frame.method == "notifications/progress":
                pass_progress_on(self._gateway, server_id, frame, client.key)
            elif frame.method.startswith("notifications/tasks"):
                pass_status_on(self._gateway, server_id, frame, client.key)
            elif frame.method != "notifications/message" or (
                client.is_ready and admits(client.log_level, frame, is_asked_for=False)
            ):
                client.pass_on(frame)


def _digest(caller: str, server_id: str) -> str:
    return place_of(f"{caller}\n{server_id}")
