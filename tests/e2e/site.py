"""`mcplens web` as a process of its own, from the wheel, with a home of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from tests.ports import held_port

from . import wheel

# Long enough for a busy machine.
START_S = 60.0
END_S = 60.0
_ADDRESS_OF_WEB = re.compile(r"http://\S+#token=\S+")
_ADDRESS_OF_SERVER = re.compile(r"http://\S+")
# As the run begins: what is edited while it lasts is not in the wheel, and not in this run.
_IS_FRESH = wheel.is_fresh()


class Site:
    """A running web UI: where it is, and the key to it."""

    def __init__(self, process: subprocess.Popen[str], address: str, printed: str = "") -> None:
        self.process = process
        self.address = address
        self.printed = printed
        self.url, self.token = address.split("/#token=")
        self.home: Path | None = None  # where a test keeps it

    def __repr__(self) -> str:
        return f"<Site {self.url}>"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


class _Port:
    """The port of the sites of this process, one after the other: at the address that it knows, the
    browser has the compiled scripts of the page already. The system gives it to nobody else.
    """

    def __init__(self) -> None:
        self._held = ExitStack()  # until this process ends
        self._number = 0
        self._is_used = False

    def __repr__(self) -> str:
        return f"<_Port {'used' if self._is_used else 'free'}>"

    @contextmanager
    def lent(self) -> Iterator[int]:
        """The port, or 0 for any other while a site has it."""
        if self._is_used:
            yield 0
            return
        self._number = self._number or self._held.enter_context(held_port())
        self._is_used = True
        try:
            yield self._number
        finally:
            self._is_used = False


_port = _Port()


@contextmanager
def site(home: Path, *arguments: str, port: int | None = None) -> Iterator[Site]:
    """The web UI, until the block ends; Ctrl-C must end it and all that it started."""
    with _port.lent() if port is None else nullcontext(port) as chosen:
        options = ("--no-open", "--port", str(chosen))
        with _started(home, "web", *options, *arguments) as running:
            yield running


@contextmanager
def gateway_site(home: Path, *arguments: str) -> Iterator[Site]:
    """A gateway with its web UI; the first address in `printed` is for clients."""
    with _started(home, "gateway", "--web-port", "0", *arguments) as running:
        yield running


@contextmanager
def _started(home: Path, *arguments: str) -> Iterator[Site]:
    assert _IS_FRESH, "the wheel is not built, or is older than the sources: run `make wheel`"
    command = [str(wheel.COMMAND), *arguments]
    process = subprocess.Popen(
        command, cwd=home, env=wheel.surroundings(home), text=True, bufsize=1,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    output = Output(process, _ADDRESS_OF_WEB)
    try:
        address = output.address()
        yield Site(process, address, output.text)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            # What is still running would be told of in another test.
            process.wait(END_S)
            raise AssertionError(f"mcplens went on after Ctrl-C: {output.text}") from None
        finally:
            output.close()


class Output:
    """All that a server prints, read as it comes: a pipe that nobody reads would stop it."""

    def __init__(self, process: subprocess.Popen[str], wanted: re.Pattern[str]) -> None:
        self._process = process
        self._wanted = wanted
        self.text = ""
        self._address: str | None = None
        self._is_known = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Output of {self._process.pid}>"

    def address(self) -> str:
        """The address that the server prints, once it has."""
        self._is_known.wait(START_S)
        assert self._address, f"the server did not start: {self.text}"
        return self._address

    def close(self) -> None:
        """Wait for the end of what the process prints; it has ended."""
        self._thread.join(END_S)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.text += line
                if self._address is None and (found := self._wanted.search(line)):
                    self._address = found[0]
                    self._is_known.set()
        self._is_known.set()


def configure(home: Path, servers: dict[str, object]) -> None:
    """Servers in the user's file."""
    folder = home / "config" / "mcplens"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


@contextmanager
def demo_over_http(*options: str) -> Iterator[str]:
    """The address of a demo server of its own."""
    command = [sys.executable, "-m", "mcplens.demo", "--http", *options]
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = Output(process, _ADDRESS_OF_SERVER)
    try:
        yield output.address()
    finally:
        process.terminate()
        process.wait(END_S)
        output.close()
