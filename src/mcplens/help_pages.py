"""The help pages of errors, `docs/errors/*.md`, shipped with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def folder() -> Path:
    """Where the pages are: in the package, or beside its sources."""
    shipped = _PACKAGE / "docs" / "errors"
    return shipped if shipped.is_dir() else _PACKAGE.parents[1] / "docs" / "errors"


def names() -> list[str]:
    """The names of all pages, in order."""
    return sorted(path.stem for path in folder().glob("*.md"))


def text_of(name: str) -> str | None:
    """The page of that name as Markdown; None if there is none."""
    if name not in names():
        return None
    return (folder() / f"{name}.md").read_text(encoding="utf-8")
