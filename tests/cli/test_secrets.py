"""What is secret never reaches the disk, and a replay has its value from the configuration."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import Ran, Shell, good

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
