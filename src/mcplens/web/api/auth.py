"""What a person does with a sign-in: sign in and out, go on, paste, choose, refresh, reveal."""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.auth.tokens import jwt_part
from mcplens.errors import InspectorError
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.web.api.auth_views import AuthView, auth_view
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import json_safe
from mcplens.workspace.server import Server
from mcplens.workspace.sign_in import SignInEdits
from mcplens.workspace.workspace import Workspace


def _told(workspace: Workspace, server: Server) -> AuthView | None:
    workspace.bus_reader.catch_up()
    workspace.server_changed(server.server_id)
    return auth_view(workspace, server)


def _found(workspace: Workspace, server_id: str) -> Server:
    """The server, with its sign-in as it is configured now.

    Raises:
        InspectorError: there is none, or it must be confirmed first.
    """
    server = workspace.find(server_id)
    workspace.check_confirmed(server)
    server.follow_sign_in(workspace.config_files.configuration.settings)
    return server


class LookAtAuth(Command, frozen=True, kw_only=True):
    """Read what is kept of a server's sign-in; null if it has none."""

    server_id: str


@command
async def look(workspace: Workspace, command: LookAtAuth) -> AuthView | None:
    server = workspace.find(command.server_id)
    if not workspace.confirmations.is_needed(server.entry):
        server.follow_sign_in(workspace.config_files.configuration.settings)
        await server.sign_in.look()
    return _told(workspace, server)


class SignInTo(Command, frozen=True, kw_only=True):
    """Sign in, at once or step by step; what is given is sent in place of what is configured.

    Replied to at once; the steps follow as changes of the server. A server that is not connected
    is connected.
    """

    server_id: str
    is_stepwise: bool = False
    scopes: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    redirect_uri: str | None = None
    resource: str | None = None


@command
async def sign_in(workspace: Workspace, command: SignInTo) -> AuthView | None:
    server = _found(workspace, command.server_id)
    of_server = server.sign_in
    if of_server.is_under_way or of_server.runs.is_running:
        raise InspectorError("INVALID_REQUEST", "a sign-in is under way: cancel it first")
    edits = SignInEdits(
        scopes=command.scopes,
        client_id=command.client_id,
        client_secret=command.client_secret,
        redirect_uri=command.redirect_uri,
        resource=command.resource,
    )
    of_server.prepare(edits, is_stepwise=command.is_stepwise)
    await of_server.look()
    # A server that is asked first says itself who protects it.
    if server.state is ConnectionState.CONNECTED or of_server.kept is not None:
        of_server.start(lambda: _connect_if_off(workspace, server))
    else:
        workspace.connect(command.server_id)
        await server.begun()
    return _told(workspace, server)


def _connect_if_off(workspace: Workspace, server: Server) -> None:
    if server.state is not ConnectionState.CONNECTED:
        workspace.connect(server.server_id)


class ContinueSignIn(Command, frozen=True, kw_only=True):
    """Let the step that waits begin, with what was changed; `at_once` does not wait again."""

    server_id: str
    at_once: bool = False
    scopes: str | None = None
    client_id: str | None = None
    redirect_uri: str | None = None
    resource: str | None = None


@command
async def go_on(workspace: Workspace, command: ContinueSignIn) -> AuthView | None:
    server = _found(workspace, command.server_id)
    edits = SignInEdits(
        scopes=command.scopes,
        client_id=command.client_id,
        redirect_uri=command.redirect_uri,
        resource=command.resource,
    )
    server.sign_in.go_on(edits, at_once=command.at_once)
    return _told(workspace, server)


class PasteRedirect(Command, frozen=True, kw_only=True):
    """The address that the browser was sent to after a sign-in, where it could not be opened."""

    server_id: str
    url: str


@command
async def paste(workspace: Workspace, command: PasteRedirect) -> AuthView | None:
    server = _found(workspace, command.server_id)
    server.sign_in.person.paste(command.url)
    return _told(workspace, server)


class ChooseIssuer(Command, frozen=True, kw_only=True):
    """The authorization server to sign in at, where there are several."""

    server_id: str
    issuer: str


@command
async def choose(workspace: Workspace, command: ChooseIssuer) -> AuthView | None:
    server = _found(workspace, command.server_id)
    server.sign_in.person.pick(command.issuer)
    return _told(workspace, server)


class CancelSignIn(Command, frozen=True, kw_only=True):
    """End the sign-in that goes on; a server that is being connected is not any more."""

    server_id: str


@command
async def cancel(workspace: Workspace, command: CancelSignIn) -> AuthView | None:
    server = workspace.find(command.server_id)
    if server.state is ConnectionState.CONNECTING:
        await workspace.disconnect(command.server_id)
    else:
        await server.sign_in.cancel()
    return _told(workspace, server)


class RefreshToken(Command, frozen=True, kw_only=True):
    """Use the refresh token now."""

    server_id: str


@command
async def refresh(workspace: Workspace, command: RefreshToken) -> AuthView | None:
    server = _found(workspace, command.server_id)
    await server.sign_in.refresh()
    return _told(workspace, server)


class SignedOutView(msgspec.Struct, frozen=True):
    """What was done, in words."""

    outcome: str


class SignOut(Command, frozen=True, kw_only=True):
    """Disconnect, revoke the token where the server can do so, and forget it."""

    server_id: str


@command
async def sign_out(workspace: Workspace, command: SignOut) -> SignedOutView:
    server = _found(workspace, command.server_id)
    await workspace.disconnect(command.server_id)
    outcome = await server.sign_in.sign_out()
    _told(workspace, server)
    return SignedOutView(outcome)


class ForgetRegistration(Command, frozen=True, kw_only=True):
    """Forget the client that was registered; the next sign-in registers anew."""

    server_id: str


@command
async def forget(workspace: Workspace, command: ForgetRegistration) -> AuthView | None:
    server = _found(workspace, command.server_id)
    await server.sign_in.forget_registration()
    return _told(workspace, server)


class SetToken(Command, frozen=True, kw_only=True):
    """Use and keep a bearer token, without any flow. SignOut removes it."""

    server_id: str
    token: str


@command
async def set_token(workspace: Workspace, command: SetToken) -> AuthView | None:
    server = _found(workspace, command.server_id)
    await server.sign_in.take_token(command.token)
    server.sign_in.is_known = True
    return _told(workspace, server)


class TokenView(msgspec.Struct, frozen=True, kw_only=True):
    """What the access token says, unverified (null: it is opaque); its text only if asked for."""

    header: dict[str, Any] | None
    claims: dict[str, Any] | None
    token: str | None
    refresh_token: str | None


class RevealToken(Command, frozen=True, kw_only=True):
    """What the token says; with `is_whole` the tokens themselves too."""

    server_id: str
    is_whole: bool = False


@command
async def reveal(workspace: Workspace, command: RevealToken) -> TokenView:
    server = _found(workspace, command.server_id)
    await server.sign_in.look()
    kept = server.sign_in.kept
    if kept is None:
        raise InspectorError("INVALID_REQUEST", f"{command.server_id} is not signed in")
    tokens = kept.tokens
    return TokenView(
        header=json_safe(jwt_part(tokens.access_token, 0)),
        claims=json_safe(jwt_part(tokens.access_token, 1)),
        token=tokens.access_token if command.is_whole else None,
        refresh_token=tokens.refresh_token if command.is_whole else None,
    )
