"""The gateway as other clients are configured with it: the entry of each, and the token.

Tokens are never part of a view that is pushed to pages; a command reveals them to the page that
asks.
"""

from __future__ import annotations

import shlex
from typing import Final

import msgspec

from mcplens.config.gateway_entries import (
    DEFAULT_NAME,
    GATEWAY_CLIENTS,
    STARTS_COMMANDS,
    GatewayLink,
    command_link,
    gateway_snippet,
)
from mcplens.config.tool_entries import client_title
from mcplens.errors import InspectorError
from mcplens.gateway.service import GatewayService
from mcplens.gateway.view_handler import ViewHandler
from mcplens.web.api.gateway import running_gateway
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace

# Stands for a token until it is asked for.
MASK: Final = "••••••••"


class GatewayEntryView(msgspec.Struct, frozen=True):
    """The gateway as a client's configuration has it, and the command that writes it there.

    `command` is null where the port is not fixed: the entry would be wrong after a restart.
    """

    client: str
    title: str
    text: str
    command: str | None


class GatewayEntries(Command, frozen=True, kw_only=True):
    """The entry for each client; the token is masked unless `is_revealed`."""

    path: str = "/mcp"
    is_revealed: bool = False


class GatewayToken(Command, frozen=True, kw_only=True):
    """The bearer token that opens a path of the gateway; null if none is asked for."""

    path: str = "/mcp"


@command
async def gateway_token(workspace: Workspace, command: GatewayToken) -> str | None:
    return _token(running_gateway(workspace), command.path)


@command
async def gateway_entries(workspace: Workspace, command: GatewayEntries) -> list[GatewayEntryView]:
    service = running_gateway(workspace)
    if service.address is None:
        return []
    token = _token(service, command.path) or ""
    if token and not command.is_revealed:
        token = MASK
    link = GatewayLink(url=service.address.url(command.path), token=token)
    view = _view_at(service, command.path)
    return [_entry(service, client, link, view) for client in GATEWAY_CLIENTS]


def _entry(
    service: GatewayService, client: str, link: GatewayLink, view: str | None
) -> GatewayEntryView:
    words = ["mcplens", "gateway", "install", client]
    options = [] if view is None else ["--view", view]
    if client in STARTS_COMMANDS:
        link = command_link(options)
    elif service.address is not None and not service.is_port_fixed:
        words = []
    elif service.address is not None:
        options = ["--listen", f"{service.address.host}:{service.address.port}", *options]
    text = gateway_snippet(client, DEFAULT_NAME, link)
    command = shlex.join([*words, *options]) if words else None
    return GatewayEntryView(client, client_title(client), text, command)


def _token(service: GatewayService, path: str) -> str | None:
    handler = service.gateway.handler_at(path)
    own = handler.view.token if isinstance(handler, ViewHandler) else None
    return own or service.token


def _view_at(service: GatewayService, path: str) -> str | None:
    handler = service.gateway.handler_at(path)
    if not isinstance(handler, ViewHandler):
        raise InspectorError("INVALID_REQUEST", f"the gateway has no view at {path}")
    return None if path == "/mcp" else handler.view.name
