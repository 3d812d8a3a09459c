"""A test server as a process: bind to loopback, announce itself, end with its owner.

Also the two pipes of a stdio server. Called by the entry points and the adapters.
"""

import asyncio
import json
import os
import socket
import sys
import threading

# Longer than any frame a test sends, so that a line is never refused for its size.
LINE_LIMIT_BYTES = 256 * 1024 * 1024


def bind(port: int) -> socket.socket:
    """Listen on 127.0.0.1, on any free port when `port` is 0."""
    listener = socket.create_server(("127.0.0.1", port), backlog=512)
    listener.setblocking(False)
    return listener


def announce(scheme: str, listener: socket.socket, path: str, **extra: object) -> None:
    """Print the one line of JSON that tells the owner where we listen."""
    port = listener.getsockname()[1]
    print(
        json.dumps({"port": port, "url": f"{scheme}://127.0.0.1:{port}{path}", **extra}), flush=True
    )


def exit_with_stdin() -> None:
    """End the process when the owner closes our stdin or dies, even if the event loop is stuck."""

    def wait_for_owner() -> None:
        while os.read(0, 65536):
            pass
        os._exit(0)

    threading.Thread(target=wait_for_owner, daemon=True).start()


async def open_stdio() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Our stdin and stdout as asyncio streams."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)
