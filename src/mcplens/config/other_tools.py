"""Finds and reads other tools' configuration files; their servers are named `tool:name`.

Each tool has a reader that returns its servers with our keys, unresolved; reader and parser are
loaded on demand. The locations of files are computed purely, with the platform as an argument.
Read-only. Called by the surfaces, and by configuration.py for a file in another format.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import msgspec

from mcplens.config.entries import build_entry
from mcplens.config.environment import Environment, current_environment, walk_upward
from mcplens.config.files import invalid, parse_json, read_text, toml_value, yaml_value
from mcplens.config.jsonc import Document
from mcplens.config.model import Scope, ServerEntry, Source
from mcplens.config.tool_reader import Read, Reading, mapping
from mcplens.errors import ConfigurationError


class SourceTool(msgspec.Struct, frozen=True):
    """A tool whose files we read."""

    title: str
    module: str
    function: str
    # Relative to the project, with forward slashes; "" if the tool has no project file.
    project_file: str = ""

    def reader(self) -> Read:
        read: Read = getattr(import_module(f"mcplens.config.{self.module}"), self.function)
        return read


TOOLS: Final = {
    "claude-desktop": SourceTool("Claude Desktop", "mcp_servers", "read_claude_desktop"),
    "claude-code": SourceTool("Claude Code", "mcp_servers", "read_claude_code", ".mcp.json"),
    "cursor": SourceTool("Cursor", "mcp_servers", "read_cursor", ".cursor/mcp.json"),
    "vscode": SourceTool("VS Code", "vscode", "read_vscode", ".vscode/mcp.json"),
    "windsurf": SourceTool("Windsurf", "mcp_servers", "read_windsurf"),
    "gemini": SourceTool("Gemini CLI", "mcp_servers", "read_gemini", ".gemini/settings.json"),
    "codex": SourceTool("Codex", "codex", "read_codex", ".codex/config.toml"),
    "goose": SourceTool("Goose", "goose", "read_goose"),
    "registry": SourceTool("MCP registry", "registry", "read_registry"),
}

OTHER_ENDINGS: Final = (".toml", ".yaml", ".yml")

# The scope with the lowest rank wins.
_RANK: Final[dict[Scope, int]] = {"given": 0, "local": 1, "project": 2, "user": 3}


def user_files(kind: str, here: Environment) -> list[str]:
    """The user's files of a tool, on any platform."""
    home, join = here.home, here.join
    app_data = _app_data(here)
    if kind == "claude-desktop":
        files = [join(app_data, "Claude", "claude_desktop_config.json")]
        if here.platform == "win32":  # if installed from the Microsoft Store
            local = here.variable("LOCALAPPDATA") or join(home, "AppData", "Local")
            package = join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming")
            files.append(join(package, "Claude", "claude_desktop_config.json"))
        return files
    if kind == "claude-code":
        return [join(here.variable("CLAUDE_CONFIG_DIR") or home, ".claude.json")]
    if kind == "cursor":
        return [join(home, ".cursor", "mcp.json")]
    if kind == "vscode":
        folders = [join(app_data, product, "User") for product in ("Code", "Code - Insiders")]
        return [join(folder, name) for folder in folders for name in ("mcp.json", "settings.json")]
    if kind == "windsurf":
        return [join(home, ".codeium", "windsurf", "mcp_config.json")]
    if kind == "gemini":
        return [join(home, ".gemini", "settings.json")]
    if kind == "codex":
        return [join(here.variable("CODEX_HOME") or join(home, ".codex"), "config.toml")]
    if kind == "goose":
        if here.platform == "win32":
            return [join(app_data, "Block", "goose", "config", "config.yaml")]
        config = here.variable("XDG_CONFIG_HOME") or join(home, ".config")
        return [join(config, "goose", "config.yaml")]
    return []


def _app_data(here: Environment) -> str:
    """The folder in which desktop programs keep a user's settings."""
    if here.platform == "win32":
        return here.variable("APPDATA") or here.join(here.home, "AppData", "Roaming")
    if here.platform == "darwin":
        return here.join(here.home, "Library", "Application Support")
    return here.variable("XDG_CONFIG_HOME") or here.join(here.home, ".config")


def find_sources(here: Environment | None = None) -> tuple[Source, ...]:
    """The files of other tools that exist on this machine, by tool."""
    here = here or current_environment()
    return tuple(source for kind in TOOLS for source in _files_of(kind, here))


def _files_of(kind: str, here: Environment) -> Iterator[Source]:
    users = user_files(kind, here)
    if TOOLS[kind].project_file:
        parts = TOOLS[kind].project_file.split("/")
        candidates = (here.join(folder, *parts) for folder in walk_upward(here))
        nearest = next((path for path in candidates if os.path.isfile(path)), None)
        if nearest is not None and nearest not in users:
            yield Source(kind, nearest, "project")
    for path in users:
        if os.path.isfile(path) and (kind != "vscode" or _may_name_servers(path)):
            yield Source(kind, path, "user")


def _may_name_servers(path: str) -> bool:
    """The editor's general settings matter only if they contain servers."""
    if not path.endswith("settings.json"):
        return True
    try:
        return '"mcp"' in read_text(path)
    except ConfigurationError:
        return False


def read_servers(
    source: Source,
    here: Environment | None = None,
    *,
    values: Mapping[str, str] | None = None,
    choice: str | None = None,
    document: Document | None = None,
) -> tuple[ServerEntry, ...]:
    """The servers of another tool's file.

    `values` are supplied for its inputs, `choice` selects a package of a registry's file. A JSON
    file that was parsed before is passed as `document`.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    here = here or current_environment()
    tool = TOOLS[source.kind]
    folder = _project_folder(source, here)
    reading = Reading(here=here, folder=folder, values=values or {}, choice=choice)
    content = _content(source.path, document)
    if not isinstance(content, dict | None):
        raise invalid(f"{source.path}: this is not a {tool.title} file", file=source.path)
    entries = []
    for server in tool.reader()(content or {}, reading):
        place = Source(source.kind, source.path, server.scope or source.scope)
        entry = build_entry(
            server.name,
            server.raw,
            place,
            here,
            folder=folder,
            inputs=server.inputs,
            remarks=server.remarks,
            problem=server.problem,
        )
        entries.append(entry)
    return tuple(entries)


def _content(path: str, document: Document | None) -> Any:
    if document is None:
        text = read_text(path)
        if path.lower().endswith(".toml"):
            return toml_value(path, text)
        if path.lower().endswith((".yaml", ".yml")):
            return yaml_value(path, text)
        try:  # ~/.claude.json can be megabytes; strict JSON is parsed 40 times as fast
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            document = parse_json(path, text)
    return document.root.value if document.root else None


def _project_folder(source: Source, here: Environment) -> str:
    """The project that a file belongs to; for a user's file, the current folder."""
    parts = TOOLS[source.kind].project_file.split("/")
    if source.path.replace("\\", "/").endswith("/" + "/".join(parts)) and source.scope != "user":
        folder = source.path
        for _ in parts:
            folder = here.rules.dirname(folder)
        return folder
    return here.cwd


def read_tool(kind: str, here: Environment | None = None) -> tuple[ServerEntry, ...]:
    """All servers of a tool on this machine; of two with the same name, the nearer one wins.

    Raises:
        ConfigurationError: the tool is unknown, or one of its files cannot be read.
    """
    here = here or current_environment()
    if kind not in TOOLS:
        raise invalid(f"{kind!r} is not a known tool: use {', '.join(TOOLS)}", tool=kind)
    found = [entry for source in _files_of(kind, here) for entry in read_servers(source, here)]
    found.sort(key=lambda entry: _RANK[entry.source.scope])
    by_name: dict[str, ServerEntry] = {}
    for entry in found:
        by_name.setdefault(entry.name, entry)
    return tuple(by_name.values())


def is_qualified(name: str) -> bool:
    """Whether a name is `tool:server` of a known tool."""
    return name.partition(":")[0] in TOOLS and ":" in name


def find_server(name: str, here: Environment | None = None) -> ServerEntry:
    """A server by `tool:name`.

    Raises:
        ConfigurationError: it does not exist; the message lists the others.
    """
    kind, _, server = name.partition(":")
    entries = read_tool(kind, here)
    for entry in entries:
        if entry.name == server:
            return entry
    title = TOOLS[kind].title
    names = ", ".join(entry.name for entry in entries)
    known = f"its servers: {names}" if entries else "it has no servers on this machine"
    raise invalid(f"{title} has no server {server!r}; {known}", server=server, tool=kind)


def kind_of(path: str, value: Any) -> str:
    """The tool whose format a file has, by its name or content; `mcplens` if in doubt."""
    where = path.replace("\\", "/").lower()
    for ending, kind in _NAMES.items():
        if where.endswith(ending):
            return kind
    if not isinstance(value, dict) or "mcpServers" in value:
        return "mcplens"
    if isinstance(value.get("servers"), dict) or "servers" in mapping(value.get("mcp")):
        return "vscode"
    if isinstance(value.get("packages"), list) or isinstance(value.get("remotes"), list):
        return "registry"
    return "mcplens"


_NAMES: Final = {
    "/claude_desktop_config.json": "claude-desktop",
    "/.claude.json": "claude-code",
    "/.mcp.json": "claude-code",
    "/.cursor/mcp.json": "cursor",
    "/windsurf/mcp_config.json": "windsurf",
    "/.gemini/settings.json": "gemini",
    ".toml": "codex",
    ".yaml": "goose",
    ".yml": "goose",
}
