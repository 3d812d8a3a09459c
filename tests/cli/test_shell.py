"""`mcplens shell`: many commands over one connection, from a pipe or a file."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from mcplens.cli import exit_codes, output
from tests.cli.scripted_server import LEGACY, NAME, SERVER, form
from tests.cli.shell import TIMEOUT_S, Ran, Shell, read_until

DEMO = ("shell", "demo")


def lines(*commands: str) -> bytes:
    return "".join(f"{command}\n" for command in commands).encode()


def run(shell: Shell, *commands: str, options: tuple[str, ...] = ()) -> Ran:
    return shell.run(*DEMO, *options, stdin=lines(*commands))


def test_all_commands_talk_to_one_server(shell: Shell) -> None:
    done = run(
        shell,
        "call notes-write note='in one session'",
        "# a comment, and an empty line",
        "",
        "call notes-read",
        "read 'demo://greeting/{name}' name=Ada",
        "prompt simple",
    )
    assert (done.code, done.err) == (exit_codes.DONE, "")
    assert "in one session" in done.text
    assert "Hello, Ada!" in done.text
    assert "user:" in done.text


def test_the_first_failure_ends_it_with_its_code_and_names_the_line(shell: Shell) -> None:
    done = run(shell, "call echo text=one", "call fail-result", "call echo text=three")
    assert done.code == exit_codes.REFUSED
    assert done.text.startswith("one\n")
    assert "three" not in done.text
    assert "mcplens: line 2 failed: call fail-result" in done.err


def test_it_goes_on_after_a_failure_when_told_to(shell: Shell) -> None:
    done = run(shell, "call fail-result", "call echo text=two", options=("--keep-going",))
    assert done.code == exit_codes.FAILED
    assert done.text.endswith("two\n")


def test_json_is_one_object_a_line_errors_included(shell: Shell) -> None:
    commands = ("call add a=2 b=3", "call nothing", "call echo", "info", "tools add")
    done = run(shell, *commands, options=("--json", "--keep-going"))
    found = [json.loads(line) for line in done.out.splitlines()]
    assert len(found) == len(commands)
    assert found[0]["structuredContent"] == {"sum": 5}
    assert [one["error"]["code"] for one in found[1:3]] == ["SERVER_ERROR", "USAGE"]
    assert found[3]["serverInfo"]["name"] == "mcplens-demo"
    assert found[4]["name"] == "add"
    assert done.err == ""


def test_json_that_came_in_several_lines_is_one(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_is_one_line", False)
    output.use_json_lines()
    output.write_raw(b'{\r\n  "text": "a\\nb"\n}')
    assert capsysbinary.readouterr().out == b'{    "text": "a\\nb" }\n'


def test_answers_to_questions_are_the_lines_that_follow(shell: Shell) -> None:
    commands = ("call elicit-two", "Ada", "Alan", "call echo text=after")
    done = run(shell, *commands, options=("--elicit", "ask", *LEGACY))
    assert (done.code, done.text) == (exit_codes.DONE, "Ada and Alan\nafter\n")


def test_a_question_that_outlives_its_call_is_answered_before_the_next_command(
    shell: Shell,
) -> None:
    script = json.dumps([form(NAME)])
    commands = (f"call go script:='{script}'", "Ada", "call go script:='[{\"wait\": 1}]'")
    words = ("shell", "--elicit", "ask", *LEGACY, "--", sys.executable, "-c", SERVER)
    done = shell.run(*words, stdin=lines(*commands))
    assert done.code == exit_codes.DONE
    answers = done.text.splitlines()[-1]
    assert json.loads(answers) == {"1": {"action": "accept", "content": {"name": "Ada"}}}


def test_lines_that_are_not_understood_are_told(shell: Shell) -> None:
    told = {
        "cal echo": "'cal' is not a command of the shell; did you mean call?",
        "servers": "'servers' is not a command of the shell; help lists the commands",
        "call echo text=x -H 'A: b'": "--header is an option of `mcplens shell` itself",
        "call echo --args -": "stdin has the commands of the shell: use @FILE in place of -",
        "ping demo": "the shell has its server already; 'demo' is one word too many",
        "call echo 'text=x": "the line cannot be read: No closing quotation",
        "call echo token='‹masked, 5 characters›'": "a masked value of the history: type it again",
    }
    assert run(shell, *told).code == exit_codes.USAGE
    done = run(shell, *told, options=("--keep-going",))
    assert done.text == ""
    for text in told.values():
        assert text in done.err


def test_help_has_the_commands_and_their_options_without_those_of_the_connection(
    shell: Shell,
) -> None:
    done = run(shell, "help", "help call", "exit", "call fail-result")
    assert done.code == exit_codes.DONE
    assert "reconnect" in done.text
    assert "Usage: call [OPTIONS] TOOL [ARGUMENTS]..." in done.text
    assert "--header" not in done.text


def test_a_server_that_died_can_be_connected_again(shell: Shell) -> None:
    commands = ("call broken-crash", "call echo text=lost", "reconnect", "call echo text=back")
    done = run(shell, *commands, options=("--keep-going",))
    assert done.text == "back\n"
    assert "mcplens: server exited" in done.err


def test_an_interrupt_cancels_the_call_and_ends_a_script(shell: Shell) -> None:
    process = shell.start(*DEMO, "-v")
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(lines("call wait seconds=60", "call echo text=never"))
    process.stdin.flush()
    read_until(process.stderr.fileno(), b'"name":"wait"')
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out) == (exit_codes.INTERRUPTED, b"")
    assert b"Traceback" not in err


def test_commands_are_run_as_they_come(shell: Shell) -> None:
    process = shell.start(*DEMO)
    assert process.stdin is not None
    assert process.stdout is not None
    for word in (b"one", b"two"):
        process.stdin.write(b"call echo text=" + word + b"\n")
        process.stdin.flush()
        read_until(process.stdout.fileno(), word)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == exit_codes.DONE


def test_only_the_prompt_loads_the_library_for_it() -> None:
    script = (
        "import sys, click\n"
        "from mcplens.cli.main import COMMANDS, group\n"
        "for name in COMMANDS: group.get_command(click.Context(group), name)\n"
        "print('prompt_toolkit' in sys.modules)\n"
    )
    found: Any = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=dict(os.environ)
    )
    assert found.stdout == "False\n"
