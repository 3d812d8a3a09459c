"""A server with one fault: python -m tests.servers.bad FAULT --transport stdio|http|sse|ws.

The handshake is right (2025-11-25), the tool "ok" always works, the tool "bad" commits the fault.
Network transports print {"port", "url"} on stdout and end when stdin closes.
"""

import argparse
import asyncio

from .misbehaving.faults import FAULTS, Fault
from .misbehaving.script import Script
from .process import exit_with_stdin

__all__ = ["FAULTS", "Fault"]


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    listing = "\n".join(f"  {name:22} {fault.description}" for name, fault in FAULTS.items())
    parser = argparse.ArgumentParser(
        prog="tests.servers.bad",
        epilog=listing,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("fault", choices=sorted(FAULTS), metavar="FAULT")
    option("--transport", choices=("stdio", "http", "sse", "ws"), default="stdio")
    option(
        "--at",
        default="tools/call",
        help="the method whose answer is the fault (default: the tool bad)",
    )
    option(
        "--delay",
        type=float,
        default=2.5,
        help="stray_stdout: how late the right answer is, in seconds",
    )
    option(
        "--json",
        dest="answers",
        action="store_const",
        const="auto",
        default="auto",
        help="JSON where one will do",
    )
    option(
        "--sse-answers",
        dest="answers",
        action="store_const",
        const="sse",
        help="HTTP: frames as SSE events",
    )
    option("--port", type=int, default=0)
    args = parser.parse_args(argv)
    if args.transport not in FAULTS[args.fault].transports:
        parser.error(f"{args.fault} cannot happen on {args.transport}")
    return args


async def main(args: argparse.Namespace) -> None:
    script = Script(args.fault, args.at, args.delay)
    if args.transport == "stdio":
        from .misbehaving.stdio import StdioServer

        await StdioServer(script).run()
        return
    exit_with_stdin()
    if args.transport == "ws":
        from .misbehaving.ws import WsServer

        await WsServer(script).run(args.port)
        return
    from .misbehaving.http import HttpServer, SseServer

    server = {"http": HttpServer, "sse": SseServer}[args.transport]
    await server(script, args.answers).run(args.port)


if __name__ == "__main__":
    asyncio.run(main(parse()))
