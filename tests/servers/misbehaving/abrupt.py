"""Ways to end without a farewell."""

import asyncio
import os
import socket
import struct


def flee(code: int, words: str) -> None:
    """A line on stderr and the end of the process."""
    os.write(2, words.encode() + b"\n")
    os._exit(code)


def reset(transport: asyncio.WriteTransport) -> None:
    """Close a connection with RST instead of FIN."""
    raw = transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
