"""`mcplens mock`: a recording as an MCP server, over stdio or streamable HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, default_options
from mcplens.cli.command_runner import reporting
from mcplens.cli.recorded_servers import choice_options, recorded_server

if TYPE_CHECKING:
    from mcplens.mocking import MockServer, RecordedServer


class _Serving(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about the server."""

    is_http: bool
    port: int
    token: str | None
    no_auth: bool
    timing: str
    strict: bool
    any_answer: bool
    era: str


@click.command("mock")
@click.argument("trace", required=False, type=click.Path(dir_okay=False))
@choice_options
@click.option("--stdio", "is_stdio", is_flag=True, help="Serve the program that started this.")
@click.option("--http", "is_http", is_flag=True, help="Serve streamable HTTP, on this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", help="With --http: the port (a free one)."
)
@click.option("--token", metavar="TEXT", help="With --http: the bearer token (a new one).")
@click.option("--no-auth", is_flag=True, help="With --http: ask for no token.")
@click.option(
    "--timing", type=click.Choice(["instant", "recorded"]), default="instant", show_default=True,
    help="Answer at once, or after as long as the recorded server took.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Requests must have the recorded order and ids.")
@click.option(
    "--any-answer", is_flag=True,
    help="Go on as recorded, whatever the client answers to sampling, elicitation and roots.",
)  # fmt: skip
@click.option(
    "--era", type=click.Choice(["both", "recorded"]), default="both", show_default=True,
    help="Serve clients of both eras of the protocol, or only that of the recording.",
)  # fmt: skip
@click.pass_obj
def command(
    flags: CommandOptions,
    trace: str | None,
    run_id: str | None,
    server: str | None,
    is_stdio: bool,
    is_http: bool,
    port: int | None,
    token: str | None,
    no_auth: bool,
    timing: str,
    strict: bool,
    any_answer: bool,
    era: str,
) -> None:
    """Serve one server of a TRACE file, or of a recorded run, as it answered then.

    Over stdio, unless --http is given. Requests are matched by method and params, equal ones in
    the recorded order. A request that was not recorded is an error, which names the nearest.

    \b
    mcplens mock run.jsonl
    mcplens mock run.jsonl --http
    mcplens mock --run 3f2a --strict
    """
    if is_stdio and is_http:
        raise click.UsageError("--stdio and --http exclude each other")
    if not is_http and (port is not None or token or no_auth):
        raise click.UsageError("--port, --token and --no-auth need --http")
    if token and no_auth:
        raise click.UsageError("--no-auth and --token exclude each other")
    serving = _Serving(
        is_http=is_http, port=port or 0, token=token, no_auth=no_auth, timing=timing,
        strict=strict, any_answer=any_answer, era=era,
    )  # fmt: skip
    flags.options.update(default_options())
    shown = trace or f"run {run_id}"
    with recorded_server(flags, trace, run_id, server) as recording:
        output.note(
            f"mcplens: {recording.server_id}, {recording.count} calls of run "
            f"{recording.run_id[:8]}, MCP {recording.protocol_version or 'unknown'}"
        )
        with reporting(flags, shown), contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(recording, serving))
    sys.exit(exit_codes.DONE)


async def _serve(recording: RecordedServer, serving: _Serving) -> None:
    from mcplens.clock import SystemClock
    from mcplens.mocking import MockServer

    mock = MockServer(
        recording,
        clock=SystemClock(),
        timing="recorded" if serving.timing == "recorded" else "instant",
        strict=serving.strict,
        any_answer=serving.any_answer,
        speaks="both" if serving.era == "both" else "recorded",
    )
    try:
        if serving.is_http:
            await _serve_http(mock, serving)
        else:
            await _serve_stdio(mock)
    finally:
        await mock.close()
    if mock.unanswered:
        requests = "1 request was" if mock.unanswered == 1 else f"{mock.unanswered} requests were"
        output.note(f"mcplens: {requests} not in the recording", fg="yellow")


async def _serve_stdio(mock: MockServer) -> None:
    from mcplens.inbound.stdio import serve_stdio

    if sys.stdin.isatty():
        output.note("mcplens: speaks MCP on stdin; try --http. Ctrl-D ends.")
    await serve_stdio(mock, mock.clock)


async def _serve_http(mock: MockServer, serving: _Serving) -> None:
    import secrets

    from mcplens.inbound.access_control import AccessControl
    from mcplens.inbound.asgi_app import AsgiApp
    from mcplens.inbound.server import serve
    from mcplens.inbound.streamable_http import StreamableHttp

    token = None if serving.no_auth else serving.token or secrets.token_urlsafe(32)
    app = AsgiApp({"/mcp": StreamableHttp(mock, mock.clock)}, access=AccessControl(token=token))
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C cancels us instead
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serve(app, port=serving.port) as address:
        output.say(address.url("/mcp"))
        output.flush()
        if token is not None and serving.token is None:
            output.note(f"mcplens: clients send the header Authorization: Bearer {token}")
        await stopped.wait()
