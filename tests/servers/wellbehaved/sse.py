"""Legacy HTTP+SSE adapter (2024-11-05): messages go by POST, answers come on a GET's stream."""

import uuid

from aiohttp import web

from .brain import Brain, Peer
from .streams import Stream, event, open_sse

PATH = "/sse"


class SseServer:
    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.peers: dict[str, Peer] = {}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        self.brain.record.note_http(request.method, request.path_qs, request.headers)
        if request.path == PATH:
            # 405 to a POST is what sends a client of streamable HTTP back to this transport.
            return (
                await self._stream(request) if request.method == "GET" else web.Response(status=405)
            )
        if request.path == "/messages" and request.method == "POST":
            peer = self.peers.get(request.query.get("session", ""))
            if peer is None:
                return web.Response(status=404, text="no such session")
            peer.receive_bytes(body)
            return web.Response(status=202, text="Accepted")
        return web.Response(status=404)

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        stream, session_id = Stream("sse"), uuid.uuid4().hex
        peer = self.peers[session_id] = Peer(self.brain, stream.put)
        self.brain.record.sessions.append(session_id)
        response = await open_sse(request)
        try:
            await response.write(
                f"event: endpoint\ndata: /messages?session={session_id}\n\n".encode()
            )
            async for _, message in stream.follow():
                await response.write(event(message))
        finally:
            peer.close()
            del self.peers[session_id]
        return response
