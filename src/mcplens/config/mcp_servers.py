"""Readers of files with `mcpServers`: Claude Desktop, Claude Code, Cursor, Windsurf, Gemini.

They are similar, but differ in the key of a URL, in placeholders and in the surrounding structure.
Pure; called by other_tools.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mcplens.config.placeholder_dialects import Change, bare_shell, claude_code, editor, shell
from mcplens.config.placeholders import rewrite_all
from mcplens.config.tool_reader import ImportedServer, Reading, mapping, renamed, sequence

# Keys in which a tool replaces placeholders.
_REPLACED: Final = ("command", "args", "env", "envFile", "cwd", "url", "httpUrl", "headers", "auth")
# Milliseconds, as ours.
_COMMON_NAMES: Final = {"timeout": "requestTimeout", "oauth": "auth"}


def read_claude_desktop(document: dict[str, Any], reading: Reading) -> Iterable[ImportedServer]:
    """`claude_desktop_config.json`."""
    return _servers(document, shell)


def read_claude_code(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """`.mcp.json`, and `.claude.json` with servers for all projects and for single ones."""
    change = claude_code(reading)
    projects = mapping(document.get("projects"))
    project = project_key(projects, reading.folder, reading.here.platform)
    for server in _servers(mapping(projects.get(project)), change):
        yield ImportedServer(name=server.name, raw=server.raw, scope="local")
    yield from _servers(document, change)


def project_key(projects: Mapping[str, Any], folder: str, platform: str) -> str:
    """The key of the project that a folder belongs to: the longest path at or above it, or ""."""
    inside = _comparable(folder, platform) + "/"
    above = [path for path in projects if inside.startswith(_comparable(path, platform) + "/")]
    return max(above, key=lambda path: len(_comparable(path, platform)), default="")


def _comparable(path: str, platform: str) -> str:
    if platform == "win32":
        path = path.replace("\\", "/").lower()
    return path.rstrip("/")


def read_cursor(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """`.cursor/mcp.json`: an editor's placeholders, `envFile`, different keys in `auth`."""
    for server in _servers(document, editor(reading)):
        raw = server.raw
        if isinstance(raw, dict) and "auth" in raw:
            names = {"CLIENT_ID": "clientId", "CLIENT_SECRET": "clientSecret"}
            raw = {**raw, "auth": renamed(raw["auth"], names)}
        yield ImportedServer(name=server.name, raw=raw)


def read_windsurf(document: dict[str, Any], reading: Reading) -> Iterable[ImportedServer]:
    """`mcp_config.json`: a URL is `serverUrl`."""
    return _servers(document, editor(reading), {"serverUrl": "url"})


def read_gemini(document: dict[str, Any], reading: Reading) -> Iterator[ImportedServer]:
    """`settings.json`: `httpUrl` is streamable HTTP, `url` alone is SSE; has an allow list."""
    rules = mapping(document.get("mcp"))
    for server in _servers(document, bare_shell):
        raw = server.raw
        if isinstance(raw, dict):
            raw = dict(raw)
            if "httpUrl" in raw:
                raw |= {"url": raw.pop("httpUrl"), "transport": "http"}
            elif "url" in raw:
                raw["transport"] = raw.pop("type", "sse")
            is_allowed = "allowed" not in rules or server.name in sequence(rules["allowed"])
            if not is_allowed or server.name in sequence(rules.get("excluded")):
                raw["enabled"] = False
        yield ImportedServer(name=server.name, raw=raw)


def _servers(
    document: dict[str, Any], change: Change, names: Mapping[str, str] | None = None
) -> Iterator[ImportedServer]:
    for name, raw in mapping(document.get("mcpServers")).items():
        raw = renamed(raw, {**_COMMON_NAMES, **(names or {})})
        if isinstance(raw, dict):
            raw |= {key: rewrite_all(raw[key], change) for key in raw if key in _REPLACED}
        yield ImportedServer(name=name, raw=raw)
