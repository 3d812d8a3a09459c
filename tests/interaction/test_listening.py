"""subscriptions/listen (2026-07-28) against a server that takes its own view of acknowledging."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import mcplens
from mcplens import InspectorError
from mcplens.events import NotificationReceived
from mcplens.protocol.eras import SUBSCRIPTION_ID
from mcplens.transports.memory import MemoryPeer

from .scenario import BOUND_S, Ear
from .targets import STATELESS

CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
}


class Listened:
    """A stateless server of one tool that acknowledges a listen only when the test says so."""

    def __init__(self) -> None:
        self.listens: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._line: MemoryPeer | None = None

    async def serve(self, line: MemoryPeer) -> None:
        self._line = line
        while (data := await line.receive()) is not None:
            message = json.loads(data)
            match message["method"]:
                case "server/discover":
                    versions = {"supportedVersions": [STATELESS], "capabilities": CAPABILITIES}
                    self._send(id=message["id"], result=versions)
                case "tools/list":
                    tool = {"name": "one", "inputSchema": {"type": "object"}}
                    self._send(id=message["id"], result={"tools": [tool]})
                case "subscriptions/listen":
                    self.listens.put_nowait(message)

    def acknowledge(self, listen: dict[str, Any]) -> None:
        wanted = listen["params"]["notifications"]
        params = {"notifications": wanted, "_meta": {SUBSCRIPTION_ID: listen["id"]}}
        self._send(method="notifications/subscriptions/acknowledged", params=params)

    def _send(self, **message: Any) -> None:
        assert self._line is not None
        self._line.send(json.dumps({"jsonrpc": "2.0", **message}).encode())


def connect(server: Listened, **options: Any) -> mcplens.connect:
    transport = mcplens.create_memory_transport(server.serve)
    return mcplens.connect(transport, protocol_version=STATELESS, **options)


async def test_a_subscription_that_is_never_acknowledged_fails_in_time() -> None:
    async with asyncio.timeout(BOUND_S), connect(Listened(), request_timeout_s=0.05) as client:
        with pytest.raises(InspectorError) as caught:
            await client.subscribe("memo://a")
        assert caught.value.code == "REQUEST_TIMEOUT"
        assert client.catalog.subscribed == frozenset()


async def test_the_acknowledgement_of_older_wants_does_not_confirm_a_newer_subscription() -> None:
    server = Listened()
    async with asyncio.timeout(BOUND_S), connect(server) as client:
        ear = Ear(client)
        await client.list_tools()
        first = await server.listens.get()
        subscribing = asyncio.ensure_future(client.subscribe("memo://a"))
        server.acknowledge(first)
        await ear.hear(NotificationReceived)
        second = await server.listens.get()
        assert second["params"]["notifications"]["resourceSubscriptions"] == ["memo://a"]
        await client.ping()  # time enough to believe the wrong one
        assert not subscribing.done()
        server.acknowledge(second)
        await subscribing
        assert client.catalog.subscribed == {"memo://a"}
