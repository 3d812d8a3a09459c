"""Sign-outs of users from servers behind the gateway: by the user, or by an operator.

The token is removed from the shared store first, so that no replica uses it any more, then revoked
at its issuer where that offers it; sessions with it are closed on every replica. Sign-ins and
sign-outs are lines of the audit log. Called by sign_in_pages.py, operation_pages.py and the page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from mcplens.auth.token_requests import revoke
from mcplens.errors import InspectorError
from mcplens.gateway.sealed_store import SealedStore
from mcplens.gateway.user_tokens import KeptSignIn, UserTokens, kept_sign_ins
from mcplens.known_secrets import known_secrets

if TYPE_CHECKING:
    from mcplens.auth.steps import SignIn
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.sign_in_links import SignInLinks


class SignedOut(msgspec.Struct, frozen=True):
    """What became of a sign-in; `problem` is why its token could not be revoked."""

    server_id: str
    was_signed_in: bool
    is_revoked: bool = False
    problem: str = ""

    @property
    def text(self) -> str:
        """What was done, in words."""
        if not self.was_signed_in:
            return f"was not signed in to {self.server_id}"
        if self.is_revoked:
            return f"signed out of {self.server_id}, and the token is revoked"
        why = self.problem or "its issuer offers no revocation"
        return f"signed out of {self.server_id}; the token could not be revoked: {why}"


class SignOuts:
    """Lists and ends sign-ins; `on_done` is called with the caller and the server."""

    def __init__(
        self,
        gateway: Gateway,
        sealed: SealedStore,
        links: SignInLinks,
        on_done: Callable[[str, str], None],
    ) -> None:
        self._gateway = gateway
        self._sealed = sealed
        self._links = links
        self._on_done = on_done

    def __repr__(self) -> str:
        return f"<SignOuts of {self._links!r}>"

    async def kept(self) -> list[KeptSignIn]:
        """Who is signed in to what; raises StoreUnavailable."""
        return await kept_sign_ins(self._sealed)

    async def end(self, caller: str, server_id: str, server_url: str, by: str) -> SignedOut:
        """End a sign-in; `by` says who wanted it. Raises StoreUnavailable."""
        gateway = self._gateway
        tokens = UserTokens(self._sealed, caller, server_id, gateway.clock.wall)
        async with tokens.lock(server_url, gateway.clock):  # a refresh would bring it back
            kept = await tokens.load(server_url)
            await tokens.forget(server_url)
        self._on_done(caller, server_id)
        if kept is None:
            return SignedOut(server_id, was_signed_in=False)
        # Perhaps no session of this replica has used it, and its issuer may repeat it.
        known_secrets.learn_issued(kept.tokens.access_token, kept.tokens.refresh_token)
        done = await self._revoked(caller, server_id, server_url, kept)
        reason = f"by {by}: {done.text}"
        gateway.ledger.note("sign-out", "ok", reason, caller=caller, server_id=server_id)
        return done

    async def _revoked(
        self, caller: str, server_id: str, server_url: str, kept: SignIn
    ) -> SignedOut:
        connection = self._gateway.server(server_id)
        if connection is None:
            problem = "the server is no longer configured"
            return SignedOut(server_id, was_signed_in=True, problem=problem)
        entry, reason = connection.entry, "a user of the gateway is signed out"
        try:
            is_revoked = await self._links.run(caller, entry, server_url, revoke(kept), reason)
        except InspectorError as error:
            return SignedOut(server_id, was_signed_in=True, problem=error.message)
        return SignedOut(server_id, was_signed_in=True, is_revoked=is_revoked)
