"""Rewrites other tools' placeholders in our own syntax.

A tool's placeholders become ours, and its plain text is escaped, so that an imported entry means
the same. Pure; called by the readers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mcplens.config.placeholders import escape, placeholder, rewrite
from mcplens.config.tool_reader import Reading

Change = Callable[[str], str]

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
# ${VAR}, ${VAR:-default}
_SHELL: Final = re.compile(rf"\$\{{(?P<name>{_NAME})(?P<default>:-[^}}]*)?\}}")
# … and $VAR
_BARE_SHELL: Final = re.compile(rf"{_SHELL.pattern}|\$(?P<bare>{_NAME})")
# ${anything}
_EDITOR: Final = re.compile(r"\$\{(?:(?P<prefix>\w+):)?(?P<name>[^{}]*)\}")


def plain(text: str) -> str:
    """For a tool without placeholders."""
    return escape(text)


def shell(text: str) -> str:
    """`${VAR}` and `${VAR:-default}`."""
    return rewrite(text, _SHELL, lambda match: match.group())


def bare_shell(text: str) -> str:
    """`$VAR` as well."""
    return rewrite(
        text, _BARE_SHELL, lambda match: placeholder(match["bare"]) if match["bare"] else match[0]
    )


def claude_code(reading: Reading) -> Change:
    """`${VAR}`, `${VAR:-default}`, and the project's folder by its own variable."""

    def replace(match: re.Match[str]) -> str:
        if match["name"] == "CLAUDE_PROJECT_DIR":
            return placeholder("CLAUDE_PROJECT_DIR", reading.folder)
        return match.group()

    return lambda text: rewrite(text, _SHELL, replace)


def editor(reading: Reading, ask: Callable[[str], str] | None = None) -> Change:
    """Cursor, VS Code and Windsurf: `${env:VAR}`, `${workspaceFolder}`, `${userHome}` and the like.

    `ask(id)` returns the replacement of `${input:id}`. Placeholders that only the editor can
    resolve are kept, and refused when the entry is resolved.
    """
    here = reading.here
    home = placeholder("USERPROFILE" if here.platform == "win32" else "HOME", here.home)
    separator = "\\" if here.platform == "win32" else "/"
    known = {
        "workspaceFolder": escape(reading.folder),
        "workspaceFolderBasename": escape(here.rules.basename(reading.folder)),
        "cwd": escape(reading.folder),
        "userHome": home,
        "pathSeparator": separator,
        "/": separator,
    }

    def replace(match: re.Match[str]) -> str:
        prefix, name = match["prefix"], match["name"]
        if prefix == "input" and ask is not None:
            return ask(name)
        if prefix == "workspaceFolder":  # one of several workspace folders, by name
            return known[prefix]
        return match.group() if prefix else known.get(name, match.group())

    return lambda text: rewrite(text, _EDITOR, replace)
