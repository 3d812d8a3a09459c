"""What goes to stdout and what to stderr, on a terminal and in a pipe."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from mcplens.cli import exit_codes
from mcplens.cli.main import COMMANDS, group
from tests.cli.shell import MCPLENS, TIMEOUT_S, Shell, bad, good, serving

pytestmark = pytest.mark.slow

# Valid JSON, written as no encoder would: only bytes that are passed on untouched look like this.
ODD = {
    "tools/list": '{ "tools" :[{"name":"odd", "inputSchema":{"type":"object"},"n":1.0e2} ] }',
    "resources/list": '{"resources":[ ],"x":"\\u00e9"}',
    "resources/templates/list": '{"resourceTemplates":[],  "a":1,"a":2}',
    "prompts/list": '{"prompts":[{"name":"\\u006fdd"}]}',
    "tools/call": '{"content":[ {"type":"text","text":"\\u0041 ö"} ],"n":-0.0,"isError":false}',
    "resources/read": '{"contents":[{"uri":"odd:\\/\\/x","text":"t" }]}',
    "prompts/get": '{"messages":[ {"role":"user","content":{"type":"text","text":"x"}}]}',
    "completion/complete": '{"completion":{"values":["a" ]}}',
}
ODD_SERVER = f"""
import json, sys
odd = {ODD!r}
offers = {{"tools": {{}}, "resources": {{}}, "prompts": {{}}, "completions": {{}}}}
info = {{"name": "odd", "version": "1"}}
for line in sys.stdin:
    message = json.loads(line)
    answer = {{"protocolVersion": "2025-11-25", "capabilities": offers, "serverInfo": info}}
    text = odd.get(message["method"], json.dumps(answer))
    if message["method"] == "server/discover":
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"],
                          "error": {{"code": -32601, "message": "no"}}}}), flush=True)
    elif "id" in message:
        reply = '{{"jsonrpc":"2.0","id":%s,"result":%s}}\\n' % (message["id"], text)
        sys.stdout.buffer.write(reply.encode())
        sys.stdout.buffer.flush()
"""


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (["tools"], "tools/list"),
        (["tools", "--first-page"], "tools/list"),
        (["resources"], "resources/list"),
        (["templates"], "resources/templates/list"),
        (["prompts"], "prompts/list"),
        (["call", "odd"], "tools/call"),
        (["read", "odd://x"], "resources/read"),
        (["prompt", "odd"], "prompts/get"),
        (["complete", "odd", "name=A"], "completion/complete"),
        (["request", "tools/list"], "tools/list"),
    ],
)
def test_json_prints_exactly_the_bytes_of_the_result_and_nothing_else(
    shell: Shell, words: list[str], method: str
) -> None:
    done = shell.run(*words, "--json", "--", sys.executable, "-c", ODD_SERVER)
    assert done.out == ODD[method].encode() + b"\n"
    assert (done.code, done.err) == (exit_codes.DONE, "")


def test_several_pages_become_one_list_of_the_items_as_they_came(shell: Shell, url: str) -> None:
    pages = shell.run("tools", "--json", *good("--page-size", "5"))
    whole = shell.run("tools", url, "--json")
    assert json.loads(pages.out) == json.loads(whole.out)


def test_one_page_comes_with_the_cursor_of_the_next(shell: Shell) -> None:
    done = shell.run("tools", "--first-page", *good("--page-size", "5"))
    assert len(done.text.splitlines()) == 5
    cursor = re.search(r"--cursor '(.+)'", done.err)
    assert cursor
    second = shell.run("tools", "--cursor", cursor[1], *good("--page-size", "5"))
    assert len(second.text.splitlines()) == 5
    assert second.text != done.text


def test_a_failed_tool_prints_its_result_and_says_so(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "fail")
    assert done.code == exit_codes.REFUSED
    assert done.text == "it failed, as it should\n"
    assert done.err == "the tool failed:\n"


def test_an_error_with_json_is_one_line_of_json_on_stderr(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "error", "--json")
    assert (done.code, done.out) == (exit_codes.REFUSED, b"")
    (line,) = done.err.splitlines()
    error = json.loads(line)["error"]
    assert error["code"] == "SERVER_ERROR"
    assert error["details"]["data"] == {"asked": True}


def test_a_wrong_command_line_with_json_is_one_line_of_json_too(shell: Shell) -> None:
    done = shell.run("tools", "no-such-server", "--json")
    assert (done.code, done.out) == (exit_codes.USAGE, b"")
    (line,) = done.err.splitlines()
    assert json.loads(line)["error"]["code"] == "USAGE"


def test_logs_and_stderr_of_the_server_go_to_stderr(shell: Shell) -> None:
    done = shell.run("call", "log", "level=warning", 'data:="careful"', *good())
    assert done.text == "logged\n"
    assert "[warning wellbehaved] careful" in done.err
    done = shell.run("call", "stderr", "text=beside", *good())
    assert done.text == "written\n"
    assert "[stderr] beside" in done.err


def test_a_server_of_2026_07_28_logs_from_info_on_without_being_told_to(shell: Shell) -> None:
    done = shell.run("call", "demo", "log-levels")
    assert "[info demo]" in done.err
    assert "[debug demo]" not in done.err
    chosen = shell.run("call", "demo", "log-levels", "--log-level", "error")
    assert "[error demo]" in chosen.err
    assert "[warning demo]" not in chosen.err


def test_a_server_that_dies_of_our_first_question_is_quoted_in_full(shell: Shell) -> None:
    dying = "import sys; input(); sys.exit('Failed to validate request: 31 errors\\nboom')"
    done = shell.run("tools", "--", sys.executable, "-c", dying)
    assert done.code == exit_codes.NOT_CONNECTED
    assert done.err.startswith("[stderr] Failed to validate request: 31 errors\n[stderr] boom\n")


def test_quiet_leaves_nothing_but_the_result(shell: Shell) -> None:
    done = shell.run("call", "log", "level=warning", 'data:="careful"', "-q", *good())
    assert (done.text, done.err) == ("logged\n", "")


def test_verbose_shows_every_frame_on_stderr(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "echo", "text=hi", "-v")
    assert done.text == "hi\n"
    assert '-> {"jsonrpc":"2.0"' in done.err
    assert '"method":"tools/call"' in done.err
    assert "<- {" in done.err


def test_a_pipe_gets_no_colour_and_a_terminal_does(shell: Shell, url: str) -> None:
    assert b"\x1b" not in shell.run("tools", url).out
    assert b"\x1b[1m" in shell.on_terminal("tools", url).out


def test_no_color_is_obeyed_on_a_terminal(shell: Shell, url: str) -> None:
    shell.variables["NO_COLOR"] = "1"
    assert b"\x1b" not in shell.on_terminal("tools", url).out


def test_a_terminal_of_40_columns_is_not_overrun(shell: Shell, url: str) -> None:
    shell.variables["NO_COLOR"] = "1"
    for words in (
        ["tools", url],
        ["resources", url],
        ["prompts", url],
        ["tools", "-h"],
        ["info", url],
        ["servers"],
        ["history", "list"],
        ["history", "show"],
        ["call", url, "echo"],
        ["call", url, "no-such-tool-at-all"],
        ["tools", "nosuch"],
        ["tools", "http://localhost:1/mcp"],
    ):
        shown = shell.on_terminal(*words, columns=40)
        lines = shown.text.splitlines()
        assert lines, words
        # A name that is longer than the terminal is wide is not broken.
        assert [line for line in lines if len(line) > 40 and " " in line.strip()] == [], words


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_character_that_the_locale_lacks_is_escaped(shell: Shell, encoding: str) -> None:
    shell.variables["PYTHONIOENCODING"] = encoding
    done = shell.run("call", "demo", "echo", "text=a\u20ac\U0001f600")
    assert (done.code, done.err) == (exit_codes.DONE, "")
    assert done.out.startswith("a\u20ac".encode(encoding, "backslashreplace"))
    refused = shell.run("tools", "\u4e0d")
    assert refused.code == exit_codes.USAGE
    assert "internal error" not in refused.err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_reason_to_fail(shell: Shell, closed: str) -> None:
    script = f"{MCPLENS} call demo echo text=hi {closed}; echo code $?"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env=shell.environment,
        cwd=shell.home,
        timeout=TIMEOUT_S,
    )
    assert done.stdout == ("code 0\n" if ">&-" in closed.replace("2>&-", "") else "hi\ncode 0\n")
    assert done.stderr == ""


def test_progress_is_drawn_on_a_terminal_and_gone_afterwards(shell: Shell, url: str) -> None:
    shown = shell.on_terminal("call", url, "progress", "steps=4", "delay=0.05").out
    assert b"progress [#####...............]  25%, 0 s step 1" in shown
    assert shown.endswith(b"\r\x1b[K4 steps\n")


def test_a_pipe_gets_no_progress_line(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "progress", "steps=2")
    assert (done.text, done.err) == ("2 steps\n", "")


@pytest.mark.parametrize("words", [["tools"], ["tools", "--json"], ["request", "tools/list"]])
def test_a_reader_that_goes_away_ends_the_command_quietly(
    shell: Shell, url: str, words: list[str]
) -> None:
    theirs, ours = os.pipe()
    os.close(theirs)
    process = shell.start(words[0], url, *words[1:], stdout=ours)
    os.close(ours)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (exit_codes.DONE, b"")


def test_a_stderr_that_nobody_reads_does_not_hurt_the_result(shell: Shell, url: str) -> None:
    theirs, ours = os.pipe()
    os.close(theirs)
    process = shell.start("call", url, "log", "level=error", "data:=1", "-v", stderr=ours)
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (exit_codes.DONE, b"logged\n")


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_50_megabytes_come_through_a_pipe_whole(shell: Shell, url: str, way: str) -> None:
    size = 50_000_000
    words = ["call", *([url] if way == "http" else []), "big", f"bytes={size}"]
    done = shell.run(*words, *([] if way == "http" else good()))
    assert done.code == exit_codes.DONE
    assert len(done.out) == size + 1
    assert done.out.count(b"x") == size


def test_broken_tools_are_listed_and_flagged_among_the_others(shell: Shell) -> None:
    done = shell.run("tools", *good("--broken-tools", "--page-size", "0"))
    lines = done.text.splitlines()
    assert done.code == exit_codes.DONE
    assert sum("! broken: " in line for line in lines) >= 4
    assert any(line.startswith("schema_is_a_string") for line in lines)
    assert any(line.startswith("(no name)") for line in lines)
    assert any(line.startswith("drop_session") for line in lines)


def test_a_broken_tool_can_be_called_with_args_and_the_others_as_ever(shell: Shell) -> None:
    with serving("good", "--transport", "http", "--broken-tools") as url:
        assert shell.run("call", url, "echo", "text=hello").text == "hello\n"
        broken = shell.run("call", url, "schema_is_a_string", "--args", "{}")
        # The server got the call: it is the server that knows no such tool.
        assert "error -32602: unknown tool 'schema_is_a_string'" in broken.err


def test_a_tool_can_be_called_though_the_list_of_tools_is_broken(shell: Shell) -> None:
    done = shell.run("call", "ok", *bad("array_result", "--at", "tools/list"))
    assert done.code == exit_codes.DONE


def test_a_server_that_does_not_end_does_not_hold_up_the_command(shell: Shell) -> None:
    process = shell.start("call", "echo", "text=hi", *good("--stubborn", "term"))
    out, _ = process.communicate(timeout=4)
    assert (process.returncode, out) == (exit_codes.DONE, b"hi\n")


def every_command(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """The words of every command, those of groups among them."""
    yield path
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from every_command(found, *path, name)


@pytest.mark.parametrize(
    "words", list(every_command(group)), ids=lambda words: " ".join(words) or "mcplens"
)
def test_help_holds_in_40_columns(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = CliRunner().invoke(group, [*words, "-h"], prog_name="mcplens")
    assert done.exit_code == exit_codes.DONE
    assert [line for line in done.output.splitlines() if len(line) > 40] == []


def test_help_and_version_are_there_for_every_command(shell: Shell) -> None:
    for name in COMMANDS:
        done = CliRunner().invoke(group, [name, "-h"], prog_name="mcplens")
        assert done.exit_code == exit_codes.DONE
        assert done.output.startswith(f"Usage: mcplens {name}")
        assert "\n  mcplens " in done.output, f"{name} -h shows no example"
    assert shell.run("--version").text.startswith("mcplens")
