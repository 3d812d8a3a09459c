"""What every flow of a sign-in starts from, and what it asks for.

Pure. A flow is a generator without I/O: it yields what is to be done (steps.py) and is sent the
answer; it returns the SignIn or raises a SignInProblem. The flows are in authorization_code.py,
machine_grants.py and token_requests.py; run by runner.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import msgspec
from msgspec.structs import replace

from mcplens.auth.challenges import Challenge
from mcplens.auth.discovery import Discovered, discover, look_ahead
from mcplens.auth.metadata import ProtectedResource
from mcplens.auth.problems import Declined, SignInProblem
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import Agree, SignIn, Step

Flow = Generator[Step, object, SignIn]


class SignInWish(msgspec.Struct, frozen=True, kw_only=True):
    """What a flow starts from; `wall` and `random_text` are the only world that it sees."""

    server_url: str
    settings: AuthSettings
    wall: Callable[[], float]
    random_text: Callable[[], str]
    challenge: Challenge | None = None
    # Scopes that were asked for before: a step-up asks for them again.
    held_scopes: tuple[str, ...] = ()
    # The server let us in unasked: without metadata there is nowhere to sign in.
    needs_metadata: bool = False
    # The server's metadata, where they were read before the sign-in began.
    metadata: ProtectedResource | None = None
    # In place of the resource that was found.
    resource: str | None = None
    # The client of the settings was typed in for this sign-in. It is kept if it works and there is
    # no other way to have one.
    is_client_entered: bool = False


def sign_in_ahead(
    wish: SignInWish, begin: Callable[[SignInWish], Flow], *, agree_to: str | None
) -> Generator[Step, object, SignIn | None]:
    """Sign in before the server is asked for anything; None if it has no metadata.

    With `agree_to`, the reason of the sign-in, a person is asked once there is something to do.

    Raises:
        SignInProblem: a step failed; Declined if the person does not want to.
    """
    metadata = yield from look_ahead(wish.server_url, wish.challenge)
    if metadata is None:
        return None
    if agree_to is not None and not (yield Agree("protected_resource", agree_to)):
        raise Declined("the person does not want to sign in")
    return (yield from begin(replace(wish, metadata=metadata)))


def find_authorization_server(wish: SignInWish) -> Generator[Step, object, Discovered]:
    """Who protects the server.

    Raises:
        SignInProblem: nobody, or what they say is wrong.
    """
    found = yield from discover(wish.server_url, wish.challenge, wish.settings, wish.metadata)
    if wish.needs_metadata and found.server.is_assumed:
        raise SignInProblem(
            "the server does not ask for a sign-in, and names no authorization server",
            expected="metadata of a protected resource",
            hint="connect without a sign-in, or paste a token if you have one",
        )
    return found if wish.resource is None else replace(found, resource=wish.resource)


def wanted_scopes(wish: SignInWish, found: Discovered, *, is_offline: bool) -> tuple[str, ...]:
    """Configured, else challenged, else all that the resource lists; and those held before."""
    challenged = wish.challenge.scopes if wish.challenge is not None else ()
    scopes = [*wish.held_scopes, *(wish.settings.scopes or challenged or found.scopes)]
    if wish.held_scopes:
        scopes += challenged
    if is_offline and scopes and not wish.settings.scopes:
        scopes += [s for s in found.server.scopes_supported if s == "offline_access"]
    return tuple(dict.fromkeys(scopes))
