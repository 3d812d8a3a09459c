"""The well-behaved server: python -m tests.servers.good --transport stdio|http|sse|ws [options].

Network transports print {"port", "url"} on stdout and end when stdin closes.
"""

import argparse
import asyncio

from .process import announce, bind, exit_with_stdin
from .wellbehaved.brain import Brain, Options


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.servers.good", description=__doc__)
    option = parser.add_argument
    option("--transport", choices=("stdio", "http", "sse", "ws"), default="stdio")
    option("--era", choices=("legacy", "modern", "both"), default="legacy")
    option("--discover", default="normal", help="normal, silent, exit or late:SECONDS")
    option("--page-size", type=int, default=5, help="0 gives every list in one page")
    option(
        "--broken-tools",
        action="store_true",
        help="list some tools with broken definitions among the others",
    )
    option("--empty-cursor", action="store_true", help='the second page has the cursor ""')
    option("--without", default="", help="capabilities to leave out, comma-separated")
    option(
        "--stubborn",
        choices=("eof", "term"),
        help="stdio: outlive the end of stdin, or SIGTERM too (60 s at most)",
    )
    option("--port", type=int, default=0)
    http = parser.add_argument_group("streamable HTTP").add_argument
    http("--path", default="/mcp")
    http(
        "--json",
        dest="answers",
        action="store_const",
        const="json",
        default="auto",
        help="only JSON answers",
    )
    http(
        "--sse-answers", dest="answers", action="store_const", const="sse", help="only SSE answers"
    )
    http("--require-header", metavar="NAME:VALUE", help="401 without it")
    http(
        "--slow-notifications",
        type=float,
        default=0,
        metavar="S",
        help="answer notification POSTs after S seconds",
    )
    http(
        "--polling",
        type=int,
        metavar="MS",
        help="tools/call: close the stream after an event id and retry: MS",
    )
    http("--no-session", action="store_true", help="issue no Mcp-Session-Id")
    http("--no-get", action="store_true", help="405 to GET")
    http("--no-delete", action="store_true", help="405 to DELETE")
    return parser.parse_args(argv)


async def main(args: argparse.Namespace) -> None:
    without = tuple(name for name in args.without.split(",") if name)
    options = Options(
        args.era, args.discover, args.page_size, args.broken_tools, args.empty_cursor, without
    )
    if args.transport == "stdio":
        from .wellbehaved.stdio import serve_stdio

        await serve_stdio(Brain(options), stubborn=args.stubborn)
        return
    exit_with_stdin()
    serve = {"http": _serve_http, "sse": _serve_sse, "ws": _serve_ws}[args.transport]
    await serve(args, options)


async def _serve_http(args: argparse.Namespace, options: Options) -> None:
    from .wellbehaved.http import HttpOptions, HttpServer, SessionHost
    from .wellbehaved.streams import listen_http

    name, _, value = (args.require_header or "").partition(":")
    http_options = HttpOptions(
        path=args.path,
        answers=args.answers,
        required_header=(name, value.strip()) if name else None,
        slow_notifications_s=args.slow_notifications,
        polling_ms=args.polling,
        has_session=not args.no_session,
        has_get=not args.no_get,
        has_delete=not args.no_delete,
    )
    host, listener = SessionHost(), bind(args.port)
    brain = Brain(options, host)
    server = await listen_http(brain, HttpServer(brain, host, http_options).handle, listener)
    announce("http", listener, args.path)
    await server.serve_forever()


async def _serve_sse(args: argparse.Namespace, options: Options) -> None:
    from .wellbehaved.sse import PATH, SseServer
    from .wellbehaved.streams import listen_http

    brain, listener = Brain(options), bind(args.port)
    server = await listen_http(brain, SseServer(brain).handle, listener)
    announce("http", listener, PATH)
    await server.serve_forever()


async def _serve_ws(args: argparse.Namespace, options: Options) -> None:
    from websockets.asyncio.server import serve
    from websockets.typing import Subprotocol

    from .wellbehaved.ws import PATH, WsServer

    brain, listener = Brain(options), bind(args.port)
    async with serve(
        WsServer(brain).handle, sock=listener, subprotocols=[Subprotocol("mcp")], max_size=None
    ) as server:
        announce("ws", listener, PATH)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(parse()))
