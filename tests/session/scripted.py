"""A server in memory that answers as its script says, and a client of it whose time stands still.

`Rig` holds both: `server` remembers what it was sent, `clock` moves when told, `events` are the
client's. Leaving the rig disconnects and fails the test if anything is left running.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from mcplens.app import create_mcp_client
from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.errors import InspectorError
from mcplens.events import Event, Remark, StateChanged
from mcplens.protocol.frames import RequestId, parse
from mcplens.session.client import Client
from mcplens.session.config import ConnectionConfig
from mcplens.session.queue import QueueEntry
from mcplens.transports.base import Closing, Outgoing, Transport
from mcplens.transports.memory import MemoryPeer, MemoryTransport

E = TypeVar("E", bound=Event)
T = TypeVar("T")

LEGACY = "2025-11-25"
STATELESS = "2026-07-28"
SILENT: Any = object()
EVERYTHING: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
    "tasks": {"list": {}, "cancel": {}},
}

# What a client declares to every server, whatever it handles: that it can read skills.
SKILLS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/skills": {}}}


class Refuse:
    """An answer that is a JSON-RPC error."""

    def __init__(self, code: int, message: str = "refused", data: Any = None) -> None:
        self.error: dict[str, Any] = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def text(words: str = "ok") -> dict[str, Any]:
    """A tool's result."""
    return {"content": [{"type": "text", "text": words}]}


def discovered(*versions: str, **more: Any) -> dict[str, Any]:
    """An answer to server/discover."""
    return {
        "resultType": "complete",
        "supportedVersions": list(versions) or [STATELESS],
        "capabilities": EVERYTHING,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}},
    } | more


class ScriptedServer:
    """Answers each method as `answers` says: a value, Refuse, SILENT, bytes, or a function of the
    request that gives one of these. Of the old era unless `is_stateless`."""

    def __init__(
        self,
        answers: Mapping[str, Any] | None = None,
        *,
        is_stateless: bool = False,
        capabilities: Mapping[str, Any] = EVERYTHING,
    ) -> None:
        self.capabilities = dict(capabilities)
        self.received: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.peers: list[MemoryPeer] = []
        self.answers: dict[str, Any] = {
            "tools/call": text(),
            "tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]},
            "resources/list": {"resources": []},
            "resources/templates/list": {"resourceTemplates": []},
            "prompts/list": {"prompts": []},
            "resources/read": {"contents": []},
        }
        if is_stateless:
            self.answers["server/discover"] = discovered(capabilities=self.capabilities)
        else:
            methods = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
            self.answers |= {method: {} for method in methods}
            self.answers["initialize"] = self._initialized
        self.answers |= answers or {}

    def _initialized(self, request: dict[str, Any]) -> dict[str, Any]:
        return {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": self.capabilities,
            "serverInfo": {"name": "scripted", "version": "1"},
        }

    async def serve(self, peer: MemoryPeer) -> None:
        self.peers.append(peer)
        while (data := await peer.receive()) is not None:
            self.raw.append(data)
            try:
                message = json.loads(data)
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            self.received.append(message)
            if "method" in message and "id" in message:
                self._answer(message)

    def _answer(self, request: dict[str, Any]) -> None:
        answer = self.answers.get(request["method"], Refuse(-32601, "Method not found"))
        if callable(answer):
            answer = answer(request)
        if answer is SILENT:
            return
        if isinstance(answer, bytes):
            self.send(answer)
        elif isinstance(answer, Refuse):
            self.send_json({"jsonrpc": "2.0", "id": request["id"], "error": answer.error})
        else:
            self.reply(request["id"], answer)

    # -- what a test makes it say --------------------------------------------------------------

    def send(self, data: bytes) -> None:
        self.peers[-1].send(data)

    def send_json(self, message: Any) -> None:
        self.send(json.dumps(message).encode())

    def reply(self, identity: RequestId | None, result: Any) -> None:
        self.send_json({"jsonrpc": "2.0", "id": identity, "result": result})

    def notify(self, method: str, params: Any = None) -> None:
        self.send_json(
            {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})
        )

    def ask(self, identity: RequestId, method: str, params: Any = None) -> None:
        message = {"jsonrpc": "2.0", "id": identity, "method": method}
        self.send_json(message | ({"params": params} if params else {}))

    def progress(self, token: Any, progress: float, **more: Any) -> None:
        self.notify("notifications/progress", {"progressToken": token, "progress": progress} | more)

    def leave(self) -> None:
        self.peers[-1].close()

    # -- what it was sent ----------------------------------------------------------------------

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The requests and notifications of a method that came, oldest first."""
        return [message for message in self.received if message.get("method") == method]

    def answer_to(self, identity: RequestId) -> dict[str, Any] | None:
        """The client's answer to a question of ours."""
        for message in self.received:
            if message.get("id") == identity and "method" not in message:
                return message
        return None

    @property
    def methods(self) -> list[str]:
        """All methods in the order in which they came; answers of the client as `answer`."""
        return [message.get("method", "answer") for message in self.received]


class ExchangeTransport(MemoryTransport):
    """Like HTTP: each request is an exchange of its own, on which the server may ask as well."""

    kind = "exchange"
    exchange_per_request = True

    def __init__(self, server: ScriptedServer) -> None:
        super().__init__(server.serve)
        self.abandoned: list[RequestId] = []
        self.headers: dict[str, dict[str, str]] = {}
        self._sent: dict[RequestId, Outgoing] = {}
        self.written: list[Outgoing] = []

    def next_exchange_id(self) -> int | None:
        return self._publish.next_exchange_id()

    def write(self, out: Outgoing) -> None:
        self.headers[out.method] = dict(out.headers or {})
        self.written.append(out)
        if out.id is not None:
            self._sent[out.id] = out
        super().write(out)

    def abandon(self, request_id: RequestId) -> None:
        self.abandoned.append(request_id)

    def deliver_on(self, channel: RequestId, message: Any) -> None:
        """The server speaks on the exchange of a request."""
        self.deliver_by(self._sent[channel], message)

    def deliver_by(self, carrier: Outgoing, message: Any) -> None:
        """The server speaks in the answer to this message."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()

        def deliver() -> None:
            receiver = self._receiver
            receiver.message_received(parse(data), len(data), carrier.exchange_id, carrier)

        asyncio.get_running_loop().call_soon(deliver)


class BrokenTransport(Transport):
    """Never opens: raises, or hangs if there is nothing to raise."""

    kind = "broken"
    identity = "broken"

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.closed: list[Closing] = []

    async def _open(self) -> None:
        if self.error is None:
            await asyncio.get_running_loop().create_future()
        else:
            raise self.error

    async def _close(self, how: Closing) -> None:
        self.closed.append(how)

    def write(self, out: Outgoing) -> None:
        raise AssertionError("nothing can be sent on a transport that never opened")


async def until(predicate: Callable[[], Any], turns: int = 5_000) -> None:
    """Let tasks run until it holds; no time passes."""
    for _ in range(turns):
        if predicate():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come about")


class Rig:
    """A client, its server, its clock and its events; connected unless told otherwise."""

    def __init__(
        self,
        server: ScriptedServer | None = None,
        *,
        make_transport: Callable[[], Transport] | None = None,
        connect: bool = True,
        protocol_version: str = LEGACY,
        handlers: Mapping[str, Any] | None = None,
        max_retries: int = 0,
        config: Mapping[str, Any] | None = None,
        clock: ManualClock | None = None,
        bus: Bus | None = None,
        **options: Any,
    ) -> None:
        self.server = server or ScriptedServer()
        self.clock = clock or ManualClock()
        self.bus = bus or Bus(self.clock)
        self.client: Client = create_mcp_client(
            make_transport or (lambda: MemoryTransport(self.server.serve)),
            config=ConnectionConfig(**{"max_retries": max_retries} | dict(config or {})),
            protocol_version=protocol_version,
            server_id="scripted",
            bus=self.bus,
            clock=self.clock,
            **options,
        )
        for method, handler in (handlers or {}).items():
            self.client.set_request_handler(method, handler)
        self._connect = connect
        self._tasks: list[asyncio.Task[Any]] = []

    async def __aenter__(self) -> Self:
        if self._connect:
            await self.client.connect()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.client.disconnect()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.clock.settle()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if exc is None:
            assert not left, f"still running after disconnect(): {left}"

    # -- doing things ----------------------------------------------------------------------------

    def go(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start something and let the test go on."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        return task

    async def started(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start something, and go on once nothing more happens without time passing."""
        task = self.go(work)
        await self.settle()
        return task

    async def call(self, name: str = "slow", **options: Any) -> asyncio.Task[Any]:
        """Start a tool call and let it reach the server."""
        return await self.started(self.client.call_tool(name, **options))

    async def settle(self) -> None:
        await self.clock.settle(50)

    async def advance(self, seconds: float) -> None:
        """Let time pass, after all that is to happen now has happened."""
        await self.settle()
        await self.clock.advance(seconds)
        await self.settle()

    # -- seeing what happened --------------------------------------------------------------------

    def events(self, kind: type[E]) -> list[E]:
        return [event for event in self.bus.kept() if isinstance(event, kind)]

    def states(self) -> list[str]:
        """The states that the connection went through."""
        return [event.new for event in self.events(StateChanged)]

    def transitions(self) -> list[str]:
        return [event.transition for event in self.events(StateChanged)]

    def remarks(self) -> list[str]:
        return [event.message for event in self.events(Remark)]

    def entry(self, method: str = "tools/call") -> QueueEntry:
        """The one request of a method that is in progress."""
        (entry,) = [e for e in self.client.queue.in_progress() if e.method == method]
        return entry

    @property
    def state(self) -> str:
        return self.client.state.value


def failure(task: asyncio.Task[Any]) -> InspectorError:
    """The error that something ended with; it must have ended by now."""
    assert task.done(), "still waiting"
    error = task.exception()
    assert isinstance(error, InspectorError), error
    return error
