"""`mcplens shell` at a terminal: prompt, history, completion, questions, Ctrl-C."""

import json
import re
import shlex
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import mcplens
from mcplens.cli import exit_codes
from mcplens.cli.shell_candidates import Candidates, split_line
from mcplens.cli.shell_history import HistoryFile, SecretMask
from mcplens.session.client import Client
from tests.cli.scripted_server import LEGACY, NAME, SERVER, form
from tests.cli.shell import Shell
from tests.cli.terminal import Terminal, terminal

# What the prompt sends when it is ready to be typed at.
READY = "\x1b[?2004h"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Person:
    """Types commands at the prompt, one when it is ready for it."""

    def __init__(self, screen: Terminal) -> None:
        self.screen = screen
        self._prompts = 0
        self._seen = 0

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.screen.drawn)

    def ready(self) -> None:
        self._prompts += 1
        self.screen.read_while(lambda: self.screen.drawn.count(READY) < self._prompts, "a prompt")

    def see(self, text: str, *, unlike: str = "\0") -> None:
        """Wait until this is drawn after what was seen before, and not as a part of `unlike`."""

        def new() -> str:
            return self.text[self._seen :].replace(unlike, "\0" * len(unlike))

        self.screen.read_while(lambda: text not in new(), text)
        self._seen += new().index(text) + len(text)

    def type(self, line: str) -> None:
        self.ready()
        self.screen.type(f"{line}\r")


def test_ctrl_c_cancels_the_call_and_not_the_shell(shell: Shell) -> None:
    with terminal(shell, "shell", "demo") as screen:
        person = Person(screen)
        person.type("call wait seconds=60")
        person.see("wait: waiting, 1 s")
        screen.press_ctrl_c()
        person.type("call cancelled-calls")
        person.see('"reason":"cancelled by the caller"')
        person.ready()
        screen.type("half a line\x03")
        person.type("call echo text=still-here")
        person.see("\nstill-here")
        person.ready()
        screen.type("\x04")
        assert screen.end() == exit_codes.DONE
        assert screen.echoes()
    assert "Traceback" not in person.text


def test_questions_are_answered_in_place_and_logs_are_shown(shell: Shell) -> None:
    with terminal(shell, "shell", "demo") as screen:
        person = Person(screen)
        person.type("call elicit-steps")
        person.see("name*> ")
        screen.type("Ada\n")
        person.see("sure* [true]> ")
        screen.type("yes\n")
        person.see("Ada is sure")
        person.type("call log-message level=warning data=careful")
        person.see("[warning demo] careful")
        person.type("exit")
        assert screen.end() == exit_codes.DONE


def test_tab_completes_and_the_history_is_masked_and_private(shell: Shell) -> None:
    with terminal(shell, "shell", "demo") as screen:
        person = Person(screen)
        person.ready()
        screen.type("call ech\t")
        person.see("call ech")
        person.see("o", unlike="demo>")  # the prompt may be drawn again before the completion
        screen.type("te\t")
        person.see("xt=")
        screen.type("completed\r")
        person.see("\ncompleted")
        person.type("call echo text=x password=hunter2 --force")
        person.type("exit")
        assert screen.end() == exit_codes.DONE
    path = shell.state / "shell-history"
    assert path.read_text().splitlines() == [
        "call echo text=completed",
        "call echo text=x 'password=‹masked, 7 characters›' --force",
        "exit",
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_history_is_recalled_and_no_record_keeps_none(shell: Shell) -> None:
    shell.state.mkdir(parents=True)
    path = shell.state / "shell-history"
    path.write_text("call echo text=from-before\n")
    with terminal(shell, "shell", "demo") as screen:
        person = Person(screen)
        person.type("\x1b[A")
        person.see("\nfrom-before")
        person.type("exit")
        assert screen.end() == exit_codes.DONE
    path.unlink()
    with terminal(shell, "shell", "demo", "--no-record") as screen:
        Person(screen).type("exit")
        assert screen.end() == exit_codes.DONE
    assert not path.exists()


def test_what_a_server_says_meanwhile_stays_above_the_prompt_and_is_harmless(
    shell: Shell, fifo: Path
) -> None:
    demo = shlex.join([sys.executable, "-m", "mcplens.demo"])
    command = f"cat {fifo} >&2 & exec {demo}"
    with terminal(shell, "shell", "--", "sh", "-c", command) as screen:
        person = Person(screen)
        person.ready()
        screen.type("call ec")
        person.see("call ec")
        fifo.write_text("late \x1b]0;title\x07\n")
        person.see("[stderr] late \\x1b]0;title\\x07")
        screen.type("ho text=typed\r")
        person.see("\ntyped")
        person.type("exit")
        assert screen.end() == exit_codes.DONE
    assert "\x1b]0;" not in screen.drawn


def test_a_question_outside_of_any_call_waits_for_its_turn_at_the_keyboard(
    shell: Shell, fifo: Path
) -> None:
    ask = form(NAME)["ask"]
    later = json.dumps([{"later": [str(fifo), ask]}])
    wait = json.dumps([{"wait": 1}])
    server = (sys.executable, "-c", SERVER)
    with terminal(shell, "shell", *LEGACY, "--", *server) as screen:
        person = Person(screen)
        person.type(f"call go script:={shlex.quote(later)}")
        person.ready()
        screen.type("call go ")
        person.see("call go ")
        fifo.write_text("now")
        person.see("? The server asks something: press Enter to see it")
        screen.type(f"script:={shlex.quote(wait)}\r")
        person.see("name*> ")
        screen.type("Ada\n")
        person.see('{"1": {"action": "accept", "content": {"name": "Ada"}}}')
        person.type("exit")
        assert screen.end() == exit_codes.DONE


# -- completion --------------------------------------------------------------------------------


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with mcplens.connect([sys.executable, "-m", "mcplens.demo"]) as client:
        yield client


async def test_everything_that_has_a_name_is_completed(client: Client) -> None:
    candidates = Candidates(client, ["call", "complete", "read"])

    async def offered(line: str) -> list[str]:
        replaced, found = await candidates.find(line)
        return [line[: len(line) - replaced] + one.text for one in found]

    assert await offered("c") == ["call ", "complete "]
    assert await offered("call ad") == ["call add "]
    assert await offered("call add ") == ["call add a=", "call add b="]
    assert await offered("call add a=1 ") == ["call add a=1 b="]
    assert await offered("call form-choices colour=r") == ["call form-choices colour=red "]
    assert await offered("call form-numbers sure=") == [
        "call form-numbers sure=true",
        "call form-numbers sure=false",
    ]
    assert await offered("call add --time") == ["call add --timeout "]
    assert await offered("call add --head") == []
    assert await offered("prompt tr") == ["prompt translate "]
    assert await offered("prompt translate to") == ["prompt translate tone="]
    assert await offered("prompt translate language=G") == ["prompt translate language=German "]
    assert await offered("read demo://te") == ["read demo://text "]
    assert await offered("read 'demo://greeting/{") == ["read 'demo://greeting/{name}' "]
    assert await offered("read 'demo://greeting/{name}' ") == [
        "read 'demo://greeting/{name}' name="
    ]
    assert await offered("read 'demo://greeting/{name}' name=A")
    assert await offered("tasks c") == ["tasks cancel "]
    assert await offered("nothing ") == []


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("", ([], "", "")),
        ("call ec", (["call"], "ec", "")),
        ("call 'a b' x", (["call", "a b"], "x", "")),
        ("call text='a b", (["call"], "text='a b", "'")),
        ("call a\\ b", (["call"], "a\\ b", "")),
    ],
)
def test_a_line_is_split_as_a_shell_would(line: str, parts: tuple[list[str], str, str]) -> None:
    assert split_line(line) == parts


# -- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("call echo text=hello", "call echo text=hello"),
        ("call login api_key=abcdef", "call login 'api_key=‹masked, 6 characters›'"),
        ("call login token:='\"ab\"'", "call login 'token:=‹masked, 4 characters›'"),
        ("call login pin=1234", "call login 'pin=‹masked, 4 characters›'"),
        (
            """call login '{"user": "ada", "password": "x"}'""",
            """call login '{"user": "ada", "password": "‹masked, 1 characters›"}'""",
        ),
        (
            """call login data='{"deep": [{"secret": 7}]}'""",
            """call login 'data={"deep": [{"secret": "‹masked, 1 characters›"}]}'""",
        ),
        ("call echo text=the-value-of-it", "call echo 'text=the-‹masked, 5 characters›-of-it'"),
        (
            "read https://ada:pw@example.com/?q=1&token=abc",
            "read 'https://‹masked, 6 characters›@example.com/?q=1&token=‹masked, 3 characters›'",
        ),
        ("call echo 'text=x", None),
    ],
)
def test_secrets_of_a_line_are_masked(line: str, masked: str | None) -> None:
    assert SecretMask(["pin"], ["value"]).line(line) == masked


def test_the_history_file_stays_small_and_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "history"
    file = HistoryFile(str(path), SecretMask())
    file.add("call echo\ntext=x")
    assert file.lines() == ["call echo text=x"]
    path.write_text("".join(f"call {number}\n" for number in range(5_000)))
    path.chmod(0o644)
    assert file.lines()[0] == "call 3000"
    assert len(path.read_text().splitlines()) == 2_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
