"""Placeholders in a configuration: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `{VAR}`.

`$${` stands for a literal `${`, and `${{}` for a literal `{`. A value is resolved once: the value
of a variable is plain text, whatever it looks like. The stdio transport has the same syntax without
`{VAR}` (transports/launch.py), so resolved values are passed there through `escape_dollar`. Pure;
used for our own files, and by the readers of other tools' files, which rewrite their syntax into
this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

Lookup = Callable[[str], str | None]

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_PLACEHOLDER: Final = re.compile(
    r"(?P<dollar>\$\$\{)"  # an escaped ${
    r"|(?P<brace>\$\{\{\})"  # an escaped {
    rf"|\$\{{(?:env:)?(?P<name>{_NAME})(?::-(?P<default>(?:(?!\$\{{)[^}}])*))?\}}"
    r"|(?P<unknown>\$\{(?:[^}]{,40}\})?)"  # shown to the user, so limited in case a secret follows
    # Only a plain identifier in single braces: {"json": 1} and {{template}} stay as they are.
    rf"|(?<!\{{)\{{(?P<plain>{_NAME})\}}(?!\}})"
)
_SINGLE: Final = re.compile(rf"(?<!\{{)\{{(?={_NAME}\}}(?!\}}))")

# A dollar sign that can precede a placeholder.
_DOLLAR: Final = "${DOLLAR:-$}"


class PlaceholderProblem(Exception):
    """A placeholder without a value: `variable` is not set, or `placeholder` is unknown."""

    def __init__(self, text: str, variable: str | None, placeholder: str) -> None:
        super().__init__(text)
        self.text = text
        self.variable = variable
        self.placeholder = placeholder


def resolve(text: str, lookup: Lookup) -> str:
    """A text with every placeholder replaced; as in a shell, a default also replaces "".

    Raises:
        PlaceholderProblem: a variable without default is not set, or a placeholder is unknown.
    """
    if "{" not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "${"
        if match["brace"]:
            return "{"
        if match["unknown"]:
            raise _unknown(match["unknown"])
        name, default = match["name"] or match["plain"], match["default"]
        value = lookup(name)
        if default is not None:
            return value or str(default)
        if value is None:
            raise _unset(name, match)
        return value

    return _PLACEHOLDER.sub(replacement, text)


def _unset(name: str, match: re.Match[str]) -> PlaceholderProblem:
    advice = f"set it, or give a default: ${{{name}:-default}}"
    if match["plain"]:
        advice += f"; if {match.group()} is not a placeholder, write ${{{{}}{name}}}"
    text = f"the environment variable {name!r} is not set; {advice}"
    return PlaceholderProblem(text, name, match.group())


def _unknown(placeholder: str) -> PlaceholderProblem:
    return PlaceholderProblem(
        f"{placeholder!r} is not a known placeholder; write ${{VAR}}, ${{VAR:-default}} or "
        "${env:VAR}, or $${ for a literal ${",
        None,
        placeholder,
    )


def resolve_all(value: Any, lookup: Lookup) -> Any:
    """Every string in a value resolved; keys stay as they are. Raises as `resolve`."""
    if isinstance(value, str):
        return resolve(value, lookup)
    if isinstance(value, dict):
        return {key: resolve_all(item, lookup) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve_all(item, lookup) for item in value]
    return value


class Piece(msgspec.Struct, frozen=True):
    """A part of a text: plain (`variable` is None), or a placeholder."""

    text: str
    variable: str | None = None
    default: str | None = None


def pieces(text: str) -> list[Piece]:
    """A text split into unescaped plain parts and placeholders, to write it in another syntax."""
    found: list[Piece] = []
    plain, at = "", 0
    for match in _PLACEHOLDER.finditer(text):
        plain += text[at : match.start()]
        at = match.end()
        name = match["name"] or match["plain"]
        if name is None:
            plain += "${" if match["dollar"] else "{" if match["brace"] else match.group()
            continue
        if plain:
            found.append(Piece(plain))
        found.append(Piece(match.group(), name, match["default"]))
        plain = ""
    plain += text[at:]
    return [*found, Piece(plain)] if plain else found


def variables_of(value: Any) -> Iterator[str]:
    """The variables that a value uses."""
    if isinstance(value, str):
        yield from (piece.variable for piece in pieces(value) if piece.variable is not None)
    elif isinstance(value, dict):
        for item in value.values():
            yield from variables_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from variables_of(item)


def escape(text: str) -> str:
    """A text that resolves to itself."""
    # Braces first: what they become begins with ${ itself.
    parts = text.split("${")
    return "$${".join(_SINGLE.sub("${{}", part) for part in parts)


def escape_dollar(text: str) -> str:
    """A text that the stdio transport does not change; only `${` is special there."""
    return text.replace("${", "$${")


def rewrite(text: str, known: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> str:
    """Rewrites another syntax in ours: matches of `known` are replaced, all else is escaped."""
    parts, at = [], 0
    for match in known.finditer(text):
        before, replaced = escape(text[at : match.start()]), replace(match)
        if before.endswith("$") and replaced.startswith("${"):
            before = before[:-1] + _DOLLAR  # together they would read as an escaped ${
        parts += [before, replaced]
        at = match.end()
    return "".join((*parts, escape(text[at:])))


def rewrite_all(value: Any, change: Callable[[str], str]) -> Any:
    """Every string in a value changed; keys stay as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: rewrite_all(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [rewrite_all(item, change) for item in value]
    return value


def placeholder(variable: str, default: str | None = None) -> str:
    """The placeholder of a variable; a default that cannot be written in it is dropped."""
    if default is None or "}" in default or "${" in default:
        return f"${{{variable}}}"
    return f"${{{variable}:-{default}}}"


def variable_name(text: str) -> str:
    """The environment variable for another tool's input: `api-key` is API_KEY."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
    return f"_{name}" if not name or name[0].isdigit() else name
