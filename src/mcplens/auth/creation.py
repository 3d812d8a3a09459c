"""Makes the authorizer of one server, from what a user configured.

Called by targets.py for each address over HTTP or WebSocket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mcplens.auth.authorizer import DEFAULT_TIMEOUT_S, ServerAuthorizer
from mcplens.auth.settings import read_settings
from mcplens.auth.storage import SignInStore
from mcplens.errors import ConfigurationError
from mcplens.transports.network import NetworkOptions

if TYPE_CHECKING:
    from mcplens.auth.person import Person


def create_authorizer(
    url: str,
    block: Mapping[str, Any] | None,
    sign_in: object,
    *,
    network: NetworkOptions,
    timeout_s: float | None = None,
    store: SignInStore | None = None,
    is_fresh: bool = False,
    networks: str = "any",
) -> ServerAuthorizer | None:
    """The authorizer of a server; None where the user sends a credential of their own.

    With `networks` "public", addresses that others name are asked only on the public internet.

    Raises:
        ConfigurationError: the `auth` block or `networks` has a value that it cannot have.
    """
    if networks not in ("any", "public"):
        message = f"sign_in_networks is {networks!r}: use 'any' or 'public'"
        raise ConfigurationError("CONFIGURATION_INVALID", message)
    has_own = any(name.lower() == "authorization" for name in network.headers)
    if has_own or "@" in url.partition("://")[2].partition("/")[0]:
        return None
    try:
        settings = read_settings(block)
    except ValueError as problem:
        message = f"the auth block cannot be used: {problem}"
        raise ConfigurationError("CONFIGURATION_INVALID", message) from None
    return ServerAuthorizer(
        url,
        settings,
        store or SignInStore(),
        network=network,
        person=_person(sign_in),
        timeout_s=timeout_s or DEFAULT_TIMEOUT_S,
        is_configured=bool(block),
        is_fresh=is_fresh,
        is_public_only=networks == "public",
    )


def _person(sign_in: object) -> Person | None:
    if sign_in is None:
        return None
    from mcplens.auth.person import BrowserPerson, FunctionPerson

    if sign_in == "browser":
        from mcplens.auth.browser import open_browser

        return BrowserPerson(open_browser)
    if hasattr(sign_in, "authorize"):
        return cast("Person", sign_in)
    if callable(sign_in):
        return FunctionPerson(sign_in)
    message = f"sign_in is {sign_in!r}: use 'browser', a function or None"
    raise ConfigurationError("CONFIGURATION_INVALID", message)
