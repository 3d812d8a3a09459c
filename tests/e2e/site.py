"""`mcplens web` as a process of its own, from the wheel, with a home of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from . import wheel

START_S = 30.0
END_S = 15.0
_ADDRESS = re.compile(r"http://\S+#token=\S+")


class Site:
    """A running web UI: where it is, and the key to it."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.url, self.token = address.split("/#token=")

    def __repr__(self) -> str:
        return f"<Site {self.url}>"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def site(home: Path, *arguments: str, port: int = 0) -> Iterator[Site]:
    """The web UI, until the block ends; Ctrl-C must end it and all that it started."""
    _be_fresh()
    command = [str(wheel.COMMAND), "web", "--no-open", "--port", str(port), *arguments]
    process = subprocess.Popen(
        command, cwd=home, env=wheel.surroundings(home), text=True, bufsize=1,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        yield Site(process, _address(process))
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            # What is still running would be told of in another test.
            process.wait(END_S)
            raise
        finally:
            assert process.stdout is not None
            process.stdout.close()


@cache
def _be_fresh() -> None:
    assert wheel.is_fresh(), (
        "the wheel is not built, or is older than the sources: run `make wheel`"
    )


def _address(process: subprocess.Popen[str]) -> str:
    """What the command prints; given up after a while."""
    timer = threading.Timer(START_S, process.kill)
    timer.start()
    said = ""
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if found := _ADDRESS.search(line):
                return found[0]
    finally:
        timer.cancel()
    raise AssertionError(f"mcplens web did not start: {said}")


def configure(home: Path, servers: dict[str, object]) -> None:
    """Servers in the user's file."""
    folder = home / "config" / "mcplens"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


@contextmanager
def demo_over_http(*options: str) -> Iterator[str]:
    """The address of a demo server of its own."""
    command = [sys.executable, "-m", "mcplens.demo", "--http", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            assert "http://" in said, said
            yield said.split()[-1]
        finally:
            process.terminate()
