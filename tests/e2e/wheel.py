"""The wheel that the browser tests run: built from these sources, installed beside no others.

`make wheel` builds it and installs it into an environment of its own under build/wheel, which sees
the locked packages of .venv but not its editable mcplens. This module knows whether that is fresh
(`python -m tests.e2e.wheel` ends with 1 if not), and finishes it (`--finish`).
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / "build" / "wheel" / "environment"
COMMAND = ENVIRONMENT / "bin" / "mcplens"
PYTHON = ENVIRONMENT / "bin" / "python"
_STAMP = ENVIRONMENT / ".digest"
# What a wheel is made of; the page is in src, already built.
_FOLDERS = ("src", "docs/errors")
_FILES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE")


def _sources() -> Iterator[Path]:
    for name in _FILES:
        yield ROOT / name
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _digest() -> str:
    total = hashlib.sha256(sys.version.encode())
    for path in _sources():
        content = path.read_bytes()
        total.update(f"{path.relative_to(ROOT)}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def is_fresh() -> bool:
    """Whether what is installed is what these sources make."""
    return _STAMP.exists() and _STAMP.read_text() == _digest()


def finish() -> None:
    """Show it the packages of this environment; a path in a .pth file has its own .pth ignored."""
    (site_packages,) = ENVIRONMENT.glob("lib/python*/site-packages")
    (site_packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    _STAMP.write_text(_digest())


def surroundings(home: Path) -> dict[str, str]:
    """The variables of a user whose home this is, without a path to the sources."""
    return own_folders(home) | {"NO_COLOR": "1"}


def own_folders(home: Path) -> dict[str, str]:
    """The variables of this process, but for those that lead to folders which others use too."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith(("MCPLENS_", "XDG_"))
    }
    return kept | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }


if __name__ == "__main__":
    if "--finish" in sys.argv:
        finish()
    sys.exit(not is_fresh())
