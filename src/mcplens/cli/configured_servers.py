"""What the `servers` commands share: how a server is shown, and the file that is written.

Values of headers and environment variables may be secrets and are not shown in lists.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from mcplens.cli import output
from mcplens.protocol.secret_masking import mask_url

if TYPE_CHECKING:
    from mcplens.config.files import Written
    from mcplens.config.model import ServerEntry

config_option = click.option("--config", metavar="FILE", help="Use only this configuration file.")
replace_option = click.option("--replace", is_flag=True, help="Replace what already exists.")


def shown(entry: ServerEntry) -> str:
    """How a server is reached: its command or its URL, without secrets.

    As its file has it: what a placeholder stands for may be a secret.
    """
    from mcplens.store.recorded_secrets import mask_argv, plain

    command = entry.raw.get("command") or entry.command
    if entry.url is not None or command is None:
        url = entry.raw.get("url") or entry.url
        return mask_url(str(url or "(neither command nor url)"))
    args = entry.raw.get("args") or entry.args
    words = [str(command), *map(str, args if isinstance(args, list | tuple) else ())]
    return shlex.join(mask_argv(words, frozenset(map(plain, entry.secret_keys))))


def own_file(config: str | None) -> str:
    """The file that is written: the one that was named, else the user's."""
    from mcplens.config.configuration import find_files, user_file

    given = [source.path for source in find_files(config) if source.scope == "given"]
    return given[0] if given else user_file()


def tell_written(what: str, written: Written) -> None:
    """Say what was written, and where the previous version is."""
    output.say(what)
    if written.backup is not None:
        output.say(f"backup of the previous version: {written.backup}")
