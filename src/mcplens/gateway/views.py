"""What a view shows: whether a server, tool, prompt or resource is visible, and why not. Pure.

Patterns are globs (`*`, `?`, `[…]`), compared case by case. For tools and prompts a pattern is
`server:name` or a name of any server; for resources it is a URI. What is denied is hidden whatever
is allowed. Called by catalog.py and router.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from posixpath import normpath
from typing import Any, Final, Literal
from urllib.parse import unquote

from mcplens.config.views import ANNOTATION_DEFAULTS, Globs, View

NamedKind = Literal["tools", "prompts"]

EVERYTHING: Final = View()


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _matches(pattern: str, text: str) -> bool:
    return _compiled(pattern).match(text) is not None


def _names_it(patterns: tuple[str, ...], server_id: str, name: str) -> str | None:
    """The first pattern that means this tool or prompt.

    The part before the colon is compared with the server alone: a tool that is itself called
    `git:status` is not taken for the tool `status` of the server `git`.
    """
    for pattern in patterns:
        server, colon, rest = pattern.partition(":")
        if colon:
            if _matches(server, server_id) and _matches(rest, name):
                return pattern
        elif _matches(pattern, name):
            return pattern
    return None


def _first_match(patterns: tuple[str, ...], text: str) -> str | None:
    return next((pattern for pattern in patterns if _matches(pattern, text)), None)


def why_server_hidden(view: View, server_id: str) -> str | None:
    """Why nothing of a server is shown; None if it is."""
    return _judge(
        _first_match(view.deny.servers, server_id),
        view.allow.servers,
        _first_match(view.allow.servers, server_id),
        "servers",
    )


def why_hidden(view: View, kind: NamedKind, server_id: str, name: str) -> str | None:
    """Why a tool or prompt is not shown; None if it is."""
    denied, allowed = _patterns(view.deny, kind), _patterns(view.allow, kind)
    return why_server_hidden(view, server_id) or _judge(
        _names_it(denied, server_id, name),
        allowed,
        _names_it(allowed, server_id, name),
        kind,
    )


def why_tool_hidden(
    view: View, server_id: str, name: str, annotations: Mapping[str, Any] | None
) -> str | None:
    """Why a tool is not shown; None if it is. A hint that is missing has the value of the spec."""
    reason = why_hidden(view, "tools", server_id, name)
    if reason is not None:
        return reason
    given = annotations or {}
    for hint, unwanted in view.hide_annotated.items():
        value = given.get(hint)
        if not isinstance(value, bool):
            value = ANNOTATION_DEFAULTS[hint]
        if hint == "destructiveHint" and given.get("readOnlyHint") is True:
            value = False  # the hint means something only for tools that change anything
        if value is unwanted:
            return f"hideAnnotated.{hint} is {'true' if unwanted else 'false'}"
    return None


def why_resource_hidden(view: View, server_id: str, uri: str) -> str | None:
    """Why a resource or a template is not shown; None if it is.

    Another spelling of a URI (`%65tc`, `a/../etc`) may mean the same to its server. So a URI is
    denied if either spelling is, and allowed if both are.
    """
    reason = why_server_hidden(view, server_id)
    for spelling in dict.fromkeys((uri, plain_uri(uri))):
        reason = reason or _judge(
            _first_match(view.deny.resources, spelling),
            view.allow.resources,
            _first_match(view.allow.resources, spelling),
            "resources",
        )
    return reason


def plain_uri(uri: str) -> str:
    """A URI with nothing percent-encoded, no dot segments, and its scheme in lower case."""
    scheme, colon, rest = unquote(uri).partition(":")
    if not colon:
        return unquote(uri)
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    path, mark, query = rest.partition("?")
    tail = "/" if path.endswith("/") and path.strip("/") else ""
    inner = normpath("/" + path.strip("/")).strip("/") if path.strip("/") else ""
    return f"{scheme.lower()}:{slashes}{inner}{tail if inner else ''}{mark}{query}"


def _patterns(globs: Globs, kind: NamedKind) -> tuple[str, ...]:
    return globs.tools if kind == "tools" else globs.prompts


def _judge(
    denied_by: str | None, allowed: tuple[str, ...], allowed_by: str | None, kind: str
) -> str | None:
    if denied_by is not None:
        return f"deny.{kind} has {denied_by!r}"
    if allowed and allowed_by is None:
        return f"allow.{kind} does not name it"
    return None
