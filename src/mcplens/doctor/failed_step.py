"""Which step of a connection or a request failed, what was expected there, and what to try.

Pure: looks at an error and at the events of the run. Used by the doctor and by the command line's
error reports.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from mcplens.doctor.failure_steps import HTTP_HINTS, STEPS, Step
from mcplens.errors import HttpError, InspectorError, ServerError
from mcplens.events import Event, FrameReceived, StderrLine
from mcplens.protocol.frames import Malformed

# Enough for a traceback of Node, which has its cause above the stack.
_LAST_LINES: Final = 20


class Evidence(msgspec.Struct, frozen=True):
    """What the server did before the failure."""

    server: str
    is_connected: bool = False
    stderr: tuple[str, ...] = ()
    strays: tuple[Malformed, ...] = ()

    @property
    def is_remote(self) -> bool:
        return "://" in self.server.split(" ", 1)[0]


def gather(server: str, events: list[Event], *, is_connected: bool) -> Evidence:
    """The evidence in the events of a run."""
    lines = [event.text for event in events if isinstance(event, StderrLine)]
    strays = tuple(
        event.message
        for event in events
        if isinstance(event, FrameReceived) and isinstance(event.message, Malformed)
    )
    return Evidence(server, is_connected, tuple(lines[-_LAST_LINES:]), strays)


def failed_step(error: InspectorError, evidence: Evidence) -> Step:
    """The step that failed, adjusted to the details of this error."""
    method = error.details.get("method")
    step = STEPS.get(error.code)
    if step is None:
        name = f"the answer to {method}" if method else ""
        step = Step(name, "a result" if isinstance(error, ServerError) else "", "")
    if error.code == "CONFIGURATION_INVALID" and not error.details.keys() & {"file", "key"}:
        return STEPS["TARGET"]
    if error.code == "REQUEST_TIMEOUT" and error.details.get("phase") == "task":
        return _task_step(error, evidence)
    if error.code == "REQUEST_TIMEOUT" and method:
        step = Step(f"the answer to {method}", step.expected, step.hint)
    if error.code == "CONNECTION_TIMEOUT" and (url := listening_at(evidence)):
        return Step(
            "handshake",
            "a server that speaks on stdin and stdout",
            f"it seems to listen at {url}: start it by itself and use that URL, "
            "or look for its option for stdio",
        )
    if error.code == "CONNECTION_TIMEOUT" and evidence.strays and not evidence.is_remote:
        return STEPS["STRAY_OUTPUT"]
    if error.code == "CONNECTION_TIMEOUT" and error.details.get("step") == "opening the transport":
        return Step("TCP connection", "a connection in time", "check the host and port of the URL")
    if error.code == "CONNECTION_FAILED" and error.details.get("step") == "listening":
        return STEPS["LISTENING"]
    if error.code == "TLS_FAILED" and "WRONG_VERSION_NUMBER" in str(
        error.details.get("original_error")
    ):
        return Step(step.name, "a server that speaks TLS", "use http:// in place of https://")
    if error.code == "SERVER_EXITED" and (hint := _missing_module_hint(evidence)):
        step = step._replace(hint=hint)
    if error.code == "SERVER_EXITED" and evidence.is_connected:
        return Step(
            f"the answer to {method}" if method else "", "a server that keeps running", step.hint
        )
    if error.code == "CONNECTION_FAILED" and error.details.get("step") == "starting the server":
        return STEPS["NOT_ON_WINDOWS"]
    if error.code == "SIGN_IN_FAILED":
        return _sign_in_step(error, evidence, step)
    if error.code == "AUTHENTICATION_FAILED" and status_of(error) == 401 and evidence.is_remote:
        return Step("HTTP status 401", step.expected, _credential_hint(error, evidence.server))
    if evidence.is_remote and not evidence.is_connected:
        return _with_tls_hint(_http_step(error, step), error, evidence)
    return step


_MISSING_MODULE: Final = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'")


def _missing_module_hint(evidence: Evidence) -> str | None:
    """What to do about a Python that lacks a module which the server imports."""
    python, _, rest = evidence.server.partition(" ")
    found = next(filter(None, map(_MISSING_MODULE.match, reversed(evidence.stderr))), None)
    if found is None or not python.rpartition("/")[2].startswith("python"):
        return None
    return (
        f"{found[1]} is not installed for {python}, which ran the server: install it there, or "
        f"name the Python that has it: -- PYTHON {rest}".rstrip()
    )


# An address of this machine that a server prints when it listens there.
_LOCAL_URL: Final = re.compile(
    r"https?://(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])(?::\d+)?(?:/[\w./-]*)?"
)


def listening_at(evidence: Evidence) -> str | None:
    """The address that a command printed instead of speaking; an MCP endpoint, if one is named."""
    if evidence.is_remote:
        return None
    printed = [stray.raw.decode("utf-8", "replace") for stray in evidence.strays]
    found = [url for line in (*evidence.stderr, *printed) for url in _LOCAL_URL.findall(line)]
    endpoints = [url for url in found if url.rstrip("./").endswith(("/mcp", "/sse"))]
    return next((url.rstrip(".") for url in (*endpoints, *found)), None)


def _with_tls_hint(step: Step, error: InspectorError, evidence: Evidence) -> Step:
    """A server that speaks TLS answers plain HTTP with an alert, a text about HTTPS, or nothing."""
    plain = evidence.server.partition("://")[0]
    if plain not in ("http", "ws"):
        return step
    if r"\x15\x03" in error.message or re.search(r"\bHTTPS\b", error.message):
        return step._replace(
            hint=f"use {plain}s:// in place of {plain}://: the server seems to speak TLS"
        )
    if error.code == "CONNECTION_RESET" or "connection closed while reading" in error.message:
        return step._replace(hint=f"{step.hint}; if it speaks TLS, use {plain}s://")
    return step


def _task_step(error: InspectorError, evidence: Evidence) -> Step:
    """The call became a task that did not end in time."""
    hint = "allow more time with --timeout"
    if evidence.is_remote:
        hint = f"mcplens tasks {evidence.server} result {error.details['task_id']}, or {hint}"
    else:
        hint += "; this server stopped with the command, and its task too"
    return Step("the end of the task", "a task that ends in time", hint)


def _sign_in_step(error: InspectorError, evidence: Evidence, step: Step) -> Step:
    """The step of the sign-in that failed."""
    from mcplens.auth.steps import STEPS as SIGN_IN_STEPS

    name = SIGN_IN_STEPS.get(str(error.details.get("sign_in_step")), "")
    steps = f"mcplens auth debug {evidence.server}"
    hint = (
        f"{error.details['hint']}\nor look at each step: {steps}"
        if "hint" in error.details
        else steps
    )
    expected = str(error.details.get("expected") or step.expected)
    return Step(f"sign-in: {name.lower()}" if name else "sign-in", expected, hint)


def _credential_hint(error: InspectorError, server: str) -> str:
    login = f"mcplens auth login {server}"
    token = "send a token: -H 'Authorization: Bearer TOKEN'"
    if announces_sign_in(error):
        return f"{login}\nor {token}"
    return f"{token}\nor, if the server has an authorization server: {login}"


def announces_sign_in(error: InspectorError) -> bool:
    """Whether a refusal says where to learn how to sign in (RFC 9728, 5.1)."""
    from mcplens.auth.challenges import bearer_challenge

    headers = error.headers if isinstance(error, HttpError) else {}
    given = [value for name, value in headers.items() if name.lower() == "www-authenticate"]
    challenge = bearer_challenge(given)
    return challenge is not None and challenge.resource_metadata is not None


def _http_step(error: InspectorError, step: Step) -> Step:
    status = status_of(error)
    if status is None:
        if not isinstance(error, ServerError) or error.data is not None:
            return step  # it may say itself what is wrong
        # A server that knows neither server/discover nor initialize probably does not speak MCP.
        return Step("handshake", "an MCP server at this URL", HTTP_HINTS[404])
    wait_s = error.details.get("retry_after_s")
    hint = f"wait {wait_s:g} s, as the server requests" if isinstance(wait_s, int | float) else ""
    hint = hint or HTTP_HINTS.get(status, step.hint)
    return Step(step.name if status == 200 else f"HTTP status {status}", step.expected, hint)


def status_of(error: InspectorError) -> int | None:
    """The HTTP status that caused the error; of two attempts, the first one's."""
    found = re.search(r"answered with (\d{3})\b", error.message)
    return int(found[1]) if found else None
