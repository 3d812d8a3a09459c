"""Resource templates (RFC 6570), with completion for their variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from mcplens.demo.registry import Json

Values = dict[str, str]

NAMES = ("Ada", "Alan", "Barbara", "Edsger", "Grace", "Katherine", "Linus", "Margaret")
FILES = {"docs": ("guide.md", "index.md"), "src": ("app.py", "main.py", "test.py")}


@dataclass(frozen=True)
class DemoTemplate:
    definition: Json
    pattern: re.Pattern[str]
    read: Callable[[Values], str]
    # variable -> the values that may be completed, given those of the other variables
    choices: dict[str, Callable[[Values], tuple[str, ...]]] = field(default_factory=dict)

    def match(self, uri: str) -> Values | None:
        """The variables in a URI of this template."""
        found = self.pattern.fullmatch(uri)
        if found is None:
            return None
        groups = found.groupdict(default="")
        query = dict(parse_qsl(groups.pop("_query", "").removeprefix("?")))
        return {name: unquote(value) for name, value in groups.items()} | query


TEMPLATES = [
    DemoTemplate(
        {
            "uriTemplate": "demo://greeting/{name}",
            "name": "greeting",
            "title": "A greeting",
            "mimeType": "text/plain",
            "description": "Greets whom you name; the name can be completed.",
        },
        re.compile(r"demo://greeting/(?P<name>[^/?#]+)"),
        lambda values: f"Hello, {values['name']}!",
        {"name": lambda _: NAMES},
    ),
    DemoTemplate(
        {
            "uriTemplate": "demo://files/{folder}/{file}",
            "name": "files",
            "mimeType": "text/plain",
            "description": "Two variables: the completions of file depend on the folder.",
            "annotations": {"audience": ["user"], "priority": 0.2},
        },
        re.compile(r"demo://files/(?P<folder>[^/?#]+)/(?P<file>[^/?#]+)"),
        lambda values: f"the contents of {values['folder']}/{values['file']}",
        {
            "folder": lambda _: tuple(FILES),
            "file": lambda given: FILES.get(given.get("folder", ""), ()),
        },
    ),
    DemoTemplate(
        {
            "uriTemplate": "demo://search{?query,limit}",
            "name": "search",
            "mimeType": "application/json",
            "description": "Variables in the query of the URI, both optional.",
        },
        re.compile(r"demo://search(?P<_query>\?[^#]*)?"),
        lambda values: (
            f'{{"query":"{values.get("query", "")}","limit":{int(values.get("limit", 10))}}}'
        ),
    ),
]
