"""`mcplens gateway install|remove`: gives a client the gateway as one of its servers.

Nothing is asked: the command names one client, the change can be seen with `--dry-run`, and the
previous version of the file is kept beside it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mcplens.cli import output
from mcplens.cli.client_files import client_argument, dry_run_option, file_option, write_change
from mcplens.cli.exit_codes import as_command_error

if TYPE_CHECKING:
    from mcplens.config.gateway_entries import GatewayLink


def _clients() -> Sequence[str]:
    from mcplens.config.gateway_entries import GATEWAY_CLIENTS

    return GATEWAY_CLIENTS


_client = client_argument(_clients)
_name = click.option(
    "--name", metavar="NAME", default="mcplens", help="What the client calls it (mcplens)."
)


@click.command("install")
@_client
@click.option("--listen", metavar="HOST:PORT", help="Where the gateway listens (gateway.listen).")
@click.option("--view", metavar="NAME", help="The view that the client gets.")
@_name
@click.option("--config", metavar="FILE", help="Use only this configuration file.")
@file_option
@dry_run_option
def install_command(
    client: str,
    listen: str | None,
    view: str | None,
    name: str,
    config: str | None,
    file: str | None,
    dry_run: bool,
) -> None:
    """Give a client the gateway as one of its servers.

    One entry is added to the client's own configuration: the gateway's address with its token, or,
    for Claude Desktop, the command that starts the gateway. Nothing else in the file changes. The
    address must have a fixed port.

    \b
    mcplens gateway install claude-desktop
    mcplens gateway install cursor \\
        --listen 8808
    mcplens gateway install codex \\
        --view reading --dry-run
    """
    from mcplens.config.gateway_entries import STARTS_COMMANDS, install_gateway
    from mcplens.config.tool_entries import client_title

    with as_command_error():
        if client in STARTS_COMMANDS:
            link = _command(client, listen, view, config)
        else:
            link = _address(listen, view, config, is_dry=dry_run)
        change = install_gateway(client, name, link, file=file)
        if change.is_none:
            output.say(f"{change.place.shown} is the gateway already, in {change.place.file}")
            return
        write_change(change, is_dry=dry_run)
    if dry_run:
        return
    if link.token:
        _tell_token(change.place.file)
    output.say(f"restart {client_title(client)}, or have it connect to {name}")
    if link.url:
        output.say("it connects while `mcplens gateway` runs at that address")


@click.command("remove")
@_client
@_name
@file_option
@dry_run_option
def remove_command(client: str, name: str, file: str | None, dry_run: bool) -> None:
    """Take the gateway out of a client's configuration.

    The file is restored as it was; edits that were made since are kept.

    \b
    mcplens gateway remove cursor
    """
    from mcplens.config.gateway_entries import remove_gateway

    with as_command_error():
        change = remove_gateway(client, name, file=file)
        if change.is_none:
            output.say(f"there is no {name!r} in {change.place.file}")
            return
        write_change(change, is_dry=dry_run)


def _command(client: str, listen: str | None, view: str | None, config: str | None) -> GatewayLink:
    from mcplens.config.configuration import load_configuration
    from mcplens.config.gateway_entries import command_link
    from mcplens.config.tool_entries import client_title
    from mcplens.gateway.service import published

    if listen is not None:
        text = f"{client_title(client)} starts the gateway by a command, which has no address"
        raise click.UsageError(f"{text}: leave --listen out")
    published(load_configuration(config), view)  # an unknown view is said now
    options = [] if view is None else ["--view", view]
    options += [] if config is None else ["--config", os.path.abspath(config)]
    return command_link(options)


def _address(
    listen: str | None, view: str | None, config: str | None, *, is_dry: bool
) -> GatewayLink:
    """The address of the gateway or of one of its views, and the token that opens it."""
    from mcplens.config.configuration import load_configuration
    from mcplens.config.gateway_entries import GatewayLink
    from mcplens.config.keys import InvalidValue
    from mcplens.config.views import parse_address
    from mcplens.gateway.http_app import MCP_PATH
    from mcplens.gateway.kept_token import kept_token, read_kept_token
    from mcplens.gateway.service import published
    from mcplens.inbound.server import LOOPBACK, Address
    from mcplens.user_folders import current_state_folder

    found = published(load_configuration(config), view)
    try:
        host, port = parse_address(listen or found.settings.listen, "--listen")
    except InvalidValue as wrong:
        raise click.UsageError(str(wrong)) from None
    if not port:
        raise click.UsageError(
            "a client needs an address that stays the same: set gateway.listen in the "
            "configuration, or use --listen 127.0.0.1:8808 here and with `mcplens gateway`"
        )
    host = LOOPBACK if host in ("0.0.0.0", "::") else host
    path = MCP_PATH if view is None else f"{MCP_PATH}/{view}"
    token = found.default_view.token if view is not None else None
    if token is None:
        folder = current_state_folder()
        token = (read_kept_token(folder) or "not made yet") if is_dry else kept_token(folder)
    return GatewayLink(url=Address(host, port).url(path), token=token)


def _tell_token(file: str) -> None:
    output.say(f"{file} holds the gateway's token now: who can read it can use your servers")
    if os.name == "posix" and stat.S_IMODE(os.stat(file).st_mode) & 0o077:
        output.note(f"mcplens: other users of this machine can read it: chmod 600 {file}")
