"""Cassettes: the session of a test, recorded once as a trace and served from it afterwards.

A cassette is an ordinary trace file (secrets masked), so `mcplens mock` serves it and the web UI
opens it. It is written only by a test that passed. Called by hooks.py.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Final

import msgspec
import pytest

from mcplens.pytest_plugin.servers import McpServer

# none: only what was recorded; once: record if there is no cassette; all: record again.
MODES: Final = ("none", "once", "all")


class Cassette(msgspec.Struct, frozen=True):
    """A cassette of a test: its file, and whether the test is answered from it."""

    path: str
    is_replayed: bool

    @contextlib.contextmanager
    def server(self, secret_keys: tuple[str, ...]) -> Iterator[McpServer]:
        """The recording as a server in this process."""
        from mcplens.mocking import MockServer, mock_transport, read_trace_file

        with read_trace_file(self.path) as recording:
            yield McpServer(
                recording.server_id,
                lambda: mock_transport(MockServer(recording)),
                secret_keys=secret_keys,
            )

    @contextlib.contextmanager
    def recorded(self, request: pytest.FixtureRequest) -> Iterator[str]:
        """The path to record to; it takes the cassette's place if the test passed."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        temporary = f"{self.path}.{os.getpid()}.tmp"
        try:
            yield temporary
            if not request.node.stash.get(FAILED, False) and os.path.exists(temporary):
                os.replace(temporary, self.path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


# Set by the hook that reports: the test itself failed.
FAILED: Final = pytest.StashKey[bool]()


def cassette_of(request: pytest.FixtureRequest) -> Cassette | None:
    """The cassette that a test asks for; None if it asks for none.

    Raises:
        UsageError: the mode is not known.
        TypeError: the mark has an argument that is not known.
    """
    mark = request.node.get_closest_marker("mcp_cassette")
    if mark is None:
        return None
    path, mode = _given(*mark.args, **mark.kwargs)
    mode = request.config.getoption("--mcp-record") or mode
    if mode not in MODES:
        raise pytest.UsageError(f"mcp_cassette: mode is one of {', '.join(MODES)}, not {mode!r}")
    folder = request.node.path.parent
    if path is None:
        # With its class: another one may have a test of the same name.
        test = request.node.nodeid.partition("::")[2].replace("::", ".")
        name = re.sub(r"[^\w.-]+", "_", test)
        path = f"cassettes/{request.node.path.stem}/{name}.jsonl"
    path = str(folder / path)
    is_there = os.path.isfile(path)
    if mode == "none" and not is_there:
        pytest.fail(f"there is no cassette {path}; record it with --mcp-record once", pytrace=False)
    return Cassette(path, is_there and mode != "all")


def _given(path: str | None = None, mode: str = "once") -> tuple[str | None, str]:
    """The arguments of the mark."""
    return path, mode
