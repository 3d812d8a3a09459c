"""Requests that access control refused, as lines of the audit log, and counted.

Anybody who reaches the port can cause them, so that only so many are written: the next line says
how many were left out. A request without any token is not worth a line: clients find out that way
that they need one. Called by http_app.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcplens.gateway.resource_server import AccessRefusal
from mcplens.inbound.refusal import Refusal
from mcplens.inbound.request_validation import Headers

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

# So many lines in so long: a full log would push out the lines of calls.
MOST_LINES: Final = 60
WINDOW_S: Final = 60.0
_MAX_TEXT: Final = 300


class RefusedRequests:
    """Writes the lines of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self.count = 0
        self._gateway = gateway
        self._began_at = -WINDOW_S
        self._written = 0
        self._left_out = 0

    def __repr__(self) -> str:
        return f"<RefusedRequests {self.count}>"

    def note(self, method: str, path: str, headers: Headers, refusal: Refusal) -> None:
        """A request was refused before it reached an endpoint."""
        if refusal.status == 401 and "authorization" not in headers:
            return
        self.count += 1
        caller = refusal.caller if isinstance(refusal, AccessRefusal) else ""
        self.write(method, path, str(refusal), caller)

    def write(self, method: str, path: str, reason: str, caller: str) -> None:
        """Write a line, unless there were too many just now."""
        gateway = self._gateway
        if gateway.audit_log is None:
            return
        now = gateway.clock.monotonic()
        if now - self._began_at >= WINDOW_S:
            self._began_at, self._written = now, 0
        if self._written >= MOST_LINES:
            self._left_out += 1
            return
        self._written += 1
        left_out, self._left_out = self._left_out, 0
        more = f"; {left_out} others were left out" if left_out else ""
        gateway.ledger.note(
            method[:20],
            "refused",
            reason[:_MAX_TEXT] + more,
            caller=caller,
            client="?",
            path=path[:_MAX_TEXT],
        )
