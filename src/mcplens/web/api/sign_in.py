"""Signing in to a server from the page: begin, bring an answer, sign out; what is kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from mcplens.auth.tokens import jwt_claims
from mcplens.errors import InspectorError
from mcplens.web.api.servers import ServerView, server_view
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import json_safe
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mcplens.auth.authorizer import ServerAuthorizer


class SignIn(Command, frozen=True, kw_only=True):
    """Connect, and sign in if the server wants it. Replied to at once; what follows is Changed."""

    server_id: str


@command
async def sign_in(workspace: Workspace, command: SignIn) -> ServerView:
    workspace.find(command.server_id).sign_in.begin()
    server = workspace.connect(command.server_id)
    await server.begun()
    return server_view(workspace, server)


class AnswerSignIn(Command, frozen=True, kw_only=True):
    """The address that the browser was sent to, where it could not come back by itself."""

    server_id: str
    url: str


@command
async def answer_sign_in(workspace: Workspace, command: AnswerSignIn) -> ServerView:
    server = workspace.find(command.server_id)
    server.sign_in.answer(command.url)
    return server_view(workspace, server)


class RefreshSignIn(Command, frozen=True, kw_only=True):
    """Use the refresh token now."""

    server_id: str


@command
async def refresh_sign_in(workspace: Workspace, command: RefreshSignIn) -> ServerView:
    server = workspace.find(command.server_id)
    authorizer = _signed_in(server)
    if not await authorizer.refresh_now():
        text = "there is no refresh token, or the server no longer accepts it: sign in again"
        raise InspectorError("INVALID_REQUEST", text)
    return server_view(workspace, server)


class ShowToken(Command, frozen=True, kw_only=True):
    """The access token itself, and what it says if it is a JWT: only when a person asks for it."""

    server_id: str


class TokenView(msgspec.Struct, frozen=True):
    """`claims` are unverified, and null for an opaque token."""

    access_token: str
    claims: dict[str, Any] | None


@command
async def show_token(workspace: Workspace, command: ShowToken) -> TokenView:
    sign_in = _signed_in(workspace.find(command.server_id)).sign_in
    assert sign_in is not None
    token = sign_in.tokens.access_token
    return TokenView(token, json_safe(jwt_claims(token)))


def _signed_in(server: Server) -> ServerAuthorizer:
    authorizer = server.authorizer
    if authorizer is None or authorizer.sign_in is None:
        raise InspectorError("INVALID_REQUEST", f"{server.server_id} is not signed in")
    return authorizer


class SignOut(Command, frozen=True, kw_only=True):
    """Disconnect, revoke the token where the server can do so, and forget it.

    `forgets_client` forgets, too, that we were registered with the authorization server.
    """

    server_id: str
    forgets_client: bool = False


class SignedOut(msgspec.Struct, frozen=True):
    """What was done, in words."""

    outcome: str


@command
async def sign_out(workspace: Workspace, command: SignOut) -> SignedOut:
    server = workspace.find(command.server_id)
    authorizer = server.authorizer
    if authorizer is None:
        raise InspectorError("INVALID_REQUEST", f"{command.server_id} has no sign-in")
    await workspace.disconnect(command.server_id)
    return SignedOut(await authorizer.sign_out(forgets_client=command.forgets_client))
