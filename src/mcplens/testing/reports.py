"""Reports of a test run: JUnit, JSON lines, Markdown for GitHub. Pure; `ReportFile` writes them.

Outcomes hold no secrets, and what they quote is masked once more here, since a secret may have
become known only later.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any, Final

from mcplens.config.files import read_text, replace_text
from mcplens.errors import InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.testing.outcomes import FileOutcome, StepOutcome, totals

# What XML 1.0 cannot hold, not even escaped.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# GitHub shows at most 1 MiB.
_MOST_SUMMARY: Final = 900_000
_ENDED: Final = "the run was ended while this test ran"

Render = Callable[[list[FileOutcome]], str]


def evidence(file: FileOutcome, step: StepOutcome) -> list[str]:
    """Everything about a failure, as lines: problems, messages, stderr, how to look closer."""
    lines = list(step.problems)
    if step.status == "running":
        lines.append(_ENDED)
    lines += step.frames
    lines += [f"stderr: {line}" for line in step.stderr]
    if file.open_command:
        lines.append(f"open it: {file.open_command}")
    return [known_secrets.mask_text(line) for line in lines]


# -- JUnit ---------------------------------------------------------------------------------------


def junit(files: list[FileOutcome]) -> str:
    """JUnit XML: a suite for each file, a case for each test."""
    root = ElementTree.Element("testsuites", name="mcplens")
    for file in files:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_xml(file.path),
            tests=str(len(file.steps)),
            failures=str(file.count("failed")),
            errors=str(file.count("running")),
            skipped=str(file.count("skipped", "waiting")),
            time=f"{file.elapsed_s:.3f}",
        )
        for step in file.steps:
            _case(suite, file, step)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, file: FileOutcome, step: StepOutcome) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_xml(file.path),
        name=_xml(step.name),
        file=_xml(file.path),
        line=str(step.line),
        time=f"{step.elapsed_s or 0:.3f}",
    )
    if step.status in ("failed", "running"):
        kind = "failure" if step.status == "failed" else "error"
        first = known_secrets.mask_text(step.problems[0]) if step.problems else _ENDED
        bad = ElementTree.SubElement(case, kind, message=_xml(first))
        bad.text = _xml("\n".join(evidence(file, step)))
    elif step.status in ("skipped", "waiting"):
        ElementTree.SubElement(case, "skipped", message=_xml(step.reason or "not run"))
    elif step.name in file.flaky:
        told = ElementTree.SubElement(case, "system-out")
        told.text = f"passed in attempt {file.attempt}"


def _xml(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


# -- JSON ----------------------------------------------------------------------------------------


def as_json(file: FileOutcome, step: StepOutcome) -> dict[str, Any]:
    """One test as an object."""
    found: dict[str, Any] = {
        "file": file.path,
        "line": step.line,
        "name": step.name,
        "what": step.what,
        "status": step.status,
        "elapsed_s": step.elapsed_s,
        "attempt": file.attempt,
        "is_flaky": step.status == "passed" and step.name in file.flaky,
    }
    if step.status == "failed":
        found |= {"problems": step.problems, "frames": step.frames, "stderr": step.stderr}
        found |= {"trace": file.trace, "open_command": file.open_command}
    if step.reason:
        found["reason"] = step.reason
    return {key: known_secrets.mask_value(value) for key, value in found.items()}


# -- Markdown ------------------------------------------------------------------------------------


def markdown(files: list[FileOutcome]) -> str:
    """The summary of a job on GitHub: a table, and the evidence of each failure."""
    counted = totals(files)
    sign = "❌" if counted.failed else "✅"
    lines = [f"### {sign} mcplens test: {counted}", "", "| File | Test | Result | Time |"]
    lines.append("|---|---|---|---|")
    failures: list[str] = []
    for file in files:
        for step in file.steps:
            result = {"waiting": "not run", "running": "ended"}.get(step.status, step.status)
            if step.status == "passed" and step.name in file.flaky:
                result = f"passed in attempt {file.attempt}"
            took = "" if step.elapsed_s is None else f"{step.elapsed_s * 1000:.0f} ms"
            lines.append(f"| {_cell(file.path)} | {_cell(step.name)} | {result} | {took} |")
            if step.status in ("failed", "running"):
                failures += _failure(file, step)
    return _shortened("\n".join([*lines, "", *failures]) + "\n")


def _failure(file: FileOutcome, step: StepOutcome) -> list[str]:
    text = "\n".join(evidence(file, step)).replace("```", "`` `")
    title = f"{_cell(file.path)}: {_cell(step.name)}"
    return [f"<details><summary>{title}</summary>", "", "```", text, "```", "", "</details>", ""]


def _cell(text: str) -> str:
    """Text of a file in a table: nothing in it is Markdown or HTML."""
    for old, new in (("&", "&amp;"), ("<", "&lt;"), ("|", "&#124;"), ("\n", " "), ("`", "&#96;")):
        text = text.replace(old, new)
    return known_secrets.mask_text(text)


def _shortened(text: str) -> str:
    return text if len(text) < _MOST_SUMMARY else text[:_MOST_SUMMARY] + "\n…\n"


class ReportFile:
    """A report that is written again and again, so that it is there when the run is killed."""

    def __init__(self, path: str, render: Render, *, appends: bool = False) -> None:
        self.path = path
        self._render = render
        self._before = read_text(path) if appends and os.path.isfile(path) else ""
        self._written = ""

    def __repr__(self) -> str:
        return f"<ReportFile {self.path}, {len(self._written)} characters>"

    def write(self, files: list[FileOutcome]) -> str | None:
        """Write where the run stands; what went wrong, if it did."""
        text = self._before + self._render(files)
        if text == self._written:
            return None
        try:
            replace_text(self.path, text)
        except InspectorError as problem:
            return problem.message
        self._written = text
        return None
