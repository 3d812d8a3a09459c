"""The pytest plugin in projects of its own, each run by pytest in a process of its own."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.pytest_plugin.suites import QUICKLY

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each starts pytest, which starts servers

DEMO = f"{sys.executable} -m mcplens.demo"
PROJECT = f"""
import asyncio
import pytest

pytestmark = pytest.mark.mcp_server({DEMO!r})


@pytest.fixture(autouse=True)
def note_pid(mcp_client):
    with open("pids", "a") as file:
        file.write(f"{{mcp_client.describe()['pid']}}\\n")


def test_sync(mcp_client, assert_tool):
    assert mcp_client.call_tool("add", {{"a": 2, "b": 3}}).structured_content == {{"sum": 5}}
    result = assert_tool("add", {{"a": 2, "b": 3}}, structured={{"sum": 5}}, valid=True)
    assert result["structuredContent"]["sum"] == 5
    assert_tool("fail-result", is_error=True)


@pytest.mark.asyncio
async def test_async(mcp_client, assert_tool):
    one, two = await asyncio.gather(
        mcp_client.call_tool("add", {{"a": 1, "b": 1}}),
        mcp_client.call_tool("add", {{"a": 2, "b": 2}}),
    )
    assert (one.structured_content, two.structured_content) == ({{"sum": 2}}, {{"sum": 4}})
    await assert_tool("echo", {{"text": "${{HOME}}"}}, text="${{HOME}}")
    assert mcp_client.server_info["name"] == "mcplens-demo"


@pytest.mark.anyio
async def test_anyio(mcp_client):
    import anyio

    with anyio.move_on_after(0.05) as scope:
        await mcp_client.call_tool("wait", {{"seconds": 60}})
    assert scope.cancelled_caught
    result = await mcp_client.call_tool("add", {{"a": 1, "b": 2}})
    assert result.structured_content == {{"sum": 3}}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.mcp_revisions("2025-11-25", "2026-07-28")
def test_revisions(mcp_client, request):
    assert mcp_client.protocol_version in request.node.name


@pytest.mark.mcp_clients(
    plain={{}}, cautious={{"client_info": {{"name": "cautious", "version": "1"}}, "roots": ["/"]}}
)
def test_clients(assert_tool, request):
    assert_tool("list-roots", error="plain" in request.node.name)


def test_snapshot(assert_tool):
    assert_tool("structured-weather", {{"city": "Bern"}}, snapshot=True)


def test_crash(mcp_client):
    import mcplens

    with pytest.raises(mcplens.InspectorError):
        mcp_client.call_tool("broken-crash")
"""
YAML = f"""\
version: 1
server: {json.dumps({"command": sys.executable, "args": ["-m", "mcplens.demo"]})}
tests:
  - {{name: writes, call: notes-write, with: {{note: mine}}}}
  - {{name: adds, call: add, with: {{a: 2, b: 3}}, save: {{sum: $.structuredContent.sum}}}}
  - {{name: reads, call: notes-read, expect: {{text: mine}}}}
  - {{name: uses, call: echo, with: {{text: "${{sum}}"}}, expect: {{text: "5"}}}}
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with the plugin alone, and no file of the developer's."""
    for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(pytester.path / kind.lower()))
    pytester.makeini(
        f"[pytest]\naddopts = --strict-markers -W error -p no:cacheprovider {QUICKLY}\n"
        "asyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
    )
    return pytester


def leftover(folder: Path) -> list[int]:
    """The servers of the project that still run."""
    pids = [int(line) for line in (folder / "pids").read_text().split()]
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_fixtures_for_functions_and_coroutines_leave_nothing_behind(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_all=PROJECT)
    done = project.runpytest_subprocess("--mcp-update", "-q", timeout=100)
    done.assert_outcomes(passed=9)
    assert leftover(project.path) == []
    assert "‹" not in (snapshot := (project.path / "test_all.py.mcp.snap.json").read_text())
    assert "test_snapshot: structured-weather" in snapshot
    done = project.runpytest_subprocess("-q", "-n", "2", timeout=100)
    done.assert_outcomes(passed=9)
    assert leftover(project.path) == []


def test_files_are_items_in_their_order_also_when_spread_over_processes(
    project: pytest.Pytester,
) -> None:
    (project.path / "notes.mcp.yaml").write_text(YAML)
    wrong = YAML.replace("text: mine", "text: yours") + "  - {name: dies, call: broken-crash}\n"
    (project.path / "wrong.mcp.yaml").write_text(wrong)
    done = project.runpytest_subprocess("-v", "--mcp-trace-dir", "traces", timeout=100)
    done.assert_outcomes(passed=7, failed=2)
    done.stdout.fnmatch_lines(["*notes.mcp.yaml::writes PASSED*", "*wrong.mcp.yaml::reads FAILED*"])
    text = done.stdout.str()
    assert 'the text does not contain "yours"' in text
    assert '<- {"jsonrpc"' in text
    assert "stderr: demo: crashing, as asked" in text
    assert re.search(r"open it: mcplens web --show traces/wrong\.jsonl", text)
    assert (project.path / "traces" / "notes.jsonl").is_file()
    shared = ("-q", "-n", "3", "--mcp-trace-dir", "spread")
    done = project.runpytest_subprocess(*shared, "notes.mcp.yaml", timeout=100)
    done.assert_outcomes(passed=4)
    traces = [path.name for path in (project.path / "spread").iterdir()]
    assert {re.sub(r"\d", "N", name) for name in traces} == {"notes.gwN.jsonl"}  # one of each
    done = project.runpytest_subprocess("-q", "-k", "uses", "notes.mcp.yaml", timeout=100)
    done.assert_outcomes(passed=1, deselected=3)
    (project.path / "notes.mcp.yaml").write_text(YAML.replace("with", "wiht", 1))
    done = project.runpytest_subprocess("notes.mcp.yaml", timeout=100)
    done.assert_outcomes(errors=1)
    assert "notes.mcp.yaml:4:" in done.stdout.str()
    assert "did you mean 'with'?" in done.stdout.str()


def test_a_snapshot_that_cannot_be_written_is_an_error(project: pytest.Pytester) -> None:
    text = "version: 1\nserver: demo\ntests: [{name: a, list: tools, expect: {snapshot: true}}]\n"
    (project.path / "a.mcp.yaml").write_text(text)
    project.makeconftest(
        """
        from mcplens.collections.snapshots import Snapshots
        from mcplens.errors import ConfigurationError

        def write(self, names):
            raise ConfigurationError("CONFIGURATION_INVALID", "the disk is full")

        Snapshots.write = write
        """
    )
    done = project.runpytest_subprocess("-q", "--mcp-update", timeout=100)
    done.assert_outcomes(passed=1, errors=1)
    assert "its snapshot was not written: the disk is full" in done.stdout.str()


def test_a_chosen_test_has_all_that_it_needs_at_any_distance(project: pytest.Pytester) -> None:
    third = YAML.replace("name: uses, call: echo", "name: again, call: add")
    third = third.replace('{text: "${sum}"}, expect: {text: "5"}', '{a: "${sum}", b: 1}')
    third = third.replace("b: 1}}", "b: 1}, save: {more: $.structuredContent.sum}}")
    third += '  - {name: last, call: echo, with: {text: "${more}"}, expect: {text: "6"}}\n'
    (project.path / "chain.mcp.yaml").write_text(third)
    done = project.runpytest_subprocess("-q", "-k", "last", timeout=100)
    done.assert_outcomes(passed=1, deselected=4)


FAILING = f"""
import pytest

pytestmark = pytest.mark.mcp_server({DEMO!r})


def test_differs(assert_tool):
    assert_tool("add", {{"a": 1, "b": 1}}, structured={{"sum": 3}})


def test_misspelt(assert_tool):
    assert_tool("add", {{"a": 1, "b": 1}}, strutured={{"sum": 2}})


def test_crash(mcp_client):
    mcp_client.call_tool("broken-crash")


@pytest.mark.mcp_server(["sh", "-c", "echo no key is set >&2; exit 4"])
def test_dies(mcp_client): ...


@pytest.mark.mcp_server(["sh", "-c", "exec sleep 60"], connection_timeout_s=0.3)
def test_slow(mcp_client): ...


@pytest.mark.mcp_server("no-such-server")
def test_unknown(mcp_client): ...


@pytest.mark.mcp_server({DEMO!r}, transports={{"http": {DEMO + " --no-such {port}"!r}}})
@pytest.mark.mcp_transports("http")
def test_never_listens(mcp_client): ...
"""


def test_a_failure_is_reported_with_messages_and_stderr(project: pytest.Pytester) -> None:
    project.makepyfile(test_bad=FAILING)
    done = project.runpytest_subprocess("-q", "--mcp-trace-dir", "traces", timeout=100)
    done.assert_outcomes(failed=3, errors=4)
    text = done.stdout.str()
    assert "stderr: no key is set" in text
    assert "step by step: mcplens doctor -- sh -c" in text
    assert "not connected within 0.3 s" in text
    assert "connection_timeout_s=… of the mark mcp_server" in text
    assert "def _establish" not in text  # no traceback through mcplens
    assert "structured.sum: expected 3, got 2" in text
    assert "MCP messages with mcplens.demo" in text
    assert "unknown key 'strutured'; did you mean 'structured'?" in text
    assert "stderr of mcplens.demo" in text
    assert "demo: crashing, as asked" in text
    assert "mcplens web --show traces/" in text
    assert "there is no configured server 'no-such-server'" in text
    assert "exited with code" in text


TRANSPORTS = """
import pytest

@pytest.mark.mcp_server(
    "python server.py", transports={"http": "python server.py --http {port}"}
)
@pytest.mark.mcp_transports("stdio", "http")
@pytest.mark.mcp_revisions("2025-11-25", "2026-07-28")
@pytest.mark.anyio
async def test_add(mcp_client, mcp_server, anyio_backend):
    assert isinstance(mcp_server.target, str if "http" in str(mcp_server.target) else list)
    result = await mcp_client.call_tool("add", {"a": 2, "b": 3})
    assert result.content[0].text == "5"


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
SERVER = """
import sys
from fastmcp import FastMCP

server = FastMCP("sums")

@server.tool
def add(a: int, b: int) -> int:
    return a + b

if "--http" in sys.argv:
    port = int(sys.argv[-1])
    server.run("http", host="127.0.0.1", port=port, show_banner=False)
else:
    server.run(show_banner=False)
"""


def test_a_fastmcp_server_over_two_transports_and_two_revisions(project: pytest.Pytester) -> None:
    project.makepyfile(test_sums=TRANSPORTS, server=SERVER)
    done = project.runpytest_subprocess("-q", timeout=100)
    done.assert_outcomes(passed=4)


def test_a_test_with_a_server_alone_has_neither_revisions_nor_clients(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_server=f"""
        import pytest

        pytestmark = [
            pytest.mark.mcp_server({DEMO!r}),
            pytest.mark.mcp_clients(plain={{}}, other={{}}),
        ]

        def test_server(mcp_server):
            assert mcp_server.name == "mcplens.demo"

        def test_client(mcp_client):
            assert mcp_client.protocol_version == "2025-11-25"
        """
    )
    done = project.runpytest_subprocess("-q", "--mcp-revisions", "2025-11-25", timeout=100)
    done.assert_outcomes(passed=3)


CASSETTE = f"""
import pytest

@pytest.mark.mcp_cassette()
@pytest.mark.mcp_server({DEMO!r})
@pytest.mark.parametrize("b", B)
def test_adds(assert_tool, b):
    assert_tool("add", {{"a": 2, "b": b}}, structured={{"sum": 5}})
    assert_tool("progress-steps", {{"steps": 2, "seconds": 0}}, progress=2)
"""


def test_a_cassette_is_recorded_once_and_answers_afterwards(project: pytest.Pytester) -> None:
    project.makepyfile(test_tape=CASSETTE.replace("B)", "[3, 4])"))
    done = project.runpytest_subprocess("-q", timeout=100)
    done.assert_outcomes(passed=1, failed=1)
    tapes = list((project.path / "cassettes" / "test_tape").iterdir())
    assert [tape.name for tape in tapes] == ["test_adds_3_.jsonl"]  # a failure is not kept
    # The server is not needed any more.
    gone = CASSETTE.replace(repr(DEMO), "'./does-not-exist now'").replace("B)", "[3])")
    project.makepyfile(test_tape=gone)
    done = project.runpytest_subprocess("-q", "--mcp-record", "none", timeout=100)
    done.assert_outcomes(passed=1)
    project.makepyfile(test_tape=gone.replace('"a": 2', '"a": 1 + 6'))
    done = project.runpytest_subprocess("-q", timeout=100)
    done.assert_outcomes(failed=1)
    assert '"a":2' in done.stdout.str()  # the nearest call that was recorded
    project.makepyfile(test_tape=gone.replace("[3])", "[5])"))
    done = project.runpytest_subprocess("-q", "--mcp-record", "none", timeout=100)
    assert "there is no cassette" in done.stdout.str()


GROWING = f"""
import pytest

async def answer(question):
    return {{"action": "accept", "content": {{"name": "Ada"}}}}

def check(assert_tool):
    assert_tool("add", {{"a": 2, "b": 3}}, structured={{"sum": 5}})
    if MORE:
        assert_tool("progress-steps", {{"steps": 2, "seconds": 0}}, progress=2)
        assert_tool("elicit-form", text="Ada")
        assert_tool("fail-result", is_error=True)
        assert_tool("fail-error", error=True)
    END

pytestmark = pytest.mark.mcp_server({DEMO!r}, elicitation=answer)
shared = pytest.mark.mcp_cassette(path="shared.jsonl", mode="new")
modern = pytest.mark.mcp_cassette(path="modern.jsonl", mode="new")

@shared
@pytest.mark.mcp_revisions("2025-11-25")
def test_one(assert_tool):
    assert_tool("add", {{"a": 1, "b": 1}}, structured={{"sum": 2}})

@shared
@pytest.mark.mcp_revisions("2025-11-25")
def test_two(assert_tool):
    check(assert_tool)

@modern
@pytest.mark.mcp_revisions("2026-07-28")
def test_modern(assert_tool):
    check(assert_tool)
"""


def test_a_cassette_grows_by_the_calls_that_it_lacks(project: pytest.Pytester) -> None:
    def run(source: str, *options: str) -> pytest.RunResult:
        project.makepyfile(test_tape=source)
        return project.runpytest_inprocess("-q", *options)

    tapes = [project.path / "shared.jsonl", project.path / "modern.jsonl"]
    run(GROWING.replace("MORE", "False").replace("END", "")).assert_outcomes(passed=3)
    first = [tape.read_bytes() for tape in tapes]
    more = GROWING.replace("MORE", "True")
    run(more.replace("END", "0 / 0")).assert_outcomes(passed=1, failed=2)
    assert [tape.read_bytes() for tape in tapes] == first  # a failure is not kept
    more = more.replace("END", "")
    run(more).assert_outcomes(passed=3)
    for tape, before in zip(tapes, first, strict=True):
        assert tape.read_bytes().startswith(before)
        runs = {json.loads(line).get("run_id") for line in tape.read_text().splitlines()[1:]}
        assert len(runs) == 1  # so that `mcplens mock` serves it
    # The server is not needed any more, by any test; nothing is added.
    grown = [tape.read_bytes() for tape in tapes]
    gone = more.replace(repr(DEMO), "'./does-not-exist now'")
    run(gone).assert_outcomes(passed=3)
    assert [tape.read_bytes() for tape in tapes] == grown
    assert len(list(project.path.glob("*.jsonl*"))) == len(tapes)


def test_each_test_has_its_own_cassette(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_tape=f"""
        import pytest

        pytestmark = [pytest.mark.mcp_server({DEMO!r}), pytest.mark.mcp_cassette()]

        class TestOne:
            def test_adds(self, assert_tool):
                assert_tool("add", {{"a": 1, "b": 1}}, structured={{"sum": 2}})

        class TestTwo:
            def test_adds(self, assert_tool):
                assert_tool("add", {{"a": 2, "b": 2}}, structured={{"sum": 4}})

        @pytest.mark.mcp_cassette(path="tapes/own.jsonl")
        def test_adds(assert_tool):
            assert_tool("add", {{"a": 3, "b": 3}}, structured={{"sum": 6}})
        """
    )
    project.runpytest_subprocess("-q", timeout=100).assert_outcomes(passed=3)
    tapes = sorted(str(path.relative_to(project.path)) for path in project.path.rglob("*.jsonl"))
    assert tapes == [
        "cassettes/test_tape/TestOne.test_adds.jsonl",
        "cassettes/test_tape/TestTwo.test_adds.jsonl",
        "tapes/own.jsonl",
    ]


ENTRY = {"command": sys.executable, "args": ["-m", "mcplens.demo"], "secretKeys": ["city"]}
SECRETS = f"""
import os
import pytest

pytestmark = pytest.mark.mcp_cassette()


def check(assert_tool, tool, name, *parts):
    assert_tool(tool, {{name: "".join(parts)}}, snapshot=True)
    assert_tool("add", {{"a": 1, "b": 1}}, structured={{"sum": int(os.environ["SUM"])}})


@pytest.mark.mcp_server({ENTRY})
def test_entry(assert_tool):
    check(assert_tool, "structured-weather", "city", "Zolli", "kofen")


@pytest.mark.mcp_server("named")
def test_named(assert_tool):
    check(assert_tool, "structured-weather", "city", "Oster", "mundigen")


@pytest.mark.mcp_server({DEMO!r})
def test_wide(assert_tool):
    check(assert_tool, "notes-write", "note", "Schwarzen", "burg")


@pytest.mark.mcp_server({DEMO!r}, secret_keys=["city"])
def test_option(assert_tool):
    check(assert_tool, "structured-weather", "city", "Muen", "chenbuchsee")
"""


def test_secret_keys_of_entries_and_of_the_configuration_are_never_written(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = {"secretKeys": ["note"], "mcpServers": {"named": ENTRY}}
    (project.path / "mcp.json").write_text(json.dumps(configuration))
    project.makepyfile(test_secrets=SECRETS)
    options = ("-q", "--mcp-trace-dir", "traces")
    monkeypatch.setenv("SUM", "2")
    done = project.runpytest_subprocess(*options, "--mcp-update", timeout=100)
    done.assert_outcomes(passed=4)
    # The cassettes answer as the servers did.
    done = project.runpytest_subprocess(*options, "--mcp-record", "none", timeout=100)
    done.assert_outcomes(passed=4)
    monkeypatch.setenv("SUM", "3")
    failed = project.runpytest_subprocess(*options, timeout=100)
    failed.assert_outcomes(failed=4)
    kinds = [path for kind in ("*.jsonl", "*.snap.json") for path in project.path.rglob(kind)]
    assert len(kinds) == 4 + 4 + 1
    written = failed.stdout.str() + "".join(path.read_text() for path in kinds)
    assert "structured-weather" in failed.stdout.str()
    for secret in ("Zollikofen", "Ostermundigen", "Schwarzenburg", "Muenchenbuchsee"):
        assert secret not in written


HOSTS = f"""
import json
import pytest

pytestmark = pytest.mark.mcp_server({DEMO!r})


@pytest.mark.mcp_clients("claude-desktop", "vscode", mine={{"capabilities": {{}}}})
def test_marked(mcp_client, assert_tool, request):
    sent = [event for event in mcp_client.kept_events() if type(event).__name__ == "FrameSent"]
    params = json.loads(sent[0].message.raw)["params"]
    if "claude-desktop" in request.node.name:
        assert list(params["capabilities"]) == ["extensions"]
        assert params["clientInfo"] == {{"name": "claude-ai", "version": "0.1.0"}}
        assert_tool("elicit-form", is_error=True, text="capability elicitation")
    elif "vscode" in request.node.name:
        assert len(params["capabilities"]) == 5
        assert_tool("elicit-form", is_error=True, text="decline")
        assert_tool("list-roots")


def test_by_option(mcp_client): ...
"""


def test_tests_run_as_well_known_hosts(project: pytest.Pytester) -> None:
    project.makepyfile(test_hosts=HOSTS)
    done = project.runpytest_inprocess("-v", "--mcp-clients", "codex, cursor")
    done.assert_outcomes(passed=5)
    done.stdout.fnmatch_lines(["*test_by_option?codex? PASSED*", "*test_by_option?cursor? PASSED*"])
    done = project.runpytest_inprocess("--mcp-clients", "kursor")
    text = done.stdout.str() + done.stderr.str()
    assert "'kursor' is not one of claude-desktop, claude-code, codex, cursor, vscode" in text
    assert "Traceback" not in text


def test_the_plugin_costs_nothing_when_it_is_not_used(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_plain="""
        import sys

        def test_nothing_is_loaded():
            loaded = {name for name in sys.modules if name.startswith("mcplens")}
            assert loaded == {"mcplens", "mcplens.pytest_plugin", "mcplens.pytest_plugin.hooks"}
            assert "msgspec" not in sys.modules
        """
    )
    project.runpytest_subprocess("-q", timeout=100).assert_outcomes(passed=1)
