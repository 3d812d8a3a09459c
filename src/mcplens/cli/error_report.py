"""Error reports of all commands: failed step, what was expected and received, what to try.

Text on stderr, or with `--json` one object with a stable code.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from mcplens.cli import output
from mcplens.doctor.failed_step import Evidence, failed_step
from mcplens.doctor.failure_steps import Step
from mcplens.errors import InspectorError, ServerError, help_slug

_SHOWN_CHARACTERS: Final = 200
_LABEL_WIDTH: Final = 11


def report(
    error: InspectorError,
    evidence: Evidence,
    *,
    is_json: bool,
    is_quiet: bool,
    is_in_shell: bool = False,
) -> None:
    """Say on stderr what went wrong; in the shell JSON is on stdout, in place of the result."""
    step = failed_step(error, evidence)
    came = _came(error, evidence)
    if is_json:
        text = _as_json(error, evidence, step)
        if is_in_shell:
            output.write_raw(text.encode(errors="backslashreplace"))
        else:
            output.note(text)
        return
    output.note(f"mcplens: {error.code.lower().replace('_', ' ')}", fg="red", bold=True)
    rows = [
        ("server", evidence.server),
        ("failed at", step.name),
        ("expected", step.expected),
        ("came", came),
        *_stderr_rows(evidence, is_shown_above=not is_quiet),
        ("try", step.hint),
        ("help", f"mcplens help {help_slug(error.code)}"),
    ]
    for label, text in rows:
        if text:
            _tell(label, text)


def _tell(label: str, text: str) -> None:
    """Print a labelled text; below its label on a narrow terminal."""
    if sys.stderr.isatty() and output.is_narrow():
        output.note(f"  {label}", dim=True)
        for line in output.fitted(text, sys.stderr, 4):
            output.note(f"    {line}")
        return
    indent = _LABEL_WIDTH + 2
    lines = output.fitted(text, sys.stderr, indent)
    shown = ("\n" + " " * indent).join(lines)
    output.note(output.style(f"  {label:<{_LABEL_WIDTH}}", dim=True) + shown)


def usage_as_json(message: str) -> str:
    """A wrong command line in the shape that every error has with `--json`."""
    error = {
        "code": "USAGE",
        "message": message,
        "category": "usage",
        "retryable": False,
        "details": {},
    }
    return _json({"error": error})


def _came(error: InspectorError, evidence: Evidence) -> str:
    """The message without what other lines of the report say."""
    text = error.message
    if error.code == "CONNECTION_TIMEOUT" and not evidence.is_remote:
        if evidence.strays:
            text = text.partition("; the server printed")[0]
            return f"{', '.join(map(repr, _stray_lines(error, evidence)))} on stdout; {text}"
        return f"nothing on stdout; {text}"
    if error.code == "COMMAND_NOT_FOUND":
        text = text.partition("; install it")[0]
    if error.code == "SERVER_EXITED" and evidence.stderr:
        text = text.partition("; its last line on stderr:")[0]
    text = text.partition("; enforce_capabilities=False")[0]  # Python's word for --force
    attempts = error.details.get("attempts")
    if isinstance(attempts, int) and attempts > 1:
        text += f" ({attempts} attempts)"
    if isinstance(error, ServerError) and error.data is not None:
        text += f"\n{output.pretty(error.data)}"
    return text


def _stray_lines(error: InspectorError, evidence: Evidence) -> list[str]:
    """What the server printed to stdout; the error has the first lines."""
    quoted = error.details.get("stdout")
    if isinstance(quoted, list) and quoted:
        return [str(line) for line in quoted]
    stray = evidence.strays[0].raw.decode("utf-8", "backslashreplace").strip()
    return [stray[:_SHOWN_CHARACTERS]]


def _stderr_rows(evidence: Evidence, *, is_shown_above: bool) -> list[tuple[str, str]]:
    if not evidence.stderr:
        return []
    if is_shown_above:
        return [("stderr", "see the lines above")]
    return [("stderr", line) for line in evidence.stderr]


def _as_json(error: InspectorError, evidence: Evidence, step: Step) -> str:
    error.with_details(server=evidence.server)
    if evidence.stderr:
        error.with_details(stderr=list(evidence.stderr))
    if evidence.strays:
        error.with_details(stray=evidence.strays[0].raw[:_SHOWN_CHARACTERS])
    value = error.to_dict()
    value["message"] = str(value["message"]).replace("; enforce_capabilities=False", "; --force")
    told = {"failedAt": step.name, "expected": step.expected, "try": step.hint}
    told["help"] = f"mcplens help {help_slug(error.code)}"
    return _json({"error": value | {key: text for key, text in told.items() if text}})


def _json(value: dict[str, Any]) -> str:
    import json

    return output.visible_json(json.dumps(value, ensure_ascii=False, default=str))
