"""A server that wants a sign-in, with the authorization server of an SDK beside it.

python -m tests.servers.sdk_oauth --sdk mcp|fastmcp --transport http [--lifetime SECONDS]

`mcp`: the official SDK's server and endpoints; `fastmcp`: fastmcp's. Both keep clients and tokens
in fastmcp's provider in memory, which lets everybody in at once and rotates refresh tokens.
"""

import argparse
import asyncio
import socket

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.providers import in_memory
from mcp.server import MCPServer
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from .process import announce, bind, exit_with_stdin

SCOPE = "notes"


def echo(text: str) -> str:
    """Returns its text."""
    return text


def make_app(sdk: str, base: str, transport: str) -> Starlette:
    registration = ClientRegistrationOptions(
        enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]
    )
    revocation = RevocationOptions(enabled=True)
    provider = in_memory.InMemoryOAuthProvider(
        base_url=base,
        client_registration_options=registration,
        revocation_options=revocation,
        required_scopes=[SCOPE],
    )
    if sdk == "fastmcp":
        fast = FastMCP("sdk-oauth", auth=provider)
        fast.tool(echo)
        if transport == "sse":
            return fast.http_app(path="/mcp", transport="sse")
        return fast.http_app(path="/mcp", json_response=True)
    server = MCPServer(
        "sdk-oauth",
        auth_server_provider=provider,
        log_level="WARNING",
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(base),
            resource_server_url=AnyHttpUrl(f"{base}/mcp"),
            client_registration_options=registration,
            revocation_options=revocation,
            required_scopes=[SCOPE],
            validate_token_resource=False,  # the provider keeps no resource with its tokens
        ),
    )
    server.tool()(echo)
    if transport == "sse":
        return server.sse_app(sse_path="/mcp")
    return server.streamable_http_app(json_response=True)


async def run(app: Starlette, listener: socket.socket) -> None:
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    await uvicorn.Server(config).serve(sockets=[listener])


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.servers.sdk_oauth", description=__doc__)
    parser.add_argument("--sdk", choices=("mcp", "fastmcp"), default="mcp")
    parser.add_argument("--transport", choices=("http", "sse"), default="http")
    parser.add_argument("--lifetime", type=int, default=3600, help="of access tokens")
    args = parser.parse_args()
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = args.lifetime
    exit_with_stdin()
    listener = bind(0)
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = make_app(args.sdk, base, args.transport)
    announce("http", listener, "/mcp")
    asyncio.run(run(app, listener))


if __name__ == "__main__":
    main()
