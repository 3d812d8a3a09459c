"""Each exit code, reached with a real server."""

import subprocess
import sys

import pytest

from mcplens.cli import exit_codes
from tests.cli.shell import Shell, bad, good, serving
from tests.ports import held_port

pytestmark = pytest.mark.slow


def test_a_command_that_worked_ends_with_0(shell: Shell) -> None:
    assert shell.run("call", "echo", "text=hello", *good()).code == exit_codes.DONE == 0


def test_a_failure_of_our_own_ends_with_1(shell: Shell, url: str) -> None:
    with open("/dev/full", "wb") as full:
        process = shell.start("tools", url, stdout=full.fileno())
        _, err = process.communicate(timeout=60)
    assert process.returncode == exit_codes.FAILED == 1
    assert err == b"mcplens: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["tools"], id="no server"),
        pytest.param(["tools", "no-such-server"], id="a name that nobody configured"),
        pytest.param(["ping", "one", "--", "two"], id="two servers"),
        pytest.param(["tools", "--"], id="nothing after --"),
        pytest.param(["tolls", "demo"], id="no such command"),
        pytest.param(["tools", "--nonsense", "demo"], id="no such option"),
        pytest.param(["tools", "demo", "-H", "no colon"], id="a header without a colon"),
        pytest.param(["tools", "ftp://127.0.0.1/"], id="a URL of no transport"),
        pytest.param(["tools", "demo", "--transport", "http"], id="a transport that does not fit"),
        pytest.param(["tools", "x", "--config", "/nonexistent.json"], id="no such config file"),
        pytest.param(["tools", "cursor:nothing"], id="a server that another tool has not"),
        pytest.param(["call", "echo", "--args", "{", "--", "x"], id="arguments that are no JSON"),
        pytest.param(["tools", "demo", "--trace", "/no/such/folder/x"], id="a trace nowhere"),
        pytest.param(["tools", "demo", "--trace", "/"], id="a folder as trace"),
    ],
)
def test_a_wrong_command_line_ends_with_2(shell: Shell, words: list[str]) -> None:
    done = shell.run(*words)
    assert done.code == exit_codes.USAGE == 2
    assert done.out == b""
    assert done.err != ""


def test_an_option_before_the_command_is_answered_with_where_it_belongs(shell: Shell) -> None:
    done = shell.run("-q", "call", "demo", "echo", "text=hello")
    assert done.code == exit_codes.USAGE
    assert done.err == "Error: options come after the command: mcplens call … -q\n"


def test_a_trace_that_cannot_be_written_is_refused_before_the_server_is_started(
    shell: Shell,
) -> None:
    done = shell.run("tools", "--trace", "no/such/x.jsonl", "--", "touch", "started")
    assert done.code == exit_codes.USAGE
    assert "cannot be written: the folder no/such does not exist" in done.err
    assert not (shell.home / "started").exists()


def test_a_server_that_wants_a_sign_in_ends_with_3(shell: Shell) -> None:
    with serving("good", "--transport", "http", "--require-header", "X-Key: 1") as url:
        assert shell.run("tools", url).code == exit_codes.SIGN_IN == 3
        assert shell.run("tools", url, "-H", "X-Key: 1").code == exit_codes.DONE


def test_a_server_that_cannot_be_reached_ends_with_4(shell: Shell) -> None:
    with held_port() as port:
        assert shell.run("tools", f"127.0.0.1:{port}/mcp").code == exit_codes.NOT_CONNECTED == 4


def test_a_server_that_dies_during_a_call_ends_with_4(shell: Shell) -> None:
    done = shell.run("call", "crash", *good())
    assert done.code == exit_codes.NOT_CONNECTED
    assert "crashing, as you asked" in done.err


@pytest.mark.parametrize("words", [["fail"], ["error"], ["no_such_tool"]])
def test_a_tool_that_fails_or_is_not_there_ends_with_5(
    shell: Shell, url: str, words: list[str]
) -> None:
    assert shell.run("call", url, *words).code == exit_codes.REFUSED == 5


def test_a_method_that_the_server_does_not_know_ends_with_5(shell: Shell, url: str) -> None:
    assert shell.run("request", url, "no/such/method", "--force").code == exit_codes.REFUSED


@pytest.mark.parametrize("fault", ["invalid_json", "neither", "array_result", "error_without_code"])
def test_an_answer_that_breaks_the_protocol_ends_with_6(shell: Shell, fault: str) -> None:
    assert (
        shell.run("call", "bad", "--args", "{}", *bad(fault)).code
        == exit_codes.BROKEN_PROTOCOL
        == 6
    )


def test_no_answer_in_time_ends_with_7(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "slow", "seconds=30", "--timeout", "0.3")
    assert done.code == exit_codes.TIMED_OUT == 7


def test_a_command_ends_without_collecting_what_it_loaded(shell: Shell) -> None:
    program = (
        "import atexit, gc\nfrom mcplens.cli.main import main\n"
        "atexit.register(lambda: print(len(gc.get_objects()) < 500, gc.isenabled()))\n"
        "main(['servers', 'list', '--json'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=shell.environment
    )
    assert done.returncode == exit_codes.DONE
    assert done.stdout.endswith("True True\n"), done.stdout + done.stderr
