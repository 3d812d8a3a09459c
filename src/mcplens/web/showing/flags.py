"""The flags of the command line that count for a server, as they would be typed."""

from __future__ import annotations

from typing import Final

from mcplens.workspace.server import Server

# Options of a connection, and the flags that set them.
_NUMBERS: Final = {
    "request_timeout_s": "--timeout",
    "connection_timeout_s": "--connect-timeout",
    "max_retries": "--retries",
}
_FLAGS: Final = {
    "headers": "--header",
    "env": "--env",
    "cwd": "--cwd",
    "transport": "--transport",
    "protocol_version": "--protocol",
    "ca_file": "--ca-file",
    "insecure": "--insecure",
    **_NUMBERS,
}


def flags_of(server: Server) -> list[str]:
    """The flags of the command line that count for a server; values of its secrets stay behind."""
    told = []
    for name, flag in _FLAGS.items():
        if name not in server.overrides:
            continue
        value = server.overrides[name]
        if isinstance(value, dict):
            told += [f"{flag} {key}" for key in sorted(value)]
        elif value is True:
            told.append(flag)
        else:
            told.append(f"{flag} {value or 0:g}" if name in _NUMBERS else f"{flag} {value}")
    return told
