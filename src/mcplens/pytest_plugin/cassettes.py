"""Cassettes: the session of a test, recorded once as a trace and served from it afterwards.

A cassette is an ordinary trace file (secrets masked), so `mcplens mock` serves it and the web UI
opens it. It is written only by a test that passed. Called by hooks.py and clients.py.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from mcplens.pytest_plugin.servers import (
    McpServer,
    given_secret_keys,
    given_session_options,
    running_server,
)

if TYPE_CHECKING:
    from mcplens.pytest_plugin.additions import Additions

# none: only what was recorded; once: record if there is no cassette; new: also record what a
# cassette lacks; all: record again.
MODES: Final = ("none", "once", "new", "all")


class Cassette(msgspec.Struct, frozen=True):
    """A cassette of a test: its file, whether the test is answered from it, and whether calls that
    it lacks are recorded."""

    path: str
    is_replayed: bool
    grows: bool

    @contextlib.contextmanager
    def server(self, request: pytest.FixtureRequest, transport: str | None) -> Iterator[McpServer]:
        """The recording as a server in this process."""
        from mcplens.mocking import MockServer, mock_transport, read_trace_file

        with read_trace_file(self.path) as recording, contextlib.ExitStack() as stack:
            additions = None
            if self.grows:
                added = stack.enter_context(self._added(request))
                additions = _additions(request, transport, added, recording.protocol_version)
            beyond = None if additions is None else additions.answer
            yield McpServer(
                recording.server_id,
                lambda: mock_transport(MockServer(recording, beyond=beyond)),
                given_session_options(request),
                secret_keys=given_secret_keys(request),
                additions=additions,
            )

    @contextlib.contextmanager
    def recorded(self, request: pytest.FixtureRequest) -> Iterator[str]:
        """The path to record to; it takes the cassette's place if the test passed."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with self._temporary() as temporary:
            yield temporary
            if _is_kept(request, temporary):
                os.replace(temporary, self.path)

    @contextlib.contextmanager
    def _added(self, request: pytest.FixtureRequest) -> Iterator[str]:
        """The path to record new calls to; they are added to the cassette if the test passed."""
        from mcplens.collections.snapshots import locked_folder
        from mcplens.mocking.trace_joining import append_run

        with self._temporary() as temporary:
            yield temporary
            if _is_kept(request, temporary):
                with locked_folder(self.path):  # several tests may share a cassette
                    append_run(self.path, temporary)

    @contextlib.contextmanager
    def _temporary(self) -> Iterator[str]:
        temporary = f"{self.path}.{os.getpid()}.tmp"
        try:
            yield temporary
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _is_kept(request: pytest.FixtureRequest, temporary: str) -> bool:
    return not request.node.stash.get(FAILED, False) and os.path.exists(temporary)


def _additions(
    request: pytest.FixtureRequest, transport: str | None, added: str, revision: str | None
) -> Additions:
    from mcplens.pytest_plugin.additions import Additions

    return Additions(lambda: running_server(request, transport), added, revision)


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
    return Cassette(path, is_there and mode != "all", mode == "new")


def _given(path: str | None = None, mode: str = "once") -> tuple[str | None, str]:
    """The arguments of the mark."""
    return path, mode
