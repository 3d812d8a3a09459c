"""The server of a test: from a mark, an option, the ini file or the project's configuration.

A command for HTTP has `{port}` in it: it is started with a free port, and ended after the test.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from mcplens.clock import SystemClock
from mcplens.testing.servers import ServerResolver

if TYPE_CHECKING:
    from mcplens.pytest_plugin.additions import Additions

_START_S: Final = 30.0
_LOOK_S: Final = 0.05
_END_S: Final = 5.0


class McpServer(msgspec.Struct, frozen=True):
    """A server: what `mcplens.connect()` takes, and its options."""

    name: str
    target: Any
    options: dict[str, Any] = {}
    secret_keys: tuple[str, ...] = ()  # of its entry
    additions: Additions | None = None  # of a cassette that grows


@contextlib.contextmanager
def running_server(request: pytest.FixtureRequest, transport: str | None) -> Iterator[McpServer]:
    """The server of a test, for as long as the block lasts."""
    target, options = _given(request)
    transports: Mapping[str, Any] = options.pop("transports", None) or {}
    if transport is not None and transport not in transports and transport != "stdio":
        known = ", ".join(transports) or "none"
        text = (
            f"mcp_server says nothing about {transport}: transports={{{transport!r}: …}} ({known})"
        )
        raise pytest.UsageError(text)
    chosen = transports.get(transport) if transport is not None else None
    server = _resolved(request.config, target if chosen is None else chosen, options)
    is_served = isinstance(server.target, list) and any("{port}" in one for one in server.target)
    if not is_served:
        yield server
        return
    port = _free_port()
    command = [one.replace("{port}", str(port)) for one in server.target]
    url = options.get("url", "http://127.0.0.1:{port}/mcp").replace("{port}", str(port))
    with _process(command, port, server.options):
        kept = {key: one for key, one in server.options.items() if key not in ("env", "cwd", "url")}
        yield McpServer(server.name, url, kept, server.secret_keys)


def given_secret_keys(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The secret keys of a server that is not started, since a cassette answers for it."""
    target, options = _given(request)
    given = (target, *(options.get("transports") or {}).values())
    entries = [one for one in given if isinstance(one, Mapping)]
    keys = [key for entry in entries for key in entry.get("secretKeys", ())]
    return (*keys, *options.get("secret_keys", ()))


def given_session_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The options of such a server that are not about its process or its address."""
    from mcplens.session.options import ConnectKeywords, TransportKeywords

    known = ConnectKeywords.__annotations__.keys() - TransportKeywords.__annotations__.keys()
    return {name: value for name, value in _given(request)[1].items() if name in known}


def _given(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any]]:
    """What was given for a test, the nearest first."""
    if hasattr(request, "param"):  # @pytest.mark.parametrize("mcp_server", […], indirect=True)
        return request.param, {}
    mark = request.node.get_closest_marker("mcp_server")
    if mark is not None:
        return (mark.args[0] if mark.args else None), dict(mark.kwargs)
    config = request.config
    return config.getoption("--mcp-server") or config.getini("mcp_server") or None, {}


def _resolved(config: pytest.Config, target: Any, options: dict[str, Any]) -> McpServer:
    root = str(config.rootpath)
    if isinstance(target, Mapping):  # an entry as in mcp.json
        return _configured(ServerResolver(), dict(target), root, options)
    if target is None:
        return _only_one(root, options)
    if isinstance(target, str) and "://" in target:
        return McpServer(target, target, options)
    if isinstance(target, str) and os.path.isfile(os.path.join(root, target)):
        target = [sys.executable, target] if target.endswith(".py") else [target]
    elif isinstance(target, str) and len(target.split()) == 1:
        return _configured(ServerResolver(), target, root, options)
    words = shlex.split(target) if isinstance(target, str) else [str(one) for one in target]
    # The tests run in the environment of the server's project: so does its command.
    if words[0] in ("python", "python3"):
        words[0] = sys.executable
    return McpServer(os.path.basename(words[-1]), words, {"cwd": root, **options})


def _configured(
    resolver: ServerResolver, server: str | dict[str, Any], root: str, options: dict[str, Any]
) -> McpServer:
    found = resolver.resolve(server, os.path.join(root, "pytest"), "server")
    return McpServer(found.name, found.target, {**found.options, **options}, found.secret_keys)


def _only_one(root: str, options: dict[str, Any]) -> McpServer:
    resolver = ServerResolver()
    names = [one.name for one in resolver.configuration.servers if one.source.scope == "project"]
    if len(names) != 1:
        told = ", ".join(names) or "none"
        raise pytest.UsageError(
            "no server for mcp_client: mark the test with @pytest.mark.mcp_server(…), give "
            f"--mcp-server, or have one server in the project's file (it has {told})"
        )
    return _configured(resolver, names[0], root, options)


# -- a server over HTTP --------------------------------------------------------------------------


@contextlib.contextmanager
def _process(command: Sequence[str], port: int, options: Mapping[str, Any]) -> Iterator[None]:
    """A server's process that listens on a port; its whole group ends with the block."""
    process = subprocess.Popen(
        command,
        cwd=options.get("cwd"),
        env={**os.environ, **(options.get("env") or {})},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(process, port, command)
        yield
    finally:
        _end(process)


def _wait_for(process: subprocess.Popen[bytes], port: int, command: Sequence[str]) -> None:
    clock, pause = SystemClock(), threading.Event()
    due = clock.monotonic() + _START_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        shown = shlex.join(command)
        if process.poll() is not None:
            raise RuntimeError(f"{shown} exited with code {process.returncode}")
        if clock.monotonic() > due:
            raise RuntimeError(f"{shown} did not listen on port {port} within {_START_S:g} s")
        pause.wait(_LOOK_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # children that the server left behind


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
