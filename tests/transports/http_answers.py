"""Servers by HTTP that answer as they should, or every POST in the same way."""

from __future__ import annotations

from mcplens.protocol.frames import Frame, Kind
from tests.servers.misbehaving.wire import Wire

from .recording import Handle, Seen, result

JSON = "application/json"


async def echo(request: Seen, wire: Wire) -> None:
    """The good server: a result for a request, 202 for the rest."""
    message = request.message
    if request.verb != "POST":
        await wire.respond(405)
    elif isinstance(message, Frame) and message.kind is Kind.REQUEST:
        assert message.id is not None
        session = {"Mcp_Session_Id": "s3cret-session"} if message.method == "initialize" else {}
        await wire.respond(200, result(message.id), JSON, **session)
    else:
        await wire.respond(202)


def answering(status: int, body: bytes = b"", kind: str | None = None, **headers: object) -> Handle:
    """A server that answers every POST in the same way."""

    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(status, body, kind, **headers)

    return handle
