"""`mcplens tap install|remove`: puts the tap into a client's configuration, and takes it out again.

Nothing is asked: the command names one entry of one file, the change can be seen with `--dry-run`,
and the previous version of the file is kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from mcplens.cli import output
from mcplens.cli.client_files import client_argument, dry_run_option, file_option, write_change
from mcplens.cli.exit_codes import as_command_error


def _clients() -> Sequence[str]:
    from mcplens.config.tool_entries import CLIENTS

    return CLIENTS


_client = client_argument(_clients)
_server = click.argument("server")


@click.command("install")
@_client
@_server
@file_option
@dry_run_option
def install_command(client: str, server: str, file: str | None, dry_run: bool) -> None:
    """Have a client start one of its servers through the tap.

    In the client's configuration, `mcplens tap` is put before the command of SERVER. Nothing else
    in the file changes. Restart the client, and follow its sessions with `mcplens watch --run` or
    in the web UI.

    \b
    mcplens tap install cursor files
    mcplens tap install codex x --dry-run
    """
    from mcplens.config.tap_entries import install_tap
    from mcplens.config.tool_entries import client_title, find_client_server

    with as_command_error():
        change = install_tap(client, find_client_server(client, server, file=file))
        if change.is_none:
            output.say(f"{change.place.shown} has the tap already, in {change.place.file}")
            return
        write_change(change, is_dry=dry_run)
    if not dry_run:
        output.say(f"restart {client_title(client)}, or have it connect to {server} again")


@click.command("remove")
@_client
@_server
@file_option
@dry_run_option
def remove_command(client: str, server: str, file: str | None, dry_run: bool) -> None:
    """Give a client's server its former command back.

    The entry is restored as it was; edits that were made since are kept.

    \b
    mcplens tap remove cursor files
    """
    from mcplens.config.tap_entries import remove_tap
    from mcplens.config.tool_entries import find_client_server

    with as_command_error():
        change = remove_tap(client, find_client_server(client, server, file=file))
        if change.is_none:
            output.say(f"{change.place.shown} has no tap, in {change.place.file}")
            return
        write_change(change, is_dry=dry_run)
