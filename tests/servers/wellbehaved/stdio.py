"""stdio adapter: a line is a message."""

import asyncio
import signal

from tests.servers.process import open_stdio

from .brain import Brain, Peer
from .protocol import Message, encode

# A stubborn server must not outlive a test run that failed to end it.
STUBBORN_LIFE_S = 60


async def serve_stdio(brain: Brain, *, stubborn: str | None = None) -> None:
    """Speak until stdin closes; `stubborn` "eof" outlives that, "term" outlives SIGTERM too."""
    if stubborn == "term":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    reader, writer = await open_stdio()

    def send(message: Message) -> None:
        writer.write(encode(message) + b"\n")

    peer = Peer(brain, send)
    brain.record.connections += 1
    while line := await reader.readline():
        peer.receive_bytes(line)
    if stubborn:
        await asyncio.sleep(STUBBORN_LIFE_S)
    peer.close()
