"""stdio writes: requests that leave together are one write, in order, and none is lost."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcplens.transports.base import Closing
from mcplens.transports.stdio import StdioTransport

from .recording import BOUND_S, call, connected, notification

# Answers two requests with one write, so that they come together; then notes each piece it reads.
SERVER = """
import os, sys
data = b""
while data.count(b"\\n") < 2:
    data += os.read(0, 65536)
answers = [b'{"jsonrpc":"2.0","id":%d,"result":{}}\\n' % number for number in (1, 2)]
os.write(1, b"".join(answers))
with open(sys.argv[1], "wb", buffering=0) as pieces:
    while data := os.read(0, 65536):
        pieces.write(b"%d lines: %s|" % (data.count(b"\\n"), data.replace(b"\\n", b" ")))
"""


async def test_requests_that_leave_together_are_one_write_in_order(tmp_path: Path) -> None:
    pieces = await pieces_read(tmp_path, Closing.GRACEFUL)
    assert [piece.split(b":")[0] for piece in pieces] == [b"3 lines"]
    assert pieces[0].index(b'"id":3') < pieces[0].index(b'"id":4') < pieces[0].index(b"last")


async def test_what_was_gathered_still_leaves_when_the_server_is_left_at_once(
    tmp_path: Path,
) -> None:
    (piece,) = await pieces_read(tmp_path, Closing.HANDOVER)
    assert piece.startswith(b"3 lines")
    assert b"last" in piece


async def pieces_read(folder: Path, closing: Closing) -> list[bytes]:
    """What the server read after two answers had come together, piece by piece."""
    noted = folder / "pieces"
    os.mkfifo(noted)  # reading it ends when the server does
    transport = StdioTransport([sys.executable, "-c", SERVER, str(noted)])
    async with connected(transport) as heard:
        transport.write(call(1))
        transport.write(call(2))
        await heard.message(2)
        for message in (call(3), call(4), notification("notifications/last")):
            transport.write(message)
        transport.closing = closing
        reading = asyncio.get_running_loop().create_task(asyncio.to_thread(noted.read_bytes))
    async with asyncio.timeout(BOUND_S):
        return (await reading).split(b"|")[:-1]
