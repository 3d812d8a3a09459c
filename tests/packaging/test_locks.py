"""The locks pin everything, agree with each other, and name no place to download from."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements"
LOCKS = ["runtime.txt", "dev.txt", "sqlite.txt"]


def pins(lock: str) -> dict[str, str]:
    text = (REQUIREMENTS / lock).read_text()
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[[a-z]+\])?==([^\s;]+)", text, flags=re.MULTILINE))


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [Requirement(line) for line in project["dependencies"]]


def wanted_by(source: str) -> list[Requirement]:
    lines = (REQUIREMENTS / source).read_text().splitlines()
    wanted = [line.partition("#")[0].strip() for line in lines]
    return [Requirement(line) for line in wanted if line]


@pytest.mark.parametrize("lock", ["runtime.txt", "dev.txt"])
def test_every_runtime_dependency_is_locked_at_a_version_it_allows(lock: str) -> None:
    locked = pins(lock)
    for requirement in declared():
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)])


def imported() -> Iterator[tuple[str, str]]:
    """The packages that the modules of mcplens import, wherever they do it."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], path.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], path.name


# Packages of extras, each imported by these modules alone.
OF_EXTRAS = {
    ("redis", "redis_store.py"),
    ("opentelemetry", "notification_spans.py"),
    ("opentelemetry", "question_spans.py"),
    ("opentelemetry", "telemetry.py"),
    ("opentelemetry", "telemetry_export.py"),
}

# Types of aiohttp's own interface, which it requires.
OF_AIOHTTP = {"multidict", "yarl"}


def test_every_import_is_of_a_declared_dependency() -> None:
    """What the tests' own packages bring along is not on a user's machine."""
    known = {canonicalize_name(requirement.name) for requirement in declared()} | OF_AIOHTTP
    known.add("pytest")  # only its plugin imports it, which pytest itself loads
    owners = packages_distributions()
    strangers = {
        (name, module)
        for name, module in imported()
        if name not in sys.stdlib_module_names and name != "mcplens"
        if not known & {canonicalize_name(owner) for owner in owners.get(name, [name])}
    }
    assert strangers == OF_EXTRAS


@pytest.mark.parametrize("kind", ["dev", "sqlite"])
def test_every_development_tool_is_locked_at_a_version_it_allows(kind: str) -> None:
    locked = pins(f"{kind}.txt")
    for requirement in wanted_by(f"{kind}.in"):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)])


def test_tests_run_with_the_versions_that_users_run() -> None:
    assert pins("runtime.txt").items() <= pins("dev.txt").items()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash_and_no_line_has_an_address(lock: str) -> None:
    text = (REQUIREMENTS / lock).read_text()
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(lock))
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"^.*(?:://|index-url|find-links).*$", text, flags=re.MULTILINE) == []


@pytest.mark.parametrize("place", ["tests/node", "bench/node", "web"])
def test_the_npm_lock_pins_by_hash_alone(place: str) -> None:
    folder = ROOT / place
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert packages.pop("")["dependencies"] == wanted
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if "integrity" not in package] == []
