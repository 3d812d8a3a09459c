"""Servers as commands of `mcplens servers add`, for a shell on another machine.

Nothing is resolved. What the command has no option for is told in the remarks. Pure; called by the
web UI.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any, Final

from mcplens.config.export import Export
from mcplens.config.keys import ALIASES
from mcplens.config.model import ServerEntry

_SAID: Final = ("command", "args", "env", "cwd", "url", "headers", "transport")


def export_commands(entries: Iterable[ServerEntry]) -> Export:
    """One line for each server."""
    lines: list[str] = []
    remarks: list[str] = []
    for entry in entries:
        raw = {ALIASES.get(key, key): one for key, one in entry.raw.items() if one is not None}
        if entry.transport is None or entry.name.startswith("-"):
            remarks.append(f"{entry.name}: left out, since no command can add it")
            continue
        lines.append(shlex.join(["mcplens", "servers", "add", *_words(entry, raw)]))
        unsaid = [key for key in raw if key not in _SAID]
        if unsaid:
            remarks.append(f"{entry.name}: servers add has no option for {', '.join(unsaid)}")
    return Export("".join(f"{line}\n" for line in lines), tuple(remarks))


def _words(entry: ServerEntry, raw: dict[str, Any]) -> list[str]:
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
