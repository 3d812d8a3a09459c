"""What happens when a server goes away and comes back, over every transport; and who finds what.

Calls in flight fail, subscriptions and the log level come back, and no call is sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

import mcplens
from mcplens import InspectorError
from mcplens.clock import SystemClock
from mcplens.events import ListRefreshed, ResourceRefreshed, StateChanged, SubscriptionChanged
from mcplens.session.handshake import forget_revisions
from tests.servers.run import ROOT, argv, serve

from .memory_server import serve_memory
from .scenario import BOUND_S, Ear, seen_by, text_of, until_seen
from .targets import HANDSHAKE, OPTIONS, STATELESS

COUNTER = "memo://counter"
WAYS = [
    (transport, revision)
    for transport in ("memory", "stdio", "sse", "http-json", "http-sse", "ws")
    for revision in (HANDSHAKE, STATELESS)
    if (transport, revision) != ("sse", STATELESS)
]


class HastyClock(SystemClock):
    """Real time, except that nobody waits long before the next attempt."""

    async def sleep(self, delay_s: float) -> None:
        await super().sleep(min(delay_s, 0.02))


class Mortal:
    """A well-behaved server that can be brought back to life where it was."""

    def __init__(self, transport: str, stack: AsyncExitStack) -> None:
        self._transport = transport
        self._stack = stack
        self._port = 0
        self.address: Any = None
        self.options: dict[str, Any] = {"transport": "sse"} if transport == "sse" else {}

    async def start(self) -> None:
        if self._transport == "memory":
            self.address = mcplens.create_memory_transport(serve_memory)
        elif self._transport == "stdio":
            self.address, self.options = argv("good", "--era", "both"), {"cwd": str(ROOT)}
        else:
            arguments = ("--era", "both", *OPTIONS[self._transport], "--port", str(self._port))
            server = await self._stack.enter_async_context(serve("good", *arguments))
            self.address, self._port = server.url, server.port

    async def revive(self) -> None:
        """A client starts a command itself; a network server somebody else has to."""
        if self._port:
            await self.start()

    def connect(self, **options: Any) -> mcplens.connect:
        return mcplens.connect(self.address, **{**self.options, **options})


@asynccontextmanager
async def mortal(transport: str) -> AsyncIterator[Mortal]:
    async with asyncio.timeout(BOUND_S), AsyncExitStack() as stack:
        server = Mortal(transport, stack)
        await server.start()
        yield server


@pytest.mark.parametrize(("transport", "revision"), WAYS)
async def test_a_server_that_crashed_and_came_back_is_used_again(
    transport: str, revision: str
) -> None:
    options = {"protocol_version": revision, "max_retries": 500, "clock": HastyClock()}
    options["ping_interval_s"] = 0.0
    async with mortal(transport) as server, server.connect(**options) as client:
        await client.list_tools()
        await client.subscribe(COUNTER)
        ear = Ear(client)
        with pytest.raises(InspectorError) as caught:
            await client.call_tool("crash")
        assert caught.value.category in ("transport", "connection")
        await server.revive()
        if not transport.startswith("http"):
            await ear.hear(StateChanged, lambda e: e.new == "CONNECTED")
        elif revision == HANDSHAKE:  # HTTP finds out when it asks
            with pytest.raises(InspectorError, match="no longer knows our session"):
                await client.call_tool("echo", {"text": "are you there?"})
        assert text_of(await client.call_tool("echo", {"text": "again"})) == "again"
        # The new server saw that call and this one: what was in flight did not come again.
        assert (await seen_by(client))["methods"].count("tools/call") == 2
        await _wait_for_subscription(client, ear, revision)
        since = Ear(client)
        await client.call_tool("touch", {"uri": COUNTER})
        assert (await since.hear(ResourceRefreshed)).error is None
        await client.call_tool("change_list")
        assert (await since.hear(ListRefreshed)).kind == "tools"


async def _wait_for_subscription(client: mcplens.Client, ear: Ear, revision: str) -> None:
    if revision == STATELESS:
        await ear.hear(SubscriptionChanged, lambda e: e.state == "open")
    else:
        await until_seen(client, lambda seen: "resources/subscribe" in seen["methods"])


async def test_a_stdio_server_that_crashed_leaves_its_code_and_its_last_words() -> None:
    async with mortal("stdio") as server, server.connect() as client:
        with pytest.raises(InspectorError) as caught:
            await client.call_tool("crash")
        assert caught.value.code == "SERVER_EXITED"
        assert caught.value.details["exit_code"] == 3
        assert "crashing, as you asked" in str(caught.value.to_dict())
        with pytest.raises(InspectorError) as after:
            await client.call_tool("echo", {"text": "x"})
        assert after.value.code == "NOT_CONNECTED"


@pytest.mark.parametrize("transport", ["http-json", "http-sse"])
async def test_a_forgotten_http_session_is_opened_anew(transport: str) -> None:
    options = {"protocol_version": HANDSHAKE, "concurrency": 1}
    async with mortal(transport) as server, server.connect(**options) as client:
        await client.set_level("error")
        await client.subscribe(COUNTER)
        await client.call_tool("drop_session")
        calls = (client.call_tool("echo", {"text": word}) for word in ("a", "b", "c"))
        first, *others = await asyncio.gather(*calls, return_exceptions=True)
        # The one that met the 404 fails and is not sent again; those behind it wait and are well.
        assert isinstance(first, mcplens.HttpError)
        assert (first.code, first.status) == ("SESSION_EXPIRED", 404)
        assert [text_of(other) for other in others] == ["b", "c"]  # type: ignore[arg-type]
        wanted = ["initialize", "resources/subscribe", "logging/setLevel"]
        record = await until_seen(
            client, lambda seen: all(seen["methods"].count(method) == 2 for method in wanted)
        )
        assert len(record["sessions"]) == 2
        ear = Ear(client)
        await client.call_tool("touch", {"uri": COUNTER})
        await ear.hear(ResourceRefreshed)


@pytest.mark.parametrize("transport", dict(WAYS))
async def test_the_newest_revision_that_a_server_speaks_is_found(transport: str) -> None:
    forget_revisions()
    async with mortal(transport) as server, server.connect() as client:
        assert client.protocol_version == (HANDSHAKE if transport == "sse" else STATELESS)
        assert text_of(await client.call_tool("echo", {"text": "found"})) == "found"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("transport", ["memory", "http-json"])
async def test_any_revision_of_the_handshake_can_be_offered(transport: str, version: str) -> None:
    async with mortal(transport) as server, server.connect(protocol_version=version) as client:
        assert client.protocol_version == version
        assert len(await client.list_tools()) > 5
        found = await client.complete({"type": "ref/prompt", "name": "greet"}, "name", "G")
        assert found.completion.values == ["Grace"]
        assert (await seen_by(client))["clients"][-1]["protocolVersion"] == version
