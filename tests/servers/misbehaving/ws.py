"""A misbehaving server on WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tests.servers.process import announce, bind

from .abrupt import flee, reset
from .faults import right
from .script import Message, Script


class WsServer:
    def __init__(self, script: Script) -> None:
        self.script = script

    async def run(self, port: int) -> None:
        listener = bind(port)
        if self.script.fault == "silent_start":
            silent = await asyncio.start_server(lambda reader, writer: None, sock=listener)
            announce("ws", listener, "/mcp")
            await silent.serve_forever()
        offered = None if self.script.fault == "ws_no_subprotocol" else [Subprotocol("mcp")]
        async with serve(
            self._handle, sock=listener, subprotocols=offered, max_size=None
        ) as server:
            announce("ws", listener, "/mcp")
            await server.serve_forever()

    async def _handle(self, socket: ServerConnection) -> None:
        async def send(frame: bytes) -> None:
            try:
                await socket.send(frame, text=True)
            except ConnectionClosed as closed:
                raise ConnectionError from closed

        async def misbehave(message: Message) -> None:
            await self._misbehave(socket, message)

        with suppress(ConnectionClosed):
            async for data in socket:
                message = self.script.parse(data if isinstance(data, bytes) else data.encode())
                if message:
                    self.script.take(message, send, misbehave)

    async def _misbehave(self, socket: ServerConnection, message: Message) -> None:
        answer = right(message["id"])

        async def half() -> AsyncIterator[str]:
            yield answer[: len(answer) // 2].decode()
            await asyncio.sleep(0)  # the first fragment is on its way
            flee(7, "fatal: half of the answer is all you get")

        match self.script.fault_of(message):
            case "half_line_exit":
                await socket.send(half())
            case "ws_binary_frame":
                await socket.send(answer)
            case "ws_close_1011":
                await socket.close(1011, "the backend fell over")
            case "ws_no_subprotocol":
                await socket.send(answer.decode())
            case "connection_reset":
                reset(socket.transport)
