"""What the events of one attempt to connect say, as checks. Pure.

Called by examination.py after the attempt, with its error if it failed. The checks end with the
first that explains the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import msgspec

from mcplens.doctor.checks import Check
from mcplens.errors import HttpError, InspectorError
from mcplens.events import (
    EraDecided,
    Event,
    FrameReceived,
    FrameSent,
    HttpRequestSent,
    HttpResponseReceived,
    ProcessExited,
    ProcessStarted,
    ServerIntroduced,
    StderrLine,
)
from mcplens.protocol.frames import Malformed

# As much as one reads of a server's output.
_SHOWN_LINES: Final = 8
_SHOWN_CHARACTERS: Final = 200

E = TypeVar("E", bound=Event)


class Attempt(msgspec.Struct, frozen=True):
    """The events of an attempt to connect, when it began, and how it failed."""

    events: list[Event]
    began: float
    ended: float
    error: InspectorError | None

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def first(self, kind: type[E]) -> E | None:
        return next((event for event in self.events if isinstance(event, kind)), None)

    @property
    def strays(self) -> list[bytes]:
        """What came in place of messages."""
        frames = self.all(FrameReceived)
        return [event.message.raw for event in frames if isinstance(event.message, Malformed)]

    @property
    def stray_lines(self) -> tuple[str, ...]:
        """The first of them, as they are shown."""
        first = self.strays[:_SHOWN_LINES]
        return tuple(_lines(raw.decode("utf-8", "backslashreplace").strip() for raw in first))

    @property
    def stderr(self) -> tuple[str, ...]:
        return tuple(_lines(event.text for event in self.all(StderrLine)[-_SHOWN_LINES:]))


def _lines(texts: Iterable[str]) -> list[str]:
    return [_shortened(text) for text in texts][:_SHOWN_LINES]


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def process_checks(attempt: Attempt) -> Iterator[Check]:
    """A command: started, keeps running, answers, and with messages alone."""
    started = attempt.first(ProcessStarted)
    if started is None:
        yield Check("started", "failed", "starting it", _message(attempt))
        return
    yield Check(
        "started", "ok", "starting it", f"process {started.pid}", started.mono - attempt.began
    )
    exited = attempt.first(ProcessExited)
    tried = "a server that keeps running for a second"
    if attempt.error is not None and exited is not None and exited.stopped_after_s is None:
        how = exited.signal or f"exit code {exited.exit_code}"
        elapsed_s = exited.mono - started.mono
        said = (*attempt.stray_lines, *attempt.stderr)
        yield Check("alive", "failed", tried, f"it ended with {how}", elapsed_s, said)
        return
    answers = attempt.all(FrameReceived)
    asked = attempt.first(FrameSent)
    came = "it runs" if answers else "it runs, and says nothing"
    yield Check("alive", "ok", tried, came, max(0.0, attempt.ended - started.mono))
    tried = f"an answer to {asked.method}" if asked is not None else "an answer"
    if not answers or asked is None:
        waited_s = attempt.ended - (asked.mono if asked is not None else started.mono)
        yield Check(
            "first_byte", "failed", tried, "nothing on stdout", waited_s, attempt.stderr
        )  # fmt: skip
        return
    came = f"{answers[0].size_bytes} bytes on stdout"
    # Some say something before they are asked.
    yield Check("first_byte", "ok", tried, came, max(0.0, answers[0].mono - asked.mono))
    yield _framing(attempt, len(answers))


def _framing(attempt: Attempt, count: int) -> Check:
    tried = "one JSON-RPC message per line on stdout, and nothing else"
    number = len(attempt.strays)
    if not number:
        return Check("framing", "ok", tried, f"{count} of {count} lines are messages")
    is_fatal = attempt.error is not None
    came = (
        "1 line that is not a message" if number == 1 else f"{number} lines that are not messages"
    )
    state = "failed" if is_fatal else "warning"
    return Check("framing", state, tried, came, None, attempt.stray_lines)  # type: ignore[arg-type]


def http_checks(attempt: Attempt) -> Iterator[Check]:
    """A URL: the status and the content type of its answer."""
    error = attempt.error
    response = _response(attempt)
    request = _request(attempt, response)
    tried = f"{request.method} {request.url}" if request is not None else "a request"
    if response is None:
        yield Check("http_status", "failed", tried, _message(attempt))
        return
    came = f"{response.status} {response.reason}".strip()
    wants_sign_in = error is not None and error.code == "AUTHENTICATION_FAILED"
    is_bad = response.status >= 300 and not wants_sign_in
    if is_bad and error is not None:
        came = _message(attempt)
    state = "failed" if is_bad and error is not None else "ok"
    yield Check("http_status", state, tried, came, response.elapsed_s)  # type: ignore[arg-type]
    if state == "failed" or wants_sign_in or response.status == 101:
        return
    kind = next((v for name, v in response.headers if name.lower() == "content-type"), "none")
    is_wrong = isinstance(error, HttpError) and error.status == response.status
    tried = "application/json or text/event-stream"
    came = f"{kind}: {_message(attempt)}" if is_wrong else kind
    yield Check("content_type", "failed" if is_wrong else "ok", tried, came)


def _response(attempt: Attempt) -> HttpResponseReceived | None:
    """The response that decided: the one of the error, else the first that was accepted."""
    responses = attempt.all(HttpResponseReceived)
    status = attempt.error.status if isinstance(attempt.error, HttpError) else None
    wanted = [one for one in responses if one.status == status]
    accepted = [one for one in responses if one.status in (101, 200)]
    found = wanted or ([] if status is not None else accepted) or responses
    return found[0] if found else None


def _request(attempt: Attempt, response: HttpResponseReceived | None) -> HttpRequestSent | None:
    requests = attempt.all(HttpRequestSent)
    if response is not None:
        requests = [one for one in requests if one.exchange_id == response.exchange_id]
    return requests[0] if requests else None


def handshake_checks(attempt: Attempt) -> Iterator[Check]:
    """Which revision was found, and how the server introduced itself."""
    era = attempt.first(EraDecided)
    server = attempt.first(ServerIntroduced)
    if era is not None:
        yield Check("era", "ok", "server/discover, then initialize", _era_words(era))
    if server is None or attempt.error is not None:
        yield Check("handshake", "failed", "the handshake", _message(attempt), None, attempt.stderr)
        return
    name, version = server.server_info.get("name", "?"), server.server_info.get("version", "")
    came = f"{name} {version}".strip() + f" speaks {server.protocol_version}"
    yield Check("handshake", "ok", "the handshake", came, server.mono - attempt.began)
    named = ", ".join(server.capabilities)
    state = "ok" if named else "warning"
    yield Check("capabilities", state, "what it declares", named or "nothing")  # type: ignore[arg-type]


def _era_words(era: EraDecided) -> str:
    return f"{era.protocol_version}: {era.reason}" if era.reason else era.protocol_version


def exit_check(attempt: Attempt) -> Check | None:
    """How a process ended after its stdin was closed; None for a URL."""
    exited = attempt.first(ProcessExited)
    if exited is None:
        return None
    tried = "closing its stdin"
    elapsed_s = exited.mono - attempt.began
    if exited.stopped_after_s is not None:
        came = "it did not end by itself, so mcplens stopped it"
        return Check("exit", "warning", tried, came, elapsed_s)
    how = exited.signal or f"exit code {exited.exit_code}"
    came = f"it ended with {how}"
    if exited.signal is None and exited.exit_code == 0:
        return Check("exit", "ok", tried, came, elapsed_s)
    return Check("exit", "warning", tried, came, elapsed_s, attempt.stderr)


def _message(attempt: Attempt) -> str:
    return attempt.error.message if attempt.error is not None else "nothing came"
