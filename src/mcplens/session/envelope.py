"""The protocol revision of a session, and what 2026-07-28 adds to every request.

There each request carries client info in `_meta`, and over HTTP repeats its method, name and marked
arguments in headers. Used by message_sender.py; the handshake decides which revision it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Raw

from mcplens.protocol.eras import (
    LOG_LEVEL,
    PROTOCOL_VERSION,
    Era,
    HeaderPath,
    envelope_meta,
    era_of,
    header_value,
    parameter_headers,
    standard_headers,
)
from mcplens.protocol.frames import Frame, Kind, Message, decode_value
from mcplens.session.capabilities import for_stateless

_NAMING: Final = ("name", "uri", "taskId")  # the parameters that headers repeat
_CALLS: Final = (Kind.REQUEST, Kind.NOTIFICATION)


class Envelope:
    """What surrounds the params of a request."""

    def __init__(
        self,
        client_info: Mapping[str, Any],
        client_capabilities: Mapping[str, Any],
        *,
        has_headers: bool,
    ) -> None:
        self.version = ""
        self.is_stateless = False
        self.meta: dict[str, Any] = {}
        self.header_parameters: dict[str, dict[str, HeaderPath]] = {}  # by tool
        self._client_info = client_info
        self._client_capabilities = client_capabilities
        self._has_headers = has_headers  # each request is an HTTP exchange of its own

    def __repr__(self) -> str:
        return f"<Envelope of {self.version or 'no revision yet'}>"

    def use_version(self, version: str) -> None:
        """This revision was negotiated."""
        self.version = version
        self.is_stateless = era_of(version) is Era.STATELESS
        if self.is_stateless:
            capabilities = for_stateless(self._client_capabilities)
            self.meta = envelope_meta(version, capabilities, self._client_info)

    def set_log_level(self, level: str) -> None:
        """Ask for logs with every request, as 2026-07-28 does it."""
        self.meta = {**self.meta, LOG_LEVEL: level}

    def headers(
        self, method: str, params: Mapping[str, Any], extra: dict[str, str] | None
    ) -> dict[str, str] | None:
        """The headers of a stateless request: those that repeat its body, then the caller's."""
        if not self._has_headers:
            return extra
        readable = {key: _decoded(params[key]) for key in _NAMING if key in params}
        headers = standard_headers(method, readable)
        name = readable.get("name")
        if method == "tools/call" and isinstance(name, str) and name in self.header_parameters:
            arguments = _decoded(params.get("arguments"))
            mirrored = self.header_parameters[name]
            headers |= parameter_headers(mirrored, arguments or {})
        headers["MCP-Protocol-Version"] = self._version_in(params)
        return headers | extra if extra else headers

    def raw_headers(self, message: Message, extra: dict[str, str] | None) -> dict[str, str] | None:
        """The same for a message sent as bytes; without them no server would read a request."""
        if not self.is_stateless or not isinstance(message, Frame) or message.kind not in _CALLS:
            return extra
        try:
            params = message.value()
        except ValueError:
            params = None
        return self.headers(message.method, params if isinstance(params, Mapping) else {}, extra)

    def _version_in(self, params: Mapping[str, Any]) -> str:
        """The revision that a request names, which its header must repeat."""
        meta = params.get("_meta")
        named = meta.get(PROTOCOL_VERSION) if isinstance(meta, Mapping) else None
        return header_value(named) if isinstance(named, str) else self.version


def _decoded(value: Any) -> Any:
    """A value of params that may have been left undecoded."""
    return decode_value(value)[0] if isinstance(value, Raw) else value


def with_meta(params: Any, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Params with `_meta` members added; those that the caller set win."""
    if params is None:
        return {"_meta": meta}
    own = params.get("_meta")
    return {**params, "_meta": {**meta, **own} if own else meta}
