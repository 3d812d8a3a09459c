"""What would help after a failed check: one sentence, and one command to run next. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from urllib.parse import urlsplit

from mcplens.doctor.checks import Check, Examined
from mcplens.doctor.failed_step import Evidence, announces_sign_in, failed_step, listening_at
from mcplens.doctor.failure_steps import STEPS
from mcplens.errors import HttpError, InspectorError, help_slug
from mcplens.targets import command_of

# How to get a program that servers are often run with.
_INSTALLS = {
    "npx": "https://nodejs.org",
    "node": "https://nodejs.org",
    "uvx": "https://docs.astral.sh/uv",
    "uv": "https://docs.astral.sh/uv",
    "docker": "https://docs.docker.com/get-docker",
    "bunx": "https://bun.sh",
    "deno": "https://deno.com",
}
_ENDPOINTS = ("/mcp", "/sse")
_WRONG_PLACE = (200, 404, 405, 406)


def advise(error: InspectorError, evidence: Evidence, examined: Examined) -> tuple[str, str]:
    """The sentence and the command for an error."""
    hint = failed_step(error, evidence).hint.partition("\n")[0]
    if hint.startswith("mcplens "):  # a command, which is given by itself
        hint = STEPS[error.code].hint
    hint = str(error.details.get("hint") or hint)
    program = _program(examined)
    if error.code == "COMMAND_NOT_FOUND" and program in _INSTALLS:
        hint = f"install {program} ({_INSTALLS[program]}), or give its full path"
    sentence = hint or f"read what {error.code} means"
    return _as_sentence(sentence), _command(error, evidence, examined)


def _as_sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(("…", ".")) else ".")


def _command(error: InspectorError, evidence: Evidence, examined: Examined) -> str:
    doctor = f"mcplens doctor {examined.words}"
    if examined.url is not None:
        return _for_url(error, examined.url, examined.words) or _more(error)
    match error.code:
        case "COMMAND_NOT_FOUND":
            return f"command -v {shlex.quote(_program(examined))}"
        case "SERVER_EXITED":
            return _by_hand(examined)
        case "CONNECTION_TIMEOUT" if url := listening_at(evidence):
            return f"mcplens doctor {shlex.quote(url)}"
        case "CONNECTION_TIMEOUT" if evidence.strays:
            return f"{_by_hand(examined)} </dev/null 2>/dev/null"
        case "CONNECTION_TIMEOUT" if "--" in examined.words.split():
            return f"mcplens doctor --connect-timeout 60 {examined.words}"
        case "CONNECTION_TIMEOUT":
            return f"{doctor} --connect-timeout 60"
    return _more(error)


def _for_url(error: InspectorError, url: str, words: str) -> str | None:
    parts = urlsplit(url)
    quoted = shlex.quote(words)
    match error.code:
        case "AUTHENTICATION_FAILED" if not announces_sign_in(error):
            return f"mcplens doctor {quoted} -H 'Authorization: Bearer TOKEN'"
        case "AUTHENTICATION_FAILED":
            return f"mcplens auth login {quoted}"
        case "SIGN_IN_FAILED":
            return f"mcplens auth debug {quoted}"
        case "HOST_NOT_FOUND":
            return f"nslookup {shlex.quote(parts.hostname or '')}"
        case "CONNECTION_REFUSED" | "CONNECTION_RESET" | "CONNECTION_TIMEOUT":
            return f"curl -v {shlex.quote(parts._replace(query='', fragment='').geturl())}"
        case "TLS_FAILED" if "WRONG_VERSION_NUMBER" in str(error.details.get("original_error")):
            return f"mcplens doctor {shlex.quote(url.replace('s://', '://', 1))}"
        case "TLS_FAILED":
            return f"mcplens doctor {quoted} --ca-file CA.pem"
        case "CONNECTION_FAILED" if host := error.details.get("without_proxy"):
            return f"NO_PROXY={shlex.quote(host)} mcplens doctor {quoted}"
    is_elsewhere = isinstance(error, HttpError) and error.status in _WRONG_PLACE
    if is_elsewhere and not parts.path.rstrip("/").endswith(_ENDPOINTS):
        place = parts._replace(path=parts.path.rstrip("/") + "/mcp").geturl()
        return f"mcplens doctor {shlex.quote(place)}"
    return None


def configuration_advice(error: InspectorError, words: str) -> tuple[str, str]:
    """The sentence and the command for a configuration that cannot be used."""
    variable = error.details.get("variable")
    if variable:
        return f"Set {variable}, or give it a default.", f"export {variable}=…"
    return "Fix the configuration as described above.", "mcplens servers list"


# What to do about a warning, by the name of its check.
_REMEDIES = {
    "framing": "Have the server log to stderr: stdout is for messages alone.",
    "ping": "Have the server answer ping with an empty result.",
    "exit": "Have the server end with exit code 0 when its stdin is closed.",
}


def conclusion(checks: Sequence[Check], words: str) -> tuple[str, str]:
    """For a server that could be connected to."""
    bad = [check for check in checks if check.state == "failed"]
    if bad:
        names = ", ".join(check.title.lower() for check in bad)
        return f"It connects, and these checks failed: {names}.", f"mcplens watch {words}"
    warnings = [check for check in checks if check.state == "warning"]
    command = f"mcplens {words}"
    if warnings:
        count = "a warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        titles = ", ".join(check.title.lower() for check in warnings)
        remedies = [_REMEDIES[check.name] for check in warnings if check.name in _REMEDIES]
        return " ".join((f"It works, with {count}: {titles}.", *remedies)), command
    return f"It works: {len(checks)} checks, nothing to fix.", command


def _by_hand(examined: Examined) -> str:
    """The command as it is typed; of a script, with its interpreter."""
    if isinstance(examined.target, list):
        return examined.shown
    return shlex.join(command_of(examined.target))


def _program(examined: Examined) -> str:
    return str(examined.target[0]) if isinstance(examined.target, list) else ""


def _more(error: InspectorError) -> str:
    return f"mcplens help {help_slug(error.code)}"
