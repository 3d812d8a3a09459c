"""The MCP Apps that are open in the web UI: documents to be framed, and the messages with them.

An app has a short id, which is in events, and a secret key, by which its document is fetched from
the sandbox's port; the key expires. Every message between app and host is published as an event,
each answer with a link to its request. Called by web/api/apps.py and web/app_sandbox.py.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Any, Final, Literal

from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.events import (
    AppMessageReceived,
    AppMessageSent,
    AppOpened,
    AppPolicyViolated,
)
from mcplens.protocol.app_policy import AppPolicy, PolicyProfile
from mcplens.protocol.apps import AppDocument
from mcplens.protocol.frames import Frame, Kind, RequestId, parse

# A frame fetches its document at once; a slow tunnel has some time too.
DOCUMENT_S: Final = 120.0
# The largest app seen has 4.3 MB.
MOST_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
MOST_APPS: Final = 32
# Of all documents together; the oldest make room.
MOST_KEPT_BYTES: Final = 64 * 1024 * 1024
# Of one app: it may break its policy in a loop.
MOST_VIOLATIONS: Final = 50
MOST_MESSAGE_BYTES: Final = 10 * 1024 * 1024
# Requests that wait for an answer; what an app never answers must not grow without end.
_MOST_OPEN: Final = 1_000

Side = Literal["app", "host"]


class App:
    """One app in one frame."""

    def __init__(
        self,
        app_id: str,
        server_id: str,
        tool: str,
        document: AppDocument,
        profile: PolicyProfile,
        policy: AppPolicy,
        opened_mono: float,
    ) -> None:
        self.app_id = app_id
        self.server_id = server_id
        self.tool = tool
        self.uri = document.uri
        self.data: bytes | None = document.data  # None: no longer kept
        self.profile = profile
        self.policy = policy
        self.key = secrets.token_urlsafe(16)  # 128 bits
        self.report_key = secrets.token_urlsafe(16)
        self.opened_mono = opened_mono
        self.violations = 0
        # The seqs of requests that were not answered, by who sent them and their ids.
        self.requests: OrderedDict[tuple[Side, RequestId], tuple[int, str]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<App {self.app_id} {self.uri} of {self.server_id}>"


class Apps:
    """The newest apps of a workspace, and the port that their documents are served on."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self.port: int | None = None  # of the sandbox, while the web UI is served
        self._bus = bus
        self._clock = clock
        self._apps: OrderedDict[str, App] = OrderedDict()
        self._count = 0

    def __repr__(self) -> str:
        return f"<Apps {len(self._apps)} open, port {self.port}>"

    def open(
        self,
        server_id: str,
        tool: str,
        document: AppDocument,
        profile: PolicyProfile,
        policy: AppPolicy,
    ) -> App:
        """Keep an app's document so that it can be framed.

        Raises:
            InspectorError: it is too large.
        """
        size = len(document.data)
        if size > MOST_DOCUMENT_BYTES:
            text = f"the app has {size:,} bytes; {MOST_DOCUMENT_BYTES:,} are the most"
            raise InspectorError("MESSAGE_TOO_LARGE", text)
        self._count += 1
        mono = self._clock.monotonic()
        app = App(f"app-{self._count}", server_id, tool, document, profile, policy, mono)
        self._apps[app.app_id] = app
        while len(self._apps) > MOST_APPS:
            self._apps.popitem(last=False)
        self._drop_documents()
        header = policy.header()
        opened = AppOpened(
            app_id=app.app_id, tool=tool, uri=document.uri, profile=profile,
            policy=header, size_bytes=size,
        )  # fmt: skip
        self._bus.publish(opened, server_id, len(header))
        return app

    def _drop_documents(self) -> None:
        """Forget the documents that may no longer be fetched, and the oldest of too many bytes."""
        now, room = self._clock.monotonic(), MOST_KEPT_BYTES
        for app in reversed(self._apps.values()):
            room -= len(app.data or b"")
            if room < 0 or now - app.opened_mono >= DOCUMENT_S:
                app.data = None

    def find(self, app_id: str) -> App:
        """An open app by its id.

        Raises:
            InspectorError: there is none, or it is no longer kept.
        """
        app = self._apps.get(app_id)
        if app is None:
            raise InspectorError("INVALID_REQUEST", f"the app {app_id} is no longer open")
        return app

    def document(self, key: str) -> App | None:
        """The app whose document has this key, as long as it may be fetched."""
        self._drop_documents()
        for app in self._apps.values():
            if secrets.compare_digest(app.key.encode(), key.encode()):
                return app if app.data is not None else None
        return None

    def violated(self, report_key: str, report: dict[str, Any]) -> None:
        """Publish that a browser stopped an app from breaking its policy."""
        for app in self._apps.values():
            if secrets.compare_digest(app.report_key.encode(), report_key.encode()):
                break
        else:
            return
        app.violations += 1
        if app.violations <= MOST_VIOLATIONS:
            self._bus.publish(_violation(app, report), app.server_id)

    def record(self, app: App, side: Side, data: bytes, refusal: str | None = None) -> int:
        """Publish a message of an app, or to it; returns its seq."""
        if len(data) > MOST_MESSAGE_BYTES:
            text = f"the message has {len(data):,} bytes; {MOST_MESSAGE_BYTES:,} are the most"
            raise InspectorError("MESSAGE_TOO_LARGE", text)
        message = parse(data)
        request_seq, method = None, None
        if isinstance(message, Frame):
            method = message.method or None
            if message.kind in (Kind.RESULT, Kind.ERROR) and message.id is not None:
                other: Side = "host" if side == "app" else "app"
                request_seq, method = app.requests.pop((other, message.id), (None, None))
        kind = AppMessageReceived if side == "app" else AppMessageSent
        event = kind(
            app_id=app.app_id, tool=app.tool, message=message, size_bytes=len(data), method=method,
            request_seq=request_seq, refusal=refusal,
        )  # fmt: skip
        seq = self._bus.publish(event, app.server_id, len(data))
        if isinstance(message, Frame) and message.kind is Kind.REQUEST and message.id is not None:
            app.requests[side, message.id] = (seq, message.method)
            if len(app.requests) > _MOST_OPEN:
                app.requests.popitem(last=False)
        return seq


def _violation(app: App, report: dict[str, Any]) -> AppPolicyViolated:
    def text(name: str) -> str:
        value = report.get(name)
        return value[:500] if isinstance(value, str) else ""

    line = report.get("line-number")
    directive = text("effective-directive") or text("violated-directive")
    # A document's own address has its key in it.
    blocked = text("blocked-uri")
    return AppPolicyViolated(
        app_id=app.app_id,
        tool=app.tool,
        directive=directive.partition(" ")[0],
        blocked="" if app.key in blocked else blocked,
        line=line if isinstance(line, int) else None,
        sample=text("script-sample"),
    )
