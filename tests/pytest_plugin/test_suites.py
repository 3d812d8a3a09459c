"""Suites that servers' authors have: with the plugin's fixture in place of the library's, the same
assertions hold, and no session leaves an error or a process behind.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.pytest_plugin.suites import SUITES

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each starts pytest, which starts servers

INI = """[pytest]
addopts = --strict-markers -W error -p no:cacheprovider -q
asyncio_default_fixture_loop_scope = function
"""
# A busy machine takes its time to start a hundred servers. The pid tells what is left behind.
MARK = """

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.mcp_server("python server.py", connection_timeout_s=300))


@pytest.fixture(autouse=True)
def note_pid(mcp_client):
    with open("pids", "a") as file:
        file.write(f"{mcp_client.describe()['pid']}\\n")
"""
AGAIN = """

def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("again")
    metafunc.parametrize("again", range(100))
"""
COUNT = 3  # tests of each suite


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(pytester.path / kind.lower()))
    pytester.makeini(INI)
    return pytester


def run(project: pytest.Pytester, timeout_s: float, *options: str) -> tuple[int, str]:
    done = project.runpytest_subprocess(*options, timeout=timeout_s)
    counted = done.parseoutcomes()
    assert set(counted) <= {"passed"}, counted
    return counted.get("passed", 0), done.stdout.str() + done.stderr.str()


def assert_nothing_left(folder: Path, count: int) -> None:
    pids = (folder / "pids").read_text().split()
    assert len(pids) == count
    assert [pid for pid in pids if os.path.exists(f"/proc/{pid}")] == []


@pytest.mark.timeout(500)
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_keeps_its_assertions_with_the_fixture_of_the_plugin(
    project: pytest.Pytester, suite: str
) -> None:
    server, tests, before, after = SUITES[suite]
    project.makepyfile(server=server, test_suite=tests, conftest=before)
    assert run(project, 100)[0] == COUNT
    project.makepyfile(conftest=after + MARK)
    passed, text = run(project, 300, "-n", "2")
    assert passed == COUNT
    assert "Error" not in text
    assert_nothing_left(project.path, COUNT)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("suite", SUITES)
def test_a_hundred_runs_of_a_suite_leave_no_error_behind(
    project: pytest.Pytester, suite: str, options: tuple[str, ...]
) -> None:
    server, tests, _, after = SUITES[suite]
    project.makepyfile(server=server, test_suite=tests, conftest=after + MARK + AGAIN)
    passed, text = run(project, 7000, *options)
    assert passed == COUNT * 100
    assert "Error" not in text
    assert_nothing_left(project.path, COUNT * 100)
