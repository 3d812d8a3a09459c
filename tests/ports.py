"""A port of this machine for a test that names it before, after or without a server listening."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """A port that the system gives to nobody else until the block ends.

    It refuses connections until a server listens on it that sets SO_REUSEADDR, as ours and Node's
    do. A port that was only looked up may be another program's a moment later.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
