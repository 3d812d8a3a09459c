"""What is secret never reaches the disk, and a replay has its value from the configuration."""

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import Ran, Shell, good

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-m", "mcplens.demo"]
SECRET = "s3cr3t-in-the-arguments"


def configure(shell: Shell, servers: dict[str, Any], **top: Any) -> None:
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    shell.config.write_text(json.dumps({"mcpServers": servers, **top}))


def demo(**keys: Any) -> dict[str, Any]:
    return {"command": DEMO[0], "args": DEMO[1:], **keys}


def holders(folder: Path, secret: str = SECRET) -> list[str]:
    """The files that hold the secret, the configuration aside."""
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and path.name != "mcp.json" and secret.encode() in path.read_bytes()
    ]


def echo(shell: Shell, target: list[str], *extra: str, text: str = SECRET) -> None:
    before = target[:1] if target[0] != "--" else []
    after = target if target[0] == "--" else []
    ran = shell.run("call", *before, "echo", f"text={text}", *extra, *after)
    assert (ran.code, ran.text) == (exit_codes.DONE, f"{text}\n"), ran.err


def request_of(shell: Shell, method: str = "tools/call") -> list[str]:
    """Run and number of the newest request of a method."""
    found = shell.run("history", "search", f'"{method}"', "--json")
    entries = map(json.loads, found.text.splitlines())
    entry = next(entry for entry in entries if entry["kind"] == "FrameSent")
    return [entry["run_id"], str(entry["seq"])]


def replay(shell: Shell, *extra: str, method: str = "tools/call") -> Ran:
    return shell.run("history", "replay", *request_of(shell, method), "--json", *extra)


def text_of(ran: Ran) -> str:
    assert ran.code == exit_codes.DONE, ran.err
    return str(json.loads(ran.text)["content"][0]["text"])


@pytest.mark.parametrize("way", ["of a server", "of all servers", "of a command", "of a URL"])
def test_values_of_secret_keys_are_in_no_file(
    shell: Shell, tmp_path: Path, url: str, way: str
) -> None:
    if way == "of a server":
        configure(shell, {"calc": demo(secretKeys=["text"])})
    else:
        configure(shell, {"calc": demo()}, secretKeys=["text"])
    target = {"of a command": ["--", *DEMO], "of a URL": [url]}.get(way, ["calc"])
    trace = tmp_path / "trace.jsonl"
    echo(shell, target, "--trace", str(trace))
    assert (
        shell.run("history", "export", "-o", str(tmp_path / "export.jsonl")).code == exit_codes.DONE
    )
    assert (
        shell.run("history", "export", "--har", "-o", str(tmp_path / "x.har")).code
        == exit_codes.DONE
    )
    assert holders(tmp_path) == []
    for file in (trace, tmp_path / "export.jsonl", tmp_path / "x.har"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    sent = [line for line in lines if line.get("type") == "FrameSent" and "masked" in line]
    raw = sent[-1]["message"]["raw"].encode()
    (mark,) = sent[-1]["masked"]
    assert raw[mark["start"] : mark["end"]] == b"*" * len(SECRET)
    assert mark["key"] == "text"


def test_a_key_that_became_secret_later_is_masked_in_what_is_exported(
    shell: Shell, tmp_path: Path, url: str
) -> None:
    configure(shell, {"calc": {"url": url}})
    echo(shell, ["calc"])
    (tmp_path / "out").mkdir()
    trace, har = tmp_path / "out" / "run.jsonl", tmp_path / "out" / "run.har"
    configure(shell, {"calc": {"url": url, "secretKeys": ["text"]}})
    assert shell.run("history", "export", "-o", str(trace)).code == exit_codes.DONE
    assert shell.run("history", "export", "--har", "-o", str(har)).code == exit_codes.DONE
    assert holders(tmp_path / "out") == []
    assert '"key":"text"' in trace.read_text()


@pytest.mark.parametrize("content", ['{"secretKeys": ', '{"secretKeys": 5}'])
def test_nothing_is_recorded_where_it_cannot_be_known_what_is_secret(
    shell: Shell, tmp_path: Path, content: str
) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(content)
    trace = tmp_path / "trace.jsonl"
    ran = shell.run("call", "echo", "text=hi", "--trace", str(trace), "--", *DEMO)
    assert (ran.code, ran.text) == (exit_codes.DONE, "hi\n")
    assert "this run is not recorded, since the secret keys cannot be read" in ran.err
    assert str(shell.config) in ran.err
    assert not trace.exists()
    assert shell.run("history", "list").code == exit_codes.USAGE


def test_a_url_with_a_secret_and_no_path_is_recorded_by_its_host(
    shell: Shell, tmp_path: Path
) -> None:
    assert shell.run("tools", f"http://localhost:1?key={SECRET}").code == exit_codes.NOT_CONNECTED
    assert "localhost:1" in shell.run("history", "list").text
    assert holders(tmp_path) == []


def test_meta_of_a_server_is_sent_with_every_request(shell: Shell) -> None:
    configure(shell, {"calc": demo(meta={"tenant": "blue", "note": "configured"})})
    ran = shell.run("call", "calc", "echo", "text=hi", "--meta", '{"note": "given"}', "-v")
    sent = [
        json.loads(line.removeprefix("-> "))
        for line in ran.err.splitlines()
        if line.startswith("-> {")
    ]
    asked = {message["method"]: message["params"].get("_meta") for message in sent}
    assert asked["tools/list"]["tenant"] == "blue"
    assert (asked["tools/call"]["tenant"], asked["tools/call"]["note"]) == ("blue", "given")
    assert asked["tools/list"]["note"] == "configured"


# -- replay ------------------------------------------------------------------------------------


def test_a_replay_has_the_values_of_secret_keys_from_the_configuration(shell: Shell) -> None:
    configure(shell, {"calc": demo(secretKeys={"text": "${TODAY}"}, meta={"text": SECRET})})
    shell.variables["TODAY"] = "yesterday's"
    echo(shell, ["calc"])
    shell.variables["TODAY"] = "today's"
    assert text_of(replay(shell)) == "today's"


@pytest.mark.parametrize(
    ("arguments", "live", "expected"),
    [
        ({"text": json.dumps({"pin": 1234, "a": [1]})}, 77, '{"pin": 77, "a": [1]}'),
        ({"text": json.dumps({"pin": {"a": "b"}})}, {"c": "d"}, '{"pin": {"c": "d"}}'),
        ({"text": json.dumps({"t": json.dumps({"pin": "x"})})}, 'q"\\', None),
    ],
)
def test_secrets_of_every_kind_come_back_also_in_json_inside_a_text(
    shell: Shell, arguments: dict[str, str], live: Any, expected: str | None
) -> None:
    configure(shell, {"calc": demo(secretKeys={"pin": live})})
    ran = shell.run("call", "calc", "echo", "--args", json.dumps(arguments))
    assert ran.code == exit_codes.DONE
    found = text_of(replay(shell))
    if expected is None:
        assert json.loads(json.loads(found)["t"]) == {"pin": live}
    else:
        assert found == expected


def test_a_replay_without_the_value_of_a_key_says_which_one(shell: Shell) -> None:
    configure(shell, {"calc": demo(secretKeys=["text"])})
    echo(shell, ["calc"])
    ran = replay(shell)
    assert ran.code == exit_codes.USAGE
    message = json.loads(ran.err)["error"]["message"]
    assert "the value of text was masked" in message
    assert "calc has no value for it in secretKeys" in message


def test_a_command_is_replayed_as_it_was_started_once_that_is_confirmed(shell: Shell) -> None:
    echo(shell, good(), text="again")
    refused = replay(shell)
    assert refused.code == exit_codes.USAGE
    assert "tests.servers.good" in refused.err
    assert "--yes" in refused.err
    assert text_of(replay(shell, "--yes")) == "again"


def test_a_command_whose_variables_are_not_recorded_is_not_replayed_without(shell: Shell) -> None:
    echo(shell, ["--", *DEMO], "-e", "API_KEY=abc", text="again")
    refused = replay(shell, "--yes")
    assert refused.code == exit_codes.USAGE
    assert "-e API_KEY=VALUE" in refused.err
    assert text_of(replay(shell, "--yes", "-e", "API_KEY=abc")) == "again"


def test_a_url_is_replayed_with_its_headers_and_a_masked_one_is_asked_for(
    shell: Shell, url: str
) -> None:
    echo(shell, [url], "-H", "X-Tenant: blue", "-H", f"X-Api-Key: {SECRET}", text="again")
    refused = replay(shell)
    assert refused.code == exit_codes.USAGE
    assert "-H 'X-Api-Key: VALUE'" in refused.err
    assert text_of(replay(shell, "-H", "x-api-key: other")) == "again"
    sent = shell.run("history", "search", "again", "--json").text
    headers = [
        dict(json.loads(line)["detail"]["headers"])
        for line in sent.splitlines()
        if json.loads(line)["kind"] == "HttpRequestSent"
    ]
    assert headers[0]["X-Tenant"] == "blue"  # of the replay: the newest is first


def test_a_url_with_masked_parts_is_replayed_by_way_of_the_configuration(
    shell: Shell, url: str
) -> None:
    echo(shell, [f"{url}?key={SECRET}"], text="again")
    refused = replay(shell)
    assert refused.code == exit_codes.USAGE
    assert "the value of key in the URL was masked" in refused.err
    shell.variables["KEY"] = SECRET
    configure(shell, {"calc": {"url": f"{url}?key=${{KEY}}"}})
    assert text_of(replay(shell)) == "again"


def test_a_replay_goes_to_another_server_if_one_is_named(shell: Shell) -> None:
    echo(shell, good(), text="again")
    run_id, seq = request_of(shell)
    ran = shell.run("history", "replay", run_id, seq, "demo", "--json")
    assert text_of(ran) == "again"


def test_what_is_no_request_cannot_be_replayed(shell: Shell) -> None:
    echo(shell, ["demo"], text="again")
    run_id, _ = request_of(shell)
    ran = shell.run("history", "replay", run_id, "1")
    assert ran.code == exit_codes.USAGE
    assert "not a request that was sent" in ran.err


# Over HTTP: refuses a wrong token and repeats it in all that it says; with the right one it speaks
# MCP and repeats it as well.
REPEATING_SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Debug", "you sent " + self.headers.get("Authorization", "nothing"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self): self.answer(405, {})
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given = self.headers.get("Authorization", "")
        if "wrong" in given:
            return self.answer(401, {"error": "no such token: " + given, "path": self.path})
        method, identity = message.get("method"), message.get("id")
        if identity is None:
            return self.answer(202, {})
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "s", "version": given}}
        elif method == "tools/list":
            result = {"tools": [{"name": "go", "inputSchema": {}}]}
        else:
            problem = {"code": -32000, "message": "not for " + given, "data": [self.path]}
            return self.answer(200, {"jsonrpc": "2.0", "id": identity, "error": problem})
        self.answer(200, {"jsonrpc": "2.0", "id": identity, "result": result})
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
# Over stdio: prints its arguments and its environment, and dies.
TALKATIVE_SERVER = """
import os, sys
print("started with", sys.argv, os.environ.get("SERVICE_TOKEN"), file=sys.stderr)
print("not a message:", sys.argv, flush=True)
sys.exit(3)
"""


@pytest.fixture
def repeating() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", REPEATING_SERVER], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp"
        server.terminate()


@pytest.mark.parametrize("kind", ["wrong", "right"])
def test_a_token_that_a_server_repeats_is_in_no_file_and_no_message(
    shell: Shell, tmp_path: Path, repeating: str, kind: str
) -> None:
    token, key = f"t0ken-of-ada-{kind}", "k3y/of+ada"
    words = ["call", f"{repeating}?api_key=k3y%2Fof%2Bada", "go", "-v"]
    words += ["-H", f"Authorization: Bearer {token}", "--protocol", "2025-11-25"]
    for extra in ([], ["--json"]):
        trace = tmp_path / f"trace{len(extra)}.jsonl"
        ran = shell.run(*words, *extra, "--trace", str(trace))
        assert ran.code not in (exit_codes.DONE, exit_codes.USAGE), ran.err
        assert "‹masked" in ran.err
        for secret in (token, key, "k3y%2Fof"):
            assert secret not in ran.err
            assert secret not in ran.text
    for extra in ([], ["--har"]):
        file = str(tmp_path / f"export{len(extra)}")
        assert shell.run("history", "export", *extra, "-o", file).code == exit_codes.DONE
        assert b"tools/" in Path(file).read_bytes() or kind == "wrong"
    if kind == "right":
        for extra in ([], ["--json"]):
            ran = shell.run("watch", *words[1:2], *words[4:], "--for", "0.5", *extra)
            assert "HttpRequestSent" in ran.text, ran.err
            assert token not in ran.text
    for secret in (token, key, "k3y%2Fof"):
        assert holders(tmp_path, secret) == []


def test_a_tap_passes_secrets_on_and_records_none(shell: Shell, tmp_path: Path) -> None:
    secret = "s3cret-of-the-command"
    command = [sys.executable, "-c", TALKATIVE_SERVER, "--token", secret]
    ran = shell.run("tap", "--", *command)
    assert secret.encode() in ran.out
    assert secret in ran.err
    assert (shell.state / "recording.sqlite3").exists()
    assert holders(tmp_path, secret) == []


def test_secrets_of_a_command_that_a_server_prints_are_in_no_file_and_no_message(
    shell: Shell, tmp_path: Path
) -> None:
    argument, variable = "s3cret-of-the-command", "s3cret-of-the-variable"
    words = ["tools", "-v", "-e", f"SERVICE_TOKEN={variable}"]
    command = ["--", sys.executable, "-c", TALKATIVE_SERVER, "--api-key", argument]
    for extra in ([], ["--json"]):
        ran = shell.run(*words, *extra, *command)
        assert ran.code != exit_codes.DONE
        assert "started with" in ran.err
        for secret in (argument, variable):
            assert secret not in ran.err + ran.text
            assert holders(tmp_path, secret) == []
