"""A relay of TCP connections that keeps the bytes of both directions; no code of mcplens."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import h11


@dataclass
class Connection:
    """One connection that passed: what the client sent, and what the server sent."""

    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)


@dataclass
class TcpRecorder:
    """All connections that passed, in the order in which they were opened."""

    port: int = 0
    connections: list[Connection] = field(default_factory=list)

    def exchanges(self) -> Counter[tuple[object, ...]]:
        """Requests and responses, header by header and byte by byte; connections aside."""
        return Counter(each for one in self.connections for each in _exchanges(one))


def _exchanges(connection: Connection) -> list[tuple[object, ...]]:
    server, client = h11.Connection(h11.SERVER), h11.Connection(h11.CLIENT)
    server.receive_data(bytes(connection.sent))
    client.receive_data(bytes(connection.received))
    found: list[tuple[object, ...]] = []
    while isinstance(request := server.next_event(), h11.Request):
        asked = (request.method, request.target, *_headers(request.headers.raw_items()))
        body = _body(server)
        client.send(
            h11.Request(method=request.method, target=request.target, headers=[("Host", "x")])
        )
        client.send(h11.EndOfMessage())
        response = client.next_event()
        if not isinstance(response, h11.Response):  # the client left before it came
            found.append((asked, body))
            break
        answered = (response.status_code, response.reason, *_headers(response.headers.raw_items()))
        server.send(h11.Response(status_code=204, headers=[]))
        server.send(h11.EndOfMessage())
        found.append((asked, body, answered, _body(client)))
        if client.their_state is not h11.DONE or server.their_state is not h11.DONE:
            break
        client.start_next_cycle()
        server.start_next_cycle()
    return found


def _headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() != b"host"]


def _body(http: h11.Connection) -> bytes:
    body = b""
    while isinstance(event := http.next_event(), h11.Data):
        body += bytes(event.data)
    return body


@contextlib.asynccontextmanager
async def recorded_tcp(port: int) -> AsyncIterator[TcpRecorder]:
    """Relay connections to a port of this machine while the block lasts."""
    recorder = TcpRecorder()
    tasks: set[asyncio.Task[None]] = set()

    async def relay(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                kept += data
                writer.write(data)
                await writer.drain()
            writer.write_eof()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        connection = Connection()
        recorder.connections.append(connection)
        there, to_server = await asyncio.open_connection("127.0.0.1", port)
        try:
            await asyncio.gather(
                relay(reader, to_server, connection.sent),
                relay(there, writer, connection.received),
            )
        except asyncio.CancelledError:
            pass  # the end of the block
        finally:
            to_server.close()
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    recorder.port = listener.sockets[0].getsockname()[1]
    try:
        yield recorder
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
