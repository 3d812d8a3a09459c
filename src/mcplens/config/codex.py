"""Reader of Codex's `config.toml`: tables `[mcp_servers.name]`.

Its strings have no placeholders; values from the environment have separate keys. Pure; called by
other_tools.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcplens.config.placeholder_dialects import plain
from mcplens.config.placeholders import placeholder, rewrite_all
from mcplens.config.tool_reader import ImportedServer, Reading, mapping, sequence


def read_codex(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """`[mcp_servers.name]` of `config.toml`."""
    for name, table in mapping(document.get("mcp_servers")).items():
        raw = _server(dict(table)) if isinstance(table, dict) else table
        yield ImportedServer(name=name, raw=raw)


def _server(table: dict[str, Any]) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    for key in ("command", "args", "cwd", "url"):
        if key in table:
            raw[key] = rewrite_all(table.pop(key), plain)
    if "url" in raw:
        raw["transport"] = "http"
    for key, variables in (("env", "env_vars"), ("headers", "env_http_headers")):
        literal = "env" if key == "env" else "http_headers"
        values = rewrite_all(mapping(table.pop(literal, None)), plain)
        values |= _from_environment(table.pop(variables, None))
        if values:
            raw[key] = values
    if token := table.pop("bearer_token_env_var", None):
        raw.setdefault("headers", {})["Authorization"] = f"Bearer {placeholder(str(token))}"
    for key, ours in (
        ("startup_timeout_sec", "connectionTimeout"),
        ("tool_timeout_sec", "requestTimeout"),
    ):
        if isinstance(seconds := table.get(key), int | float):
            raw[ours] = round(table.pop(key) * 1000) if seconds else 0
    if "startup_timeout_ms" in table:
        raw.setdefault("connectionTimeout", table.pop("startup_timeout_ms"))
    auth = _auth(table)
    return raw | ({"auth": auth} if auth else {}) | table


def _from_environment(value: Any) -> dict[str, str]:
    """Names to pass on (`env_vars`), or name -> variable (`env_http_headers`)."""
    if isinstance(value, dict):
        return {name: placeholder(str(variable)) for name, variable in value.items()}
    names = [str(mapping(one).get("name", one)) for one in sequence(value)]
    # Unset variables are not passed on; an empty default comes closest to that.
    return {name: placeholder(name, "") for name in names}


def _auth(table: dict[str, Any]) -> dict[str, Any]:
    auth: dict[str, Any] = {}
    if "scopes" in table:
        auth["scopes"] = table.pop("scopes")
    if client := mapping(table.get("oauth")).get("client_id"):
        auth["clientId"] = client
        del table["oauth"]
    return auth
