"""The help pages of errors, `docs/errors/*.md`, shipped with the package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent
# A link to another page.
_LINK: Final = re.compile(r"\[([^]]+)\]\(([a-z-]+)\.md\)")


def folder() -> Path:
    """Where the pages are: in the package, or beside its sources."""
    shipped = _PACKAGE / "docs" / "errors"
    return shipped if shipped.is_dir() else _PACKAGE.parents[1] / "docs" / "errors"


def names() -> list[str]:
    """The names of all pages, in order."""
    return sorted(path.stem for path in folder().glob("*.md"))


def command_line_text(name: str) -> str | None:
    """The page of that name for a reader at the terminal: what to do there, and no Python."""
    text = text_of(name)
    if text is None:
        return None
    head, *sections = text.split("\n## ")
    by_title = dict(section.split("\n", 1) for section in sections)
    shown: dict[str, str] = {
        title: by_title[title] for title in ("What happened", "Why") if title in by_title
    }
    shown["What to do"] = by_title.get("On the command line", by_title.get("What to do", ""))
    parts = [head, *(f"## {title}\n{body}" for title, body in shown.items())]
    return _LINK.sub(r"\1 (`mcplens help \2`)", "\n".join(parts)).rstrip("\n") + "\n"


def text_of(name: str) -> str | None:
    """The page of that name as Markdown; None if there is none."""
    if name not in names():
        return None
    return (folder() / f"{name}.md").read_text(encoding="utf-8")
