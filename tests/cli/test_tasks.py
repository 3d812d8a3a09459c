"""Tasks from the command line: started, followed, listed, waited for, cancelled."""

import json
import re
import signal
import sys
from collections.abc import Iterator

import pytest

from mcplens.cli import exit_codes
from tests.cli.demo import serving_demo
from tests.cli.shell import Ran, Shell, good, read_until
from tests.cli.terminal import terminal

pytestmark = pytest.mark.slow

LEGACY = ("--protocol", "2025-11-25")
MODERN = ("--protocol", "2026-07-28")
QUICK = ("steps=2", "seconds=0.01")
SLOW = ("steps=100", "seconds=60")

# Speaks 2025-11-25 and knows three tasks, whoever asks: a server whose tasks are for everybody.
SERVER = """
import json, sys
def task(name, status, **more):
    return {"taskId": name, "status": status, "createdAt": "2025-11-25T10:00:00Z",
            "lastUpdatedAt": "2025-11-25T10:00:00Z", "ttl": 60000, "pollInterval": 10, **more}
tasks = {"one": task("one", "working", statusMessage="half way"), "two": task("two", "completed"),
         "three": task("three", "completed", ttl=None)}
content = {"two": {"content": [{"type": "text", "text": "the second"}]},
           "three": {"content": [{"type": "text", "text": "it failed"}], "isError": True}}
offers = {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    known = tasks.get(params.get("taskId"))
    result = error = None
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": offers,
                  "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tasks/list":  # two pages
        found = list(tasks.values())
        result = {"tasks": found[2:]} if params.get("cursor") else {"tasks": found[:2],
                                                                    "nextCursor": "more"}
    elif known is None:
        error = {"code": -32602, "message": "no such task"}
    elif method == "tasks/get":
        result = known
    elif method == "tasks/result" and known["status"] == "completed":
        result = content[params["taskId"]]
    elif method == "tasks/cancel" and known["status"] == "working":
        result = known | {"status": "cancelled"}
    else:
        error = {"code": -32602, "message": "it is over"}
    if "id" in message:
        outcome = {"result": result} if error is None else {"error": error}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving_demo() as address:
        yield address


def tasks(shell: Shell, *words: str) -> Ran:
    return shell.run("tasks", *words, *LEGACY, "--", sys.executable, "-c", SERVER)


def started(done: Ran) -> str:
    """The id of a task that was printed as JSON."""
    assert done.code == exit_codes.DONE, done
    return str(json.loads(done.out)["taskId"])


# -- a call as a task --------------------------------------------------------------------------


@pytest.mark.parametrize("way", [["--task"], ["--ttl", "30"], ["--task", "--ttl", "0.5"]])
def test_a_call_runs_as_a_task_and_gives_its_result(shell: Shell, way: list[str]) -> None:
    done = shell.run("call", "demo", "task-report", *QUICK, *way, *LEGACY)
    assert (done.code, done.text) == (exit_codes.DONE, "the report has 2 pages\n")
    assert re.search(r"^\[task \S+\] working: step 1 of 2$", done.err, re.MULTILINE)
    assert re.search(r"^\[task \S+\] completed: ", done.err, re.MULTILINE)


def test_a_tool_that_can_only_be_a_task_becomes_one_by_itself(shell: Shell) -> None:
    for revision in (LEGACY, MODERN):
        done = shell.run("call", "demo", "task-only", *QUICK, *revision, "-q")
        assert (done.code, done.text, done.err) == (
            exit_codes.DONE,
            "2 steps in the background\n",
            "",
        )


def test_a_lifetime_is_asked_for_in_milliseconds(shell: Shell) -> None:
    done = shell.run("call", "demo", "task-report", *QUICK, "--ttl", "1.5", *LEGACY, "-v")
    sent = [
        line for line in done.err.splitlines() if line.startswith("->") and "tools/call" in line
    ]
    assert json.loads(sent[0].removeprefix("-> "))["params"]["task"] == {"ttl": 1500}


def test_json_prints_the_result_of_the_task_and_nothing_else(shell: Shell) -> None:
    done = shell.run("call", "demo", "task-report", *QUICK, "--task", "--json", *LEGACY)
    result = json.loads(done.out)
    assert result["content"] == [{"type": "text", "text": "the report has 2 pages"}]


@pytest.mark.parametrize("how", ["result", "error"])
def test_a_task_that_fails_ends_with_the_code_of_a_failed_tool(shell: Shell, how: str) -> None:
    done = shell.run("call", "demo", "task-fail", f"how={how}", "--task", *LEGACY)
    assert done.code == exit_codes.REFUSED
    assert "the task failed" in done.text + done.err


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_task_that_asks_is_answered_by_a_profile_or_a_person(
    shell: Shell, revision: tuple[str, str]
) -> None:
    way = ("--task",) if revision == LEGACY else ()
    done = shell.run("call", "demo", "task-ask", *way, "--elicit", "accept", *revision)
    assert (done.code, done.text) == (exit_codes.DONE, "done for example\n")
    assert "] input_required: " in done.err
    with terminal(shell, "call", "demo", "task-ask", *way, *revision) as screen:
        screen.answer("name*> ", "Ada")
        assert screen.end() == exit_codes.DONE
    assert "done for Ada" in screen.lines


def test_in_2026_07_28_the_server_decides_what_becomes_a_task(shell: Shell) -> None:
    done = shell.run("call", "demo", "task-report", *QUICK, *MODERN)
    assert (done.code, done.text) == (exit_codes.DONE, "the report has 2 pages\n")
    assert "] completed: " in done.err
    refused = shell.run("call", "demo", "task-report", *QUICK, "--task", *MODERN)
    assert (refused.code, refused.text) == (exit_codes.REFUSED, "")
    assert "in 2026-07-28 the server decides which calls become tasks" in refused.err


def test_ctrl_c_cancels_the_task_on_the_server(shell: Shell, url: str) -> None:
    process = shell.start("call", url, "task-report", *SLOW, *MODERN)
    assert process.stderr is not None
    said = read_until(process.stderr.fileno(), b"The work has begun").decode()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == exit_codes.INTERRUPTED
    assert b"Traceback" not in err
    found = re.search(r"\[task (\S+)\]", said)
    assert found
    shown = shell.run("tasks", url, "get", found[1], *MODERN)
    assert " cancelled" in shown.text


# -- one that is left running ------------------------------------------------------------------


def test_a_task_outlives_the_command_that_started_it(shell: Shell, url: str) -> None:
    words = ("call", url, "task-report", "steps=2", "seconds=0.1", "--detach")
    name = started(shell.run(*words, "--json", *MODERN))
    shown = shell.run("tasks", url, "get", name, *MODERN)
    assert shown.code == exit_codes.DONE
    assert re.match(rf"{re.escape(name)}\s+(working|completed): ", shown.text)
    result = shell.run("tasks", url, "result", name, *MODERN)
    assert (result.code, result.text) == (exit_codes.DONE, "the report has 2 pages\n")
    raw = json.loads(shell.run("tasks", url, "result", name, "--json", *MODERN).out)
    assert raw["content"][0]["text"] == "the report has 2 pages"


def test_a_task_that_was_left_running_is_cancelled(shell: Shell, url: str) -> None:
    name = started(shell.run("call", url, "task-report", *SLOW, "--detach", "--json", *MODERN))
    done = shell.run("tasks", url, "cancel", name, "--json", *MODERN)
    assert done.code == exit_codes.DONE
    assert json.loads(done.out)["status"] == "cancelled"
    result = shell.run("tasks", url, "result", name, *MODERN)
    assert (result.code, result.text) == (exit_codes.REFUSED, "")
    assert f"the task {name} was cancelled" in result.err


def test_a_task_that_asks_can_be_answered_later(shell: Shell, url: str) -> None:
    name = started(shell.run("call", url, "task-ask", "--detach", "--json", *MODERN))
    done = shell.run("tasks", url, "result", name, "--elicit", "accept", *MODERN)
    assert (done.code, done.text) == (exit_codes.DONE, "done for example\n")


def test_a_server_that_we_started_takes_its_tasks_with_it(shell: Shell) -> None:
    for revision in (LEGACY, MODERN):
        done = shell.run("call", "demo", "task-report", *SLOW, "--detach", *revision)
        assert done.code == exit_codes.DONE
        assert " working: " in done.text
        assert "the server stops when this command ends, and the task with it" in done.err


def test_a_tool_that_is_no_task_cannot_be_left_running(shell: Shell) -> None:
    done = shell.run("call", "demo", "echo", "text=x", "--detach", *LEGACY)
    assert (done.code, done.text) == (exit_codes.REFUSED, "")
    assert "the tool echo cannot be called as a task (taskSupport: forbidden)" in done.err


# -- what there is -----------------------------------------------------------------------------


def test_all_pages_of_tasks_are_listed(shell: Shell) -> None:
    done = tasks(shell)
    assert (done.code, done.err) == (exit_codes.DONE, "")
    lines = done.text.splitlines()
    assert lines[0].startswith(
        "one    working: half way (since 2025-11-25T10:00:00Z, kept for 60 s"
    )
    assert [line.split()[0] for line in lines] == ["one", "two", "three"]
    listed = json.loads(tasks(shell, "list", "--json").out)["tasks"]
    assert [task["taskId"] for task in listed] == ["one", "two", "three"]
    assert listed[2]["ttl"] is None


def test_one_task_is_shown_waited_for_or_cancelled(shell: Shell) -> None:
    assert (
        tasks(shell, "get", "two").text
        == "two  completed (since 2025-11-25T10:00:00Z, kept for 60 s)\n"
    )
    result = tasks(shell, "result", "two")
    assert (result.code, result.text) == (exit_codes.DONE, "the second\n")
    failed = tasks(shell, "result", "three")
    assert (failed.code, failed.text) == (exit_codes.REFUSED, "it failed\n")
    cancelled = tasks(shell, "cancel", "one")
    assert (cancelled.code, cancelled.text.split()[:2]) == (exit_codes.DONE, ["one", "cancelled:"])
    over = tasks(shell, "cancel", "two")
    assert over.code == exit_codes.REFUSED
    assert "-32602: it is over" in over.err


@pytest.mark.parametrize("action", ["get", "result", "cancel"])
def test_a_task_that_nobody_knows_is_refused(shell: Shell, action: str) -> None:
    done = tasks(shell, action, "four")
    assert (done.code, done.text) == (exit_codes.REFUSED, "")
    assert "-32602: no such task" in done.err


def test_a_server_without_tasks_says_so(shell: Shell, url: str) -> None:
    for words in (["list"], ["get", "x"], ["result", "x"], ["cancel", "x"]):
        done = shell.run("tasks", *words, *LEGACY, *good())
        assert (done.code, done.text) == (exit_codes.REFUSED, "")
        assert re.search("needs the capability tasks|-32601", done.err), done
    done = shell.run("call", "echo", "text=x", "--task", *LEGACY, *good())
    assert done.code == exit_codes.REFUSED
    assert "the server did not declare tasks.requests.tools.call" in done.err


def test_an_empty_list_is_told(shell: Shell, url: str) -> None:
    done = shell.run("tasks", url, *LEGACY)
    assert (done.code, done.text, done.err) == (exit_codes.DONE, "", "The server has no tasks.\n")


def test_2026_07_28_has_no_list_and_says_what_to_do(shell: Shell, url: str) -> None:
    done = shell.run("tasks", url, *MODERN)
    assert (done.code, done.text) == (exit_codes.REFUSED, "")
    assert "tasks/list does not exist in 2026-07-28" in done.err
    assert "with the ids that you were given" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tasks"], "name a server"),
        (["tasks", "demo", "stop"], "'stop': use list, get, result or cancel"),
        (["tasks", "demo", "get"], "get takes one task id"),
        (["tasks", "demo", "get", "a", "b"], "get takes one task id"),
        (["tasks", "demo", "list", "a"], "list takes no id"),
        (["call", "demo", "task-report", "--ttl", "soon"], "'soon' is not a number of seconds"),
        (["call", "demo", "task-report", "--ttl", "-1"], "'-1' is not a number of seconds"),
    ],
)
def test_a_wrong_command_line_is_refused(shell: Shell, words: list[str], said: str) -> None:
    done = shell.run(*words)
    assert (done.code, done.text) == (exit_codes.USAGE, "")
    assert said in " ".join(done.err.split())


def test_40_columns_are_enough_for_a_task(shell: Shell) -> None:
    shell.variables["COLUMNS"] = "40"
    assert all(len(line) <= 40 for line in tasks(shell).text.splitlines())


def test_a_task_that_did_not_end_in_time_can_be_looked_at_as_the_error_says(
    shell: Shell, url: str
) -> None:
    ran = shell.run("call", url, "task-report", *SLOW, "--timeout", "0.3", *MODERN, "--json")
    assert ran.code == exit_codes.TIMED_OUT
    error = json.loads(ran.err.splitlines()[-1])["error"]
    task_id = error["details"]["task_id"]
    assert f"mcplens tasks {url} result {task_id}" in json.dumps(error)
    found = shell.run("tasks", url, "get", task_id, *MODERN, "--json")
    assert json.loads(found.out)["status"] == "working"
    shell.run("tasks", url, "cancel", task_id, *MODERN)
