"""The floor of a gateway: as little as can stand between HTTP clients and one server.

`python -m bench.gateways.floor CONFIG` reads an mcp.json with one server and prints its address.
It checks the token and each envelope, takes the server's prefix off the name of a tool, keeps each
frame of both sides under the bounds of floor.py, and bounds each call. Nothing else: bare ASGI on
uvicorn, and the floors of the clients below it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import uvicorn

from bench.contenders.floor import VERSION, Trace, connect_stdio, encode
from bench.contenders.floor_http import connect_http
from bench.gateways.token import TOKEN

_PREFIX: Final = "bench__"
_AUTHORIZED: Final = b"Bearer " + TOKEN.encode()
_JSON: Final = (b"content-type", b"application/json")
_SESSION: Final = (b"mcp-session-id", b"floor-0123456789abcdef")


class _Request(msgspec.Struct):
    jsonrpc: str
    method: str
    id: msgspec.Raw = msgspec.Raw(b"")
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Call(msgspec.Struct):
    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


_read_request: Final = msgspec.json.Decoder(_Request).decode
_read_call: Final = msgspec.json.Decoder(_Call).decode

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Downstream(Protocol):
    """What the floors of stdio and HTTP have in common."""

    async def request(self, method: str, params: Any) -> msgspec.Raw: ...


class Gateway:
    """One endpoint in front of one server."""

    def __init__(self, downstream: Downstream) -> None:
        self._downstream = downstream
        self._trace = Trace()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await _respond(send, 405, b"")
        elif dict(scope["headers"]).get(b"authorization") != _AUTHORIZED:
            await _respond(send, 401, b"")
        else:
            await self._post(await _body(receive), send)

    async def _post(self, body: bytes, send: Send) -> None:
        self._trace.add("in", body)
        request = _read_request(body)
        if request.jsonrpc != "2.0":
            await _respond(send, 400, b"")
        elif not request.id:
            await _respond(send, 202, b"")
        else:
            result = await self._result(request)
            answer = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (request.id, result)
            self._trace.add("out", answer)
            await _respond(send, 200, answer)

    async def _result(self, request: _Request) -> bytes | msgspec.Raw:
        if request.method == "tools/call":
            call = _read_call(request.params)
            call.name = call.name.removeprefix(_PREFIX)
            return await self._downstream.request("tools/call", call)
        if request.method == "initialize":
            info = {"name": "floor", "version": "1"}
            return encode(
                {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": info}
            )
        listed = msgspec.json.decode(await self._downstream.request(request.method, {}))
        for tool in listed.get("tools", []):
            tool["name"] = _PREFIX + tool["name"]
        return encode(listed)


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message["body"]
    while message.get("more_body"):
        message = await receive()
        body += message["body"]
    return body


async def _respond(send: Send, status: int, body: bytes) -> None:
    headers = [_JSON, _SESSION, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def main(config: dict[str, Any]) -> None:
    (entry,) = config["mcpServers"].values()
    connected: Any = (
        connect_http(entry["url"])
        if "url" in entry
        else connect_stdio([entry["command"], *entry["args"]])
    )
    async with connected as downstream:
        options = uvicorn.Config(
            Gateway(downstream), log_level="critical", lifespan="off", timeout_keep_alive=75
        )
        with socket.socket(proto=socket.IPPROTO_TCP) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(2048)
            print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
            await uvicorn.Server(options).serve(sockets=[listener])


if __name__ == "__main__":
    bytes(1 << 20)  # as bench/worker.py does, and why
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
