"""Whose program is at the other end of a connection: only Linux tells, and only of this machine.

Another user can read the address that the browser is started with from its command line, and be
faster than the browser. Called by routes.py.
"""

from __future__ import annotations

import os

from starlette.requests import Request


def is_by_another_user(request: Request) -> bool:
    """Whether a request comes from another user of this machine; False where nobody says so.

    Root may do what it likes anyway; it is also who passes on what comes from outside.
    """
    port = (request.scope.get("server") or ("", None))[1]
    if request.client is None or port is None or not hasattr(os, "getuid"):
        return False
    return user_of(request.client.port, port) not in (None, 0, os.getuid())


def user_of(port: int, to_port: int) -> int | None:
    """Who opened the connection from a port of this machine to another one."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as lines:
                next(lines, None)  # the headings
                for line in lines:
                    _, local, remote, _, _, _, _, user, *_ = line.split()
                    if _port_of(local) == port and _port_of(remote) == to_port:
                        return int(user)
        except (OSError, ValueError):
            continue
    return None


def _port_of(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
