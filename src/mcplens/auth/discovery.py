"""Discovery: from a server, or its refusal, to the authorization server that it trusts.

Pure: yields the requests to send. In the order of MCP, basic/authorization: what the challenge
names, then the well-known places, then what 2025-03-26 had.
"""

from __future__ import annotations

from collections.abc import Generator

import msgspec

from mcplens.auth.addresses import (
    authorization_server_places,
    canonical,
    check_address,
    origin,
    protected_resource_places,
)
from mcplens.auth.challenges import Challenge
from mcplens.auth.metadata import (
    AuthorizationServer,
    ProtectedResource,
    assumed_authorization_server,
    read_authorization_server,
    read_object,
    read_protected_resource,
)
from mcplens.auth.problems import NoMetadata, SignInProblem
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import Choose, Fetch, Fetched, Note, Step

_JSON = {"Accept": "application/json"}


class Discovered(msgspec.Struct, frozen=True):
    """Who protects a server, and as what resource."""

    resource: str
    server: AuthorizationServer
    scopes: tuple[str, ...] = ()


def discover(
    server_url: str,
    challenge: Challenge | None,
    settings: AuthSettings,
    found: ProtectedResource | None = None,
) -> Generator[Step, object, Discovered]:
    """Find the authorization server; `found` is what the server's metadata said just now.

    Raises:
        SignInProblem: there is none, or what it says is wrong.
    """
    check_address(canonical(server_url), "the server's address")
    if found is None:
        found = yield from _find_resource(server_url, challenge)
    if found is None:
        server = yield from _find_without_resource(server_url, settings)
        return Discovered(canonical(server_url), server)
    issuer = yield from _choose(found, settings)
    server = yield from find_issuer(issuer)
    return Discovered(found.resource, server, found.scopes_supported)


def look_ahead(
    server_url: str, challenge: Challenge | None
) -> Generator[Step, object, ProtectedResource | None]:
    """The metadata of a server that was not asked for anything yet; None if there is none to use.

    What is wrong with it is noted only: the server may let us in without.
    """
    try:
        check_address(canonical(server_url), "the server's address")
        return (yield from _find_resource(server_url, challenge, is_optional=True))
    except SignInProblem as problem:
        yield Note("protected_resource", f"{problem.message}; asking without a sign-in")
        return None


def fetch(request: Fetch) -> Generator[Step, object, Fetched]:
    """Send a request and give its answer."""
    answer = yield request
    assert isinstance(answer, Fetched)
    return answer


def _find_resource(
    server_url: str, challenge: Challenge | None, *, is_optional: bool = False
) -> Generator[Step, object, ProtectedResource | None]:
    step = "protected_resource"
    named = challenge.resource_metadata if challenge is not None else None
    places = protected_resource_places(server_url)
    if named is not None:
        places = [check_address(named, "resource_metadata", named_by=server_url), *places]
    for place in dict.fromkeys(places):
        answer = yield from fetch(Fetch(step, "GET", place, _JSON, is_optional=is_optional))
        if not answer.status:
            break  # not reached: the next place would not be either
        if answer.status >= 500:
            raise SignInProblem(
                f"GET {place} was answered with HTTP {answer.status}",
                expected="HTTP 200 or 404",
                hint="have the server fix this answer; 404 is right if it has no such metadata",
            )
        if answer.status != 200:
            continue
        if place != named and not _is_object(answer.body):
            yield Note(step, f"{place} is not a metadata document; looking on", is_done=False)
            continue
        found = read_protected_resource(answer.body, server_url)
        facts = {"resource": found.resource, "authorizationServers": found.authorization_servers}
        count, names = len(found.authorization_servers), ", ".join(found.authorization_servers)
        servers = f"{count} authorization server{'s' if count > 1 else ''}: {names}"
        yield Note(step, f"the resource matches · {servers}", facts)
        return found
    then = "asking without a sign-in" if is_optional else "it may follow 2025-03-26"
    yield Note(step, f"the server has no such metadata; {then}")
    return None


def _choose(found: ProtectedResource, settings: AuthSettings) -> Generator[Step, object, str]:
    wanted, offered = settings.authorization_server, found.authorization_servers
    if wanted is not None:
        same = [one for one in offered if one.rstrip("/") == wanted.rstrip("/")]
        if not same:
            raise SignInProblem(
                f"the server names {', '.join(offered)}",
                expected=f"the authorizationServer of the auth block: {wanted}",
                hint="if you trust what the server names, change authorizationServer to it",
            )
        return check_address(same[0], "the authorization server")
    chosen: object = offered[0]
    if len(offered) > 1:
        chosen = yield Choose("protected_resource", offered)
    return check_address(chosen, "the authorization server", named_by=found.resource)


def find_issuer(
    issuer: str, step: str = "authorization_server"
) -> Generator[Step, object, AuthorizationServer]:
    """The metadata of an issuer.

    Raises:
        SignInProblem: there is none.
    """
    problem = yield from _look_for_server(issuer, step)
    if isinstance(problem, AuthorizationServer):
        return problem
    raise problem


def _find_without_resource(
    server_url: str, settings: AuthSettings
) -> Generator[Step, object, AuthorizationServer]:
    """2025-03-26: the server is its own issuer, or has its endpoints at fixed places."""
    if settings.authorization_server is not None:
        return (yield from find_issuer(check_address(settings.authorization_server, "issuer")))
    found = yield from _look_for_server(origin(server_url))
    if isinstance(found, AuthorizationServer):
        return found
    if not isinstance(found, NoMetadata):
        raise found
    assumed = assumed_authorization_server(server_url)
    yield Note("authorization_server", "no metadata: the places of 2025-03-26 are assumed")
    return assumed


def _look_for_server(
    issuer: str, step: str = "authorization_server"
) -> Generator[Step, object, AuthorizationServer | SignInProblem]:
    """The metadata, or why there is none; wrong metadata is raised at once."""
    came: list[str] = []
    is_absent = True
    for place in authorization_server_places(issuer):
        answer = yield from fetch(Fetch(step, "GET", place, _JSON))
        if answer.status != 200:
            came.append(f"GET {place} was answered with HTTP {answer.status}")
            is_absent = is_absent and 400 <= answer.status < 500
            continue
        if not _is_object(answer.body):
            came.append(f"GET {place} was not answered with JSON")
            is_absent = False
            continue
        found = read_authorization_server(answer.body, issuer)
        facts = {"issuer": issuer, "metadata": place}
        yield Note(step, f"{issuer} · {found.summary}", facts)
        return found
    kind = NoMetadata if is_absent else SignInProblem
    return kind(
        "; ".join(came),
        expected=f"metadata of {issuer} (RFC 8414, OpenID)",
        hint="check that the authorization server is running, and that the address is right",
    )


def _is_object(body: bytes) -> bool:
    try:
        read_object(body, "it")
    except SignInProblem:
        return False
    return True
