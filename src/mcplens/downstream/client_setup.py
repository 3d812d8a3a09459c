"""How the clients of a live server are made: target, options, sign-in, and answers to questions.

`ClientSetup` is the interface for surfaces that have their own ways (the web UI); `DefaultSetup`
goes by the configuration alone. Called by live_server.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from mcplens.auth.creation import create_authorizer
from mcplens.config.connect_options import to_connect_options
from mcplens.config.model import ServerEntry, Settings
from mcplens.downstream.options import LiveOptions
from mcplens.errors import ServerError
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.client import Client
from mcplens.session.config import RetryConfig
from mcplens.session.profiles import Profiles
from mcplens.session.question_handler import REJECTED, Answering, ServerRequest
from mcplens.targets import SIGN_IN_OPTIONS
from mcplens.transports.authorization import Authorizer
from mcplens.transports.network import NetworkOptions

if TYPE_CHECKING:
    from mcplens.auth.storage import SignInStore
    from mcplens.session.roots import RootLike

# What is not declared unless the client declares it.
_NOTHING: Final = {"sampling": None, "elicitation": None, "roots": None, "extensions": None}
# Before each retry a random part of these.
_BACKOFF_S: Final = (1.0, 2.0, 4.0, 8.0)
# min(8, 0.5 · 2^(n−1)) s.
_PER_CALL_BACKOFF_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
_NETWORK_NAMES: Final = ("headers", "ca_file", "insecure")

# What a client is made of: its target, and the options of `connect()`.
MadeOf = tuple[Any, dict[str, Any]]


class ClientSetup(Protocol):
    """What a surface decides about the clients of one server."""

    def made_of(self, entry: ServerEntry, settings: Settings) -> MadeOf:
        """Target and options for the entry. Raises InspectorError if it cannot be used."""

    def authorizer(self, made_of: MadeOf) -> Authorizer | None:
        """Who signs in, shared by all clients of the server; None: the transport's own."""

    def equip(self, client: Client) -> None:
        """Set how a client answers the server. Raises InspectorError if that cannot be done."""

    def adopted(self, client: Client) -> None:
        """This is the long-lived client from now on."""

    def for_client(
        self,
        options: LiveOptions,
        capabilities: Mapping[str, Any],
        roots: Sequence[RootLike] | None,
    ) -> ClientSetup:
        """The setup of sessions for one client alone, which declare what it declares."""


class DefaultSetup:
    """The configuration decides; nobody is asked to sign in, but a kept sign-in is used."""

    def __init__(
        self,
        options: LiveOptions,
        declared: Mapping[str, Any] | None = None,
        roots: Sequence[RootLike] | None = None,
        sign_ins: SignInStore | None = None,
    ) -> None:
        self._options = options
        self._sign_ins = sign_ins  # in place of those that are kept for all
        self._declared = declared  # by the one client that it is for (sessionMode per-client)
        self._roots = roots  # of that client
        self._answering: Answering = False
        self._authorizer: Authorizer | None = None
        self._authorizer_of: object = None

    def __repr__(self) -> str:
        return f"<DefaultSetup answering by {self._answering}>"

    def made_of(self, entry: ServerEntry, settings: Settings) -> MadeOf:
        target, options = to_connect_options(entry, settings)
        options = {"concurrency": self._options.concurrency, **options}
        options["retry"] = retry_config(
            options, settings, is_per_call=entry.session_mode == "per-call"
        )
        # What a client in front asks for is for the server to refuse.
        options["enforce_capabilities"] = False
        if self._options.client_info is not None:
            options["client_info"] = self._options.client_info
        self._answering = self._by_profile(entry, settings)
        options["sampling"] = options["elicitation"] = self._answering is not False
        if self._declared is not None:
            options["capabilities"] = {**_NOTHING, **self._declared, **entry.capabilities}
            if self._roots is not None:
                options["roots"] = self._roots
        elif self._options.relays_questions:
            # A task that a server makes of a call is passed on like any other result.
            options["capabilities"] = {"extensions": {TASKS_EXTENSION: {}}, **entry.capabilities}
        return target, options

    def _by_profile(self, entry: ServerEntry, settings: Settings) -> Answering:
        if entry.profile is not None:
            return Profiles(settings.profiles).get(entry.profile)
        return refuse if self._options.relays_questions else False

    def authorizer(self, made_of: MadeOf) -> Authorizer | None:
        """Made once, so that tokens live on between sessions."""
        target, options = made_of
        if not isinstance(target, str) or "://" not in target:
            return None
        names = (*SIGN_IN_OPTIONS, *_NETWORK_NAMES)
        wanted = (target, {name: options.get(name) for name in names})
        if wanted != self._authorizer_of:
            network = {name: options[name] for name in _NETWORK_NAMES if name in options}
            self._authorizer = create_authorizer(
                target,
                options.get("auth"),
                None,
                network=NetworkOptions(**network),
                timeout_s=options.get("sign_in_timeout_s"),
                networks=self._options.sign_in_networks,
                store=self._sign_ins,
            )
            self._authorizer_of = wanted
        return self._authorizer

    def equip(self, client: Client) -> None:
        if self._answering is not False:
            client.sampling.use(self._answering)
            client.elicitation.use(self._answering)

    def adopted(self, client: Client) -> None:
        """Nothing depends on it."""

    def for_client(
        self,
        options: LiveOptions,
        capabilities: Mapping[str, Any],
        roots: Sequence[RootLike] | None,
    ) -> ClientSetup:
        return DefaultSetup(options, capabilities, roots)


def retry_config(options: dict[str, Any], settings: Settings, *, is_per_call: bool) -> RetryConfig:
    """How often connecting is tried; takes what the entry says about it out of the options.

    `connectionRetryCount` counts attempts in per-call mode, and retries in persistent mode.
    """
    count = settings.connection_retry_count
    own = options.pop("max_retries", None)
    backoff_s = options.pop("retry_backoff_s", None)
    if is_per_call:
        retries = max(0, count - 1) if own is None else own
        return RetryConfig(max_attempts=retries, backoff_s=tuple(backoff_s or _PER_CALL_BACKOFF_S))
    retries = count if own is None else own
    return RetryConfig(
        max_attempts=retries, backoff_s=tuple(backoff_s or _BACKOFF_S), full_jitter=True
    )


def refuse(request: ServerRequest) -> Any:
    """Refuse a question that belongs to no client, where no profile answers it.

    Raises:
        ServerError: always.
    """
    text = f"no client can answer {request.method} here, and the server has no `profile`"
    raise ServerError(REJECTED, text)
