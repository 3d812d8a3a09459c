"""The `views` and `gateway` blocks of our file, as values: what the gateway publishes, and how.

Reads and validates; what a view means for a tool or a resource is decided in gateway/views.py.
Called by configuration.py, and by the command that starts the gateway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from mcplens.config.access_keys import (
    NamedToken,
    OAuthSettings,
    encryption_keys,
    named_tokens,
    oauth,
    origins,
    public_url,
)
from mcplens.config.keys import (
    AtLeast,
    InvalidValue,
    closed_members,
    filled,
    flag,
    names,
    seconds,
    text_mapping,
)
from mcplens.config.replica_settings import (
    REPLICA_KEYS,
    STORE_KEYS,
    ReplicaSettings,
    StoreSettings,
)
from mcplens.config.telemetry_settings import TELEMETRY_KEYS, TelemetrySettings

Separator = Literal["__", ":", "none"]
SEPARATORS: Final = ("__", ":", "none")

# What becomes of a definition that was not approved as it is: published, reported, or held back.
ApprovalMode = Literal["off", "warn", "hold"]
APPROVAL_MODES: Final = ("off", "warn", "hold")

# What clients accept as the name of a tool; models refuse anything longer.
PUBLISHED_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Part of a URL path: /mcp/<view>.
VIEW_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

# The hints of a tool, with the value that counts where a tool does not say (MCP, ToolAnnotations).
ANNOTATION_DEFAULTS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


class Globs(msgspec.Struct, frozen=True, kw_only=True):
    """Patterns over what servers offer; an empty tuple means that nothing is said about it."""

    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


class View(msgspec.Struct, frozen=True, kw_only=True):
    """One view: a choice of what the servers offer, under names and descriptions of its own."""

    name: str = ""
    separator: Separator = "__"
    allow: Globs = Globs()
    deny: Globs = Globs()
    rename: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    hide_annotated: dict[str, bool] = {}
    approval: ApprovalMode | None = None  # None: as `gateway.approval` says
    token: str | None = None

    def __repr__(self) -> str:  # the token is a secret
        return f"<View {self.name!r}, separator {self.separator!r}>"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The `limits` of the gateway; None where the built-in limit counts."""

    sessions: int | None = None
    calls_per_client: int | None = None
    calls_per_server: int | None = None
    calls_per_second: int | None = None
    calls_per_view: int | None = None
    calls_per_second_per_view: int | None = None
    calls_per_second_per_server: int | None = None
    waiting_calls: int | None = None
    request_bytes: int | None = None

    @property
    def has_client_limits(self) -> bool:
        """Whether calls are counted by client or by view."""
        own = (self.calls_per_client, self.calls_per_second)
        return self.has_view_limits or any(one is not None for one in own)

    @property
    def has_view_limits(self) -> bool:
        return self.calls_per_view is not None or self.calls_per_second_per_view is not None


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The `gateway` block with its defaults."""

    listen: str = "127.0.0.1:0"
    stale_for_s: float = 600.0
    startup_budget_s: float = 5.0
    lease_s: float = 15.0
    notice_s: float = 0.0
    drain_s: float = 10.0
    approval: ApprovalMode = "off"
    limits: Limits = Limits()
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    tokens: tuple[NamedToken, ...] = ()
    oauth: OAuthSettings | None = None
    user_token_keys: tuple[str, ...] = ()
    store: StoreSettings | None = None
    replica: ReplicaSettings = ReplicaSettings()
    telemetry: TelemetrySettings | None = None

    @property
    def is_shared(self) -> bool:
        """Whether this is one of several replicas, with a store between them."""
        return self.store is not None and self.store.url != "memory"


Reader = Callable[[Any, str], Any]


def separator(value: Any, key: str) -> str:
    if value not in SEPARATORS:
        raise InvalidValue(key, 'must be "__", ":" or "none"')
    return str(value)


def approval(value: Any, key: str) -> str:
    if value not in APPROVAL_MODES:
        raise InvalidValue(key, 'must be "off", "warn" or "hold"')
    return str(value)


def _globs(value: Any, key: str) -> Globs:
    members = closed_members(value, key, dict.fromkeys(Globs.__struct_fields__, names))
    return Globs(**members)


def _renames(value: Any, key: str) -> dict[str, str]:
    found = text_mapping(value, key)
    for original, published in found.items():
        _check_original(original, key)
        if not PUBLISHED_NAME.fullmatch(published):
            text = "must be 1 to 64 letters, digits, underscores, dots and hyphens"
            raise InvalidValue(f"{key}.{original}", text)
    return found


def _descriptions(value: Any, key: str) -> dict[str, str]:
    found = text_mapping(value, key)
    for original in found:
        _check_original(original, key)
    return found


def _check_original(original: str, key: str) -> None:
    server, colon, name = original.partition(":")
    if not (server and colon and name):
        raise InvalidValue(f"{key}.{original}", "must be written as server:name")


def _hidden_hints(value: Any, key: str) -> dict[str, bool]:
    return closed_members(value, key, dict.fromkeys(ANNOTATION_DEFAULTS, flag))


VIEW_KEYS: Final[Mapping[str, tuple[str, Reader]]] = {
    "separator": ("separator", separator),
    "allow": ("allow", _globs),
    "deny": ("deny", _globs),
    "rename": ("rename", _renames),
    "descriptions": ("descriptions", _descriptions),
    "hideAnnotated": ("hide_annotated", _hidden_hints),
    "approval": ("approval", approval),
    "token": ("token", filled),
}

LIMIT_KEYS: Final[Mapping[str, tuple[str, Reader]]] = {
    "sessions": ("sessions", AtLeast(1)),
    "callsPerClient": ("calls_per_client", AtLeast(1)),
    "callsPerServer": ("calls_per_server", AtLeast(1)),
    "callsPerSecond": ("calls_per_second", AtLeast(1)),
    "callsPerView": ("calls_per_view", AtLeast(1)),
    "callsPerSecondPerView": ("calls_per_second_per_view", AtLeast(1)),
    "callsPerSecondPerServer": ("calls_per_second_per_server", AtLeast(1)),
    "waitingCalls": ("waiting_calls", AtLeast(0)),
    "requestBytes": ("request_bytes", AtLeast(1024)),
}


def _limits(value: Any, key: str) -> Limits:
    return Limits(**_fields(value, key, LIMIT_KEYS))


def _store(value: Any, key: str) -> StoreSettings:
    return StoreSettings(**_fields(value, key, STORE_KEYS))


def _telemetry(value: Any, key: str) -> TelemetrySettings:
    return TelemetrySettings(**_fields(value, key, TELEMETRY_KEYS))


def _replica(value: Any, key: str) -> ReplicaSettings:
    return ReplicaSettings(**_fields(value, key, REPLICA_KEYS))


def address(value: Any, key: str) -> str:
    """HOST:PORT, PORT alone, or [IPv6]:PORT."""
    parse_address(filled(value, key), key)
    return filled(value, key)


def parse_address(value: str, key: str) -> tuple[str, int]:
    """The host and port of an address to listen on.

    Raises:
        InvalidValue: it is not one.
    """
    host, _, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65_535:
        raise InvalidValue(key, f"{value!r} is not HOST:PORT")
    return host, int(port)


GATEWAY_KEYS: Final[Mapping[str, tuple[str, Reader]]] = {
    "listen": ("listen", address),
    "staleForSeconds": ("stale_for_s", seconds),
    "startupBudgetSeconds": ("startup_budget_s", seconds),
    "leaseSeconds": ("lease_s", AtLeast(2)),
    "noticeSeconds": ("notice_s", seconds),
    "drainSeconds": ("drain_s", seconds),
    "approval": ("approval", approval),
    "limits": ("limits", _limits),
    "publicUrl": ("public_url", public_url),
    "allowedHosts": ("allowed_hosts", names),
    "allowedOrigins": ("allowed_origins", origins),
    "tokens": ("tokens", named_tokens),
    "oauth": ("oauth", oauth),
    "userTokenKeys": ("user_token_keys", encryption_keys),
    "store": ("store", _store),
    "replica": ("replica", _replica),
    "telemetry": ("telemetry", _telemetry),
}


def read_view(name: str, value: Any) -> View:
    """One view, validated.

    Raises:
        InvalidValue: its name or one of its keys is not valid.
    """
    key = f"views.{name}"
    if not VIEW_NAME.fullmatch(name):
        text = "the name of a view is part of its URL: letters, digits, dots, hyphens, underscores"
        raise InvalidValue(key, text)
    return View(name=name, **_fields(value, key, VIEW_KEYS))


def read_gateway(value: Any, key: str) -> GatewaySettings:
    """The `gateway` block, validated.

    Raises:
        InvalidValue: one of its keys is not valid.
    """
    found = GatewaySettings(**_fields(value, key, GATEWAY_KEYS))
    if found.is_shared and not found.replica.keys:
        text = "is needed with a store: without a key, replicas cannot know each other"
        raise InvalidValue(f"{key}.replica.keys", text)
    return found


def _fields(value: Any, key: str, known: Mapping[str, tuple[str, Reader]]) -> dict[str, Any]:
    members = closed_members(value, key, {name: read for name, (_, read) in known.items()})
    return {known[name][0]: member for name, member in members.items()}
