"""What each user sees of servers to which users sign in themselves, as a view publishes it.

The lists of the user's own sessions, with a tool to sign out; of a server that the user is not
signed in to, the tool to sign in. Remembered until something of it changes. Owned by
user_sessions.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final, Literal

from mcplens.clock import within
from mcplens.config.views import View
from mcplens.downstream.result import Failure
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import StoreUnavailable
from mcplens.gateway import callers
from mcplens.gateway.catalog import ServerLists, ViewCatalog
from mcplens.gateway.live_lists import lists_of
from mcplens.gateway.names import Original
from mcplens.gateway.user_tools import sign_in_lists, with_sign_out
from mcplens.gateway.users import NOT_ACCEPTED

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient
    from mcplens.gateway.user_sessions import UserSessions
    from mcplens.gateway.view_handler import ViewHandler

# Catalogs of users that are remembered.
_MOST_CATALOGS: Final = 500
# Users of whom it is remembered that what they see has changed.
_MOST_REVISIONS: Final = 10_000

_Key = tuple[str, str]  # caller and path of the view


class UserCatalogs:
    """Catalogs by user and view."""

    def __init__(self, gateway: Gateway, sessions: UserSessions) -> None:
        self._gateway = gateway
        self._sessions = sessions
        # With what they were made of: the catalog for all, and the revision of the user's lists.
        self._catalogs: dict[_Key, tuple[ViewCatalog, int, ViewCatalog]] = {}
        self._former: dict[_Key, ViewCatalog] = {}  # of users who were signed in
        self._revisions: dict[str, int] = {}
        self._first = 0  # the revision of users of whom nothing changed
        self._newest = 0

    def __repr__(self) -> str:
        return f"<UserCatalogs {len(self._catalogs)}>"

    def changed(self, caller: str) -> None:
        """What a user sees has changed."""
        if len(self._revisions) >= _MOST_REVISIONS:
            self._revisions.clear()
            self._first = self._newest = self._newest + 1
        self._newest += 1
        self._revisions[caller] = self._newest

    async def of(self, handler: ViewHandler, client: InboundClient) -> ViewCatalog:
        """What a view shows to the user of a client."""
        base, caller = handler.catalog, client.peer.caller
        wanted = [one for one in self._sessions.per_user() if handler.shows(one.server_id)]
        if not wanted or not callers.is_user(caller):
            return base
        revision = self._revisions.get(caller, self._first)
        known = self._catalogs.get((caller, handler.path))
        if known is not None and known[0] is base and known[1] == revision:
            return known[2]
        lists = await asyncio.gather(*(self._lists(caller, connection) for connection in wanted))
        found = self._gateway.catalog(handler.view, lists)
        self._bring_up(handler.view, caller, wanted, found)
        if len(self._catalogs) >= _MOST_CATALOGS:
            self._catalogs.clear()
            self._former.clear()
        key = (caller, handler.path)
        if self._revisions.get(caller, self._first) == revision:
            self._catalogs[key] = (base, revision, found)
        if any(self._sessions.is_open(caller, connection) for connection in wanted):
            self._former[key] = found
        return found

    async def after_sign_in(
        self, handler: ViewHandler, call: InboundCall, connection: ServerConnection
    ) -> ViewCatalog:
        """What a view shows to the user of a call, who signs in to this server first.

        Raises:
            Refused, InputNeeded, InspectorError: as `session`.
        """
        own = await self._sessions.session(call, connection)
        result = await own.get_capabilities()
        if isinstance(result, Failure):
            raise result.error
        return await self.of(handler, call.client)

    def _bring_up(
        self, view: View, caller: str, servers: list[ServerConnection], catalog: ViewCatalog
    ) -> None:
        """Have the definitions that a user's sessions list come up for approval."""
        approvals = self._gateway.approvals
        if approvals is None or not catalog.unapproved:
            return
        own = {one.server_id: self._sessions.find(caller, one.server_id) for one in servers}
        # Half of what a server offers is not shown: somebody would approve it as the whole.
        listed = {name for name, one in own.items() if one is not None and one.lists.are_known}
        found = [one for one in catalog.unapproved if one.original.server_id in listed]
        approvals.listed_by_user(view, found)

    def find_former(
        self, handler: ViewHandler, call: InboundCall, kind: Literal["tools", "prompts"], name: str
    ) -> Original | None:
        """What a name means that a user's catalog has not, for want of a sign-in.

        It was shown when the user was signed in, or it names its server.
        """
        caller = call.client.peer.caller
        former = self._former.get((caller, handler.path))
        original = None if former is None else former.find(kind, name)
        servers = [one for one in self._sessions.per_user() if handler.shows(one.server_id)]
        closed = [one.server_id for one in servers if not self._sessions.is_open(caller, one)]
        if original is not None and original.server_id in closed:
            return original
        separators = {":", handler.view.separator} - {"none"}
        for prefix, server_id in ((one + mark, one) for one in closed for mark in separators):
            if name.startswith(prefix) and name != prefix:
                return Original(server_id, name.removeprefix(prefix))
        return None

    def last(self, handler: ViewHandler, caller: str) -> ViewCatalog:
        """What the user was shown last."""
        known = self._catalogs.get((caller, handler.path))
        return handler.catalog if known is None else known[2]

    async def _lists(self, caller: str, connection: ServerConnection) -> ServerLists:
        """What a user's session offers; of one that is not signed in, the tool to sign in."""
        try:
            is_signed_in = await self._sessions.has_token(caller, connection)
        except StoreUnavailable:
            is_signed_in = self._sessions.is_open(caller, connection)
        own = self._sessions.own(caller, connection)
        if is_signed_in and not own.lists.are_known:  # another request may have just connected
            is_signed_in = await self._fetched(caller, connection, own)
        if not is_signed_in:
            return sign_in_lists(connection.server_id)
        return with_sign_out(lists_of(own, self._gateway.clock.wall()))

    async def _fetched(
        self, caller: str, connection: ServerConnection, own: ServerConnection
    ) -> bool:
        """Fetch lists within the startup budget, or later; False if the token is refused."""
        fetching = self._gateway.spawn(own.get_capabilities(), "fetch a user's lists")

        async def wait() -> None:
            await asyncio.wait([fetching])

        with contextlib.suppress(TimeoutError):
            await within(self._gateway.clock, self._gateway.settings.startup_budget_s, wait())
        result = fetching.result() if fetching.done() and not fetching.cancelled() else None
        if isinstance(result, Failure) and result.error.code in NOT_ACCEPTED:
            await self._sessions.forget(caller, connection)
            return False
        return True
