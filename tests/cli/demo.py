"""The demo server over HTTP, as a process of its own."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator

from tests.cli.shell import TIMEOUT_S
from tests.servers.run import ROOT


@contextlib.contextmanager
def serving_demo() -> Iterator[str]:
    """Its URL for as long as the block lasts."""
    command = [sys.executable, "-m", "mcplens.demo", "--http"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stderr=pipe, stdin=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline().decode()
            found = re.search(r"http://\S+", said)
            assert found, said
            yield found[0]
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)
