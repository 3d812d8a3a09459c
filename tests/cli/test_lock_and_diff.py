"""`mcplens lock` and `mcplens diff`: what a server promises, on record and compared."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from mcplens.cli import exit_codes
from mcplens.store.trace import VERSION
from tests.cli.contract_server import ADD, configure, define
from tests.cli.shell import Shell

pytestmark = pytest.mark.slow

NARROWED = {**ADD, "inputSchema": {**ADD["inputSchema"], "required": ["a", "b"]}}
SECOND = {"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}}


def lock_of(shell: Shell) -> Path:
    return shell.home / "mcp.lock"


def locked(shell: Shell) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lock_of(shell).read_text())["servers"]
    return found


@pytest.fixture
def server(shell: Shell) -> Shell:
    """A configured server `one` whose lock is written."""
    configure(shell, "one", "two")
    define(shell, "one", ADD)
    define(shell, "two", SECOND, info={"name": "other"})
    ran = shell.run("lock", "one")
    assert ran.code == exit_codes.DONE, ran.err
    assert ran.text == "one: 1 tool written to mcp.lock\n"
    return shell


def test_a_lock_is_green_until_the_server_changes_and_after_it_is_written_again(
    server: Shell,
) -> None:
    before = lock_of(server).read_bytes()
    ran = server.run("lock", "--check")
    assert (ran.code, ran.text) == (exit_codes.DONE, "one: no changes\n")
    assert lock_of(server).read_bytes() == before
    define(server, "one", NARROWED, SECOND)
    red = server.run("lock", "--check", "one")
    assert red.code == exit_codes.FAILED
    assert "one: 1 breaking, 1 additive" in red.text
    assert "breaking  /tools/add/inputSchema/properties/b  now required" in red.text
    assert "This means a major version: 1.0.0 → 2.0.0." in red.text
    assert "if the changes are intended, run mcplens lock one\n" in red.err
    assert lock_of(server).read_bytes() == before
    assert server.run("lock", "one").code == exit_codes.DONE
    assert server.run("lock", "--check").code == exit_codes.DONE
    assert not list(server.home.glob("mcp.lock?*"))  # neither a backup nor a temporary file


def test_the_class_from_which_a_comparison_fails_is_chosen(server: Shell) -> None:
    define(server, "one", ADD, SECOND)
    codes = {
        fail_on: server.run("diff", "mcp.lock", "one", "--fail-on", fail_on).code
        for fail_on in ("breaking", "additive", "never")
    }
    failed, done = exit_codes.FAILED, exit_codes.DONE
    assert codes == {"breaking": done, "additive": failed, "never": done}
    assert server.run("lock", "--check", "one").code == failed


def test_a_comparison_is_printed_as_json_and_as_markdown_for_a_pull_request(server: Shell) -> None:
    define(server, "one", {**NARROWED, "description": "`pipes` | and\n# headings"})
    found = json.loads(server.run("diff", "mcp.lock", "one", "--json").text)
    assert found["verdict"] == "breaking"
    (one,) = found["servers"]
    assert (one["versionStep"], one["nextVersion"]) == ("major", "2.0.0")
    assert one["changes"][0] == {
        "class": "breaking", "rule": "input-required-added", "message": "now required",
        "pointer": "/tools/add/inputSchema/properties/b",
    }  # fmt: skip
    lines = server.run("diff", "mcp.lock", "one", "--format", "markdown").text.splitlines()
    assert lines[0] == "### 🔴 MCP contract of `one`: 1 breaking, 1 risky"
    rows = [line for line in lines if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)
    assert not any(line.startswith("# headings") for line in lines)


def test_a_lock_of_another_server_is_one_clear_error(server: Shell) -> None:
    absent = server.run("lock", "--check", "two")
    assert absent.code == exit_codes.USAGE
    assert "mcp.lock has no server 'two'; it has one" in absent.err
    define(server, "one", ADD, info={"name": "somebody else"})
    for words in (["lock", "--check", "one"], ["diff", "mcp.lock", "one"]):
        ran = server.run(*words)
        assert (ran.code, ran.text) == (exit_codes.USAGE, "")
        assert "are of different servers: 'contract' and 'somebody else'" in ran.err
    # Two live servers may be compared, whatever they are called.
    both = server.run("diff", "one", "two", "--json")
    rules = {change["rule"] for change in json.loads(both.text)["servers"][0]["changes"]}
    assert {"server-name-changed", "tool-removed", "tool-added"} <= rules


def test_other_servers_in_a_lock_stay_and_locks_are_compared_by_name(server: Shell) -> None:
    old = server.home / "old.lock"
    old.write_bytes(lock_of(server).read_bytes())
    first = locked(server)["one"]
    assert server.run("lock", "two", "demo").code == exit_codes.DONE
    assert set(locked(server)) == {"one", "two", "demo"}
    assert locked(server)["one"] == first
    assert server.run("diff", "old.lock", "mcp.lock").text == "one: no changes\n"
    ran = server.run("diff", "mcp.lock", "old.lock", "--server", "two")
    assert ran.code == exit_codes.USAGE
    assert "old.lock has no server 'two'" in ran.err
    both = server.home / "both.lock"
    lock = json.loads(lock_of(server).read_text())
    del lock["servers"]["demo"]
    both.write_text(json.dumps(lock))
    gone = server.run("diff", "mcp.lock", "both.lock", "--json")
    assert gone.code == exit_codes.FAILED
    verdicts = {one["server"]: one["verdict"] for one in json.loads(gone.text)["servers"]}
    assert verdicts == {"demo": "breaking", "one": None, "two": None}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"format": "mcplens-lock", "version": 2, "servers": {}}', "update mcplens"),
        ("{", "not valid JSON"),
        ("[]", 'no "format"'),
        ("\xff", "not UTF-8"),
    ],
)
def test_a_lock_that_cannot_be_read_is_neither_used_nor_overwritten(
    shell: Shell, content: str, words: str
) -> None:
    lock_of(shell).write_bytes(content.encode("latin-1"))
    for command in (["lock", "demo"], ["lock", "--check", "demo"], ["diff", "mcp.lock", "demo"]):
        ran = shell.run(*command)
        assert ran.code == exit_codes.USAGE
        assert words in ran.err
    assert lock_of(shell).read_bytes() == content.encode("latin-1")


def test_what_is_missing_is_said_before_a_server_is_started(shell: Shell) -> None:
    for words, said in (
        (["lock"], "name a server"),
        (["lock", "--check", "demo"], "there is no mcp.lock"),
        (["diff", "demo"], "expected A B"),
        (["diff", "gone.lock", "demo"], "there is no file gone.lock"),
        (["lock", "demo", "demo", "--as", "x"], "--as is for one server"),
    ):
        ran = shell.run(*words)
        assert (ran.code, ran.text) == (exit_codes.USAGE, ""), words
        assert said in ran.err


@pytest.mark.parametrize(
    ("mode", "code", "words"),
    [
        ("hang", exit_codes.TIMED_OUT, "no answer"),
        ("die", exit_codes.NOT_CONNECTED, "out of memory"),
        ("endless", exit_codes.BROKEN_PROTOCOL, "does not end"),
    ],
)
def test_a_server_that_fails_leaves_the_lock_as_it_was(
    server: Shell, mode: str, code: int, words: str
) -> None:
    before = lock_of(server).read_bytes()
    define(server, "one", ADD, SECOND, mode=mode)
    ran = server.run("lock", "one", "--timeout", "1" if mode == "hang" else "30")
    assert ran.code == code, ran.err
    assert words in ran.err
    assert lock_of(server).read_bytes() == before


def test_a_server_that_floods_and_prints_to_stdout_is_locked_all_the_same(server: Shell) -> None:
    define(server, "one", ADD, mode="flood")
    ran = server.run("lock", "--check", "one", "-q")
    assert (ran.code, ran.text) == (exit_codes.DONE, "one: no changes\n"), ran.err[-2000:]


def test_a_command_is_called_as_the_lock_calls_it(server: Shell) -> None:
    argv = json.loads(server.config.read_text())["mcpServers"]["one"]
    command = [argv["command"], *argv["args"]]
    define(server, "one", ADD, SECOND)
    options = ("--protocol", "2025-11-25")
    ran = server.run("lock", "--check", *options, "--", *command)
    assert ran.text.startswith("one: 1 additive\n")
    assert f"run mcplens lock --as one -- {shlex.join(command)}\n" in ran.err
    ran = server.run("lint", *options, "--format", "github", "--", *command)
    assert "file=mcp.lock,line=" in ran.text
    server.config.write_text('{"mcpServers": {}}')
    for words in ((), ("one",)):
        ran = server.run("lock", "--check", *words)
        assert ran.code == exit_codes.USAGE
        assert "mcp.lock has the server 'one', which is not configured" in ran.err
    assert "mcplens lock --check --as one -- COMMAND" in ran.err


def test_no_secret_enters_a_lock_or_a_comparison(shell: Shell) -> None:
    secret = "t0p-s3cret-värde-9f2c"
    configure(shell, "one", SECRET=secret, API_TOKEN=secret)
    argument = {"type": "string", "default": "hunter2-hunter2"}
    tool = {
        "name": "go",
        "description": "uses {SECRET}",
        "inputSchema": {"type": "object", "properties": {"api_key": argument, "b": argument}},
        "_meta": {"password": "swordfish", "other": "{SECRET}"},
    }
    uri = "https://user:swordfish@example.com/a?token=swordfish&page=2"
    resources = [{"uri": uri, "name": "r", "description": "{SECRET}"}]
    define(shell, "one", tool, resources=resources, instructions="say {SECRET}")
    assert shell.run("lock", "one").code == exit_codes.DONE
    text = lock_of(shell).read_text()
    assert not any(word in text for word in (secret, "t0p-s3cret", "swordfish"))
    schema = locked(shell)["one"]["tools"]["go"]["definition"]["inputSchema"]["properties"]
    assert schema["api_key"]["default"] == "*" * 8
    assert schema["b"]["default"] == "hunter2-hunter2"  # nothing says that it is one
    assert list(locked(shell)["one"]["resources"]) == [
        "https://********@example.com/a?token=********&page=2"
    ]
    # A secret of another length is not a change.
    configure(shell, "one", SECRET=secret * 2, API_TOKEN=secret * 2)
    assert shell.run("lock", "--check").text == "one: no changes\n"
    # Nor does a comparison show it.
    changed = {**tool, "description": "now with {SECRET}"}
    define(shell, "one", changed, resources=resources, instructions="say {SECRET}")
    ran = shell.run("lock", "--check")
    assert ran.code == exit_codes.FAILED
    assert secret not in ran.text + ran.err


def test_no_known_secret_of_a_trace_enters_what_is_printed_of_its_capabilities(
    shell: Shell,
) -> None:
    secret = "t0p-s3cret-9f2c-4711"
    configure(shell, "one")
    define(shell, "one", ADD, capabilities={"experimental": {"key": {"value": secret}}})
    trace = shell.home / "run.jsonl"
    ran = shell.run("lock", "one", "--trace", str(trace))
    assert ran.code == exit_codes.DONE, ran.err
    assert secret in lock_of(shell).read_text()  # nothing says that it is one
    # Later it is: the configuration of the server has it.
    configure(shell, "one", API_TOKEN=secret)
    define(shell, "one", ADD, capabilities={"experimental": {"key": {"value": "other"}}})
    ran = shell.run("diff", str(trace), "one", "--json")
    assert "/capabilities/experimental/key/value" in ran.text
    assert secret not in ran.text + ran.err


def record(shell: Shell, *, mode: str = "pages") -> Path:
    """A trace of the server `one`: introduction, tools in pages, a call."""
    trace = shell.home / "run.jsonl"
    define(shell, "one", ADD, SECOND, mode=mode)
    ran = shell.run("lock", "one", "-f", "traced.lock", "--trace", str(trace))
    assert ran.code == exit_codes.DONE, ran.err
    return trace


def test_a_trace_is_compared_like_a_server(server: Shell) -> None:
    trace = record(server)
    found = json.loads(server.run("diff", "mcp.lock", str(trace), "--json").text)
    (one,) = found["servers"]
    assert [change["rule"] for change in one["changes"]] == ["tool-added"]
    assert one["notCompared"] == []
    assert server.run("diff", str(trace), "traced.lock").text == "one: no changes\n"
    # Version 1 has no links.
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert lines[0]["version"] == VERSION
    lines[0]["version"] = 1
    for line in lines:
        for link in ("request_seq", "exchange_id", "call_id", "purpose"):
            line.pop(link, None)
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert server.run("diff", str(trace), "traced.lock").text == "one: no changes\n"


def test_what_a_trace_has_masked_is_not_a_change(server: Shell) -> None:
    config = json.loads(server.config.read_text())
    server.config.write_text(json.dumps(config | {"secretKeys": ["pin"]}))
    pin = {"type": "string", "default": "hunter2", "description": "What opens it.", "maxLength": 9}
    members = {"pin": pin, "b": {"type": "integer"}}
    tool = {**ADD, "inputSchema": {"type": "object", "properties": members, "required": ["pin"]}}
    define(server, "one", tool)
    trace = server.home / "run.jsonl"
    assert server.run("lock", "one", "--trace", str(trace)).code == exit_codes.DONE
    assert "hunter2" not in trace.read_text() + lock_of(server).read_text()
    assert "What opens it." in lock_of(server).read_text()
    assert "What opens it." not in trace.read_text()
    for words in ((str(trace), "mcp.lock"), ("mcp.lock", str(trace)), (str(trace), "one")):
        assert server.run("diff", *words).text == "one: no changes\n"


def test_a_list_that_a_trace_has_only_in_part_is_not_compared(server: Shell) -> None:
    trace = record(server)
    lines = trace.read_bytes().splitlines(keepends=True)
    second = next(at for at, line in enumerate(lines) if b"Answers." in line)
    trace.write_bytes(b"".join(lines[:second]) + lines[second][:40])
    ran = server.run("diff", str(trace), "traced.lock", "--json")
    assert ran.code == exit_codes.DONE, ran.err
    assert json.loads(ran.text)["servers"][0]["notCompared"] == ["tools"]
    assert "was left out: cut off" in ran.err
    assert "does not have the whole list of tools" in ran.err


def test_a_trace_of_several_runs_needs_a_choice(server: Shell) -> None:
    trace = record(server)
    first = trace.read_bytes()
    run_id = json.loads(first.splitlines()[1])["run_id"]
    trace.write_bytes(first + record(server, mode="").read_bytes())
    ran = server.run("diff", str(trace), "traced.lock")
    assert ran.code == exit_codes.USAGE
    assert "Choose one with --server and --run" in ran.err
    chosen = server.run("diff", str(trace), "traced.lock", "--run", run_id[:8])
    assert chosen.text == "one: no changes\n"
    assert "servers in it: one" in server.run("diff", str(trace), "demo", "--server", "x").err
