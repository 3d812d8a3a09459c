"""The client of a test: one session in a thread of its own, for coroutines and for functions.

Owns the thread, the trace and the evidence of a failure. Nothing of it runs in the test's own
event loop, so pytest-asyncio, anyio's plugin and pytest-xdist do not matter to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.collections.shown_values import ValueMasker
from mcplens.collections.snapshots import Snapshots, comparable
from mcplens.collections.test_file import TestFileProblem, TestStep, read_test_file, sentence
from mcplens.collections.yaml_text import dump
from mcplens.config.secret_keys import find_keys_by_server
from mcplens.errors import InspectorError
from mcplens.pytest_plugin.cassettes import cassette_of
from mcplens.pytest_plugin.identities import Identity
from mcplens.pytest_plugin.servers import McpServer
from mcplens.session.client import Client
from mcplens.store.recorder import Recorder
from mcplens.sync_client import SyncClient, connect_sync
from mcplens.testing.expectations import problems
from mcplens.testing.matching import differences
from mcplens.testing.observation import Observation
from mcplens.testing.runner import DEFAULT_TIMEOUT_S
from mcplens.testing.steps import Sender
from mcplens.version import VERSION

# Options of `connect()` that a test has unless it says otherwise: everything is let through.
_OPTIONS: Final = {"enforce_capabilities": False, "default_log_level": "info"}


class Session:
    """One session of a test."""

    def __init__(
        self,
        client: SyncClient,
        bus: Bus,
        is_async: bool,
        trace: str | None,
        secret_keys: tuple[str, ...],
    ) -> None:
        self.client = client
        self.bus = bus
        self.is_async = is_async
        self.facade: Any = AsyncClient(client) if is_async else client
        self._trace = trace
        self._masker = ValueMasker(secret_keys)

    def __repr__(self) -> str:
        return f"<Session with {self.client!r}>"

    @property
    def masker(self) -> ValueMasker:
        return self._masker

    def sections(self) -> list[tuple[str, str]]:
        """What the report of a failure shows: messages, stderr, and how to look closer."""
        seen = Observation("test")
        seen.take(self.bus, self.client.server_id, 0)
        found = [
            (f"MCP messages with {self.client.server_id}", seen.frames(self._masker)),
            (f"stderr of {self.client.server_id}", seen.stderr(self._masker)),
        ]
        if self._trace is not None:
            found.append(("MCP trace", [f"mcplens web --show {self._trace}"]))
        return [(title, "\n".join(lines)) for title, lines in found if lines]


class AsyncClient:
    """A `mcplens.Client` for coroutines whose session runs in another thread: the same names."""

    def __init__(self, client: SyncClient) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<AsyncClient of {self._client!r}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not inspect.iscoroutinefunction(getattr(Client, name, None)):
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await in_thread(self._client, lambda it: getattr(it, name)(*args, **kwargs))

        call.__name__ = name
        return call


async def in_thread(client: SyncClient, work: Callable[[Client], Any]) -> Any:
    """Await work of the session's own loop from the test's loop, asyncio's or trio's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # trio
        from importlib import import_module

        return await import_module("trio").to_thread.run_sync(client.run_in_loop, work)
    return await asyncio.wrap_future(client.start_in_loop(work))


@contextlib.contextmanager
def connected(
    request: pytest.FixtureRequest,
    server: McpServer,
    revision: str | None,
    identity: Identity | Mapping[str, Any],
) -> Iterator[Session]:
    """A connected session; its server has ended when the block has."""
    bus = Bus(SystemClock())
    own = identity.options(server.options) if isinstance(identity, Identity) else identity
    options: dict[str, Any] = {**_OPTIONS, **server.options, **own}
    if revision is not None:
        options["protocol_version"] = revision
    keys = (
        *find_keys_by_server()(server.name),
        *server.secret_keys,
        *options.get("secret_keys", ()),
    )
    with contextlib.ExitStack() as stack:
        cassette = cassette_of(request)
        if cassette is not None and not cassette.is_replayed:
            path = stack.enter_context(cassette.recorded(request))
            _record(request, bus, path, keys, stack)
        trace = _trace_path(request)
        if trace is not None:
            _record(request, bus, trace, keys, stack)
        additions = server.additions
        if additions is not None:
            additions.options, additions.secret_keys = dict(options), keys
        connection = connect_sync(server.target, bus=bus, server_id=server.name, **options)
        try:
            client = connection.open()
        except InspectorError as error:
            told = _not_connected(server, error, bus, keys)
            raise pytest.fail.Exception(told, pytrace=False) from None
        try:
            is_async = inspect.iscoroutinefunction(getattr(request, "function", None))
            yield Session(client, bus, is_async, trace, keys)
        finally:
            with contextlib.suppress(Exception):  # a lost connection is the test's own business
                client.disconnect()  # waits for the end of the process
            if additions is not None:
                client.run_in_loop(lambda _: additions.close())
            connection.close()


def _not_connected(
    server: McpServer, error: InspectorError, bus: Bus, secret_keys: tuple[str, ...]
) -> str:
    """Why there is no session: the error, what the server wrote, and what to try."""
    masker = ValueMasker(secret_keys)
    seen = Observation("test")
    seen.take(bus, server.name, 0)
    lines = [f"{server.name}: {masker.text(error.message)} ({error.code})"]
    lines += [f"stderr: {line}" for line in seen.stderr(masker)]
    if error.code == "CONNECTION_TIMEOUT":
        lines.append("a server that needs longer: connection_timeout_s=… of the mark mcp_server")
    if isinstance(server.target, list):
        lines.append(f"step by step: mcplens doctor -- {masker.text(shlex.join(server.target))}")
    elif isinstance(server.target, str):
        lines.append(f"step by step: mcplens doctor {masker.text(shlex.quote(server.target))}")
    return "\n".join(lines)


def _record(
    request: pytest.FixtureRequest,
    bus: Bus,
    trace: str,
    secret_keys: tuple[str, ...],
    stack: contextlib.ExitStack,
) -> None:
    """Write a trace until the session has ended."""
    title = request.node.nodeid
    stack.enter_context(
        Recorder(bus, None, trace=trace, secret_keys=secret_keys, title=title, version=VERSION)
    )


def _trace_path(request: pytest.FixtureRequest) -> str | None:
    folder = request.config.getoption("--mcp-trace-dir")
    if not folder:
        return None
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, re.sub(r"[^\w.-]+", "_", request.node.nodeid) + ".jsonl")


class AssertTool:
    """Calls a tool and compares; raises AssertionError with all that differs."""

    def __init__(self, request: pytest.FixtureRequest, session: Session) -> None:
        self._session = session
        self._node = request.node
        self._updates = bool(request.config.getoption("--mcp-update"))
        self._count = 0

    def __repr__(self) -> str:
        return f"<AssertTool of {self._session!r}>"

    def __call__(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        **expect: Any,
    ) -> Any:
        __tracebackhide__ = True
        step = _step(name, expect)
        given = dict(arguments or {})

        async def work(client: Client) -> Observation:
            return await _observed(client, self._session.bus, step, given, timeout_s)

        if self._session.is_async:
            return self._later(step, work)
        return self._judged(step, self._session.client.run_in_loop(work))

    async def _later(self, step: TestStep, work: Callable[[Client], Any]) -> Any:
        __tracebackhide__ = True
        return self._judged(step, await in_thread(self._session.client, work))

    def _judged(self, step: TestStep, seen: Observation) -> Any:
        __tracebackhide__ = True
        masker = self._session.masker
        masker.learn(seen.result)
        found = problems(step.expect, seen, masker) or self._snapshot(step, seen)
        if found:
            raise AssertionError("\n".join([f"{step.target}:", *found]))
        return seen.result

    def _snapshot(self, step: TestStep, seen: Observation) -> list[str]:
        wanted = (step.expect or {}).get("snapshot", False)
        if wanted is False:
            return []
        self._count += 1
        again = f" {self._count}" if self._count > 1 else ""
        name = f"{self._node.nodeid.partition('::')[2]}: {step.target}{again}"
        # With its whole name: test_x.mcp.yaml, which may be beside test_x.py, has its own.
        snapshots = Snapshots(str(self._node.path))
        given = wanted.get("ignore", []) if isinstance(wanted, dict) else []
        paths = given if isinstance(given, list) else [given]
        value = comparable(seen.result, self._session.masker, paths)
        if self._updates:
            snapshots.put(name, value)
            snapshots.write()
            return []
        if name not in snapshots:
            return [f"{snapshots.path} has no snapshot {name!r}; write it with --mcp-update"]
        masker = self._session.masker
        found = differences(snapshots.get(name), value, ("snapshot",), is_exact=True)
        return [one.told(masker) for one in found]


def _step(name: str, expect: dict[str, Any]) -> TestStep:
    """The expectations, checked as those of a file are: a misspelt one must not pass."""
    content = {"version": 1, "server": "test", "tests": [{"call": name, "expect": expect or None}]}
    try:
        read_test_file(_escaped(dump(content)))
    except TestFileProblem as problem:
        told = sentence(problem.problems[0]).partition("step 1, ")[2]
        raise TypeError(f"assert_tool: {told or problem}") from None
    return TestStep(
        index=0, line=0, name=name, kind="call", target=name, server="test", expect=expect
    )


def _escaped(text: str) -> str:
    """Python has its own variables: `${` means nothing here."""
    return text.replace("${", "$${")


async def _observed(
    client: Client, bus: Bus, step: TestStep, arguments: dict[str, Any], timeout_s: float
) -> Observation:
    seen = Observation("call")
    if (step.expect or {}).get("valid"):
        await client.list_tools()  # for their output schemas
    after = bus.last_seq
    await Sender(bus, SystemClock()).send(client, step, step.target, arguments, timeout_s, seen)
    seen.take(bus, client.server_id, after)
    return seen
