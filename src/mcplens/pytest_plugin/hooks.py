"""What pytest loads: options, marks, fixtures and hooks. Imports nothing but pytest until used."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from mcplens.pytest_plugin.clients import AssertTool
    from mcplens.pytest_plugin.identities import Identity
    from mcplens.pytest_plugin.servers import McpServer

_SUFFIX: Final = ".mcp.yaml"
_MARKS: Final = (
    "mcp_server(target, transports={}, **options): the server of mcp_client: a command, a script, "
    "a URL or a configured name; options are those of mcplens.connect()",
    "mcp_revisions(*revisions): run the test with each of these protocol revisions",
    "mcp_transports(*names): run the test over each of these transports of its mcp_server",
    "mcp_clients(*hosts, **options): run the test as each of these clients: well-known hosts "
    "(claude-desktop, claude-code, codex, cursor, vscode), or your own by name with options of "
    "mcplens.connect(), such as client_info, capabilities and request_timeout_s",
    "mcp_cassette(path=None, mode='once'): record the session of the test to a trace, and answer "
    "from it afterwards; modes are none, once, new and all",
)
# What a test talked to, for the report of its failure.
_SESSIONS: Final = pytest.StashKey[list[Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcplens", "MCP servers (mcplens)")
    group.addoption("--mcp-server", metavar="TARGET", help="the server of tests without a mark")
    group.addoption(
        "--mcp-revisions",
        metavar="LIST",
        help="run each test with mcp_client with these protocol revisions, separated by commas",
    )
    group.addoption(
        "--mcp-clients",
        metavar="LIST",
        help="run each test with mcp_client as these well-known hosts, separated by commas, or all",
    )
    group.addoption("--mcp-update", action="store_true", help="write the snapshots of MCP results")
    group.addoption(
        "--mcp-trace-dir", metavar="FOLDER", help="write a trace of each session and file here"
    )
    group.addoption(
        "--mcp-record", metavar="MODE", help="mode of all cassettes: none, once, new or all"
    )
    parser.addini("mcp_server", "the server of tests without a mark", default="")
    parser.addini("mcp_collect", "collect *.mcp.yaml files as tests", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    for mark in _MARKS:
        config.addinivalue_line("markers", mark)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(_SUFFIX) or not parent.config.getini("mcp_collect"):
        return None
    from mcplens.pytest_plugin.items import McpFile

    return McpFile.from_parent(parent, path=file_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with marks for revisions or transports runs once with each."""
    # A test with mcp_server alone has a transport, but neither a revision nor an identity.
    used = metafunc.fixturenames
    find = metafunc.definition.get_closest_marker
    if "mcp_revision" in used:
        revisions = _listed(metafunc.config.getoption("--mcp-revisions"))
        if (mark := find("mcp_revisions")) is not None:
            revisions = mark.args
        if revisions:
            metafunc.parametrize("mcp_revision", revisions, indirect=True, scope="function")
    if "mcp_transport" in used and (mark := find("mcp_transports")) is not None:
        metafunc.parametrize("mcp_transport", mark.args, indirect=True, scope="function")
    if "mcp_identity" in used and (clients := _clients(metafunc)):
        values, names = list(clients.values()), list(clients)
        metafunc.parametrize("mcp_identity", values, indirect=True, scope="function", ids=names)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(one.strip() for one in (text or "").split(",") if one.strip())


def _clients(metafunc: pytest.Metafunc) -> dict[str, Any]:
    """The clients that a test runs as, by name: a host, or options."""
    mark = metafunc.definition.get_closest_marker("mcp_clients")
    hosts = _listed(metafunc.config.getoption("--mcp-clients")) if mark is None else mark.args
    if not hosts:
        return {} if mark is None else dict(mark.kwargs)
    from mcplens.pytest_plugin.identities import HOSTS, host

    if hosts == ("all",):
        hosts = tuple(HOSTS)
    own: Mapping[str, Any] = {} if mark is None else mark.kwargs
    return {**{name: host(name) for name in hosts}, **own}


@pytest.fixture
def mcp_revision(request: pytest.FixtureRequest) -> str | None:
    """The protocol revision that is pinned; None negotiates."""
    return getattr(request, "param", None)


@pytest.fixture
def mcp_transport(request: pytest.FixtureRequest) -> str | None:
    """The transport that is wanted; None takes the server as it is given."""
    return getattr(request, "param", None)


@pytest.fixture
def mcp_identity(request: pytest.FixtureRequest) -> Identity | dict[str, Any]:
    """Who the client says it is: a well-known host, or options of `mcplens.connect()`."""
    return getattr(request, "param", None) or {}


@pytest.fixture
def mcp_server(request: pytest.FixtureRequest, mcp_transport: str | None) -> Iterator[McpServer]:
    """The server of a test: from its mark, `--mcp-server`, `mcp_server` of the ini file, or the
    only server of the project's configuration. Over HTTP it runs for as long as the test."""
    from mcplens.errors import InspectorError
    from mcplens.pytest_plugin.cassettes import cassette_of
    from mcplens.pytest_plugin.servers import running_server

    cassette = cassette_of(request)
    if cassette is not None and cassette.is_replayed:
        with cassette.server(request, mcp_transport) as server:
            yield server
        return
    try:
        with running_server(request, mcp_transport) as server:
            yield server
    except InspectorError as error:
        raise pytest.fail.Exception(error.message, pytrace=False) from None


@pytest.fixture
def mcp_client(
    request: pytest.FixtureRequest,
    mcp_server: McpServer,
    mcp_revision: str | None,
    mcp_identity: Identity | dict[str, Any],
) -> Iterator[Any]:
    """A connected client: `mcplens.Client` in a coroutine, `mcplens.SyncClient` elsewhere.

    Its session runs in a thread of its own, so that no teardown crosses an event loop or a cancel
    scope of the test's.
    """
    from mcplens.pytest_plugin.clients import connected

    sessions = request.node.stash.setdefault(_SESSIONS, [])
    with connected(request, mcp_server, mcp_revision, mcp_identity) as session:
        sessions.append(session)
        yield session.facade


@pytest.fixture
def assert_tool(request: pytest.FixtureRequest, mcp_client: Any) -> AssertTool:
    """Call a tool and compare: `assert_tool("add", {"a": 2}, structured={"sum": 5})`.

    Expectations are those of test files; `snapshot=True` compares with a snapshot beside the test
    file. In a coroutine it is awaited. Gives the result.
    """
    from mcplens.pytest_plugin.clients import AssertTool

    return AssertTool(request, request.node.stash[_SESSIONS][-1])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a failure has the messages of its session, and the server's stderr."""
    report = yield
    if report.failed and _SESSIONS in item.stash:
        from mcplens.pytest_plugin.cassettes import FAILED

        item.stash[FAILED] = True
        for session in item.stash[_SESSIONS]:
            report.sections += session.sections()
    return report
