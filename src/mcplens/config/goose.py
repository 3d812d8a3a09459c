"""Reader of Goose's `config.yaml`: `extensions`, of which some are servers.

Extensions that are built into Goose cannot be reached from outside and are left out. Pure; called
by other_tools.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcplens.config.model import Input
from mcplens.config.placeholder_dialects import bare_shell, plain
from mcplens.config.placeholders import placeholder, rewrite_all
from mcplens.config.tool_reader import ImportedServer, Reading, mapping, sequence

_TRANSPORTS: Final = {"stdio": "stdio", "sse": "sse", "streamable_http": "http"}
# Descriptive keys that we do not use.
_ABOUT: Final = ("type", "name", "display_name", "description", "bundled")


def read_goose(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """The extensions that are servers."""
    for name, extension in mapping(document.get("extensions")).items():
        # Early versions put everything but `enabled` into `config`.
        extension = {**mapping(extension), **mapping(mapping(extension).get("config"))}
        extension.pop("config", None)
        if extension.get("type") in _TRANSPORTS:
            yield _server(str(name), extension)


def _server(name: str, extension: dict[str, Any]) -> ImportedServer:
    raw: dict[str, Any] = {"transport": _TRANSPORTS[extension["type"]]}
    title = extension.get("display_name") or extension.get("name")
    if isinstance(title, str) and title != name:
        raw["name"] = plain(title)
    for key, ours in (("cmd", "command"), ("args", "args"), ("uri", "url")):
        if key in extension:
            raw[ours] = rewrite_all(extension.pop(key), plain)
    if "headers" in extension:
        raw["headers"] = rewrite_all(extension.pop("headers"), bare_shell)
    # Kept in Goose's own secret store, which we do not open.
    keys = [str(key) for key in sequence(extension.pop("env_keys", None))]
    env = rewrite_all(mapping(extension.pop("envs", None)), plain)
    env = {str(name): value for name, value in env.items()}  # YAML keys need not be strings
    env |= {key: placeholder(key) for key in keys if key not in env}
    if raw["transport"] == "stdio":
        raw["env"] = env
    elif env:
        values = {key: value for key, value in env.items() if key not in keys}
        raw["headers"] = _with_values(raw.get("headers"), values)
    if (seconds := extension.pop("timeout", None)) is not None:
        raw["requestTimeout"] = seconds * 1000 if isinstance(seconds, int | float) else seconds
    rest = {key: value for key, value in extension.items() if key not in _ABOUT}
    inputs = tuple(Input(id=key, variable=key, is_secret=True) for key in keys)
    return ImportedServer(name=name, raw=raw | rest, inputs=inputs)


def _with_values(headers: Any, values: dict[str, Any]) -> Any:
    """Headers with the variables replaced that the file itself sets."""

    def change(text: str) -> str:
        for name, value in values.items():
            text = text.replace(placeholder(name), str(value))
        return text

    return rewrite_all(mapping(headers), change)
