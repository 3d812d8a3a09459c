"""The well-behaved server in this process, for the memory transport: a brain per connection."""

from __future__ import annotations

from mcplens.transports.memory import MemoryPeer
from tests.servers.wellbehaved.brain import Brain, EndedSilently, Host, Options, Peer
from tests.servers.wellbehaved.protocol import Message, encode


class MemoryHost(Host):
    """A process that is none: exiting means leaving the connection."""

    def __init__(self, line: MemoryPeer) -> None:
        self._line = line

    def write_stderr(self, text: str) -> None:
        """There is no stderr to write to."""

    def exit(self, code: int) -> None:
        self._line.close(f"the server left with code {code}")
        raise EndedSilently


async def serve_memory(line: MemoryPeer) -> None:
    """Serve one connection until the client leaves."""

    def send(message: Message) -> None:
        line.send(encode(message))

    peer = Peer(Brain(Options(era="both"), MemoryHost(line)), send)
    while (data := await line.receive()) is not None:
        peer.receive_bytes(data)
    peer.close()
