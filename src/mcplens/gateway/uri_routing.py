"""Which server a resource URI belongs to: by exact URI, by template, else by its scheme. Pure.

Templates come from servers, which may be hostile: matching takes linear time, whatever they write.
Called by catalog.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
# What a variable of each operator cannot contain (RFC 6570): a simple one stays in its segment.
_STOPS: Final = {"": "/?#", ".": "/?#", ";": "/?#", "/": "?#", "?": "#", "&": "#", "+": "", "#": ""}


class OwnedTemplate(NamedTuple):
    """A URI template, and the server that offers it."""

    server_id: str
    template: str


class _Gap(NamedTuple):
    """A variable part, and the text that follows it."""

    stops: str
    literal: str


class UriPattern:
    """A URI template as something that a URI matches or not."""

    def __init__(self, template: str) -> None:
        parts = _EXPRESSION.split(template)
        self.template = template
        self._first = parts[0]
        self._gaps = [
            _Gap(_STOPS.get(inside[:1], _STOPS[""]), literal)
            for inside, literal in zip(parts[1::2], parts[2::2], strict=True)
        ]
        self.literal_length = len(self._first) + sum(len(gap.literal) for gap in self._gaps)

    def __repr__(self) -> str:
        return f"<UriPattern {self.template!r}>"

    def matches(self, uri: str) -> bool:
        """Whether the template can expand to this URI; each text is taken where it first occurs."""
        if not self._gaps:
            return uri == self._first
        if not uri.startswith(self._first):
            return False
        at = len(self._first)
        for gap in self._gaps[:-1]:
            found = uri.find(gap.literal, at)
            if found < 0 or _has_any(uri, at, found, gap.stops):
                return False
            at = found + len(gap.literal)
        last = self._gaps[-1]
        end = len(uri) - len(last.literal)
        return end >= at and uri.endswith(last.literal) and not _has_any(uri, at, end, last.stops)


def _has_any(text: str, start: int, end: int, characters: str) -> bool:
    return any(text.find(character, start, end) >= 0 for character in characters)


class UriRoutes:
    """The owners of URIs; of two servers with the same one, the first that was added.

    Of servers that are `closed`, only what they list can be read.
    """

    def __init__(
        self,
        resources: Iterable[tuple[str, str]],
        templates: Iterable[OwnedTemplate],
        closed: Collection[str] = (),
    ) -> None:
        self._exact: dict[str, str] = {}
        for server_id, uri in resources:
            self._exact.setdefault(uri, server_id)
        self._templates: dict[str, str] = {}
        patterns: list[tuple[UriPattern, str]] = []
        for server_id, template in templates:
            if template not in self._templates:
                self._templates[template] = server_id
                patterns.append((UriPattern(template), server_id))
        # The template with the most fixed text is the most specific one.
        patterns.sort(key=lambda pair: -pair[0].literal_length)
        self._patterns: Sequence[tuple[UriPattern, str]] = patterns
        schemes = _owners_of_schemes([*self._exact.items(), *self._templates.items()])
        self._schemes = {name: owner for name, owner in schemes.items() if owner not in closed}

    def __repr__(self) -> str:
        return f"<UriRoutes of {len(self._exact)} resources, {len(self._patterns)} templates>"

    def owner_of(self, uri: str) -> str | None:
        """The server that a URI is read from; None if no server offers anything like it."""
        owner = self._exact.get(uri)
        if owner is not None:
            return owner
        for pattern, server_id in self._patterns:
            if pattern.matches(uri):
                return server_id
        return self._schemes.get(_scheme(uri))

    def owner_of_template(self, template: str) -> str | None:
        """The server that offers this template (or, for completions, this very resource)."""
        return self._templates.get(template) or self._exact.get(template)


def _scheme(uri: str) -> str:
    scheme, colon, _ = uri.partition(":")
    return scheme.lower() if colon else ""


def _owners_of_schemes(owned: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Schemes that a single server uses: its unlisted resources are its own too."""
    found: dict[str, set[str]] = {}
    for uri, server_id in owned:
        found.setdefault(_scheme(uri), set()).add(server_id)
    return {scheme: next(iter(ids)) for scheme, ids in found.items() if len(ids) == 1 and scheme}
