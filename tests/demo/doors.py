"""The demo server behind every transport and in both eras, and how a test speaks with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mcplens
from mcplens.clock import Clock, SystemClock
from mcplens.demo.server import Demo
from mcplens.events import Event
from mcplens.inbound.asgi_app import AsgiApp, Endpoint
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer
from mcplens.inbound.server import serve
from mcplens.inbound.sse import HttpSse
from mcplens.inbound.streamable_http import StreamableHttp
from mcplens.inbound.websocket import WebSocketEndpoint
from mcplens.protocol.frames import RequestId
from mcplens.session.handshake import forget_revisions
from mcplens.transports.memory import MemoryPeer

# Nothing here takes long; this only bounds what never comes.
PATIENCE_S = 15
HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
COMMAND = [sys.executable, "-m", "mcplens.demo"]
EXTENSION = "io.modelcontextprotocol/tasks"

EVERYTHING: dict[str, Any] = {
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
    "extensions": {EXTENSION: {}},
}


@dataclass(frozen=True)
class Way:
    """A transport, and the revision that is spoken over it."""

    transport: str
    revision: str

    def __str__(self) -> str:
        return f"{self.transport}-{self.revision}"

    @property
    def is_stateless(self) -> bool:
        return self.revision == STATELESS


WAYS = [
    Way(transport, revision)
    for transport in ("stdio", "http", "sse", "ws")
    for revision in (HANDSHAKE, STATELESS)
    if (transport, revision) != ("sse", STATELESS)  # 2026-07-28 has no such transport
]


@dataclass
class House:
    """A demo server on all network transports."""

    demo: Demo
    urls: dict[str, str]
    exits: list[int]

    def connect(self, way: Way, **options: Any) -> mcplens.connect:
        forget_revisions()
        if way.transport == "sse":
            options["transport"] = "sse"
        target = COMMAND if way.transport == "stdio" else self.urls[way.transport]
        return mcplens.connect(
            target, **{"protocol_version": way.revision, "concurrency": 8, **options}
        )


@asynccontextmanager
async def opened() -> AsyncIterator[House]:
    """Serve the demo in this process (stdio has a process of its own)."""
    exits: list[int] = []
    clock = SystemClock()
    demo = Demo(clock, exit=exits.append)
    legacy = HttpSse(demo, clock)
    endpoints: dict[str, Endpoint] = {"/sse": legacy, legacy.messages_path: legacy}
    endpoints["/mcp"] = StreamableHttp(demo, clock)
    site = AsgiApp(endpoints, sockets={"/ws": WebSocketEndpoint(demo)})
    async with serve(site) as address:
        urls = {
            "http": address.url("/mcp"),
            "sse": address.url("/sse"),
            "ws": address.url("/ws", "ws"),
        }
        yield House(demo, urls, exits)
    await demo.close()


class MemoryLine(Peer):
    """The demo's client on the memory transport."""

    kind = "memory"

    def __init__(self, demo: Demo, line: MemoryPeer) -> None:
        super().__init__(demo, Limits())
        self._line = line

    def _put(self, data: bytes, during: RequestId | None) -> None:
        self._line.send(data)

    def _shut(self, reason: str) -> None:
        self._line.close(reason)


@asynccontextmanager
async def in_memory(
    clock: Clock | None = None, revision: str = HANDSHAKE, **options: Any
) -> AsyncIterator[tuple[mcplens.Client, Demo]]:
    """A demo of one's own, without any process or port, and with time that a test moves."""
    demo = Demo(clock or SystemClock(), exit=lambda code: None)

    async def run(line: MemoryPeer) -> None:
        peer = MemoryLine(demo, line)
        try:
            while (data := await line.receive()) is not None:
                peer.take(data)
        finally:
            peer.close("the client left")

    forget_revisions()
    transport = mcplens.create_memory_transport(run)
    options = {"protocol_version": revision, "concurrency": 8, "ping_interval_s": 0, **options}
    async with (
        asyncio.timeout(PATIENCE_S),
        mcplens.connect(transport, clock=clock, **options) as client,
    ):
        yield client, demo
    await demo.close()


def text_of(result: Any) -> str:
    """The first text of a tool's result, typed or raw."""
    content = result["content"] if isinstance(result, dict) else result.content
    first = content[0]
    text = first["text"] if isinstance(first, dict) else first.text
    assert isinstance(text, str)
    return text


async def heard(
    client: mcplens.Client, kind: type[Event], is_it: Callable[[Any], bool] = lambda _: True
) -> Any:
    """The first event of a kind, from the beginning on."""
    async with asyncio.timeout(PATIENCE_S):
        async for event in client.events():
            if isinstance(event, kind) and is_it(event):
                return event
    raise AssertionError(f"no {kind.__name__}")


Answers = dict[str, Any]


async def call(
    client: mcplens.Client, name: str, arguments: Any = None, answers: Answers | None = None
) -> Any:
    """Call a tool; where 2026-07-28 asks back, answer by method and call again."""
    params = {"name": name, "arguments": arguments or {}}
    return await converse(client, "tools/call", params, answers or {})


async def converse(
    client: mcplens.Client, method: str, params: dict[str, Any], answers: Answers
) -> Any:
    for _ in range(12):
        value = (await client.request(method, params)).value
        if value.get("resultType") != "input_required":
            return value
        given = {
            key: answers[question["method"]](question["params"])
            for key, question in value["inputRequests"].items()
        }
        params = {**params, "inputResponses": given, "requestState": value["requestState"]}
    raise AssertionError("the server never stopped asking")


def handlers(answers: Answers) -> dict[str, Any]:
    """The same answers for the client of the handshake era."""
    return {
        method: lambda request, answer=answer: answer(request.params)
        for method, answer in answers.items()
    }


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def say(words: str) -> dict[str, Any]:
    content = {"type": "text", "text": words}
    return {"role": "assistant", "model": "parrot", "stopReason": "endTurn", "content": content}
