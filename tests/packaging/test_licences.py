"""What we ship, and what we build and test with, has licences that allow it."""

import importlib.metadata
import json
import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from .test_locks import ROOT, pins

# Anyone may ship what has one of these, as long as its notice comes with it.
SHIPPED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT",
    "MIT-0", "PSF-2.0", "Unlicense", "Zlib",
}  # fmt: skip
# Fonts may be shipped with any program, but not sold by themselves.
FONTS = {"OFL-1.1"}
# Tools and test servers that we start and do not ship. The last is what MCP's own servers say.
USED = SHIPPED | {"MPL-2.0", "SEE LICENSE IN LICENSE"}
# Packages whose metadata have an older way to say it.
SPELLINGS = {
    "Apache 2.0": "Apache-2.0",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",  # as rfc8785's file has it
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",  # as prompt_toolkit's file has it
    "License :: OSI Approved :: MIT License": "MIT",
}


def is_allowed(licence: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression without nested brackets leaves a choice that is allowed."""
    if licence in allowed:
        return True
    choices = licence.strip("()").split(" OR ")
    return any(all(one in allowed for one in choice.split(" AND ")) for choice in choices)


def packages(place: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(
        (ROOT / place / "package-lock.json").read_text()
    )["packages"]
    return {name: package for name, package in found.items() if name}


@pytest.mark.parametrize("place", ["web", "tests/node", "bench/node"])
def test_every_npm_package_has_a_licence_that_allows_its_use(place: str) -> None:
    for name, package in packages(place).items():
        is_shipped = place == "web" and not package.get("dev")
        licence = str(package.get("license"))
        allowed = SHIPPED if is_shipped else USED
        if name.startswith("node_modules/@fontsource-variable/"):
            allowed = FONTS
        assert is_allowed(licence, allowed), f"{name}: {licence}"


def test_every_python_package_that_users_install_has_a_licence_that_allows_it() -> None:
    installed = {str(canonicalize_name(one.name)) for one in importlib.metadata.distributions()}
    missing = sorted(pins("runtime.txt").keys() - installed)
    assert not missing, f"{missing} are locked and not installed: make .venv/dev.stamp"
    for name in pins("runtime.txt"):
        about = importlib.metadata.metadata(name)
        said = [about[key] for key in ("License-Expression", "License") if key in about]
        said += [one for one in about.get_all("Classifier", []) if one.startswith("License ::")]
        licence = said[0] if said else ""
        assert is_allowed(SPELLINGS.get(licence, licence), SHIPPED), f"{name}: {licence}"


@pytest.mark.parametrize(
    ("licence", "is_fine"),
    [
        ("MIT", True),
        ("(MIT OR GPL-3.0-or-later)", True),
        ("(MIT AND Zlib)", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only", False),
        ("UNLICENSED", False),
        ("None", False),
        ("", False),
    ],
)
def test_a_licence_outside_the_list_is_noticed(licence: str, is_fine: bool) -> None:
    assert is_allowed(licence, SHIPPED) is is_fine


def test_the_page_imports_nothing_that_its_notices_lack() -> None:
    shipped = {
        name.rpartition("node_modules/")[2]
        for name, package in packages("web").items()
        if not package.get("dev")
    }
    for file in sorted((ROOT / "web" / "src").rglob("*.ts*")):
        if ".test." in file.name or {"testing", "__mocks__"} & {*file.parts, file.stem}:
            continue
        for name in imported(file):
            assert name in shipped, f"{file.name} imports {name}"


def imported(file: Path) -> set[str]:
    """The packages that a module of the page imports, apart from types alone."""
    found = re.findall(
        r"""^(?:import|export)\b(?! type\b)(?:[^"';]*\bfrom)? ["']((?:@[\w.-]+/)?\w[\w.-]*)""",
        file.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    return set(found)
