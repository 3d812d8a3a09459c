"""The PATH that a login shell would have: when it is asked for, how, and what is made of it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcplens.transports import login_shell_path
from mcplens.transports.launch import needs_shell_path
from mcplens.transports.login_shell_path import ask_shell, shell_path_entries

from .programs import program, refuse_to_be_asked, resolve

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes executables by their mode")


class TestShellPath:
    def test_it_is_asked_when_the_command_is_not_in_our_path(self, tmp_path: Path) -> None:
        expected = program(tmp_path / "shell" / "server")
        found = resolve(
            "server",
            environ={"PATH": "/own:/shared"},
            ask_shell=lambda: ["/shared", str(tmp_path / "shell")],
        )
        assert found.argv == (expected,)
        assert found.env["PATH"] == f"/own:/shared:{tmp_path}/shell"

    def test_it_is_added_without_a_terminal_but_our_own_path_still_wins(
        self, tmp_path: Path
    ) -> None:
        expected = program(tmp_path / "venv" / "server")
        program(tmp_path / "shell" / "server")
        found = resolve(
            "server",
            environ={"PATH": f"{tmp_path}/venv"},
            has_terminal=False,
            ask_shell=lambda: [str(tmp_path / "shell")],
        )
        assert found.argv == (expected,)
        assert found.env["PATH"] == f"{tmp_path}/venv:{tmp_path}/shell"

    def test_a_program_given_by_its_path_gets_it_too(self, tmp_path: Path) -> None:
        path = program(tmp_path / "npx")
        environ = {"PATH": "/own"}
        found = resolve(path, environ=environ, has_terminal=False, ask_shell=lambda: ["/node"])
        assert found.argv == (path,)
        assert found.env["PATH"] == "/own:/node"

    def test_on_macos_homebrew_comes_last(self, tmp_path: Path) -> None:
        path = program(tmp_path / "server")
        found = resolve(
            path,
            environ={"PATH": "/usr/local/bin"},
            has_terminal=False,
            ask_shell=lambda: ["/x"],
            platform="darwin",
        )
        assert found.env["PATH"] == "/usr/local/bin:/x:/opt/homebrew/bin:/opt/homebrew/sbin"

    def test_in_a_terminal_a_command_that_is_found_needs_no_shell(self, tmp_path: Path) -> None:
        program(tmp_path / "server")
        environ = {"PATH": str(tmp_path)}
        assert resolve("server", environ=environ).env == environ


@pytest.fixture
def forgotten() -> Iterator[None]:
    """The shell has not been asked in this process, before and after."""
    login_shell_path._shell.entries = None
    yield
    login_shell_path._shell.entries = None


@pytest.mark.usefixtures("forgotten")
class TestNeedsShellPath:
    def test_it_agrees_with_what_resolve_launch_does(self, tmp_path: Path) -> None:
        path = program(tmp_path / "server")
        environ = {"PATH": str(tmp_path)}
        for command, env, has_terminal, expected in (
            (["server"], {}, True, False),
            (["server"], {}, False, True),
            (["other"], {}, True, True),
            (["other"], {"PATH": "/x"}, False, False),
            ([path], {}, True, False),
            ([path], {}, False, True),
            ([], {}, False, False),
        ):
            needed = needs_shell_path(command, env=env, environ=environ, has_terminal=has_terminal)
            assert needed is expected, (command, env, has_terminal)

    def test_windows_has_no_such_shell(self) -> None:
        assert not needs_shell_path(["x"], environ={}, has_terminal=False, platform="win32")

    def test_a_shell_that_has_answered_is_not_asked_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = tmp_path / "log"
        monkeypatch.setenv("SHELL", fake_shell(tmp_path, f"echo asked >> {log}\nPATH=/asked"))
        monkeypatch.delenv("MCPLENS_RESOLVING_PATH", raising=False)
        assert needs_shell_path(["no-such"], environ={"PATH": ""})
        assert shell_path_entries() == shell_path_entries() == ["/asked"]
        assert not needs_shell_path(["no-such"], environ={"PATH": ""})
        assert log.read_text() == "asked\n" * 2, "once as a login, once as an interactive shell"

    def test_an_rc_file_that_runs_mcplens_does_not_ask_for_ever(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MCPLENS_RESOLVING_PATH", "1")
        monkeypatch.setattr(login_shell_path, "ask_shell", refuse_to_be_asked)
        assert shell_path_entries() == []


def fake_shell(folder: Path, rc: str) -> str:
    """A shell that first does what its rc file says; `$1` is -l or -i."""
    return program(folder / "fakesh", f'#!/bin/sh\n{rc}\neval "$3"\n')


class TestAskingTheShell:
    def test_login_entries_come_before_interactive_ones(self, tmp_path: Path) -> None:
        rc = "case $1 in -l) PATH=/login:/both ;; -i) PATH=/both:/interactive ;; esac"
        assert ask_shell(fake_shell(tmp_path, rc)) == ["/login", "/both", "/interactive"]

    def test_noise_of_rc_files_is_ignored(self, tmp_path: Path) -> None:
        rc = "echo Welcome to /usr/bin:/x; echo oops >&2; yes noise | head -c 200000; PATH=/real"
        shell = fake_shell(tmp_path, rc + ":relative::")
        assert ask_shell(shell) == ["/real"]

    @pytest.mark.parametrize("rc", ["exit 3", "exec true", "kill -9 $$", "exec yes"])
    def test_a_shell_that_fails_gives_nothing(self, tmp_path: Path, rc: str) -> None:
        assert ask_shell(fake_shell(tmp_path, rc)) == []

    def test_no_shell_gives_nothing(self, tmp_path: Path) -> None:
        assert ask_shell(str(tmp_path / "none")) == []
        assert ask_shell(program(tmp_path / "text", "no program")) == []

    def test_a_shell_that_hangs_is_killed_with_its_children(self, tmp_path: Path) -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            shell = fake_shell(tmp_path, f"exec 3>{fifo}; echo up >&3; sleep 60 & sleep 60")
            started = time.monotonic()
            assert ask_shell(shell, timeout_s=0.5) == []
            assert time.monotonic() - started < 5
            os.set_blocking(reader, True)
            assert os.read(reader, 100) == b"up\nup\n"
            assert os.read(reader, 100) == b"", "both shells and their children have ended"
        finally:
            os.close(reader)

    def test_a_program_left_running_by_an_rc_file_is_not_waited_for(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        shell = fake_shell(tmp_path, f"sleep 60 & echo $! >> {pids}; PATH=/real")
        started = time.monotonic()
        try:
            assert ask_shell(shell, timeout_s=30) == ["/real"]
            assert time.monotonic() - started < 15
        finally:
            for pid in pids.read_text().split():
                os.kill(int(pid), 9)

    def test_it_has_no_terminal_and_nothing_to_read(self, tmp_path: Path) -> None:
        rc = "PATH=/; read -r line && PATH=/input; (: </dev/tty) 2>/dev/null && PATH=/terminal"
        assert ask_shell(fake_shell(tmp_path, rc)) == ["/"]

    def test_the_users_own_rc_files_are_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bash = shutil.which("bash")
        if bash is None:
            pytest.skip("there is no bash here")
        (tmp_path / ".bash_profile").write_text('echo hello; PATH="/from login:$PATH"\n')
        (tmp_path / ".bashrc").write_text('echo hello; set -x; PATH="$PATH:/from/bashrc"\n')
        monkeypatch.setenv("HOME", str(tmp_path))
        entries = ask_shell(bash, timeout_s=10)
        assert entries[0] == "/from login"
        assert entries[-1] == "/from/bashrc"

    def test_the_users_shell_is_taken_from_the_account_where_shell_is_not_set(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("SHELL", raising=False)
        assert os.path.isabs(login_shell_path._user_shell())
