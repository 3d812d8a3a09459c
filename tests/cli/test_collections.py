"""`mcplens collections`: calls that are kept in files, run from the command line."""

import json
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from mcplens.collections.model import STEP_KEYS, TEST_KEYS, read_collection
from mcplens.protocol.schema_validation import Validator
from tests.cli.shell import Shell

TEXT = """\
version: 1
server: demo
tests:
  - {name: adds, description: Two and three, call: add, with: {a: 2, b: 3}}
  - {name: greets, call: echo, with: {text: "Hello, ${WHO}"}}
  - {name: fails, call: fail-result}
"""


def put(shell: Shell, name: str, text: str = TEXT) -> Path:
    path = shell.config.parent / "collections" / f"{name}.mcp.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_collections_are_listed_and_shown(shell: Shell) -> None:
    assert "no collections yet" in shell.run("collections").err
    path = put(shell, "team/usual")
    put(shell, "broken", "version: 1\ntests: {")
    listed = shell.run("collections", "list", "--json")
    assert [(one["name"], one["calls"]) for one in json.loads(listed.text)] == [
        ("broken", 0),
        ("team/usual", 3),
    ]
    shown = shell.run("collections", "show", "team/usual")
    assert shown.text.startswith(f"{path}\n")
    assert "adds: add on demo\n  Two and three\n" in shown.text
    assert "${WHO} is not set" in shown.text
    detail = json.loads(shell.run("collections", "show", str(path), "--json").text)
    assert detail["calls"][0]["with"] == {"a": 2, "b": 3}
    assert detail["variables"] == [{"name": "WHO", "is_secret": False, "is_set": False}]
    refused = shell.run("collections", "show", "broken")
    assert refused.code == exit_codes.USAGE
    assert "line 2, column" in refused.err
    refused = shell.run("collections", "show", "team/usal")
    assert (refused.code, "Did you mean team/usual?" in refused.err) == (exit_codes.USAGE, True)


def test_the_schema_for_editors_describes_the_keys_that_are_read(shell: Shell) -> None:
    schema = json.loads(shell.run("collections", "schema").text)
    Validator(schema)
    assert set(schema["$defs"]["step"]["properties"]) == {*STEP_KEYS, *TEST_KEYS}
    text = json.dumps({"version": 1, "server": "demo", "tests": [{"name": "a", "call": "b"}]})
    assert read_collection(text).steps[0].problem is None
    assert Validator(schema).findings(json.loads(text)) == ()
    assert Validator(schema).findings({"version": 1, "tests": [{"call": 5}]}) != ()


def test_a_run_settles_everything_before_it_sends_anything(shell: Shell) -> None:
    put(shell, "mine")
    refused = shell.run("collections", "run", "mine")
    assert refused.code == exit_codes.USAGE
    for words in ("was not written by mcplens", "go to demo", "variables WHO", "Use --yes"):
        assert words in refused.err
    refused = shell.run("collections", "run", "mine", "--yes", "--allow-writes")
    assert refused.code == exit_codes.USAGE
    assert "the variable WHO is not set; nothing was sent" in refused.err
    shell.variables["WHO"] = "${HOME}"
    refused = shell.run("collections", "run", "mine")  # it is confirmed by now
    assert refused.code == exit_codes.USAGE
    assert "these may change something" in refused.err
    assert "fail-result on demo" in refused.err
    assert "Use --allow-writes" in refused.err
    ran = shell.run("collections", "run", "mine", "--allow-writes")
    assert ran.code == exit_codes.FAILED
    lines = ran.text.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["done", "adds"],
        ["done", "greets"],
        ["failed", "fails"],
    ]
    assert lines[1].endswith("Hello, ${HOME}")
    assert "2 done, 1 failed" in ran.err


def test_one_call_ends_as_call_does(shell: Shell) -> None:
    put(shell, "mine", TEXT + "  - {name: far, server: gone, call: x}\n")
    shell.variables["WHO"] = "you"
    options = ("--yes", "--allow-writes")
    one = shell.run("collections", "run", "mine", "adds", *options, "--json")
    assert one.code == 0
    line = json.loads(one.text)
    assert (line["name"], line["server"], line["call"]) == ("adds", "demo", "add")
    assert line["result"]["content"][0]["text"] == "5"
    assert shell.run("collections", "run", "mine", "fails", *options).code == exit_codes.REFUSED
    missing = shell.run("collections", "run", "mine", "ads", *options)
    assert (missing.code, "Did you mean adds?" in missing.err) == (exit_codes.USAGE, True)
    unknown = shell.run("collections", "run", "mine", "far", *options)
    assert unknown.code == exit_codes.USAGE
    assert "there is no configured server 'gone'" in unknown.err


def test_a_server_that_is_not_configured_fails_its_own_calls_only(shell: Shell) -> None:
    put(shell, "mine", TEXT + "  - {name: far, server: gone, call: x}\n")
    shell.variables["WHO"] = "you"
    ran = shell.run("collections", "run", "mine", "--yes", "--allow-writes")
    assert ran.code == exit_codes.FAILED
    assert [line.split()[:2] for line in ran.text.splitlines()] == [
        ["done", "adds"],
        ["done", "greets"],
        ["failed", "fails"],
        ["failed", "far"],
    ]
    assert "1 call is not sent: there is no configured server 'gone'" in ran.err
    assert "2 done, 2 failed" in ran.err


@pytest.mark.parametrize("server", ["http://127.0.0.1:1/mcp", "evil.py", "localhost:1"])
def test_a_file_names_servers_and_nothing_else(shell: Shell, server: str) -> None:
    put(shell, "mine", f"version: 1\ntests: [{{name: a, server: '{server}', call: x}}]\n")
    (shell.home / "evil.py").write_text("raise SystemExit('started')")
    refused = shell.run("collections", "run", "mine", "--yes", "--allow-writes")
    assert refused.code == exit_codes.USAGE
    assert "there is no configured server" in refused.err


def test_a_run_stops_at_a_failure_if_asked(shell: Shell) -> None:
    steps = "  - {name: bad, call: fail-result}\n  - {name: never, call: add, with: {a: 1, b: 2}}\n"
    put(shell, "mine", f"version: 1\nserver: demo\ntests:\n{steps}")
    ran = shell.run(
        "collections", "run", "mine", "--yes", "--allow-writes", "--stop-at-failure", "--json"
    )
    assert ran.code == exit_codes.FAILED
    assert [json.loads(line)["name"] for line in ran.text.splitlines()] == ["bad"]


def test_a_secret_value_is_masked_in_the_trace(shell: Shell) -> None:
    put(shell, "mine", "version: 1\nserver: demo\ntests:\n"
        '  - {name: a, call: echo, with: {text: "of ${API_TOKEN}"}}\n')  # fmt: skip
    shell.variables["API_TOKEN"] = "s3cret-of-mine"
    trace = shell.home / "trace.jsonl"
    ran = shell.run("collections", "run", "mine", "--yes", "--allow-writes", "--trace", str(trace))
    assert "of s3cret-of-mine" in ran.text
    assert "tools/call" in trace.read_text()
    assert "s3cret-of-mine" not in trace.read_text()
