"""Makes downstream connections for Python programs: from one entry, or from the user's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.config.configuration import load_configuration
from mcplens.config.entries import build_entry
from mcplens.config.environment import current_environment
from mcplens.config.model import Source
from mcplens.downstream.multi_server import MultiServerClient
from mcplens.downstream.server_connection import ServerConnection


def create_server_connection(
    name: str, config: Mapping[str, Any], *, clock: Clock | None = None, bus: Bus | None = None
) -> ServerConnection:
    """A connection to one server, described as in `mcpServers` of the configuration file.

    A session lasts for one operation, unless `sessionMode` says otherwise.

    Raises:
        InspectorError: the description cannot be used.
    """
    here = current_environment()
    raw = {"sessionMode": "per-call", "inheritEnv": True, **config}
    if "url" in raw:
        del raw["inheritEnv"]
    entry = build_entry(name, raw, Source("python", here.cwd, "given"), here, folder=here.cwd)
    if entry.problem is not None:
        raise entry.problem
    return ServerConnection(entry, clock=clock, bus=bus)


def create_multi_server_client(path: str | None = None) -> MultiServerClient:
    """All usable servers of the configuration, each with a session for each operation.

    Raises:
        ConfigurationError: a file cannot be read.
    """
    found = load_configuration(path)
    clock = SystemClock()
    bus = Bus(clock, is_unread=True)
    return MultiServerClient(
        ServerConnection(
            msgspec.structs.replace(entry, session_mode="per-call"),
            found.settings,
            bus=bus,
            clock=clock,
        )
        for entry in found.servers
        if entry.is_usable
    )
