"""A mock in this process, without a pipe or a port: for cassettes of tests, and for programs.

async with mcplens.connect(mock_transport(mock)) as client: ...
"""

from __future__ import annotations

from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer
from mcplens.mocking.mock_server import MockServer
from mcplens.protocol.frames import RequestId
from mcplens.transports.memory import MemoryPeer, MemoryTransport


class _ClientInProcess(Peer):
    """The client at the other end of a memory transport."""

    kind = "memory"

    def __init__(self, mock: MockServer, end: MemoryPeer) -> None:
        super().__init__(mock, Limits())
        self._end = end

    def _put(self, data: bytes, during: RequestId | None) -> None:
        self._end.send(data)

    def _shut(self, reason: str) -> None:
        self._end.close(reason)


def mock_transport(mock: MockServer) -> MemoryTransport:
    """A transport whose server is the mock."""

    async def serve(end: MemoryPeer) -> None:
        peer = _ClientInProcess(mock, end)
        try:
            while (data := await end.receive()) is not None:
                peer.take(data)
        finally:
            peer.close("the client left")

    return MemoryTransport(serve, name=f"mock of {mock.recording.server_id}")
