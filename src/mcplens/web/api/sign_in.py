"""Signing in to a server from the page: begin, bring an answer, sign out; what is kept of it."""

from __future__ import annotations

import msgspec

from mcplens.errors import InspectorError
from mcplens.web.api.servers import ServerView, server_view
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace


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


class SignOut(Command, frozen=True, kw_only=True):
    """Disconnect, revoke the token where the server can do so, and forget it."""

    server_id: str


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
    return SignedOut(await authorizer.sign_out())
