"""Runs the client under test in a process of its own for each scenario, forked from one that has
everything imported: to import it costs more than a scenario.

    python -m tests.conformance.warm_client SOCKET

Relays (relay.py) connect to the socket. It ends with its stdin.
"""

import asyncio
import json
import os
import select
import signal
import socket
import sys

from tests.conformance.client import main


def receive(connection: socket.socket) -> tuple[dict[str, object], list[int]]:
    """A job, and the streams that it prints to."""
    head, files, _, _ = socket.recv_fds(connection, 4, 2)
    data, left = b"", int.from_bytes(head, "big")
    while len(data) < left:
        part = connection.recv(left - len(data))
        if not part:
            raise EOFError
        data += part
    job: dict[str, object] = json.loads(data)
    return job, files


def carry_out(connection: socket.socket) -> int:
    """In the forked process: the exit code of a client that was started for this job."""
    job, files = receive(connection)
    for file, ours in zip(files, (1, 2), strict=True):
        os.dup2(file, ours)
    arguments, environment = job["arguments"], job["environment"]
    assert isinstance(arguments, list)
    assert isinstance(environment, dict)
    os.environ.clear()
    os.environ.update(environment)
    try:
        asyncio.run(main(arguments))
    except SystemExit as ending:
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
        return ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def serve(path: str) -> None:
    """Fork a process for each relay until stdin ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                connection.sendall(bytes([carry_out(connection)]))
                os._exit(0)
            connection.close()


if __name__ == "__main__":
    serve(sys.argv[1])
