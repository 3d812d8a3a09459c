"""Opens one session: the transport, the handshake, and a fallback transport where that is refused.

Called by connector.py, for each attempt to connect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from mcplens.errors import HttpError, InspectorError
from mcplens.session.connection import Connection
from mcplens.session.handshake import Introduction, perform_handshake
from mcplens.session.session import Session
from mcplens.transports.base import Transport

# A handshake refused like this was spoken to a server of the older HTTP+SSE transport.
_WRONG_TRANSPORT_STATUSES: Final = (400, 404, 405)

# What a server answers that has no such address, or accepts no POST there.
_NO_MCP_STATUSES: Final = (404, 405, 501)


class SessionOpener:
    """Opens sessions; `take` makes the connection's of a transport, `abandon` takes it down."""

    def __init__(
        self,
        connection: Connection,
        take: Callable[[Transport], Session],
        abandon: Callable[[InspectorError], Awaitable[None]],
    ) -> None:
        self._connection = connection
        self._take = take
        self._abandon = abandon

    def __repr__(self) -> str:
        return f"<SessionOpener {self._connection.server_id} {self._connection.step}>"

    async def open(self, transport: Transport) -> Introduction:
        """Open a session over a transport, or over the one that it falls back to.

        Raises:
            InspectorError: neither worked.
        """
        try:
            return await self._open_over(transport)
        except HttpError as error:
            other = transport.fallback() if error.status in _WRONG_TRANSPORT_STATUSES else None
            if other is None:
                raise _no_mcp(error) from None
            text = f"initialize was answered with HTTP {error.status}: trying {other.kind}"
            self._connection.remark(text)
            await self._abandon(error)
            try:
                return await self._open_over(other)
            except InspectorError as second:
                raise _both(_no_mcp(error), second, other.kind) from None

    async def _open_over(self, transport: Transport) -> Introduction:
        session = self._take(transport)
        await transport.__aenter__()
        self._connection.step = "waiting for the handshake"
        introduction = await perform_handshake(
            session,
            self._connection.options.protocol_version,
            self._connection.config.connection_timeout_s,
        )
        if session.lost_by is not None:
            raise session.lost_by  # it answered and left at once
        session.envelope.use_version(introduction.version)
        if session.is_stateless:
            transport.negotiated(introduction.version, is_stateless=True)
        return introduction


def _no_mcp(error: HttpError) -> HttpError:
    """The same error, worded as its most likely cause: no MCP server at this address."""
    kind = next((v for name, v in error.headers.items() if name.lower() == "content-type"), "")
    is_page = error.code == "INVALID_RESPONSE" and kind.startswith("text/html")
    if (is_page or error.status in _NO_MCP_STATUSES) and "rpc_error" not in error.details:
        error.message = f"this does not look like an MCP server: {error.message}"
        error.args = (error.message,)
    return error


def _both(first: HttpError, second: InspectorError, kind: str) -> InspectorError:
    """The error of an attempt that failed over both transports."""
    is_same = isinstance(second, HttpError) and second.status == first.status
    told = "the same status" if is_same else second.message
    message = f"{first.message}; as {kind} server: {told}"
    error = InspectorError(second.code, message, category=second.category)
    error.retryable = second.retryable
    return error.with_details(**first.details, second=second.to_dict())
