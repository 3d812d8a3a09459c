"""`mcplens verify`: what is sent, what is compared, how it ends. The live server is a mock too."""

import json
import sys
from pathlib import Path
from typing import Any

from mcplens.cli import exit_codes
from tests.cli.shell import MCPLENS, Ran, Shell
from tests.mocking.traces import Trace, mask

READ_ONLY = {"readOnlyHint": True}


def tools(*names: str) -> dict[str, Any]:
    schema = {"type": "object"}
    return {
        "tools": [
            {"name": name, "inputSchema": schema}
            | ({} if name == "write" else {"annotations": READ_ONLY})
            for name in names
        ]
    }


def recorded(*, said: str = "at 2026-01-01T10:00:00Z", extra: str | None = None) -> Trace:
    trace = Trace()
    trace.introduce()
    trace.request(1, "tools/list")
    trace.reply(1, tools("now", "write", "ask", "log-in", *([extra] if extra else [])))
    trace.call(2, "now", {}, said)
    trace.call(3, "write", {"a": 1}, "written")
    return trace


def verify(shell: Shell, path: Path, live: Path, *words: str) -> Ran:
    return shell.run("verify", str(path), *words, "--", MCPLENS, "mock", str(live))


def test_answers_are_compared_without_what_differs_each_time(shell: Shell, tmp_path: Path) -> None:
    path = recorded().write(tmp_path.parent)
    live = recorded(said="at 2027-02-02T20:20:20Z").write(tmp_path)
    done = verify(shell, path, live)
    assert done.text.splitlines() == [
        "same      tools/list",
        "same      tools/call now",
        'skipped   tools/call write {"a":1}: not marked read-only; --allow-writes sends it',
        "2 same, 1 skipped",
    ]
    assert done.code == exit_codes.DONE
    assert verify(shell, path, live, "--allow-writes").text.splitlines()[-1] == "3 same"


def test_a_difference_is_shown_with_its_place_ignored_or_written(
    shell: Shell, tmp_path: Path
) -> None:
    path = recorded(said="old").write(tmp_path)
    before = path.read_text().splitlines()
    (tmp_path / "live").mkdir()
    live = recorded(said="new", extra="more").write(tmp_path / "live")
    done = verify(shell, path, live, "--json")
    assert done.code == exit_codes.FAILED
    found = json.loads(done.text)
    assert (found["same"], found["different"], found["skipped"]) == (0, 2, 1)
    places = [one["pointer"] for call in found["calls"] for one in call["differences"]]
    assert places == ["/tools/more", "/content/0/text"]
    ignoring = ("--ignore", "$.tools", "--ignore", "$.content[*].text")
    assert verify(shell, path, live, *ignoring).code == exit_codes.DONE
    updated = verify(shell, path, live, "--update")
    assert (updated.code, "2 answers updated" in updated.err) == (exit_codes.DONE, True)
    after = path.read_text().splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 2
    assert verify(shell, path, live).code == exit_codes.DONE


def test_updated_answers_are_masked_by_the_keys_of_the_server_that_gave_them(
    shell: Shell, tmp_path: Path
) -> None:
    path = recorded(said="old").write(tmp_path)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text("of the user's")
    (tmp_path / "live").mkdir()
    live = recorded(said='{"pin": "hunter2", "n": 1}').write(tmp_path / "live")
    entry = {"command": MCPLENS, "args": ["mock", str(live)], "secretKeys": ["pin"]}
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    shell.config.write_text(json.dumps({"mcpServers": {"another-name": entry}}))
    updated = shell.run("verify", str(path), "another-name", "--update")
    assert (updated.code, "1 answer updated" in updated.err) == (exit_codes.DONE, True)
    text = path.read_text()
    assert ("hunter2" in text, '"key":"pin"' in text) == (False, True)
    assert beside.read_text() == "of the user's"
    assert sorted(one.name for one in tmp_path.glob("*.jsonl*")) == [path.name, beside.name]


def test_questions_get_the_recorded_answers_and_masked_calls_are_skipped(
    shell: Shell, tmp_path: Path
) -> None:
    trace = recorded()
    capabilities = {"capabilities": {"elicitation": {}}, "protocolVersion": "2025-11-25"}
    trace.request(8, "initialize", capabilities)
    trace.reply(8, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "recorded", "version": "1"}})  # fmt: skip
    seq = trace.request(4, "tools/call", {"name": "ask"})
    form = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    question = {"id": 1, "method": "elicitation/create", "params": form}
    trace.frame("FrameReceived", question, caused_by_seq=seq)
    trace.frame("FrameSent", {"id": 1, "result": {"action": "accept", "content": {"n": "Ada"}}})
    trace.reply(4, {"content": [{"type": "text", "text": "hello Ada"}]})
    params = {"name": "log-in", "arguments": {"password": "*****"}}
    message = {"id": 5, "method": "tools/call", "params": params}
    trace.request(5, "tools/call", params, masked=mask(message, "*****", "password"))
    trace.reply(5, {"content": []})
    path = trace.write(tmp_path)
    lines = verify(shell, path, path).text.splitlines()
    assert "same      tools/call ask" in lines
    masked = "the value of password was masked; give it in secretKeys of the server"
    assert f'skipped   tools/call log-in {{"password":"***"}}: {masked}' in lines


def test_it_says_when_it_cannot_compare(shell: Shell, tmp_path: Path) -> None:
    trace = Trace()
    trace.introduce()
    trace.call(1, "write", {}, "written")
    path = trace.write(tmp_path)
    (tmp_path / "live").mkdir()
    live = recorded().write(tmp_path / "live")
    nothing = verify(shell, path, live)
    assert nothing.code == exit_codes.USAGE
    assert "no call of the recording was compared" in nothing.err
    assert shell.run("verify", str(path)).code == exit_codes.USAGE
    assert verify(shell, path, live, "--ignore", "$[").code == exit_codes.USAGE
    gone = shell.run("verify", str(path), "--", "false")
    assert gone.code == exit_codes.NOT_CONNECTED


DYING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/call":
        sys.exit(3)
    results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "d", "version": "1"}},
               "tools/list": {"tools": []}}
    if "id" in message:
        result = results.get(message["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_what_was_compared_before_a_server_died_is_there(shell: Shell, tmp_path: Path) -> None:
    path = recorded().write(tmp_path)
    server = tmp_path / "dying.py"
    server.write_text(DYING)
    words = ("--allow-writes", "--", sys.executable, str(server))
    done = shell.run("verify", str(path), *words)
    assert done.code == exit_codes.NOT_CONNECTED
    assert done.text.startswith("different tools/list\n")
    assert "exited with code 3" in done.err
