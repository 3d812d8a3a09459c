"""The user of this machine who opened a connection to us; only Linux tells.

Called when the token of a browser's command line is exchanged: other users can read that command
line, and be faster than the browser.
"""

from __future__ import annotations

import os
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from starlette.requests import Request

# An address with its port. IPv4 addresses that a socket of IPv6 shows are IPv4 here.
End = tuple[IPv4Address | IPv6Address, int]

_TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
# The inode of a socket that its program has closed: the table then names root as its user.
_CLOSED: Final = "0"


def is_by_another_user(request: Request) -> bool:
    """Whether a request comes from another user of this machine; False where that is unknown.

    Root may do what it likes anyway; it is also who passes on what comes from outside.
    """
    server = request.scope.get("server")
    if request.client is None or server is None or server[1] is None or not hasattr(os, "getuid"):
        return False
    try:
        mine, theirs = as_end(*server), as_end(request.client.host, request.client.port)
    except ValueError:  # not addresses: no table can name them
        return False
    user = user_of(theirs, mine)
    return user not in (None, 0, os.getuid())


def user_of(from_: End, to: End) -> int | None:
    """The user who opened the connection between these two ends; -1 if it is closed already.

    Both addresses count, not the ports alone: a machine has many loopback addresses, and a port
    that one user has on the first can be another user's on the second.
    """
    for table in _TABLES:
        try:
            with open(table) as lines:
                next(lines, None)  # the headings
                for line in lines:
                    _, local, remote, _, _, _, _, user, _, inode, *_ = line.split()
                    if _of_table(local) == from_ and _of_table(remote) == to:
                        return -1 if inode == _CLOSED else int(user)
        except (OSError, ValueError):
            continue
    return None


def as_end(host: str, port: int) -> End:
    return _plain(ip_address(host)), port


def _of_table(text: str) -> End:
    """An end as the kernel writes it: words of four bytes in the order of this machine."""
    digits, _, port = text.partition(":")
    data = bytes.fromhex(digits)
    if sys.byteorder == "little":
        data = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    return _plain(ip_address(data)), int(port, 16)


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    # Without the interface of a link-local address, which the table does not have.
    return IPv6Address(int(address))
