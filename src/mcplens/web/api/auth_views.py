"""Views of sign-ins: the steps of one as a checklist, and what is kept of it.

Nothing secret is in a view: a token is masked, and shown only by RevealToken of auth.py.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from mcplens.auth.steps import STEPS, SignIn
from mcplens.protocol.secret_masking import mask
from mcplens.targets import host_of
from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.safe_json import json_safe
from mcplens.workspace.server import Server
from mcplens.workspace.sign_in import ServerSignIn
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
        has_person=sign_in.settings.is_of_person,
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
    if run.is_whole and run.outcome not in ("signed_in", "skipped"):
        names = _OF_PERSON if sign_in.settings.is_of_person else _OF_MACHINE
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
