"""What ties requests over streamable HTTP together: the revision spoken, the session's id.

Owns the headers that say so; streamable_http.py sends them.
"""

from __future__ import annotations

from typing import Final

from mcplens.transports.http_client import HeaderSet, HttpClient

_POST: Final = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
_GET: Final = {"Accept": "text/event-stream"}


class HttpSession:
    """What the server gave us, and what every request repeats of it."""

    def __init__(self, client: HttpClient) -> None:
        self.id: str | None = None
        self.version = ""
        self.is_stateless = False
        self.first_headers: HeaderSet  # of initialize, which asks for a session
        self.post_headers: HeaderSet
        self.get_headers: HeaderSet
        self._client = client

    def __repr__(self) -> str:
        state = "open" if self.id is not None else "none"
        return f"<HttpSession {state} {self.version or 'not negotiated'}>"

    def begin(self) -> None:
        """Make ready for the first request; the client is open."""
        self.first_headers = self._client.headers(_POST)
        self._build_headers()

    def take(self, session_id: str | None) -> None:
        """Say this from now on; None says nothing."""
        self.id = session_id
        self._build_headers()

    def negotiated(self, version: str, *, is_stateless: bool) -> None:
        self.version = version
        self.is_stateless = is_stateless
        if is_stateless:
            self.id = None
        self._build_headers()

    def _build_headers(self) -> None:
        state = {}
        if self.version:
            state["MCP-Protocol-Version"] = self.version
        if self.id is not None:
            state["Mcp-Session-Id"] = self.id
        self.post_headers = self._client.headers(_POST, state)
        self.get_headers = self._client.headers(_GET, state)
