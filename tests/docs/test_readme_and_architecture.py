"""README and ARCHITECTURE speak of what is there."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks

PACKAGE = ROOT / "src" / "mcplens"
README = ROOT / "README.md"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()


def described() -> set[str]:
    """The modules that ARCHITECTURE names, under the folder that was named last before them."""
    text = ARCHITECTURE[ARCHITECTURE.index("## The parts") : ARCHITECTURE.index("## Where a call")]
    found, folder = set(), ""
    for name in re.findall(r"`([a-z_/]+/|[a-z_]+\.py)`", text):
        if name.endswith("/"):
            folder = name.removeprefix("src/mcplens/")
        else:
            found.add(folder + name)
    return found


def test_every_module_is_in_the_architecture_and_nothing_else_is() -> None:
    modules = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")}
    packages = {name for name in modules if name.endswith("/__init__.py")}
    assert described() == modules - packages


@pytest.mark.parametrize(
    "package", sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
)
def test_every_package_is_in_the_architecture(package: str) -> None:
    assert f"`{package}/` " in ARCHITECTURE


def test_the_layers_in_the_architecture_are_those_that_are_enforced() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract, *_) = project["tool"]["importlinter"]["contracts"]
    drawn = [" | ".join(part.split(", ")) for part in _drawn_layers().split("  ▸  ")]
    assert drawn == contract["layers"]


def _drawn_layers() -> str:
    return next(line for line in ARCHITECTURE.splitlines() if "  ▸  " in line)


def test_the_demo_without_a_browser_prints_what_the_readme_says() -> None:
    (shown,) = (block for block in blocks(README) if block.text.startswith("mcplens-demo"))
    script = "from mcplens.cli.main import main; main()"
    command = [sys.executable, "-c", script, "demo", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    head, _, tail = shown.text.partition("…")
    assert done.stdout.startswith(head)
    assert done.stdout.endswith(tail)


def test_the_two_commands_of_the_readme_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("run", "test", "help"):
        assert f"make {target}" in README.read_text()
        assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE)
    assert "@$(BIN)/mcplens demo" in makefile


PAGE = ROOT / "web" / "src"


def page_folders() -> dict[str, set[str]]:
    """The folders of the page that ARCHITECTURE names, and from which others each may import."""
    text = ARCHITECTURE[ARCHITECTURE.index("## The page") :]
    rows = re.findall(r"^\| `([a-z]+)/` \| .* \| ([^|]*) \|$", text, re.MULTILINE)
    folders: dict[str, set[str]] = {}
    for folder, imports in rows:
        named = set(re.findall(r"`([a-z]+)/`", imports))
        folders[folder] = set(folders) if imports == "all above" else named
    return folders


def test_every_folder_of_the_page_is_in_the_architecture() -> None:
    assert set(page_folders()) == {path.name for path in PAGE.iterdir() if path.is_dir()}


def imported_folders(folder: Path, within: Path) -> set[str]:
    """The other folders that the sources of one import from; its tests may use anything."""
    found = set()
    for path in folder.rglob("*.ts*"):
        if ".test." in path.name or path.name == "testing.tsx":
            continue
        for name in re.findall(r'(?:from|import)\s*\(?\s*"(\.[^"]+)"', path.read_text()):
            target = (path.parent / name).resolve()
            if within in target.parents and target.parent != within:
                found.add(target.relative_to(within).parts[0])
    return found - {folder.name}


@pytest.mark.parametrize("folder", page_folders())
def test_a_folder_of_the_page_imports_only_what_the_architecture_says(folder: str) -> None:
    assert imported_folders(PAGE / folder, PAGE) <= page_folders()[folder]


SCREENS = [path for path in (PAGE / "screens").iterdir() if path.is_dir()]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda path: path.name)
def test_no_screen_imports_another(screen: Path) -> None:
    assert imported_folders(screen, PAGE / "screens") == set()


def test_every_file_that_contributing_names_is_there() -> None:
    named = set(re.findall(r"`([\w./]+/[\w./]*)`", (ROOT / "CONTRIBUTING.md").read_text()))
    installed = {name for name in named if "node_modules" in name or "static" in name}
    places = (ROOT, PACKAGE)
    missing = {name for name in named if not any((place / name).exists() for place in places)}
    assert missing <= installed
