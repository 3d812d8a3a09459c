"""Suites that servers' authors have: with the plugin's fixture in place of the library's, the same
assertions hold, and no session leaves an error or a process behind.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.pytest_plugin.suites import QUICKLY, SUITES

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each starts pytest, which starts servers

# The folders before/ and after/ have the same tests, each with its own fixtures.
INI = f"""[pytest]
addopts = --strict-markers -W error -p no:cacheprovider {QUICKLY} -q --import-mode=importlib
asyncio_default_fixture_loop_scope = function
pythonpath = .
"""
# A busy machine takes its time to start a server. The pid tells what is left behind.
MARK = """

def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "after":
            item.add_marker(pytest.mark.mcp_server("python server.py", connection_timeout_s=300))


@pytest.fixture(autouse=True)
def note_pid(mcp_client):
    with open("pids", "a") as file:
        file.write(f"{mcp_client.describe()['pid']}\\n")
"""
COUNT = 3  # tests of each suite
RUNS = 100


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(pytester.path / kind.lower()))
    pytester.makeini(INI)
    return pytester


def write(project: pytest.Pytester, suite: str) -> None:
    server, tests, before, after = SUITES[suite]
    project.makepyfile(
        **{
            "server": server,
            "before/conftest": before,
            "before/test_suite": tests,
            "after/conftest": after + MARK,
            "after/test_suite": tests,
        }
    )


def run(project: pytest.Pytester, count: int, *options: str) -> None:
    done = project.runpytest_subprocess(*options, timeout=450)
    assert done.parseoutcomes() == {"passed": count}
    assert "Error" not in done.stdout.str() + done.stderr.str()


def assert_nothing_left(folder: Path) -> None:
    """Asked after each run: another process may get the pid later."""
    file = folder / "pids"
    pids = file.read_text().split()
    file.unlink()
    assert len(pids) == COUNT
    assert [pid for pid in pids if os.path.exists(f"/proc/{pid}")] == []


@pytest.mark.timeout(500)
# Servers of fastmcp are tested in test_plugin.py too, and its import takes seconds.
@pytest.mark.parametrize(
    "suite",
    [pytest.param(name, marks=pytest.mark.soak if name == "fastmcp" else ()) for name in SUITES],
)
def test_a_suite_keeps_its_assertions_with_the_fixture_of_the_plugin(
    project: pytest.Pytester, suite: str
) -> None:
    write(project, suite)
    run(project, 2 * COUNT)
    assert_nothing_left(project.path)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("suite", SUITES)
def test_a_hundred_runs_of_a_suite_leave_no_error_behind(
    project: pytest.Pytester, suite: str, options: tuple[str, ...]
) -> None:
    write(project, suite)
    for _ in range(RUNS):
        run(project, COUNT, "after", *options)
        assert_nothing_left(project.path)
