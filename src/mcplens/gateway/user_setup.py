"""Sets up sign-ins of users, if there are servers that want them: keys, sessions, links.

Nothing of it is loaded otherwise. Owned by service.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcplens.config.model import ServerEntry
from mcplens.config.views import GatewaySettings
from mcplens.errors import ConfigurationError
from mcplens.known_secrets import known_secrets

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway


class UserSetup:
    """The sign-ins of users of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<UserSetup of {self._gateway.users!r}>"

    @staticmethod
    def check(entries: Sequence[ServerEntry], settings: GatewaySettings) -> None:
        """Raises ConfigurationError if tokens of users would be kept without a key."""
        is_shared = settings.store is not None and settings.store.url != "memory"
        per_user = [entry.name for entry in entries if entry.is_per_user]
        if per_user and is_shared and not settings.user_token_keys:
            text = (
                f"users sign in to {per_user[0]} (auth.perUser), and their tokens are kept in the "
                "store: set gateway.userTokenKeys, by which they are encrypted"
            )
            raise ConfigurationError("CONFIGURATION_INVALID", text)

    def use(self, entries: Sequence[ServerEntry], settings: GatewaySettings) -> None:
        """Have sessions for users from now on, if one of these servers wants them."""
        gateway = self._gateway
        if gateway.users.sessions is not None or not any(one.is_per_user for one in entries):
            return
        from mcplens.gateway.sealed_store import SealedStore
        from mcplens.gateway.user_sessions import UserSessions

        known_secrets.learn(*settings.user_token_keys)
        sealed = SealedStore(gateway.replica.store, settings.user_token_keys)
        gateway.users.sessions = UserSessions(gateway, sealed)

    def use_address(self, public_url: str) -> None:
        """Links for users lead to where clients reach the gateway."""
        if self._gateway.users.sessions is not None:
            self._gateway.users.sessions.links.public_url = public_url
