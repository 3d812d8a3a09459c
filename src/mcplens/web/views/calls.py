"""Calls, and the examples that are kept of them."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

from mcplens.protocol.frames import RequestId
from mcplens.web.views.base import CallStatus, ErrorView
from mcplens.web.views.questions import LinkView


class ProgressView(msgspec.Struct, frozen=True):
    progress: float
    total: float | None
    message: str | None
    at: float


class CallView(msgspec.Struct, frozen=True, kw_only=True):
    """A request that somebody made here, from its start to long after its end.

    `result` is there once it is completed and small. Null beside a `result_size_bytes` means that
    it is at `/api/calls/{call_id}/result`.
    `elapsed_s` is how long it took, None while it runs. `awaiting` are the URLs
    that somebody agreed to open and that are not done yet.
    `headers` are those that it was given, the value of a secret one empty; they and `timeout_s`
    are for this call alone. A timeout of 0 is no limit. `listed_as` is what the page that made it
    lists the thing as, where several have its name.
    """

    call_id: str
    server_id: str
    kind: Literal["tool", "resource", "prompt", "request", "raw"]
    method: str
    name: str
    listed_as: str
    request: Raw
    headers: dict[str, str]
    timeout_s: float | None
    request_id: RequestId | None
    request_ids: list[RequestId]
    status: CallStatus
    started: float
    elapsed_s: float | None
    progress: ProgressView | None
    is_waiting_on_user: bool
    awaiting: list[LinkView]
    result: Raw | None
    result_size_bytes: int
    is_error: bool
    findings: list[str]
    error: ErrorView | None
    task_id: str | None


class ExampleView(msgspec.Struct, frozen=True):
    """A call of a tool that somebody keeps under a name; `result` is null if it was large.

    The arguments are JSON text, since a page that reads numbers loses digits of large ones."""

    name: str
    saved: float
    arguments: str
    result: Raw
