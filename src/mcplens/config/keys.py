"""The keys of our configuration file: name, field, and allowed values.

Owns the names; `docs/reference/config-file.md` is checked against them. Called by entries.py for a
server's keys and by configuration.py for those at the top.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mcplens.protocol.eras import LOG_LEVELS


class InvalidValue(Exception):
    """An invalid value of a key; `key` is its path, such as `args[1]`.

    `is_local` and `variable` as in `FieldProblem`.
    """

    def __init__(
        self, key: str, text: str, *, is_local: bool = False, variable: str | None = None
    ) -> None:
        super().__init__(f"{key}: {text}")
        self.key = key
        self.text = text
        self.is_local = is_local or variable is not None
        self.variable = variable


class Key(msgspec.Struct, frozen=True):
    """One key: `read(value, key)` returns the field's value or raises InvalidValue.

    `meaning` is a line of help; the keys of a server are described only in the reference.
    A key that is not used yet is validated and kept for a later version. `choices` are all values
    that it takes, if there are few.
    """

    name: str
    field: str
    read: Callable[[Any, str], Any]
    meaning: str = ""
    is_used: bool = True
    choices: tuple[str, ...] = ()


_KINDS: Final = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def _wanted(key: str, wanted: str, value: Any) -> InvalidValue:
    return InvalidValue(
        key, f"must be {wanted}, not {_KINDS.get(type(value), type(value).__name__)}"
    )


def text(value: Any, key: str) -> str:
    """A string; numbers and booleans are converted."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise _wanted(key, "a string", value)


def filled(value: Any, key: str) -> str:
    found = text(value, key)
    if not found.strip():
        raise InvalidValue(key, "must not be empty")
    return found


def flag(value: Any, key: str) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):  # the value of a placeholder
        return bool(value == "true")
    raise _wanted(key, "true or false", value)


def number(value: Any, key: str) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise _wanted(key, "a number", value) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wanted(key, "a number", value)
    try:
        found = float(value)
    except OverflowError:  # an integer of hundreds of digits
        found = float("inf")
    if not abs(found) < float("inf"):
        raise InvalidValue(key, "must be a finite number")
    return found


def whole(value: Any, key: str) -> int:
    found = number(value, key)
    if found != int(found):
        raise InvalidValue(key, "must be a whole number")
    return int(found)


class AtLeast(msgspec.Struct, frozen=True):
    """Reads a whole number that has a lower limit."""

    least: int

    def __call__(self, value: Any, key: str) -> int:
        found = whole(value, key)
        if found < self.least:
            raise InvalidValue(key, f"must be {self.least} or more")
        return found


def seconds(value: Any, key: str) -> float:
    found = number(value, key)
    if found < 0:
        raise InvalidValue(key, "must not be negative")
    return found


# Refreshing lists more often than this is a burden for a server.
_LEAST_INTERVAL_S: Final = 30.0


def interval_s(value: Any, key: str) -> float:
    """0 and negative values disable it."""
    found = number(value, key)
    return max(_LEAST_INTERVAL_S, found) if found > 0 else 0.0


def milliseconds(value: Any, key: str) -> float:
    """A time in milliseconds, as seconds."""
    return seconds(value, key) / 1000


def delays(value: Any, key: str) -> tuple[float, ...]:
    return tuple(milliseconds(item, f"{key}[{at}]") for at, item in enumerate(array(value, key)))


def array(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wanted(key, "an array", value)
    return value


def texts(value: Any, key: str) -> tuple[str, ...]:
    return tuple(text(item, f"{key}[{at}]") for at, item in enumerate(array(value, key)))


def mapping(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wanted(key, "an object", value)
    return value


def closed_members(
    value: Any, key: str, readers: Mapping[str, Callable[[Any, str], Any]]
) -> dict[str, Any]:
    """The members of an object; an unknown one is an error, since a typo would publish too much."""
    given = mapping(value, key)
    unknown = [name for name in given if name not in readers]
    if unknown:
        text = f"not a key here; use {', '.join(readers)}"
        raise InvalidValue(f"{key}.{unknown[0]}", text)
    return {
        name: readers[name](member, f"{key}.{name}")
        for name, member in given.items()
        if member is not None
    }


def text_mapping(value: Any, key: str) -> dict[str, str]:
    """Strings by name; null counts as absent."""
    found = mapping(value, key).items()
    return {name: text(item, f"{key}.{name}") for name, item in found if item is not None}


# Names used by the MCP specification and other tools; - and _ are equivalent.
_TRANSPORTS: Final = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "sse": "sse",
    "ws": "websocket",
    "websocket": "websocket",
}


def transport(value: Any, key: str) -> str:
    found = text(value, key).lower().replace("_", "-")
    if found not in _TRANSPORTS:
        raise InvalidValue(key, f"{found!r} is not a transport: use stdio, http, sse or websocket")
    return _TRANSPORTS[found]


SESSION_MODES: Final = ("persistent", "per-call", "per-client")


def session_mode(value: Any, key: str) -> str:
    if value not in SESSION_MODES:
        raise InvalidValue(key, f"must be one of {', '.join(SESSION_MODES)}")
    return str(value)


LOG_CHOICES: Final = (*LOG_LEVELS, "off")


def log_level(value: Any, key: str) -> str:
    """A level of MCP's, or `off`."""
    if value not in LOG_CHOICES:
        raise InvalidValue(key, f"must be one of {', '.join(LOG_LEVELS)}, or off")
    return str(value)


def roots(value: Any, key: str) -> tuple[dict[str, str], ...]:
    """Paths, URIs, or objects of `uri` and `name`."""
    found = []
    for at, item in enumerate(array(value, key)):
        where = f"{key}[{at}]"
        root = item if isinstance(item, dict) else {"uri": text(item, where)}
        if "uri" not in root:
            raise InvalidValue(where, "must have a uri")
        found.append(text_mapping(root, where))
    return tuple(found)


def names(value: Any, key: str) -> tuple[str, ...]:
    return tuple(filled(item, f"{key}[{at}]") for at, item in enumerate(array(value, key)))


def secrets(value: Any, key: str) -> dict[str, Any]:
    """Names, or an object with the values, for when they are needed again."""
    if isinstance(value, list):
        return dict.fromkeys(names(value, key))
    if not isinstance(value, dict):
        raise _wanted(key, "an array of names, or an object of names and values", value)
    return value


GRANTS: Final = ("authorization_code", "client_credentials", "enterprise", "workload_identity")


def grant(value: Any, key: str) -> str:
    if value not in GRANTS:
        raise InvalidValue(key, f"must be one of {', '.join(GRANTS)}")
    return str(value)


def scopes(value: Any, key: str) -> Any:
    """An array, or one string with spaces."""
    return value.split() if isinstance(value, str) else texts(value, key)


AUTH_READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "clientId": text,
    "clientSecret": text,
    "clientIdMetadataUrl": text,
    "redirectUri": text,
    "clientName": text,
    "tokenEndpointAuthMethod": text,
    "authorizationServer": text,
    "scopes": scopes,
    "allowDynamicRegistration": flag,
    "grant": grant,
    "privateKeyFile": filled,
    "signingAlgorithm": filled,
    "dpop": flag,
    "idp": text_mapping,
    "subjectTokenFile": filled,
    "perUser": flag,
}
AUTH_KEYS: Final = tuple(AUTH_READERS)


def auth(value: Any, key: str) -> dict[str, Any]:
    """Validated, with the names of the file; unknown keys are kept."""
    found = dict(mapping(value, key))
    for name, read in AUTH_READERS.items():
        if name in found:
            found[name] = read(found[name], f"{key}.{name}")
    return found


SERVER_KEYS: Final = (
    Key("name", "title", filled),
    Key("enabled", "enabled", flag),
    Key("transport", "transport", transport),
    Key("command", "command", filled),
    Key("args", "args", texts),
    Key("env", "env", text_mapping),
    Key("envFile", "env_file", filled),
    Key("inheritEnv", "inherit_env", flag),
    Key("cwd", "cwd", filled),
    Key("url", "url", filled),
    Key("headers", "headers", text_mapping),
    Key("auth", "auth", auth),
    Key("protocolVersion", "protocol_version", filled),
    Key("capabilities", "capabilities", mapping),
    Key("profile", "profile", filled),
    Key("roots", "roots", roots),
    Key("meta", "meta", mapping),
    Key("secretKeys", "secret_keys", secrets),
    Key("sessionMode", "session_mode", session_mode),
    Key("singleton", "singleton", flag),
    Key("maxConcurrency", "max_concurrency", AtLeast(1)),
    Key("maxMessageBytes", "max_message_bytes", AtLeast(1)),
    Key("caFile", "ca_file", filled),
    Key("insecure", "insecure", flag),
    Key("connectionTimeout", "connection_timeout_s", milliseconds),
    Key("requestTimeout", "request_timeout_s", milliseconds),
    Key("progressResetsTimeout", "progress_resets_timeout", flag),
    Key("maxTotalTimeout", "max_total_timeout_s", milliseconds),
    Key("pingInterval", "ping_interval_s", milliseconds),
    Key("maxRetries", "max_retries", AtLeast(0)),
    Key("retryBackoff", "retry_backoff_s", delays),
)

# Other tools' names for our keys, since entries are copied between files.
ALIASES: Final = {
    "type": "transport",
    "serverUrl": "url",
    "httpUrl": "url",
}

TOP_KEYS: Final = (
    Key(
        "requestTimeoutSeconds", "request_timeout_s", seconds,
        "Timeout of a request; a server's requestTimeout overrides it. 0: no limit.",
    ),
    Key(
        "capabilitiesTimeoutSeconds", "capabilities_timeout_s", seconds,
        "Timeout of a connection attempt; a server's connectionTimeout overrides it. 0: no limit.",
    ),
    Key(
        "authorizationTimeoutSeconds", "authorization_timeout_s", seconds,
        "How long a person has to sign in.",
    ),
    Key(
        "connectionRetryCount", "connection_retry_count", AtLeast(0),
        "How often a failed connection is retried; a server's maxRetries overrides it.",
    ),
    Key(
        "capabilitiesRefreshIntervalSeconds", "capabilities_refresh_interval_s", interval_s,
        "How often the gateway refreshes lists: 0 for never, otherwise at least 30.",
    ),
    Key(
        "cacheTtlMs", "cache_ttl_s", milliseconds,
        "How many milliseconds lists are cached.",
    ),
    Key(
        "taskTtlSeconds", "task_ttl_s", AtLeast(1),
        "How long tasks are kept: those that the page starts, and those that it holds for servers.",
    ),
    Key(
        "logLevel", "log_level", log_level,
        "Lowest level of log messages to ask for, or off. Servers of 2026-07-28 log only when "
        "asked; older ones always do.",
        choices=LOG_CHOICES,
    ),
    Key(
        "serverOutputMegabytes", "server_output_mb", AtLeast(0),
        "How much of a server's stderr and stray stdout a run records in full; then the latest "
        "lines and their count. 0: no limit.",
    ),
    Key(
        "secretKeys", "secret_keys", names,
        "JSON members, headers and options whose values are never recorded, for all servers.",
    ),
    Key(
        "lintOff", "lint_off", names,
        "Rules that mcplens lint leaves out: RULE, or RULE#/POINTER for one place.",
    ),
    Key(
        "defaultPresetId", "default_preset_id", filled,
        "The view that the gateway publishes at /mcp.",
    ),
    Key(
        "profiles", "profiles", mapping,
        "Profiles that answer servers' questions automatically, by name.",
    ),
    Key(
        "hostProfiles", "host_profiles", mapping,
        "Hosts that MCP Apps are tried in, by name.",
    ),
    Key("views", "views", mapping, "What the gateway publishes, by name."),
    Key("gateway", "gateway", mapping, "Where the gateway listens, and its limits."),
    Key("settings", "settings", mapping, "Settings of the user interface.", is_used=False),
)  # fmt: skip
