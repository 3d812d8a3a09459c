"""Fenced blocks of a Markdown page, with the heading that they stand under."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#+) (?P<title>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    heading: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    content = page.read_text()
    found = []
    for fence in _FENCE.finditer(content):
        before = _without_fences(content[: fence.start()])
        headings = [heading["title"] for heading in _HEADING.finditer(before)]
        line = content.count("\n", 0, fence.start()) + 1
        found.append(Block(fence["language"], fence["text"], line, (headings or [""])[-1]))
    return found


def headings(page: Path) -> list[str]:
    """The headings of a page with their level: `## Why`."""
    text = _without_fences(page.read_text())
    return [f"{heading[1]} {heading['title']}" for heading in _HEADING.finditer(text)]


def sections(page: Path) -> dict[str, str]:
    """The text under each heading of the second level."""
    parts = re.split(r"^## (.+)$", _without_fences(page.read_text()), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _without_fences(text: str) -> str:
    """A comment in a program is no heading."""
    return _FENCE.sub("", text)
