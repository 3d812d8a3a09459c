"""`mcplens history save-test`: what was recorded becomes a test that passes, and then notices."""

import json
import re
import sys
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import Shell

pytestmark = pytest.mark.slow

# Repeats what it is called with.
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params", {})
    answer = {"result": {}}
    if method == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                             "serverInfo": {"name": "parrot", "version": "1"}}}
    elif method == "tools/list":
        answer = {"result": {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}}
    elif method == "tools/call" and params["name"] == "say":
        text = "WORD " + json.dumps(params["arguments"])
        answer = {"result": {"content": [{"type": "text", "text": text}]}}
    else:
        answer = {"error": {"code": -32602, "message": "no such thing"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def newest_run(shell: Shell) -> str:
    return str(json.loads(shell.run("history", "list", "-n", "1", "--json").text)["run_id"])


def test_a_recorded_call_becomes_a_test_that_notices_a_change(shell: Shell, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER.replace("WORD", "hello"))
    shell.run("call", "say", "to=Ada", "api_key=sk-very-secret-1", "--", "python3", "server.py")
    saved = shell.run("history", "save-test", newest_run(shell)[:8], "-o", "parrot.mcp.yaml")
    assert "1 test written to parrot.mcp.yaml: say" in saved.text, saved.err
    shell.run("call", "shout", "--force", "--", "python3", "server.py")
    again = shell.run("history", "save-test", newest_run(shell), "-o", "parrot.mcp.yaml")
    assert "parrot.mcp.yaml: shout" in again.text, again.err
    text = (tmp_path / "parrot.mcp.yaml").read_text()
    snapshot = (tmp_path / "parrot.mcp.snap.json").read_text()
    assert "command: python3\n" in text
    assert "api_key: ${API_KEY}" in text
    assert "error: -32602" in text
    assert "sk-very-secret-1" not in text + snapshot
    shell.variables["API_KEY"] = "sk-another-secret-2"
    ran = shell.run("test")  # not asked: this mcplens wrote it
    assert (ran.code, "2 passed, 0 failed" in ran.err) == (exit_codes.DONE, True), ran.text
    server.write_text(SERVER.replace("WORD", "goodbye"))
    ran = shell.run("test")
    assert ran.code == exit_codes.FAILED
    assert "snapshot.content[0].text: expected" in ran.text
    assert "sk-another-secret-2" not in ran.text
    assert shell.run("test", "--update").code == exit_codes.DONE
    assert shell.run("test").code == exit_codes.DONE


def test_a_test_starts_the_server_in_the_folder_of_the_recorded_call(
    shell: Shell, tmp_path: Path
) -> None:
    project, tests = tmp_path / "project", tmp_path / "tests"
    for folder in (project, tests):
        folder.mkdir()
    (project / "server.py").write_text(SERVER)
    shell.run("call", "say", "--", "python3", "server.py", cwd=project)
    run_id = newest_run(shell)
    saved = shell.run("history", "save-test", run_id, "-o", "parrot.mcp.yaml", cwd=tests)
    assert "cwd: ../project\n" in (tests / "parrot.mcp.yaml").read_text(), saved.err
    ran = shell.run("test", cwd=tests)
    assert ran.code == exit_codes.DONE, ran.text


def test_a_file_from_elsewhere_stays_unconfirmed_when_a_test_is_saved_to_it(shell: Shell) -> None:
    path = shell.home / "theirs.mcp.yaml"
    server = json.dumps({"command": sys.executable, "args": ["-m", "mcplens.demo"]})
    path.write_text(f"version: 1\nserver: {server}\ntests: [{{name: theirs, list: tools}}]\n")
    shell.run("call", "demo", "add", "a=1", "b=2")
    words = ("history", "save-test", newest_run(shell), "-o", "theirs.mcp.yaml")
    assert shell.run(*words).code == exit_codes.DONE
    refused = shell.run("test")
    assert (refused.code, "Use --yes to run" in refused.err) == (exit_codes.USAGE, True)
    assert shell.run("test", "--yes", "--no-record").code == exit_codes.DONE
    assert shell.run(*words).code == exit_codes.DONE
    ran = shell.run("test")  # what was there before has been confirmed
    assert (ran.code, "3 passed" in ran.err) == (exit_codes.DONE, True), ran.err


def test_calls_without_an_answer_are_left_out(shell: Shell) -> None:
    (shell.home / "run.mcp.yaml").write_text(
        "version: 1\nserver: demo\ntests:\n"
        "  - {name: adds, call: add, with: {a: 1, b: 2}}\n"
        "  - {name: hangs, call: broken-silent, timeout_ms: 50, expect: {error: true}}\n"
    )
    assert shell.run("test", "--yes").code == exit_codes.DONE
    run = newest_run(shell)
    saved = shell.run("history", "save-test", run, "-o", "saved.mcp.yaml")
    assert "1 test written to saved.mcp.yaml: add" in saved.text, saved.err
    left = re.search(r"request (\d+) was left out: it was not answered", saved.err)
    assert left is not None, saved.err
    refused = shell.run("history", "save-test", run, left[1], "-o", "saved.mcp.yaml")
    assert (refused.code, "was not answered" in refused.err) == (exit_codes.USAGE, True)


def test_what_cannot_be_saved_says_why(shell: Shell) -> None:
    shell.run("info", "demo")
    run = newest_run(shell)
    for words, says in (
        ((run, "-o", "a.yaml"), "ends in .mcp.yaml"),
        ((run, "-o", "a.mcp.yaml"), "has no calls"),
        ((run, "1", "-o", "a.mcp.yaml"), "is not a request"),
        ((run, "1", "2", "--name", "x", "-o", "a.mcp.yaml"), "--name is for one test"),
    ):
        refused = shell.run("history", "save-test", *words)
        assert refused.code == exit_codes.USAGE
        assert says in refused.err
