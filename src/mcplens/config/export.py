"""Exports servers as text: our own format, `mcpServers`, VS Code's, Codex's, or mcplens commands.

Nothing is resolved. Our own format has every entry as it is; for another tool, placeholders are
rewritten in its syntax, and what it cannot express is left out and listed in the remarks. Pure;
called by `servers export` and the web UI, which decide where the text goes.
"""

from __future__ import annotations

import os.path
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

import msgspec

from mcplens.config.keys import ALIASES
from mcplens.config.model import ServerEntry
from mcplens.config.placeholders import Piece, pieces

Shape = Literal["mcplens", "mcpServers", "vscode", "codex"]
_SAID: Final = ("command", "args", "env", "cwd", "url", "headers", "transport")
_COMMAND_KEYS: Final = ("command", "args", "env", "cwd", "url", "headers", "transport")
_NOT_SAID: Final = ("enabled", "disabled")  # covered by a separate remark


class ExportRemark(msgspec.Struct, frozen=True):
    """What an export lacks of one server, or changes in its meaning."""

    server: str
    text: str

    def __str__(self) -> str:
        return f"{self.server}: {self.text}"


class Export(msgspec.Struct, frozen=True):
    """A text in some format, and remarks on what it lacks."""

    text: str
    remarks: tuple[ExportRemark, ...]


def export_servers(entries: Iterable[ServerEntry], shape: Shape) -> Export:
    """Servers in our own or another tool's format."""
    if shape == "mcplens":
        return _export_own(entries)
    writers: dict[str, Callable[[], _Writer]] = {
        "mcpServers": _McpServers,
        "vscode": _VsCode,
        "codex": _Codex,
    }
    writer = writers[shape]()
    for entry in entries:
        writer.add(entry)
    return Export(writer.text(), tuple(writer.remarks))


# -- our own format ----------------------------------------------------------------------------


def _export_own(entries: Iterable[ServerEntry]) -> Export:
    """Every entry as its file has it; only what depends on the place of that file is remarked."""
    servers: dict[str, Any] = {}
    remarks: list[ExportRemark] = []
    for entry in entries:
        if not entry.raw:
            remarks.append(ExportRemark(entry.name, "left out: its entry is not an object"))
            continue
        servers[entry.name] = entry.raw
        remarks += [ExportRemark(entry.name, text) for text in _depends_on_folder(entry)]
    return Export(_json({"mcpServers": servers}), tuple(remarks))


def _depends_on_folder(entry: ServerEntry) -> Iterable[str]:
    raw, folder = _spelled(entry), os.path.dirname(entry.source.path)
    roots = raw.get("roots")
    for key, value in (
        *((key, raw.get(key)) for key in ("cwd", "envFile", "caFile")),
        *(("roots", root) for root in (roots if isinstance(roots, list) else ())),
    ):
        place = value.get("uri") if isinstance(value, dict) else value
        if folder and isinstance(place, str) and _is_relative(place):
            yield f"{key} {place} is relative to the folder of its file, {folder}"
    if entry.source.scope == "project" and entry.transport == "stdio" and "cwd" not in raw:
        yield f"it runs in {folder}, the folder of its project; elsewhere it needs a cwd"


def _is_relative(place: str) -> bool:
    return not (os.path.isabs(place) or place.startswith(("~", "$", "{")) or "://" in place)


# -- other tools' formats ----------------------------------------------------------------------


def _spelled(entry: ServerEntry) -> dict[str, Any]:
    """The entry with our names for the keys."""
    return {ALIASES.get(key, key): value for key, value in entry.raw.items() if value is not None}


class _Writer(ABC):
    """Writes one export."""

    transports: tuple[str, ...] = ()
    also_said: tuple[str, ...] = ()
    title = ""

    def __init__(self) -> None:
        self.servers: dict[str, dict[str, Any]] = {}
        self.remarks: list[ExportRemark] = []
        self.entry = ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self.servers)} servers>"

    def remark(self, text: str) -> None:
        self.remarks.append(ExportRemark(self.entry, text))

    def add(self, entry: ServerEntry) -> None:
        self.entry = entry.name
        raw = _spelled(entry)
        if entry.transport not in self.transports:
            reason = f"{self.title} does not support {entry.transport}"
            self.remark(
                f"left out: {reason if entry.transport else 'it has neither command nor url'}"
            )
            return
        unsaid = [key for key in raw if key not in (*_SAID, *_NOT_SAID, *self.also_said)]
        if unsaid:
            self.remark(f"{self.title} has no equivalent of {', '.join(unsaid)}")
        if not entry.enabled and "enabled" not in self.also_said:
            self.remark(f"is disabled, which {self.title} cannot express")
        self.servers[entry.name] = self.server(raw, entry)

    @abstractmethod
    def server(self, raw: dict[str, Any], entry: ServerEntry) -> dict[str, Any]:
        """One server as this tool's file has it."""

    @abstractmethod
    def piece(self, piece: Piece) -> str:
        """A part of a string in this tool's syntax."""

    @abstractmethod
    def text(self) -> str:
        """The whole file."""

    def change(self, value: Any) -> Any:
        """Every string of a value in this tool's syntax; numbers as text."""
        if isinstance(value, dict):
            return {key: self.change(item) for key, item in value.items() if item is not None}
        if isinstance(value, list):
            return [self.change(item) for item in value]
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str):
            return str(value)
        return "".join(self.piece(piece) for piece in pieces(value))

    def literal(self, text: str) -> str:
        if "${" in text:
            self.remark(f"{self.title} may treat a literal ${{ as a placeholder")
        return text


class _McpServers(_Writer):
    transports = ("stdio", "http", "sse")
    title = "mcpServers"

    def server(self, raw: dict[str, Any], entry: ServerEntry) -> dict[str, Any]:
        keys: tuple[str, ...] = ("command", "args", "env", "cwd")
        found: dict[str, Any] = {}
        if entry.transport != "stdio":
            keys, found = ("url", "headers"), {"type": entry.transport}
        return found | {key: self.change(raw[key]) for key in keys if key in raw}

    def piece(self, piece: Piece) -> str:
        if piece.variable is None:
            return self.literal(piece.text)
        default = "" if piece.default is None else f":-{piece.default}"
        return f"${{{piece.variable}{default}}}"

    def text(self) -> str:
        return _json({"mcpServers": self.servers})


class _VsCode(_Writer):
    transports = ("stdio", "http", "sse")
    also_said = ("envFile",)
    title = "VS Code"

    def __init__(self) -> None:
        super().__init__()
        self.inputs: dict[str, dict[str, Any]] = {}

    def server(self, raw: dict[str, Any], entry: ServerEntry) -> dict[str, Any]:
        found: dict[str, Any] = {"type": entry.transport}
        keys = ("command", "args", "env", "envFile", "cwd", "url", "headers")
        return found | {key: self.change(raw[key]) for key in keys if key in raw}

    def piece(self, piece: Piece) -> str:
        if piece.variable is None:
            return self.literal(piece.text)
        if piece.default is None:
            return f"${{env:{piece.variable}}}"
        # VS Code has no default for a variable, but for an input.
        self.inputs[piece.variable] = {
            "type": "promptString",
            "id": piece.variable,
            "description": piece.variable,
            "default": piece.default,
        }
        return f"${{input:{piece.variable}}}"

    def text(self) -> str:
        inputs = {"inputs": list(self.inputs.values())} if self.inputs else {}
        return _json({**inputs, "servers": self.servers})


class _Codex(_Writer):
    transports = ("stdio", "http")
    also_said = ("connectionTimeout", "requestTimeout", "enabled")
    title = "Codex"
    key = ""  # the one that is being written

    def server(self, raw: dict[str, Any], entry: ServerEntry) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in ("command", "args", "cwd", "url"):
            if key in raw and (key == "url") is (entry.transport != "stdio"):
                self.key = key
                found[key] = self.change(raw[key])
        if entry.transport == "stdio":
            found |= self.split(raw.get("env"), "env", "env_vars")
        else:
            found |= self.split(raw.get("headers"), "http_headers", "env_http_headers")
        if not entry.enabled:
            found["enabled"] = False
        for ours, theirs in (
            ("connection_timeout_s", "startup_timeout_sec"),
            ("request_timeout_s", "tool_timeout_sec"),
        ):
            if (seconds := getattr(entry, ours)) is not None:
                found[theirs] = seconds
        return found

    def split(self, values: Any, literal: str, variable: str) -> dict[str, Any]:
        """Codex has no placeholders, but separate keys for values from the environment."""
        literals: dict[str, str] = {}
        variables: dict[str, str] = {}
        found: dict[str, Any] = {}
        for name, value in (values if isinstance(values, dict) else {}).items():
            parts = pieces(str(value)) if isinstance(value, str) else []
            named = [part.variable for part in parts if part.variable is not None]
            if not named:
                literals[name] = self.change(value)
            elif len(parts) == 1 and (literal == "http_headers" or named == [name]):
                variables[name] = named[0]
            elif name.lower() == "authorization" and _is_bearer(parts):
                found["bearer_token_env_var"] = named[0]
            else:
                key = "env" if literal == "env" else "headers"
                self.remark(f"{key}.{name} left out: Codex cannot insert {named[0]} into text")
        found |= {literal: literals} if literals else {}
        if variables:
            found[variable] = list(variables) if variable == "env_vars" else variables
        return found

    def piece(self, piece: Piece) -> str:
        if piece.variable is None:
            return piece.text
        if piece.default is not None:
            self.remark(f"{self.key}: Codex cannot insert {piece.variable}; its default is used")
            return piece.default
        self.remark(f"{self.key}: Codex cannot insert {piece.variable}; write its value there")
        return f"${{{piece.variable}}}"

    def text(self) -> str:
        return "\n".join(
            _toml_table(("mcp_servers", name), self.servers[name]) for name in self.servers
        )


def _is_bearer(parts: list[Piece]) -> bool:
    return len(parts) == 2 and parts[0].text == "Bearer " and parts[1].variable is not None


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode() + "\n"


def _toml_table(path: tuple[str, ...], table: dict[str, Any]) -> str:
    lines = [f"[{'.'.join(map(_toml_key, path))}]"]
    lines += [
        f"{_toml_key(key)} = {_toml_value(value)}"
        for key, value in table.items()
        if not isinstance(value, dict)
    ]
    text = "\n".join(lines) + "\n"
    for key, value in table.items():
        if isinstance(value, dict):
            text += "\n" + _toml_table((*path, key), value)
    return text


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    # JSON's escapes are valid TOML; only DEL must be escaped as well.
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


# -- commands ----------------------------------------------------------------------------------


def export_commands(entries: Iterable[ServerEntry]) -> Export:
    """One line for each server."""
    lines: list[str] = []
    remarks: list[ExportRemark] = []
    for entry in entries:
        raw = {ALIASES.get(key, key): one for key, one in entry.raw.items() if one is not None}
        if entry.transport is None or entry.name.startswith("-"):
            remarks.append(ExportRemark(entry.name, "left out: `servers add` cannot add it"))
            continue
        lines.append(shlex.join(["mcplens", "servers", "add", *_command_words(entry, raw)]))
        unsaid = [key for key in raw if key not in _COMMAND_KEYS]
        if unsaid:
            text = f"servers add has no option for {', '.join(unsaid)}"
            remarks.append(ExportRemark(entry.name, text))
    return Export("".join(f"{line}\n" for line in lines), tuple(remarks))


def _command_words(entry: ServerEntry, raw: dict[str, Any]) -> list[str]:
    words = [entry.name]
    if entry.transport == "stdio":
        words += _repeated("-e", raw.get("env"), "=")
        words += ["--cwd", str(raw["cwd"])] if "cwd" in raw else []
        return [*words, "--", str(raw["command"]), *map(str, raw.get("args") or ())]
    words += [str(raw["url"]), *_repeated("-H", raw.get("headers"), ": ")]
    return [*words, "--transport", str(raw["transport"])] if "transport" in raw else words


def _repeated(option: str, values: Any, separator: str) -> list[str]:
    pairs = values.items() if isinstance(values, dict) else ()
    return [
        word
        for name, value in pairs
        if value is not None
        for word in (option, f"{name}{separator}{value}")
    ]
