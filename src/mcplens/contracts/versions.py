"""The step of a version that changes mean, after Semantic Versioning. Called by the reports."""

from __future__ import annotations

import re
from typing import Final, Literal

from mcplens.contracts.change_rules import ChangeClass

Step = Literal["major", "minor", "patch", "none"]
_STEPS: Final[dict[ChangeClass | None, Step]] = {
    "breaking": "major", "risky": "minor", "additive": "minor", "cosmetic": "patch", None: "none",
}  # fmt: skip
_VERSION: Final = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?")


def version_step(verdict: ChangeClass | None, version: str | None) -> Step:
    """The step for the worst class; below 1.0 a breaking change is a minor version."""
    step = _STEPS[verdict]
    numbers = _numbers(version)
    return "minor" if step == "major" and numbers is not None and numbers[0] == 0 else step


def next_version(verdict: ChangeClass | None, version: str | None) -> str | None:
    """The first version that may follow; None if the version is not MAJOR.MINOR.PATCH."""
    numbers = _numbers(version)
    step = version_step(verdict, version)
    if numbers is None or step == "none":
        return None
    major, minor, patch = numbers
    if step == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if step == "minor" else f"{major}.{minor}.{patch + 1}"


def is_enough(needed: str, version: str | None) -> bool:
    """Whether a version is at least the one that is needed."""
    numbers, least = _numbers(version), _numbers(needed)
    return numbers is not None and least is not None and numbers >= least


def _numbers(version: str | None) -> tuple[int, int, int] | None:
    match = _VERSION.fullmatch(version or "")
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
