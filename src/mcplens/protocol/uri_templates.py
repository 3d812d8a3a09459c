"""URI templates (RFC 6570, all levels): their variables, and their expansion.

As the page does it (`uriTemplate.ts`). Called by the command line for resource templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

Value: TypeAlias = str | list[str]

_EXPRESSION: Final = re.compile(r"\{([^{}]+)\}")
_VARIABLE: Final = re.compile(r"([^*:]+)(\*|:[0-9]{1,4})?")
_UNRESERVED: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)
_RESERVED: Final = _UNRESERVED | frozenset(b":/?#[]@!$&'()*+,;=")
_ESCAPED: Final = re.compile(r"(%[0-9A-Fa-f]{2})")


class _Style(NamedTuple):
    """RFC 6570, appendix A: how the expressions of an operator are written."""

    first: str = ""
    separator: str = ","
    is_named: bool = False
    if_empty: str = ""
    keeps_reserved: bool = False


_STYLES: Final = {
    "+": _Style(keeps_reserved=True),
    "#": _Style("#", keeps_reserved=True),
    ".": _Style(".", "."),
    "/": _Style("/", "/"),
    ";": _Style(";", ";", True),
    "?": _Style("?", "&", True, "="),
    "&": _Style("&", "&", True, "="),
}


class Variable(NamedTuple):
    """A variable of a template; one in a query may be left out."""

    name: str
    is_optional: bool


class _Part(NamedTuple):
    name: str
    explodes: bool
    most: int | None


def variables_of(template: str) -> list[Variable]:
    """The variables in their order, each once."""
    found: dict[str, bool] = {}
    for match in _EXPRESSION.finditer(template):
        operator, parts = _parse(match[1])
        for part in parts:
            found[part.name] = found.get(part.name, True) and operator in ("?", "&")
    return [Variable(name, is_optional) for name, is_optional in found.items()]


def expand(template: str, values: Mapping[str, Value]) -> str:
    """The URI; a variable without a value is left out."""
    return _EXPRESSION.sub(lambda match: _expanded(match[1], values), template)


def _parse(inside: str) -> tuple[str, list[_Part]]:
    operator = inside[0] if inside[0] in _STYLES else ""
    parts = []
    for text in inside[len(operator) :].split(","):
        match = _VARIABLE.fullmatch(text)
        name, mark = (match[1], match[2] or "") if match else (text, "")
        if name:
            most = int(mark[1:]) if mark.startswith(":") else None
            parts.append(_Part(name, mark == "*", most))
    return operator, parts


def _expanded(inside: str, values: Mapping[str, Value]) -> str:
    operator, parts = _parse(inside)
    style = _STYLES.get(operator, _Style())
    texts = [text for part in parts for text in _texts(part, values.get(part.name), style)]
    return style.first + style.separator.join(texts) if texts else ""


def _texts(part: _Part, value: Value | None, style: _Style) -> Iterator[str]:
    if value is None or value == []:
        return
    given = value if isinstance(value, list) else [value[: part.most]]
    encoded = [_encoded(text, keeps_reserved=style.keeps_reserved) for text in given]
    for text in encoded if part.explodes else [",".join(encoded)]:
        if not style.is_named:
            yield text
        else:
            yield f"{part.name}={text}" if text else f"{part.name}{style.if_empty}"


def _encoded(text: str, *, keeps_reserved: bool) -> str:
    if not keeps_reserved:
        return _percent_encoded(text, _UNRESERVED)
    # What is percent-encoded already stays as it is (RFC 6570, 3.2.3).
    pieces = _ESCAPED.split(text)
    pieces[::2] = [_percent_encoded(piece, _RESERVED) for piece in pieces[::2]]
    return "".join(pieces)


def _percent_encoded(text: str, kept: frozenset[int]) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in data)
