"""byte_recorder.py NAME COMMAND...: relays the streams of a command, and keeps their bytes.

What came on stdin is in NAME.in, what the command wrote to stdout in NAME.out. No code of mcplens:
it stands on both sides of the tap, and both must have seen the same.
"""

import os
import subprocess
import sys
import threading


def main(name: str, *command: str) -> int:
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    to_child, from_child = child.stdin.fileno(), child.stdout.fileno()

    def relay_in() -> None:
        with open(f"{name}.in", "wb", buffering=0) as kept:
            while data := os.read(0, 65536):
                kept.write(data)
                os.write(to_child, data)
        os.close(to_child)

    threading.Thread(target=relay_in, daemon=True).start()
    with open(f"{name}.out", "wb", buffering=0) as kept:
        while data := os.read(from_child, 65536):
            kept.write(data)
            os.write(1, data)
    return child.wait()


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    os._exit(code if code >= 0 else 128 - code)
