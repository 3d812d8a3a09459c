"""What every misbehaving server does right, and when it does wrong. Transports drive it.

`Script.take` gives each request its own task, so that a hanging call harms no other.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from .faults import FRAMES, dump, noise, right

Message = dict[str, Any]
SendFrame = Callable[[bytes], Awaitable[None]]
Misbehave = Callable[[Message], Awaitable[None]]

TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}}
    for name in ("ok", "bad", "slow", "flood", "seen")
]
# Small enough that a flood hears its cancellation soon.
FLOOD_BATCH = 64


@dataclass
class Script:
    fault: str
    at: str = (
        "tools/call"  # the method whose answer is the fault; tools/call means the tool "bad" only
    )
    delay_s: float = 2.5
    first_id: Any = None
    seen: Message = field(
        default_factory=lambda: {"methods": [], "cancelled": [], "http": [], "foreign": []}
    )
    running: dict[Any, "asyncio.Task[None]"] = field(default_factory=dict)

    def parse(self, data: bytes) -> Message | None:
        """A message of the client, noted; None when it is none."""
        try:
            message = json.loads(data)
        except ValueError:
            return None
        if not isinstance(message, dict):
            return None
        self.seen["methods"].append(message.get("method"))
        if "id" in message and self.first_id is None:
            self.first_id = message["id"]
        if message.get("method") == "notifications/cancelled":
            request_id = message.get("params", {}).get("requestId")
            self.seen["cancelled"].append(request_id)
            if request_id in self.running:
                self.running[request_id].cancel()
        return message

    def take(
        self, message: Message, send: SendFrame, misbehave: Misbehave
    ) -> "asyncio.Task[None] | None":
        """Start the answer to a request; the task never fails for a client that went away."""
        if "method" not in message or "id" not in message:
            return None
        task = asyncio.ensure_future(self._answer(message, send, misbehave))
        self.running[message["id"]] = task
        task.add_done_callback(lambda _: self.running.pop(message["id"], None))
        return task

    def fault_of(self, message: Message) -> str | None:
        """The fault that the answer to `message` commits, if any."""
        params = message.get("params") or {}
        if message.get("method") == "tools/call" and params.get("name") == "flood":
            return "flood"
        if message.get("method") != self.at:
            return None
        if self.at != "tools/call":
            return self.fault
        # One process can serve many faults: the call may name the one it wants.
        arguments = params.get("arguments") or {}
        return arguments.get("fault", self.fault) if params.get("name") == "bad" else None

    def frames(self, message: Message) -> list[bytes] | None:
        """The bytes of the fault, or None when it is not a matter of bytes."""
        make = FRAMES.get(self.fault_of(message) or "")
        return make(message["id"], self.first_id) if make else None

    def right_answer(self, message: Message) -> bytes:
        """The answer of a server that behaves."""
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            result: Message = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": f"misbehaving-{self.fault}", "version": "1.0.0"},
            }
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            return self._right_call(message["id"], params.get("name"))
        elif method in ("ping", "logging/setLevel"):
            result = {}
        else:
            refusal = {"code": -32601, "message": f"Method not found: {method}"}
            return dump({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
        return dump({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _right_call(self, request_id: Any, name: Any) -> bytes:
        words = {
            "ok": "ok",
            "slow": "slow, but right",
            "bad": "bad, but right",
            "seen": json.dumps(self.seen),
        }
        if name in words:
            return right(request_id, words[name])
        refusal = {"code": -32602, "message": f"unknown tool {name!r}"}
        return dump({"jsonrpc": "2.0", "id": request_id, "error": refusal})

    async def _answer(self, message: Message, send: SendFrame, misbehave: Misbehave) -> None:
        try:
            fault = self.fault_of(message)
            if fault == "flood":
                await self._flood(send)
            elif fault is None:
                await self._wait_if_slow(message)
                await send(self.right_answer(message))
            elif (frames := self.frames(message)) is not None:
                for frame in frames:
                    await send(frame)
            elif fault in ("nothing", "silent_start"):
                await asyncio.Event().wait()
            else:
                await misbehave(message)
        except ConnectionError:
            pass

    async def _wait_if_slow(self, message: Message) -> None:
        params = message.get("params") or {}
        if message["method"] == "tools/call" and params.get("name") == "slow":
            await asyncio.sleep((params.get("arguments") or {}).get("seconds", 1))

    async def _flood(self, send: SendFrame) -> None:
        for number in itertools.count():
            await send(noise(number))
            if number % FLOOD_BATCH == 0:
                await asyncio.sleep(0)
