"""Converts a ServerEntry to the arguments of `mcplens.connect`.

Called by the surfaces, which add their own options (flags, handlers, bus) on top.
"""

from __future__ import annotations

from typing import Any

from mcplens.config.model import ServerEntry, Settings
from mcplens.config.placeholders import escape_dollar
from mcplens.known_secrets import known_secrets

Target = list[str] | str


def to_connect_options(
    entry: ServerEntry, settings: Settings | None = None
) -> tuple[Target, dict[str, Any]]:
    """Target and keyword options of `mcplens.connect` for a server.

    A server's own keys override the settings of the file. Retries come from the server's
    `maxRetries`; `connectionRetryCount` is for the surfaces that stay open.

    Raises:
        InspectorError: the entry's problem.
    """
    if entry.problem is not None:
        raise entry.problem
    learn_secrets(entry)
    options: dict[str, Any] = {
        "server_id": entry.name,
        "server_name": entry.title or entry.name,
        "protocol_version": entry.protocol_version,
    }
    settings = settings or Settings()
    options |= _times(entry, settings)
    options["default_log_level"] = None if settings.log_level == "off" else settings.log_level
    if entry.max_concurrency is not None:
        options["concurrency"] = entry.max_concurrency
    if entry.max_message_bytes is not None:
        options["max_message_bytes"] = entry.max_message_bytes
    if entry.capabilities:
        options["capabilities"] = entry.capabilities
    if entry.roots:
        options["roots"] = entry.roots
    if entry.meta:
        options["meta"] = entry.meta
    if entry.transport == "stdio":
        return [str(entry.command), *entry.args], options | _for_process(entry)
    return str(entry.url), options | _for_network(entry, settings)


def learn_secrets(entry: ServerEntry) -> None:
    """Make the secrets of an entry known, so that they are masked wherever they come back."""
    known_secrets.learn_members(entry.auth)
    known_secrets.learn_members(entry.secret_keys, entry.secret_keys)
    known_secrets.learn_members(entry.env)
    known_secrets.learn_headers(entry.headers)
    known_secrets.learn_url(entry.url or "")
    known_secrets.learn_command([entry.command or "", *entry.args])


def _for_process(entry: ServerEntry) -> dict[str, Any]:
    # The transport resolves placeholders in env too; these are resolved already.
    env = {name: escape_dollar(value) for name, value in entry.env.items()}
    options: dict[str, Any] = {"env": env, "inherit_env": entry.inherit_env}
    if entry.cwd is not None:
        options["cwd"] = entry.cwd
    return options


def _for_network(entry: ServerEntry, settings: Settings | None) -> dict[str, Any]:
    options: dict[str, Any] = {"transport": entry.transport}
    if entry.headers:
        options["headers"] = entry.headers
    if entry.auth:
        options["auth"] = entry.auth
    if settings is not None and settings.authorization_timeout_s:
        options["sign_in_timeout_s"] = settings.authorization_timeout_s
    if entry.ca_file is not None:
        options["ca_file"] = entry.ca_file
    if entry.insecure:
        options["insecure"] = True
    return options


def put_over(options: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Overrides win; headers and variables are merged with those of the entry.

    A request timeout among the overrides raises the entry's maximum, if that is shorter.
    """
    both: dict[str, Any] = {
        name: {**(options.get(name) or {}), **overrides[name]}
        for name in ("headers", "env")
        if name in overrides
    }
    merged = {**options, **overrides, **both}
    maximum, timeout_s = merged.get("max_total_timeout_s"), overrides.get("request_timeout_s")
    if maximum is not None and timeout_s is not None and timeout_s > maximum:
        merged["max_total_timeout_s"] = timeout_s
    return merged


def _times(entry: ServerEntry, settings: Settings) -> dict[str, Any]:
    """The fields of ConnectionConfig that are set; a timeout of 0 means none."""
    connection_s = entry.connection_timeout_s
    request_s = entry.request_timeout_s
    found: dict[str, Any] = {
        "connection_timeout_s": (
            settings.capabilities_timeout_s if connection_s is None else connection_s
        )
        or None,
        "request_timeout_s": (settings.request_timeout_s if request_s is None else request_s)
        or None,
    }
    if entry.max_total_timeout_s is not None:
        found["max_total_timeout_s"] = entry.max_total_timeout_s or None
    for name in ("progress_resets_timeout", "ping_interval_s", "max_retries", "retry_backoff_s"):
        if (value := getattr(entry, name)) is not None:
            found[name] = value
    return found
