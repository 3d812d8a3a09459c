"""A server that wants a sign-in, with the authorization server of an SDK beside it.

python -m tests.servers.sdk_oauth --sdk mcp|fastmcp --transport http [--lifetime SECONDS] [--login]

`mcp`: the official SDK's server and endpoints; `fastmcp`: fastmcp's. Both keep clients and tokens
in fastmcp's provider in memory, which lets everybody in at once and rotates refresh tokens. With
`--login` (mcp) a person has to fill in a page first, or denies.
"""

import argparse
import asyncio
import socket
from urllib.parse import urlencode

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.providers import in_memory
from mcp.server import MCPServer
from mcp.server.auth.provider import AuthorizationParams
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from .process import announce, bind, exit_with_stdin

SCOPE = "notes"


def echo(text: str) -> str:
    """Returns its text."""
    return text


PAGE = """<!doctype html><html lang="en"><title>Example login</title><h1>Example login</h1>
<form method="post"><label>Name <input name="user"></label>
<button name="agree" value="yes">Sign in</button> <button name="agree" value="">Deny</button></form>
"""


class LoginProvider(in_memory.InMemoryOAuthProvider):
    """Sends a person to a page before they get a code."""

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        returned = await super().authorize(client, params)
        denied = urlencode({"error": "access_denied", "state": params.state or ""})
        query = urlencode({"to": returned, "denied": f"{params.redirect_uri}?{denied}"})
        return f"{self.base_url}login?{query}"


async def log_in(request: Request) -> Response:
    if request.method == "GET":
        return HTMLResponse(PAGE)
    form = await request.form()
    is_agreed = bool(form["agree"]) and form["user"] == "alice"
    return RedirectResponse(request.query_params["to" if is_agreed else "denied"], 302)


def make_app(sdk: str, base: str, transport: str, *, has_login: bool = False) -> Starlette:
    registration = ClientRegistrationOptions(
        enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]
    )
    revocation = RevocationOptions(enabled=True)
    kind = LoginProvider if has_login else in_memory.InMemoryOAuthProvider
    provider = kind(
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
    server.custom_route("/login", methods=["GET", "POST"])(log_in)
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
    parser.add_argument("--login", action="store_true", help="a page to sign in at")
    args = parser.parse_args()
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = args.lifetime
    exit_with_stdin()
    listener = bind(0)
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = make_app(args.sdk, base, args.transport, has_login=args.login)
    announce("http", listener, "/mcp")
    asyncio.run(run(app, listener))


if __name__ == "__main__":
    main()
