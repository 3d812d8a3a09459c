"""The floor of a tap, `relay.py COMMAND...` or `relay.py PORT`: passes bytes on, and nothing else.

A thread for each direction, as `mcplens tap -- COMMAND` has; for a port, one for each direction of
a connection. Prints the port that it listens on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading

_READ_BYTES = 64 * 1024


def pass_on(source: int, sink: int) -> None:
    while data := os.read(source, _READ_BYTES):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(sink, rest) :]


def between_pipes(command: list[str]) -> None:
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    pipe = process.stdin

    def ask() -> None:
        pass_on(0, pipe.fileno())
        pipe.close()

    threading.Thread(target=ask, daemon=True).start()
    pass_on(process.stdout.fileno(), 1)
    process.wait()


def between_sockets(port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink in ((client, server), (server, client)):
                ends = (source.fileno(), sink.fileno())
                threading.Thread(target=pass_on, args=ends, daemon=True).start()


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        between_sockets(int(sys.argv[1]))
    else:
        between_pipes(sys.argv[1:])
