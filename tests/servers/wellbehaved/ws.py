"""WebSocket adapter: a text frame is a message, subprotocol `mcp`."""

import asyncio
from contextlib import suppress

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from .brain import Brain, Peer
from .protocol import Message, encode

PATH = "/mcp"


class WsServer:
    def __init__(self, brain: Brain) -> None:
        self.brain = brain

    async def handle(self, socket: ServerConnection) -> None:
        self.brain.record.connections += 1
        if socket.request:
            self.brain.record.note_http(
                "UPGRADE", socket.request.path, dict(socket.request.headers.raw_items())
            )
        outgoing: asyncio.Queue[Message] = asyncio.Queue()
        peer = Peer(self.brain, outgoing.put_nowait)
        writer = asyncio.create_task(self._write(socket, outgoing))
        try:
            with suppress(ConnectionClosed):
                async for frame in socket:
                    peer.receive_bytes(frame if isinstance(frame, bytes) else frame.encode())
        finally:
            peer.close()
            writer.cancel()

    async def _write(self, socket: ServerConnection, outgoing: "asyncio.Queue[Message]") -> None:
        while True:
            await socket.send(encode(await outgoing.get()), text=True)
