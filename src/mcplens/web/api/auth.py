"""Sign-ins: the steps of one as a checklist, what is kept of it, and what a person does with it.

Nothing secret is in a view: a token is masked, and shown only by RevealToken.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from mcplens.auth.steps import STEPS, SignIn
from mcplens.auth.tokens import jwt_part
from mcplens.errors import InspectorError
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.secret_masking import mask
from mcplens.targets import host_of
from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import json_safe
from mcplens.workspace.server import Server
from mcplens.workspace.sign_in import ServerSignIn, SignInEdits
from mcplens.workspace.sign_in_runs import SignInRun, StepRecord
from mcplens.workspace.workspace import Workspace

StepState = Literal["pending", "paused", "started", "waiting", "done", "failed"]
_OF_PERSON: Final = (
    "protected_resource",
    "authorization_server",
    "client",
    "authorization",
    "token",
)
_OF_MACHINE: Final = ("protected_resource", "authorization_server", "client", "token")


class SignInStepView(msgspec.Struct, frozen=True, kw_only=True):
    """A step: what it is for, what was expected and what came, and the exchanges that carried it.

    `notes` are what came before the end, such as a place where nothing was.
    """

    step: str
    title: str
    state: StepState
    text: str = ""
    expected: str = ""
    facts: dict[str, Any] = {}
    notes: list[str] = []
    exchange_ids: list[int] = []
    started: float | None = None
    ended: float | None = None


class SignInRunView(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in, a refresh or a sign-out; `outcome` is null while it goes on."""

    sign_in_id: str
    reason: str
    started: float
    ended: float | None
    outcome: str | None
    steps: list[SignInStepView]
    error: ErrorView | None


class SignInDraftView(msgspec.Struct, frozen=True, kw_only=True):
    """What the step that waits is about to send, and may be changed."""

    client_id: str | None
    redirect_uri: str | None
    scopes: list[str]
    resource: str | None


class KeptSignInView(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in that is kept. `issuer` is null for a token that a person pasted."""

    issuer: str | None
    resource: str
    client_id: str | None
    client_origin: str | None
    requested: list[str]
    granted: list[str]
    token_type: str
    token: str
    refresh_token: str | None
    expires_at: float | None
    is_revocable: bool


class RegistrationView(msgspec.Struct, frozen=True, kw_only=True):
    """What mcplens is registered as with an authorization server."""

    issuer: str
    client_id: str
    redirect_uri: str | None


class AuthView(msgspec.Struct, frozen=True, kw_only=True):
    """The sign-in of a server.

    `open_url` is where a person has to go now, at `site`; `issuers` are those to choose from;
    `paused` is the step that waits to be let go, with its `draft`. `has_person` says that somebody
    signs in, rather than a machine with its own credentials.
    """

    runs: list[SignInRunView]
    is_running: bool
    open_url: str | None
    site: str | None
    scopes: list[str]
    issuers: list[str]
    paused: str | None
    draft: SignInDraftView | None
    kept: KeptSignInView | None
    registration: RegistrationView | None
    has_person: bool


def auth_view(workspace: Workspace, server: Server) -> AuthView | None:
    """The sign-in of a server; None for one that wants none, as far as is known."""
    if not workspace.confirmations.is_needed(server.entry):
        server.follow_sign_in(workspace.config_files.configuration.settings)
    sign_in = server.sign_in
    if sign_in.authorizer is None or not sign_in.is_known:
        return None
    request, draft, client = sign_in.person.request, sign_in.pace.draft, sign_in.registration
    return AuthView(
        runs=[_run_view(sign_in, run) for run in sign_in.runs.newest_first],
        is_running=sign_in.runs.is_running,
        open_url=None if request is None else request.url,
        site=None if request is None else host_of(request.url),
        scopes=[] if request is None else list(request.scopes),
        issuers=list(sign_in.person.issuers),
        paused=sign_in.pace.paused,
        draft=None
        if draft is None
        else SignInDraftView(
            client_id=draft.client_id,
            redirect_uri=draft.redirect_uri,
            scopes=list(draft.scopes),
            resource=draft.resource,
        ),
        kept=None if sign_in.kept is None else _kept_view(sign_in.kept),
        registration=None
        if client is None
        else RegistrationView(
            issuer=client.issuer, client_id=client.client_id, redirect_uri=client.redirect_uri
        ),
        has_person=sign_in.settings.grant == "authorization_code",
    )


def _run_view(sign_in: ServerSignIn, run: SignInRun) -> SignInRunView:
    steps = [_step_view(sign_in, run, step) for step in run.steps]
    if run.exchange_id is not None:
        refused = SignInStepView(
            step="refusal",
            title="Ask the server",
            state="done",
            text=run.reason,
            exchange_ids=[run.exchange_id],
            ended=run.started,
        )
        steps.insert(0, refused)
    if run.is_whole and run.outcome != "signed_in":
        names = _OF_PERSON if sign_in.settings.grant == "authorization_code" else _OF_MACHINE
        seen = {step.step for step in run.steps}
        steps += [_pending(sign_in, run, name) for name in names if name not in seen]
    return SignInRunView(
        sign_in_id=run.sign_in_id,
        reason=run.reason,
        started=run.started,
        ended=run.ended,
        outcome=run.outcome,
        steps=steps,
        error=error_view(run.error),
    )


def _pending(sign_in: ServerSignIn, run: SignInRun, name: str) -> SignInStepView:
    is_paused = run.outcome is None and sign_in.pace.paused == name
    state: StepState = "paused" if is_paused else "pending"
    return SignInStepView(step=name, title=STEPS[name], state=state)


def _step_view(sign_in: ServerSignIn, run: SignInRun, step: StepRecord) -> SignInStepView:
    is_open = run.outcome is None and step.ended is None
    state = step.state if is_open or step.ended is not None else "pending"
    if is_open and sign_in.pace.paused == step.step:
        state = "paused"
    return SignInStepView(
        step=step.step,
        title=STEPS.get(step.step, step.step),
        state=msgspec.convert(state, StepState),
        text=step.text,
        expected=step.expected,
        facts=json_safe(step.facts),
        notes=list(step.notes),
        exchange_ids=list(step.exchange_ids),
        started=step.started,
        ended=step.ended,
    )


def _kept_view(kept: SignIn) -> KeptSignInView:
    tokens = kept.tokens
    return KeptSignInView(
        issuer=kept.server.issuer or None,
        resource=kept.resource,
        client_id=kept.client.client_id or None,
        client_origin=kept.client.origin if kept.client.client_id else None,
        requested=list(kept.requested),
        granted=list(tokens.scopes),
        token_type=tokens.token_type,
        token=mask(tokens.access_token),
        refresh_token=None if tokens.refresh_token is None else mask(tokens.refresh_token),
        expires_at=tokens.expires_at,
        is_revocable=kept.server.revocation_endpoint is not None,
    )


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
