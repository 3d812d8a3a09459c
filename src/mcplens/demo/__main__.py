"""`python -m mcplens.demo`: the demo server on stdio, or by HTTP, HTTP+SSE and WebSocket."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from contextlib import suppress

from mcplens.clock import Clock, SystemClock
from mcplens.demo.server import Demo
from mcplens.errors import InspectorError


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m mcplens.demo",
        description="An MCP server to try clients on. Without options it speaks on stdio.",
    )
    port = {"nargs": "?", "type": int, "const": 0, "metavar": "PORT"}
    parser.add_argument("--http", help="streamable HTTP at /mcp", **port)  # type: ignore[arg-type]
    parser.add_argument("--sse", help="HTTP+SSE at /sse", **port)  # type: ignore[arg-type]
    parser.add_argument("--ws", help="WebSocket at /ws", **port)  # type: ignore[arg-type]
    parser.add_argument("--token", help="the bearer token that clients must send")
    return parser.parse_args()


async def serve(arguments: argparse.Namespace) -> None:
    clock = SystemClock()
    demo = Demo(clock)
    try:
        if arguments.http is arguments.sse is arguments.ws is None:
            from mcplens.inbound.stdio import serve_stdio

            if sys.stdin.isatty():
                hint = (
                    "mcplens-demo speaks MCP on stdin; try --http, or `mcplens demo`. Ctrl-D ends."
                )
                print(hint, file=sys.stderr, flush=True)
            await serve_stdio(demo, clock)
        else:
            await _serve_network(demo, clock, arguments)
    finally:
        await demo.close()


async def _serve_network(demo: Demo, clock: Clock, arguments: argparse.Namespace) -> None:
    """All that was asked for, on one port; says where on stderr."""
    from mcplens.inbound.access_control import AccessControl
    from mcplens.inbound.asgi_app import AsgiApp, Endpoint
    from mcplens.inbound.server import serve as serve_site
    from mcplens.inbound.sse import HttpSse
    from mcplens.inbound.streamable_http import StreamableHttp
    from mcplens.inbound.websocket import WebSocketEndpoint

    endpoints: dict[str, Endpoint] = {}
    sockets: dict[str, WebSocketEndpoint] = {}
    paths = []
    if arguments.http is not None:
        endpoints["/mcp"] = StreamableHttp(demo, clock)
        paths.append(("/mcp", "http"))
    if arguments.sse is not None:
        legacy = HttpSse(demo, clock)
        endpoints |= {"/sse": legacy, legacy.messages_path: legacy}
        paths.append(("/sse", "http"))
    if arguments.ws is not None:
        sockets["/ws"] = WebSocketEndpoint(demo)
        paths.append(("/ws", "ws"))
    app = AsgiApp(endpoints, sockets=sockets, access=AccessControl(token=arguments.token))
    port = arguments.http or arguments.sse or arguments.ws or 0
    async with serve_site(app, port=port) as address:
        for path, scheme in paths:
            print(f"mcplens-demo: {address.url(path, scheme)}", file=sys.stderr, flush=True)
        await _until_ended()


async def _until_ended() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows: Ctrl-C cancels us instead
            loop.add_signal_handler(number, ended.set)
    await ended.wait()


def main() -> None:
    try:
        asyncio.run(serve(_arguments()))
    except InspectorError as error:
        sys.exit(f"mcplens-demo: {error.message}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
