"""The loaded configuration: servers, settings, and their problems.

Values only. Made by configuration.py (our files) and other_tools.py (those of other tools), used by
every surface and by the gateway. Times are in seconds here, in milliseconds in a server's JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from mcplens.errors import InspectorError

TransportName = Literal["stdio", "http", "sse", "websocket"]
SessionMode = Literal["persistent", "per-call", "per-client"]

# given: named by the user; local: the user's, for one project; project: part of a project.
Scope = Literal["given", "local", "project", "user"]


class Source(msgspec.Struct, frozen=True):
    """A file with servers: the tool it belongs to, its path and its scope."""

    kind: str
    path: str
    scope: Scope

    def __str__(self) -> str:
        return self.path


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a person must supply: as an environment variable, or when asked."""

    id: str
    variable: str
    description: str = ""
    default: str | None = None
    choices: tuple[str, ...] = ()
    is_secret: bool = False
    is_required: bool = True


class FieldProblem(msgspec.Struct, frozen=True):
    """What is wrong with one key; `key` is its path in the entry, such as `env.TOKEN`.

    A problem that `is_local` is one of this computer (`variable` is not set, a file is missing):
    the entry itself may be as it should.
    """

    key: str
    text: str
    is_local: bool = False
    variable: str | None = None

    def __str__(self) -> str:
        return f"{self.key}: {self.text}" if self.key else self.text


# The `key` of a problem with the name of a server, which is not in its entry.
SERVER_NAME: Final = "@name"


class ServerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One server, resolved and validated; `problem` says why it cannot be used.

    `field_problems` says the same key by key. `raw` is the entry with our keys and unresolved
    placeholders: what is written, exported and confirmed. None means "not set"; a time of 0 means
    "no limit".
    """

    name: str
    source: Source
    raw: dict[str, Any] = msgspec.field(default_factory=dict)
    title: str | None = None
    enabled: bool = True
    transport: TransportName | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict)
    env_file: str | None = None
    inherit_env: bool = False
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    auth: dict[str, Any] = msgspec.field(default_factory=dict)
    protocol_version: str = "auto"
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    profile: str | None = None
    roots: tuple[dict[str, str], ...] = ()
    meta: dict[str, Any] = msgspec.field(default_factory=dict)
    secret_keys: dict[str, Any] = msgspec.field(default_factory=dict)
    session_mode: SessionMode = "persistent"
    singleton: bool = False
    max_concurrency: int | None = None
    max_message_bytes: int | None = None
    ca_file: str | None = None
    insecure: bool = False
    connection_timeout_s: float | None = None
    request_timeout_s: float | None = None
    progress_resets_timeout: bool | None = None
    max_total_timeout_s: float | None = None
    ping_interval_s: float | None = None
    max_retries: int | None = None
    retry_backoff_s: tuple[float, ...] | None = None
    inputs: tuple[Input, ...] = ()
    unknown: dict[str, Any] = msgspec.field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    problem: InspectorError | None = None
    field_problems: tuple[FieldProblem, ...] = ()

    @property
    def is_usable(self) -> bool:
        return self.enabled and self.problem is None

    @property
    def is_per_user(self) -> bool:
        """Whether each user of a gateway signs in to this server."""
        if self.auth.get("perUser") is not True or self.url is None:
            return False
        return not any(name.lower() == "authorization" for name in self.headers)

    def __repr__(self) -> str:  # env, headers and auth hold secrets
        state = "usable" if self.is_usable else "has a problem" if self.problem else "disabled"
        return f"<ServerEntry {self.name!r} {self.transport} from {self.source.path!r} {state}>"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The keys at the top of our file, with their defaults."""

    request_timeout_s: float = 60.0
    capabilities_timeout_s: float = 30.0
    authorization_timeout_s: float = 120.0
    connection_retry_count: int = 3
    capabilities_refresh_interval_s: float = 300.0
    cache_ttl_s: float = 300.0
    task_ttl_s: float = 60.0
    log_level: str = "info"
    server_output_mb: int = 16
    secret_keys: tuple[str, ...] = ()
    lint_off: tuple[str, ...] = ()
    default_preset_id: str | None = None
    profiles: Mapping[str, Any] = msgspec.field(default_factory=dict)  # filled in when used
    host_profiles: Mapping[str, Any] = msgspec.field(default_factory=dict)  # for MCP Apps
    # Both validated, as the file has them; config/views.py makes values of them.
    views: dict[str, Any] = msgspec.field(default_factory=dict)
    gateway: dict[str, Any] = msgspec.field(default_factory=dict)
    settings: dict[str, Any] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:  # profiles and views may hold tokens
        return f"<Settings {len(self.profiles)} profiles, {len(self.views)} views>"


class SettingOrigin(msgspec.Struct, frozen=True):
    """Where a setting was defined: the file, and the variables it uses."""

    path: str
    variables: tuple[str, ...] = ()


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was loaded: servers in order, the project's before the user's."""

    servers: tuple[ServerEntry, ...] = ()
    settings: Settings = msgspec.field(default_factory=Settings)
    # By field of Settings; several where files are combined.
    origins: dict[str, tuple[SettingOrigin, ...]] = msgspec.field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    problems: tuple[InspectorError, ...] = ()
    remarks: tuple[str, ...] = ()

    def find(self, name: str) -> ServerEntry | None:
        """A server by its name, or by its title if that is unique."""
        for entry in self.servers:
            if entry.name == name:
                return entry
        titled = [entry for entry in self.servers if entry.title == name]
        return titled[0] if len(titled) == 1 else None

    def __repr__(self) -> str:
        broken = sum(1 for entry in self.servers if entry.problem)
        files = ", ".join(source.path for source in self.sources) or "no file"
        return f"<Configuration {len(self.servers)} servers, {broken} broken, from {files}>"
