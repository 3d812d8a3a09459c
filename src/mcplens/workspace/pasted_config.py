"""Configuration that people copy from a README: fragments of JSON, and `claude mcp add` commands.

Completes a fragment of JSON to a whole file, and parses a command into an entry. Pure; called by
server_import.py.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

import msgspec

from mcplens.config.files import invalid
from mcplens.config.jsonc import JsonProblem, parse
from mcplens.targets import command_name, host_of

# The fence around a block of code in Markdown.
_FENCE: Final = re.compile(r"\s*```[\w-]*[ \t]*\r?\n(?P<inside>.*?)\r?\n[ \t]*```\s*", re.DOTALL)
# A member of an object that was copied without the braces around it.
_MEMBER: Final = re.compile(
    r'(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"(?:[^"\\\n]|\\.)*+"\s*:'
)
_ADDRESSES: Final = ("url", "httpUrl", "serverUrl")
# Top-level keys of formats that need no completion.
_TOPS: Final = frozenset(("mcpServers", "servers", "mcp", "packages", "remotes"))


def unfenced(text: str) -> str:
    """The text without the Markdown code fence around it."""
    fenced = _FENCE.fullmatch(text)
    return fenced["inside"] if fenced else text


def whole(text: str, folder: str = "") -> str:
    """A fragment of JSON completed to a whole file; any other text as it is.

    A server without a name gets one; `folder` is that of a relative path in it.
    Nothing is inserted between lines, so that error messages name the right line.
    """
    if _MEMBER.match(text):
        text = f"{{{text}\n}}"
    found = _object(text)
    if not found or _TOPS & found.keys():
        return text
    if _is_server(found):
        name = msgspec.json.encode(_name(found, folder)).decode()
        return f'{{"mcpServers": {{{name}: {text}\n}}}}'
    if all(map(_is_server, found.values())):
        return f'{{"mcpServers": {text}\n}}'
    return text


def _object(text: str) -> dict[str, Any] | None:
    try:
        root = parse(text).root
    except JsonProblem:
        return None
    return root.value if root is not None and isinstance(root.value, dict) else None


def _is_server(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(key), str) for key in ("command", *_ADDRESSES)
    )


def _name(server: dict[str, Any], folder: str) -> str:
    if isinstance(server.get("name"), str):
        return str(server["name"])
    if isinstance(server.get("command"), str):
        args = server.get("args")
        words = map(str, args if isinstance(args, list) else ())
        cwd = server.get("cwd")
        given = cwd if isinstance(cwd, str) else ""
        return command_name([server["command"], *words], os.path.join(folder, given))
    return host_of(next(server[key] for key in _ADDRESSES if isinstance(server.get(key), str)))


# -- claude mcp add ------------------------------------------------------------------------------

_OPTIONS: Final = {
    "-t": "transport", "--transport": "transport",
    "-s": "scope", "--scope": "scope",
    "-e": "env", "--env": "env",
    "-H": "headers", "--header": "headers",
}  # fmt: skip


def of_claude(words: list[str]) -> tuple[str, dict[str, Any]] | None:
    """Name and entry from `claude mcp add …` or `add-json …`; None for any other command.

    Raises:
        ConfigurationError: the name or the server is missing.
    """
    if words[:2] != ["claude", "mcp"] or words[2:3] not in (["add"], ["add-json"]):
        return None
    options, plain = _sorted_out(words[3:])
    if len(plain) < 2:
        raise invalid(f"{' '.join(words[:3])}: a name and a server must follow")
    name, first, *rest = plain
    if words[2] == "add-json":
        raw = _object(first)
        if raw is None:
            raise invalid("claude mcp add-json: the server must be a JSON object")
        return name, raw
    if "://" in first:
        entry: dict[str, Any] = {"url": first, "headers": _pairs(options["headers"], ":")}
        kinds = options["transport"]
        return name, entry | ({"transport": kinds[0]} if kinds else {})
    return name, {"command": first, "args": rest, "env": _pairs(options["env"], "=")}


def _sorted_out(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The options with their values, and the other words; after -- there are no options."""
    options: dict[str, list[str]] = {name: [] for name in _OPTIONS.values()}
    plain: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            return options, [*plain, *left]
        name, _, value = word.partition("=")
        if name in _OPTIONS:
            options[_OPTIONS[name]].append(value or next(left, ""))
        else:
            plain.append(word)
    return options, plain


def _pairs(texts: list[str], separator: str) -> dict[str, str]:
    parts = [text.partition(separator) for text in texts]
    return {name.strip(): value.strip() for name, _, value in parts if name.strip()}
