"""Test files run against the demo server: every kind of step, and every way to go wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mcplens.collections.shown_values import ValueMasker
from mcplens.collections.snapshots import Snapshots
from mcplens.collections.test_file import read_test_file
from mcplens.config.model import Configuration, Settings, Source
from mcplens.config.profiles import ProfileValues
from mcplens.errors import ConfigurationError
from mcplens.events import FrameReceived
from mcplens.protocol.frames import parse
from mcplens.testing.expectations import problems
from mcplens.testing.observation import Observation
from mcplens.testing.outcomes import FileOutcome, StepOutcome
from mcplens.testing.reports import as_json, junit, markdown
from mcplens.testing.runner import FileRun, RunOptions, outcome_of, run_file
from mcplens.testing.selection import (
    WrongExpression,
    confirmations,
    expression,
    find_files,
    load_file,
)
from mcplens.testing.servers import ServerResolver

EVERYTHING = """\
version: 1
server: demo
profiles: {polite: {kind: fixed, text: Good morning, elicitation: accept}}
tests:
  - name: adds
    call: add
    with: {a: 2, b: 3}
    expect:
      structured: {sum: 5.0}
      structured_exact: {sum: 5}
      text: {contains: "5", matches: "^5$"}
      schema: {type: object, properties: {sum: {const: 5}}}
      jsonpath: {"$.content[*].type": [text], $.structuredContent.sum: 5}
      is_error: false
      within_ms: 60000
      valid: true
    save: {sum: $.structuredContent.sum}
  - {name: keeps the type, call: add, with: {a: "${sum}", b: 1}, expect: {structured: {sum: 6}}}
  - {name: fills in text, call: echo, with: {text: "$${x} is ${sum}"}, expect: {text: "${sum}"}}
  - {name: fails as a tool, call: fail-result, expect: {is_error: true}}
  - name: fails as a request
    call: fail-error
    with: {code: -32001, message: no such note}
    expect: {error: {code: -32001, message: such}}
  - {name: reads, read: demo://note, expect: {jsonpath: {"$.contents[0].uri": demo://note}}}
  - name: lists all pages
    list: tools
    expect: {jsonpath: {"$.tools[?@.name == 'broken-progress'].name": [broken-progress]}}
  - {name: asks for any method, request: tools/list, expect: {jsonpath: {"$.tools[0].name": echo}}}
  - name: reports progress
    call: progress-steps
    with: {steps: 2, seconds: 0}
    expect: {progress: [{progress: 1, total: 2}, 2], notifications: {notifications/progress: 2}}
  - name: logs
    call: log-message
    with: {level: warning, logger: x, data: low on ink}
    expect:
      log: [{level: warning, logger: x, text: ink}]
      notifications: [{method: notifications/message, params: {data: low on ink}}]
  - name: asks a model
    call: sample
    profile: polite
    expect: {text: Good morning, questions: [sampling/createMessage]}
  - {name: fills a form, call: elicit-form, profile: polite, expect: {text: newsletter}}
  - {name: is refused, call: sample, profile: refuse, expect: {is_error: true}}
  - {name: announces, call: change-announce, with: {list: prompts, times: 1}}
  - {name: sends what is not JSON, raw: '{"jsonrpc":', expect: {error: -32700}}
  - {name: notifies, notify: notifications/whatever, with: {a: 1}}
  - {name: goes on after a crash, call: broken-crash, expect: {error: true}}
  - {name: adds again, call: add, with: {a: 1, b: 1}, expect: {structured: {sum: 2}}}
  - {name: hangs, call: broken-silent, timeout_ms: 50, expect: {error: REQUEST_TIMEOUT}}
  - {name: has time, call: add, with: {a: 1, b: 1}, timeout_ms: 0}
  - {name: prints, call: broken-print}
  - {name: floods, call: broken-flood, with: {messages: 30000}}
  - name: answers
    complete: demo
    with: {argument: a, value: b}
    expect: {error: true}
"""


def read(path: str) -> str:
    return Path(path).read_text()


async def ran(
    folder: Path, text: str, *, wanted: str | None = None, **given: Any
) -> tuple[FileOutcome, dict[str, StepOutcome]]:
    path = folder / "all.mcp.yaml"
    path.write_text(text)
    file = load_file(str(path), expression(wanted) if wanted else None)
    outcome = outcome_of(file)
    protocol = given.pop("protocol", "auto")
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {}} | given.pop("config", {})))
    resolver = ServerResolver(str(config), overrides={"protocol_version": protocol})
    await run_file(file, outcome, resolver, RunOptions(**given))
    return outcome, {step.name: step for step in outcome.steps}


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_every_step_and_every_expectation(tmp_path: Path, protocol: str) -> None:
    text = EVERYTHING
    if protocol == "2026-07-28":  # the client refuses within the call, which then has no result
        text = text.replace("profile: refuse, expect: {is_error", "profile: refuse, expect: {error")
    else:
        text += "  - {name: announces again, call: change-announce, with: {list: prompts}}\n"
        text += "  - {name: waits, wait: notifications/prompts/list_changed, timeout_ms: 9000}\n"
        text += "  - {name: waits too long, wait: notifications/x, timeout_ms: 10}\n"
    _, steps = await ran(tmp_path, text, protocol=protocol)
    late = steps.pop("waits too long", None)
    assert {name: step.problems for name, step in steps.items() if step.status != "passed"} == {}
    assert late is None or "did not come within 0.01 s" in late.problems[0]


WRONG = """\
version: 1
server: demo
tests:
  - name: wrong sum
    call: add
    with: {a: 2, b: 3}
    expect: {structured: {sum: 6, more: 1}, text: {matches: six}, within_ms: 0}
    save: {sum: $.nowhere}
  - {name: nothing there, call: add, with: {a: 2, b: 3}, save: {sum: $.nowhere}}
  - {name: needs it, call: echo, with: {text: "${sum}"}}
  - {name: fails, call: fail-result, with: {message: out of paper}}
  - {name: breaks its schema, call: broken-output, expect: {valid: true}}
  - {name: prints, call: broken-print, expect: {valid: true}}
  - {name: hangs, call: broken-silent, timeout_ms: 50}
  - {name: dies, call: broken-crash}
  - {name: asks, call: sample, expect: {text: hello}}
  - {name: counts, call: progress-steps, with: {steps: 1, seconds: 0}, expect: {progress: 2}}
  - {name: logs, call: add, with: {a: 1, b: 1}, expect: {log: [hello]}}
  - {name: no such server, server: {command: ./does-not-exist}, call: add}
  - {name: no such profile, call: add, profile: nobody}
"""


async def test_a_failure_says_what_differs_with_messages_and_stderr(tmp_path: Path) -> None:
    outcome, steps = await ran(tmp_path, WRONG, protocol="2025-11-25", trace_dir=str(tmp_path))

    def told(name: str) -> str:
        assert steps[name].status == "failed", steps[name]
        return "\n".join(steps[name].problems)

    assert "structured.sum: expected 6, got 5" in told("wrong sum")
    assert "structured.more: expected 1, nothing is there" in told("wrong sum")
    assert 'does not match "six"' in told("wrong sum")
    assert "ms, more than 0" in told("wrong sum")
    assert steps["wrong sum"].frames[0].startswith('-> {"jsonrpc":"2.0"')
    assert '"structuredContent":{"sum":5}' in steps["wrong sum"].frames[1]
    assert told("nothing there") == "save sum: nothing is at $.nowhere"
    assert (steps["needs it"].status, "'wrong sum' did not save" in steps["needs it"].reason) == (
        "skipped",
        True,
    )
    assert "the tool failed" in told("fails")
    assert "out of paper" in told("fails")
    assert "breaks the output schema" in told("breaks its schema")
    assert "not a message" in told("prints")
    assert "1 line that is not MCP; the first: " in steps["prints"].frames[-1]
    assert "REQUEST_TIMEOUT" in told("hangs")
    assert "SERVER_EXITED" in told("dies")
    assert any("crashing, as asked" in line for line in steps["dies"].stderr)
    assert any("code 3" in line for line in steps["dies"].stderr)
    assert "has no `profile` that answers sampling/createMessage" in told("asks")
    assert "progress: expected 2, got 1" in told("counts")
    assert "there were: none" in told("logs")
    assert "COMMAND_NOT_FOUND" in told("no such server")
    assert "there is no profile 'nobody'" in told("no such profile")
    assert outcome.open_command.startswith("mcplens web --show ")
    assert outcome.trace is not None
    assert "crashing, as asked" in read(outcome.trace)
    assert '<failure message="structured.sum: expected 6, got 5">' in junit([outcome])
    assert "| wrong sum | failed |" in markdown([outcome])
    assert as_json(outcome, steps["dies"])["stderr"]


SNAPSHOT = """\
version: 1
server: demo
tests:
  - {name: greets, call: echo, with: {text: "${WORDS}"}, expect: {snapshot: true}}
  - {name: adds, call: add, with: {a: 1, b: 2}, expect: {snapshot: {ignore: $.content}}}
"""


async def test_a_snapshot_is_written_compared_and_free_of_secrets_and_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: dict[str, Any] = {
        "id": "123e4567-e89b-12d3-a456-426614174000",
        "at": "2026-11-17T15:00:00Z",
        "n": 1,
    }
    words["seen"] = 1794945119.7721
    monkeypatch.setenv("WORDS", json.dumps({**words, "api_key": "sk-first-secret-1"}))
    _, steps = await ran(tmp_path, SNAPSHOT)
    assert all("write it with --update" in step.problems[0] for step in steps.values())
    _, steps = await ran(tmp_path, SNAPSHOT, updates=True)
    assert all(step.is_updated for step in steps.values())
    path = tmp_path / "all.mcp.snap.json"
    text = path.read_text()
    assert "sk-first-secret-1" not in text
    assert all(sign in text for sign in ("‹masked›", "‹uuid›", "‹time›", "‹ignored›"))
    words = {"id": "99999999-e89b-12d3-a456-426614174000", "at": "2027-01-01 10:00:00", "n": 1}
    words["seen"] = 1794945286.31
    monkeypatch.setenv("WORDS", json.dumps({**words, "api_key": "sk-second-secret-2"}))
    for protocol in ("2025-11-25", "2026-07-28"):
        _, steps = await ran(tmp_path, SNAPSHOT, protocol=protocol)
        assert [step.problems for step in steps.values()] == [[], []]
    monkeypatch.setenv("WORDS", json.dumps({**words, "api_key": "sk-third-secret-3", "n": 2}))
    outcome, steps = await ran(tmp_path, SNAPSHOT, trace_dir=str(tmp_path / "traces"))
    assert "snapshot.content[0].text: expected" in steps["greets"].problems[0]
    reports = junit([outcome]) + markdown([outcome]) + str(as_json(outcome, steps["greets"]))
    assert "sk-third-secret-3" not in reports
    assert '"n"' in reports or "n\\\\" in reports
    _, steps = await ran(tmp_path, SNAPSHOT, updates=True, wanted="greets", is_partial=True)
    assert set(json.loads(path.read_text())["snapshots"]) == {"adds", "greets"}
    await ran(tmp_path, SNAPSHOT.replace("name: adds", "name: sums"), updates=True)
    assert set(json.loads(path.read_text())["snapshots"]) == {"greets", "sums"}


async def test_a_snapshot_that_cannot_be_written_fails_its_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*given: Any) -> int:
        raise ConfigurationError("CONFIGURATION_INVALID", "the disk is full")

    monkeypatch.setenv("WORDS", "a")
    monkeypatch.setattr(Snapshots, "write", write)
    outcome, steps = await ran(tmp_path, SNAPSHOT, updates=True)
    assert outcome.is_failed
    assert steps["greets"].problems == ["its snapshot was not written: the disk is full"]
    assert not steps["greets"].is_updated


SECRETS = """\
version: 1
server: SERVER
tests:
  - name: asks
    request: tools/call
    with: {name: echo, arguments: {text: '{"mood":"x7qz","hue":"k4vw"}', hue: k4vw}}
    expect: {text: nothing like it, snapshot: true}
"""


@pytest.mark.parametrize("is_named", [True, False])
async def test_secret_keys_of_all_servers_and_of_this_one_are_masked(
    tmp_path: Path, is_named: bool
) -> None:
    demo = {"command": sys.executable, "args": ["-m", "mcplens.demo"], "secretKeys": ["mood"]}
    config = {"secretKeys": ["hue"], "mcpServers": {"mine": demo} if is_named else {}}
    text = SECRETS.replace("SERVER", "mine" if is_named else json.dumps(demo))
    outcome, steps = await ran(tmp_path, text, config=config, trace_dir=str(tmp_path))
    assert "does not contain" in steps["asks"].problems[0]
    assert outcome.trace is not None
    await ran(tmp_path, text.replace("text: nothing like it, ", ""), config=config, updates=True)
    snapshot = read(str(tmp_path / "all.mcp.snap.json"))
    for told in (junit([outcome]), read(outcome.trace), snapshot):
        assert "mood" in told
        assert "x7qz" not in told
        assert "k4vw" not in told


async def test_profiles_that_a_test_does_not_use_do_not_matter(tmp_path: Path) -> None:
    profiles = {
        "mine": {"kind": "fixed", "text": "hello"},
        "other": {"kind": "fixed", "text": "${A_VARIABLE_THAT_IS_NOT_SET}"},
    }
    text = (
        "version: 1\nserver: demo\nprofiles: {own: {kind: delay, seconds: 0, then: mine}}\ntests:\n"
        "  - {name: asks, call: sample, profile: own, expect: {text: hello}}\n"
        "  - {name: cannot, call: sample, profile: other}\n"
    )
    _, steps = await ran(tmp_path, text, config={"profiles": profiles})
    assert steps["asks"].problems == []
    assert "A_VARIABLE_THAT_IS_NOT_SET" in steps["cannot"].problems[0]


def test_a_project_gives_no_built_in_profile_another_meaning() -> None:
    echo = {"kind": "fixed", "text": "not an echo"}
    resolver = ServerResolver()
    of_project = ProfileValues({"echo": (echo, Source("project", "mcp.json", "project"))}, str)
    resolver._configuration = Configuration(settings=Settings(profiles=of_project))
    assert not resolver.profiles({}).is_own("echo")
    assert resolver.profiles({"echo": echo}).is_own("echo")
    assert "echo" in resolver.profiles({}).names()


@pytest.mark.parametrize("key", ["valid", "questions", "progress"])
def test_events_that_were_not_all_kept_are_not_judged(key: str) -> None:
    seen = Observation("call")
    seen.result, seen.is_cut = {}, True
    assert f"{key} cannot be judged" in problems({key: True}, seen, ValueMasker())[0]
    assert problems({"result": {}}, seen, ValueMasker()) == []


def test_a_late_answer_to_the_handshake_is_not_a_message_of_the_test() -> None:
    seen = Observation("call")
    late = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"not accepted"}}'
    own = b'{"jsonrpc":"2.0","id":3,"result":{}}'
    seen.events = [
        FrameReceived(
            message=parse(raw),
            size_bytes=len(raw),
            exchange_id=None,
            request_seq=1,
            purpose=purpose,
        )
        for raw, purpose in ((late, "handshake"), (own, "call"))
    ]
    assert seen.frames(ValueMasker(())) == [f"<- {own.decode()}"]


def test_what_a_shown_message_leaves_out_of_its_meta_is_counted() -> None:
    seen = Observation("call")
    meta = b'{"io.modelcontextprotocol/a":1,"io.modelcontextprotocol/b":{},"own":2}'
    raw = b'{"jsonrpc":"2.0","id":3,"result":{"_meta":%b}}' % meta
    seen.events = [
        FrameReceived(
            message=parse(raw), size_bytes=len(raw), exchange_id=None, request_seq=1, purpose="call"
        )
    ]
    shown = '{"jsonrpc":"2.0","id":3,"result":{"_meta":{"own":2,"…":"2 not shown"}}}'
    assert seen.frames(ValueMasker(())) == [f"<- {shown}"]


async def test_each_file_is_run_once_and_has_a_trace_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    for folder in (tmp_path / "x", here / "x"):
        folder.mkdir(parents=True)
        (folder / "t.mcp.yaml").write_text(SNAPSHOT)
    monkeypatch.chdir(here)
    names = ["x", "x/t.mcp.yaml", "./x/t.mcp.yaml", "../x/t.mcp.yaml"]
    found = find_files(names)
    assert found == ["x/t.mcp.yaml", "../x/t.mcp.yaml"]
    traces = set()
    for path in found:
        file = load_file(path)
        outcome = outcome_of(file)
        run = FileRun(file, outcome, ServerResolver(), RunOptions(trace_dir="traces"))
        await run.open()
        await run.close()
        traces.add(outcome.trace)
    assert len(traces) == 2


@pytest.mark.parametrize(
    ("step", "is_enough"),
    [
        ("request: ping", True),
        ("request: ping, profile: echo", False),
        ("request: ping, profile: {kind: echo}", False),
        ("raw: '{}'", False),
        ("request: ping, server: {command: ./other}", False),
    ],
)
def test_the_confirmation_of_a_collection_is_enough_for_its_calls(
    step: str, is_enough: bool
) -> None:
    content = read_test_file(f"version: 1\nserver: demo\ntests: [{{name: a, {step}}}]")
    found = confirmations("/folder/a.mcp.yaml", "digest", content)
    assert ("digest" in found) is is_enough
    assert found[0].startswith("test:")


def test_the_time_limit_of_a_step_comes_before_that_of_its_file() -> None:
    text = "version: 1\nserver: demo\ntimeout_ms: 5\ntests: [{call: a, timeout_ms: 0}, {call: b}]"
    assert [step.timeout_ms for step in read_test_file(text).steps] == [0, 5]


async def test_a_file_that_fails_is_run_again_and_the_report_says_so(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(UNSTEADY)
    text = (
        "version: 1\nserver: {command: python3, args: [server.py]}\n"
        "tests:\n  - {name: first, request: ping}\n  - {name: unsteady, call: x}\n"
    )
    outcome, steps = await ran(tmp_path, text, retries=2, trace_dir=str(tmp_path), protocol=OLD)
    assert (outcome.attempt, outcome.flaky) == (2, ["unsteady"])
    assert steps["unsteady"].status == "passed"
    assert "passed in attempt 2" in junit([outcome]) + markdown([outcome])
    assert as_json(outcome, outcome.steps[1])["is_flaky"] is True
    assert outcome.trace is not None
    assert outcome.trace.endswith(".2.jsonl")


OLD = "2025-11-25"
# Fails once: the second process finds what the first has left.
UNSTEADY = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "unsteady", "version": "1"}}
    elif message["method"] == "tools/call":
        result = {"content": [], "isError": not os.path.exists("was-here")}
        open("was-here", "w").close()
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("add", {"adds", "adds again"}),
        ("ADDS and not again", {"adds"}),
        ("keeps", {"adds", "keeps the type"}),  # with the test that saves what it needs
        ("(hangs or floods) and not hangs", {"floods"}),
        ("all.mcp", {"adds", "hangs", "answers"}),
    ],
)
def test_tests_are_chosen_by_an_expression(tmp_path: Path, text: str, wanted: set[str]) -> None:
    path = tmp_path / "all.mcp.yaml"
    path.write_text(EVERYTHING)
    names = {step.name for step in load_file(str(path), expression(text)).steps}
    assert wanted <= names
    assert text == "all.mcp" or wanted == names


@pytest.mark.parametrize("text", ["", "and", "a or", "(a", "a )", "not", "a b"])
def test_an_expression_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(WrongExpression):
        expression(text)
