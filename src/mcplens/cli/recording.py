"""Records a command's run, and writes its trace file, according to the options."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from mcplens.bus import Bus
from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.target_resolution import Target
from mcplens.errors import InspectorError
from mcplens.version import VERSION


@contextlib.contextmanager
def recording(flags: CommandOptions, bus: Bus, target: Target) -> Iterator[None]:
    """Record what is published on the bus for as long as the block lasts."""
    if flags.no_record and flags.trace is None:
        yield
        return
    try:
        secret_keys = _secret_keys(flags, target)
    except InspectorError as problem:
        _warn(f"this run is not recorded, since the secret keys cannot be read: {problem.message}")
        yield
        return
    from mcplens.store.location import default_path
    from mcplens.store.recorder import Recorder

    context = click.get_current_context(silent=True)
    name = context.info_name if context is not None else None
    recorder = Recorder(
        bus,
        None if flags.no_record else default_path(),
        trace=flags.trace,
        secret_keys=secret_keys,
        title=f"{name or 'mcplens'} {target.name}",
        version=VERSION,
        warn=_warn,
    )
    with recorder:
        yield


def _secret_keys(flags: CommandOptions, target: Target) -> tuple[str, ...]:
    """The keys whose values are never written: the server's and the configuration's."""
    from mcplens.config.secret_keys import find_secret_keys

    return (*find_secret_keys(flags.config), *target.secrets)


def _warn(text: str) -> None:
    output.note(f"mcplens: {text}", fg="yellow")
