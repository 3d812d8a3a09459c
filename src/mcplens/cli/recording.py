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
        secret_keys, output_bytes = _settings(flags)
    except InspectorError as problem:
        _warn(f"this run is not recorded, since the secret keys cannot be read: {problem.message}")
        yield
        return
    from mcplens.store.recorder import Recorder
    from mcplens.store.recording_file import default_path

    context = click.get_current_context(silent=True)
    name = context.info_name if context is not None else None
    recorder = Recorder(
        bus,
        None if flags.no_record else default_path(),
        trace=flags.trace,
        secret_keys=(*secret_keys, *target.secrets),
        output_bytes=output_bytes,
        title=f"{name or 'mcplens'} {target.name}",
        version=VERSION,
        warn=_warn,
    )
    with recorder:
        yield


def _settings(flags: CommandOptions) -> tuple[tuple[str, ...], int]:
    """The keys whose values are never written, and how much of a server's output is."""
    from mcplens.config.model import Settings
    from mcplens.config.paths import find_files
    from mcplens.config.secret_keys import secret_keys_of

    keys: tuple[str, ...] = ()
    settings = Settings()
    if find_files(flags.config):
        from mcplens.config.configuration import load_configuration

        configuration = load_configuration(flags.config)
        keys, settings = secret_keys_of(configuration), configuration.settings
    return keys, settings.server_output_mb * 1_000_000


def _warn(text: str) -> None:
    output.note(f"mcplens: {text}", fg="yellow")
