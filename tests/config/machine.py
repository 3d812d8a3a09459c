"""A made-up machine: folders under tmp_path, an environment of its own, any platform."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcplens.config.environment import Environment


class Machine:
    """Home, a project within it, and the files that a test puts there."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "work" / "project"
        (self.project / ".git").mkdir(parents=True)
        self.environ: dict[str, str] = {"HOME": str(self.home)}

    def here(self, cwd: Path | None = None) -> Environment:
        folder = str(cwd or self.project)
        return Environment(cwd=folder, home=str(self.home), environ=self.environ, platform="linux")

    def write(self, path: str | Path, content: Any) -> Path:
        """Put a file into home; text as it is, anything else as JSON."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return file

    def write_project(self, content: Any) -> Path:
        return self.write(self.project / "mcp.json", content)

    def write_user(self, content: Any) -> Path:
        return self.write(".config/mcplens/mcp.json", content)


def windows(**environ: str) -> Environment:
    home = r"C:\Users\ada"
    return Environment(
        cwd=rf"{home}\project",
        home=home,
        environ={"Path": "x", "AppData": rf"{home}\AppData\Roaming", **environ},
        platform="win32",
    )


def mac(**environ: str) -> Environment:
    return Environment(
        cwd="/Users/ada/project", home="/Users/ada", environ=environ, platform="darwin"
    )


def linux(**environ: str) -> Environment:
    return Environment(cwd="/home/ada/project", home="/home/ada", environ=environ, platform="linux")
