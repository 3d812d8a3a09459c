"""What stands for a value in a configuration: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `{VAR}`.

`$${` stands for a literal `${`, and `${{}` for a literal `{`. A value is resolved once: what a
variable holds is text, whatever it looks like. The stdio transport knows the same grammar without
`{VAR}` (transports/launch.py), so what is resolved here goes there through `escape_dollar`. Pure;
called for our own files, and by the readers of other tools' files, which rewrite their own grammar
into this one.
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
    r"|(?P<unknown>\$\{(?:[^}]{,40}\})?)"  # shown to the user, so not the rest of a secret
    # Only a plain identifier in single braces: {"json": 1} and {{template}} stay as they are.
    rf"|(?<!\{{)\{{(?P<plain>{_NAME})\}}(?!\}})"
)
_SINGLE: Final = re.compile(rf"(?<!\{{)\{{(?={_NAME}\}}(?!\}}))")

# A dollar sign that may stand before a placeholder.
_DOLLAR: Final = "${DOLLAR:-$}"


class PlaceholderProblem(Exception):
    """A placeholder without a value: `variable` is not set, or `placeholder` is none of ours."""

    def __init__(self, text: str, variable: str | None, placeholder: str) -> None:
        super().__init__(text)
        self.text = text
        self.variable = variable
        self.placeholder = placeholder


def resolve(text: str, lookup: Lookup) -> str:
    """A text with every placeholder replaced; as in a shell, a default also stands for empty.

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
        advice += f"; if {match.group()} is no placeholder, write ${{{{}}{name}}}"
    text = f"the environment variable {name!r} is not set; {advice}"
    return PlaceholderProblem(text, name, match.group())


def _unknown(placeholder: str) -> PlaceholderProblem:
    return PlaceholderProblem(
        f"{placeholder!r} is no placeholder that we know; write ${{VAR}}, ${{VAR:-default}} or "
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
    """A text as plain parts, escapes undone, and placeholders, for writing them in another way."""
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
    """The variables that a value asks for."""
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
    """A text that the stdio transport leaves as it is; there only `${` has a meaning."""
    return text.replace("${", "$${")


def rewrite(text: str, known: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> str:
    """Another grammar in ours: what `known` finds is replaced, all else is escaped."""
    parts, at = [], 0
    for match in known.finditer(text):
        before, replaced = escape(text[at : match.start()]), replace(match)
        if before.endswith("$") and replaced.startswith("${"):
            before = before[:-1] + _DOLLAR  # together they would be the escape of ${
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
    """The placeholder of a variable; one with a default that cannot stand in it is left without."""
    if default is None or "}" in default or "${" in default:
        return f"${{{variable}}}"
    return f"${{{variable}:-{default}}}"


def variable_name(text: str) -> str:
    """The environment variable for what another tool asks a person: `api-key` is API_KEY."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
    return f"_{name}" if not name or name[0].isdigit() else name
