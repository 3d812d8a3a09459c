"""`mcplens test`: exit codes, confirmation, reports, and runs that are killed."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import MCPLENS, Shell
from tests.cli.shell import TIMEOUT_S as LIMIT_S

pytestmark = pytest.mark.slow

GOOD = """\
version: 1
server: demo
tests:
  - {name: adds, call: add, with: {a: 2, b: 3}, expect: {structured: {sum: 5}}}
  - {name: greets, call: echo, with: {text: "Hello, ${WHO}"}, expect: {text: "Hello, Ada"}}
"""


def put(shell: Shell, name: str, text: str) -> Path:
    path = shell.home / f"{name}.mcp.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_file_is_confirmed_once_and_its_tests_pass(shell: Shell) -> None:
    put(shell, "sub/good", GOOD)
    refused = shell.run("test")
    assert refused.code == exit_codes.USAGE
    assert "the server demo" in refused.err
    assert "your variables WHO" in refused.err
    assert "Use --yes to run these tests" in refused.err
    unset = shell.run("test", "--yes")
    assert (unset.code, "the variable WHO is not set" in unset.err) == (exit_codes.USAGE, True)
    shell.variables["WHO"] = "Ada"
    ran = shell.run("test")  # it was confirmed a moment ago
    assert ran.code == exit_codes.DONE, ran.err
    assert "2 passed, 0 failed" in ran.err
    assert "passed   adds" in ran.text
    shell.variables["WHO"] = "Bo"
    ran = shell.run("test", "sub", "--json", "--junit", "junit.xml", "--summary", "summary.md")
    assert ran.code == exit_codes.FAILED
    adds, greets = map(json.loads, ran.text.splitlines())
    assert (adds["status"], greets["status"], greets["line"]) == ("passed", "failed", 5)
    assert greets["problems"][0] == 'the text does not contain "Hello, Ada"'
    assert greets["frames"][-1].startswith('<- {"jsonrpc"')
    root = ElementTree.parse(shell.home / "junit.xml").getroot()
    assert [case.get("name") for case in root.iter("testcase")] == ["adds", "greets"]
    assert len(list(root.iter("failure"))) == 1
    assert "1 passed, 1 failed" in (shell.home / "summary.md").read_text()
    put(shell, "sub/good", GOOD + "  - {name: more, request: ping}\n")
    assert shell.run("test").code == exit_codes.USAGE  # another content is another question


def test_a_command_is_confirmed_for_its_folder_only(shell: Shell) -> None:
    text = "version: 1\nserver: {command: python3, args: [server.py]}\ntests: [{request: ping}]\n"
    for name in ("ours/a", "theirs/a"):
        put(shell, name, text)
    os.symlink("../ours/a.mcp.yaml", shell.home / "theirs" / "b.mcp.yaml")
    assert shell.run("test", "ours", "--yes").code == exit_codes.FAILED  # there is no server.py
    assert shell.run("test", "ours").code == exit_codes.FAILED  # not asked again
    for name in ("a", "b"):
        refused = shell.run("test", f"theirs/{name}.mcp.yaml")
        assert (refused.code, "Use --yes" in refused.err) == (exit_codes.USAGE, True)


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (None, (), "no test was found in ."),
        (GOOD, ("-k", "nothing"), "no test that -k 'nothing' chooses"),
        (GOOD, ("-k", "a and"), "-k: a word is missing"),
        (GOOD, ("missing.mcp.yaml",), "there is no file or folder 'missing.mcp.yaml'"),
        (GOOD.replace("expect", "expct", 1), (), "a.mcp.yaml:4:49: step 1: unknown key 'expct'"),
        (GOOD.replace("sum: 5", "sum: ["), (), "a.mcp.yaml:"),
    ],
)
def test_what_is_wrong_before_a_server_is_started_is_exit_2(
    shell: Shell, text: str | None, words: tuple[str, ...], says: str
) -> None:
    if text is not None:
        put(shell, "a", text)
    ran = shell.run("test", "--yes", *words)
    assert (ran.code, says in ran.err) == (exit_codes.USAGE, True), ran.err


def test_files_have_processes_of_their_own_and_the_trace_of_a_failure_opens(shell: Shell) -> None:
    server = json.dumps({"command": sys.executable, "args": ["-m", "mcplens.demo"]})
    text = (
        f"version: 1\nserver: {server}\ntests:\n"
        "  - {name: notes, call: notes-write, with: {note: mine}}\n"
        "  - {name: reads, call: notes-read, expect: {text: {matches: '^[^,]*mine[^,]*$'}}}\n"
        "  - {name: wrong, call: echo, with: {text: a}, expect: {text: b}}\n"
        "  - {name: kept, call: echo, with: {text: a}, expect: {snapshot: true}}\n"
    )
    kept = {"format": "mcplens-snapshots", "version": 1, "snapshots": {"kept": {"content": []}}}
    for name in ("one", "two", "three"):  # each would see the notes of the others
        put(shell, name, text)
        (shell.home / f"{name}.mcp.snap.json").write_text(json.dumps(kept))
    ran = shell.run("test", "--yes", "--trace-dir", "traces", "-j", "3")
    assert ran.code == exit_codes.FAILED
    assert "6 passed, 6 failed" in ran.err, ran.text
    assert "If the new answers are right, write them with --update" in ran.err
    command = next(line for line in ran.text.splitlines() if "open it: " in line)
    words = command.partition("open it: mcplens ")[2].split()
    assert words[:2] == ["web", "--show"]
    trace = shell.home / words[2]
    assert trace.is_file()
    web = subprocess.Popen(
        [MCPLENS, *words, "--no-open", "--port", "0", "--collection", "new.mcp.yaml"],
        cwd=shell.home, env=shell.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert web.stdout is not None
        assert "/traffic?run=" in web.stdout.readline()
    finally:
        web.send_signal(signal.SIGTERM)
        web.communicate(timeout=LIMIT_S)
    assert (shell.home / "new.mcp.yaml").read_text() == "version: 1\ntests: []\n"
    nothing = shell.run("web", "--collection", "new.yaml", "--no-open")
    assert "there is no file new.yaml; the name of a new one ends in .mcp.yaml" in nothing.err
    unknown = shell.run("web", "--show", "nothing", "--no-open")
    assert "no run 'nothing'" in unknown.err


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_leaves_a_report_of_what_ran(shell: Shell, sign: int) -> None:
    fifo = shell.home / "reached"
    os.mkfifo(fifo)
    (shell.home / "server.py").write_text(HANGING)
    server = json.dumps({"command": sys.executable, "args": ["server.py"]})
    put(
        shell,
        "slow",
        f"version: 1\nserver: {server}\ntests:\n  - {{name: quick, request: ping}}\n"
        "  - {name: hangs, call: hang}\n  - {name: later, request: ping}\n",
    )
    process = subprocess.Popen(
        [MCPLENS, "test", "--yes", "--junit", "junit.xml"],
        cwd=shell.home, env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    pid = int(fifo.read_text())  # the server has the call
    report = shell.home / "junit.xml"
    due = time.monotonic() + LIMIT_S
    while "the run was ended" not in (text := report.read_text()).partition('name="hangs"')[2]:
        assert time.monotonic() < due  # written twice a second
    process.send_signal(sign)
    out, err = process.communicate(timeout=LIMIT_S)
    if sign != signal.SIGKILL:
        assert process.returncode == exit_codes.INTERRUPTED
        assert b"1 passed, 1 failed, 1 not run" in err, (out, err)
        text = report.read_text()
    cases = {case.get("name"): case for case in ElementTree.fromstring(text).iter("testcase")}
    assert len(cases["quick"]) == 0
    assert cases["hangs"][0].tag == "error"
    assert cases["later"][0].tag == "skipped"
    with subprocess.Popen(["tail", f"--pid={pid}", "-f", "/dev/null"]) as gone:
        gone.wait(LIMIT_S)  # no process is left behind


# Tells its pid when it has the call that it does not answer.
HANGING = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "hanging", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": []}
    elif message["method"] == "tools/call":
        with open("reached", "w") as fifo:
            fifo.write(str(os.getpid()))
        continue
    elif message["method"] != "ping":
        error = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
