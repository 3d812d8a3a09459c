"""What a server is started with: found, refused with a reason, and given the right environment."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcplens.errors import ConfigurationError
from mcplens.transports import shell_path
from mcplens.transports.launch import (
    Launch,
    candidates,
    child_environment,
    extend_folders,
    is_path,
    merge_environments,
    needs_shell_path,
    path_extensions,
    resolve_launch,
    resolve_placeholders,
    search_folders,
)
from mcplens.transports.shell_path import ask_shell, shell_path_entries

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes executables by their mode")


def program(path: Path, content: str = "#!/bin/sh\n", mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return str(path)


def resolve(*command: str, **options: object) -> Launch:
    """Resolve as in a terminal, with a shell that must not be asked."""
    settings: dict[str, object] = {"has_terminal": True, "ask_shell": refuse_to_be_asked}
    return resolve_launch(command, **(settings | options))  # type: ignore[arg-type]


def refusal(*command: str, **options: object) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        resolve(*command, **options)
    return caught.value


def refuse_to_be_asked() -> list[str]:
    raise AssertionError("the shell was asked")


class TestPlaceholders:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("plain", "plain"),
            ("$HOME and {HOME} and $", "$HOME and {HOME} and $"),
            ("${TOKEN}", "secret"),
            ("Bearer ${TOKEN}, ${TOKEN}", "Bearer secret, secret"),
            ("${env:TOKEN}", "secret"),
            ("${MISSING:-fallback}", "fallback"),
            ("${MISSING:-}", ""),
            ("${EMPTY:-fallback}", "fallback"),
            ("${EMPTY}", ""),
            ("${TOKEN:-fallback}", "secret"),
            ("${env:MISSING:-http://x:1/}", "http://x:1/"),
            ("$${TOKEN}", "${TOKEN}"),
            ("$${", "${"),
            ("$$", "$$"),
        ],
    )
    def test_a_value_is_resolved(self, text: str, expected: str) -> None:
        environ = {"TOKEN": "secret", "EMPTY": ""}
        assert resolve_placeholders({"KEY": text}, environ) == {"KEY": expected}

    def test_what_a_variable_holds_is_not_resolved_again(self) -> None:
        assert resolve_placeholders({"KEY": "${A}"}, {"A": "${B}", "B": "no"}) == {"KEY": "${B}"}

    @pytest.mark.parametrize("text", ["${TOKEN}", "a ${env:TOKEN} b"])
    def test_an_unset_variable_is_named_with_the_key_that_uses_it(self, text: str) -> None:
        with pytest.raises(ConfigurationError, match=r"'TOKEN', used in env 'API_KEY'") as caught:
            resolve_placeholders({"API_KEY": text}, {})
        assert caught.value.code == "CONFIGURATION_INVALID"
        assert caught.value.details == {"variable": "TOKEN", "env_key": "API_KEY"}

    @pytest.mark.parametrize("text", ["${input:id}", "${A:-${B}}", "${}", "${A-b}", "x${A"])
    def test_what_looks_like_a_placeholder_but_is_none_is_not_sent(self, text: str) -> None:
        with pytest.raises(ConfigurationError, match=r"env 'KEY' is no placeholder that we know"):
            resolve_placeholders({"KEY": text}, {"A": "1", "B": "2"})

    def test_an_unclosed_placeholder_does_not_show_the_rest_of_a_secret(self) -> None:
        with pytest.raises(ConfigurationError) as caught:
            resolve_placeholders({"KEY": "pass${hunter2"}, {})
        assert "hunter2" not in str(caught.value.to_dict())


class TestCommandThatIsSearched:
    def test_the_first_folder_of_our_path_wins(self, tmp_path: Path) -> None:
        expected = program(tmp_path / "venv" / "server")
        program(tmp_path / "usr" / "server")
        environ = {"PATH": f"{tmp_path}/none:{tmp_path}/venv:{tmp_path}/usr", "X": "1"}
        found = resolve("server", "--flag", environ=environ)
        assert found == Launch(argv=(expected, "--flag"), env=environ, cwd=None)

    def test_folders_and_files_that_cannot_run_are_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / "one" / "server").mkdir(parents=True)
        program(tmp_path / "two" / "server", mode=0o644)
        expected = program(tmp_path / "three" / "server")
        path = ":".join(str(tmp_path / name) for name in ("one", "two", "three"))
        assert resolve("server", environ={"PATH": path}).argv == (expected,)

    def test_a_link_is_not_followed_since_its_name_may_matter(self, tmp_path: Path) -> None:
        program(tmp_path / "multi")
        (tmp_path / "server").symlink_to("multi")
        assert resolve("server", environ={"PATH": str(tmp_path)}).argv == (f"{tmp_path}/server",)

    def test_path_in_env_is_the_only_one_searched(self, tmp_path: Path) -> None:
        expected = program(tmp_path / "env" / "server")
        program(tmp_path / "own" / "server")
        environ = {"PATH": str(tmp_path / "own"), "EXTRA": str(tmp_path / "env")}
        found = resolve("server", environ=environ, env={"PATH": "${EXTRA}"}, has_terminal=False)
        assert found.argv == (expected,)
        assert found.env["PATH"] == str(tmp_path / "env")

        error = refusal("other", environ=environ, env={"PATH": "/a:/b"}, has_terminal=False)
        assert error.details["searched"] == ["/a", "/b"]

    def test_a_relative_folder_of_path_counts_from_the_servers_folder(self, tmp_path: Path) -> None:
        expected = program(tmp_path / "node_modules" / ".bin" / "server")
        found = resolve("server", environ={"PATH": ":node_modules/.bin"}, cwd=str(tmp_path))
        assert found.argv == (expected,)

    def test_what_is_not_found_is_named_with_the_folders_and_what_to_do(self) -> None:
        error = refusal("no-such", environ={"PATH": "/a:/b"}, ask_shell=lambda: ["/b", "/c"])
        assert error.code == "COMMAND_NOT_FOUND"
        assert not error.retryable
        assert error.details == {"command": "no-such", "searched": ["/a", "/b", "/c"]}
        assert error.message == (
            "the command 'no-such' was not found in /a, /b, /c; "
            "install it, give its full path, or set PATH in env"
        )

    def test_a_long_list_of_folders_is_shortened_in_the_message_only(self) -> None:
        folders = [f"/folder{number}" for number in range(30)]
        error = refusal("no-such", environ={"PATH": ":".join(folders)}, ask_shell=list)
        assert error.details["searched"] == folders
        assert "/folder7 and 22 more folders" in error.message
        assert "/folder8" not in error.message

    def test_an_empty_path_is_called_empty(self) -> None:
        assert "PATH, which is empty" in refusal("server", env={"PATH": ""}).message

    def test_a_file_that_lacks_only_its_mode_is_pointed_at(self, tmp_path: Path) -> None:
        path = program(tmp_path / "server", mode=0o644)
        error = refusal("server", env={"PATH": str(tmp_path)})
        assert f"{path!r} is there but not executable (chmod +x" in error.message

    def test_arguments_glued_to_the_command_are_explained(self) -> None:
        error = refusal("npx -y server", env={"PATH": "/a"})
        assert "give each of them as an item of its own" in error.message


class TestCommandThatIsAPath:
    def test_it_may_be_absolute(self, tmp_path: Path) -> None:
        path = program(tmp_path / "server")
        assert resolve(path, "x", environ={}).argv == (path, "x")

    @pytest.mark.parametrize("name", ["./server", "sub/../server", "./sub/./../server"])
    def test_it_counts_from_the_servers_folder(self, tmp_path: Path, name: str) -> None:
        program(tmp_path / "server")
        (tmp_path / "sub").mkdir()
        found = resolve(name, environ={}, cwd=str(tmp_path))
        assert os.path.isabs(found.argv[0])
        assert os.path.samefile(found.argv[0], tmp_path / "server")
        assert found.cwd == str(tmp_path)

    def test_a_dot_is_taken_out_of_it(self, tmp_path: Path) -> None:
        expected = program(tmp_path / "server")
        assert resolve("./server", environ={}, cwd=str(tmp_path)).argv == (expected,)

    def test_each_reason_to_refuse_it_has_its_own_words(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        program(tmp_path / "server.py", mode=0o644)
        reasons = {}
        for name in ("none", "folder", "server.py"):
            error = refusal(str(tmp_path / name), environ={}, has_terminal=False)
            assert error.code == "COMMAND_NOT_FOUND"
            assert error.details["searched"] == [str(tmp_path / name)]
            reasons[name] = error.message
        assert "there is no file" in reasons["none"]
        assert "is a folder or a device" in reasons["folder"]
        assert "is not executable; make it so (chmod +x)" in reasons["server.py"]

    def test_a_tilde_is_explained(self, tmp_path: Path) -> None:
        assert "~ is not expanded" in refusal("~/server", cwd=str(tmp_path)).message

    def test_a_link_to_nowhere_counts_as_missing(self, tmp_path: Path) -> None:
        (tmp_path / "server").symlink_to("gone")
        assert "there is no file" in refusal("./server", cwd=str(tmp_path)).message


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
    shell_path._shell.entries = None
    yield
    shell_path._shell.entries = None


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
        monkeypatch.setattr(shell_path, "ask_shell", refuse_to_be_asked)
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
        assert os.path.isabs(shell_path._user_shell())


ENVIRON = {
    "HOME": "/home/u",
    "PATH": "/bin",
    "LC_ALL": "C",
    "XDG_CACHE_HOME": "/cache",
    "https_proxy": "http://proxy",
    "NO_PROXY": "localhost",
    "SSL_CERT_FILE": "/ca.pem",
    "npm_config_cafile": "/ca.pem",
}
PRIVATE_ENVIRON = {
    "AWS_SECRET_ACCESS_KEY": "s",
    "GITHUB_TOKEN": "t",
    "home": "x",
    "PYTHONPATH": "/p",
}


class TestEnvironment:
    def test_a_command_typed_by_the_user_inherits_all(self, tmp_path: Path) -> None:
        path = program(tmp_path / "server")
        environ = ENVIRON | PRIVATE_ENVIRON
        found = resolve(path, environ=environ, env={"GITHUB_TOKEN": "other", "NEW": "1"})
        assert found.env == environ | {"GITHUB_TOKEN": "other", "NEW": "1"}

    def test_a_configured_server_gets_a_short_list_and_its_own(self, tmp_path: Path) -> None:
        path = program(tmp_path / "server")
        env = {"TOKEN": "${GITHUB_TOKEN}"}
        found = resolve(path, environ=ENVIRON | PRIVATE_ENVIRON, env=env, inherit_env=False)
        assert found.env == ENVIRON | {"TOKEN": "t"}

    def test_our_environment_is_used_unless_another_is_given(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = program(tmp_path / "server")
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("MARK", "1")
        found = resolve("server")
        assert (found.argv, found.env["MARK"]) == ((expected,), "1")

    def test_its_repr_shows_no_value_of_it(self) -> None:
        assert "secret" not in repr(Launch(argv=("/x",), env={"KEY": "secret"}, cwd=None))


class TestWhatCannotBeStarted:
    @pytest.mark.parametrize("command", [[], [""], [" "]])
    def test_an_empty_command_is_refused(self, command: list[str]) -> None:
        error = refusal(*command)
        assert (error.code, "is empty" in error.message) == ("CONFIGURATION_INVALID", True)

    def test_a_nul_is_refused_before_it_reaches_the_system(self) -> None:
        assert "NUL" in refusal("server", "a\0b").message
        assert "NUL" in refusal("server", env={"KEY": "a\0b"}).message
        assert "'A=B'" in refusal("server", env={"A=B": "x"}).message

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        error = refusal("sh", cwd=str(tmp_path / "none"))
        assert error.code == "CONFIGURATION_INVALID"
        assert f"{str(tmp_path / 'none')!r} does not exist" in error.message
        file = program(tmp_path / "file")
        assert "is not a folder" in refusal("sh", cwd=file).message

    def test_a_folder_of_ours_that_was_deleted_does_not_matter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = program(tmp_path / "server")
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        assert resolve(path, environ={}).argv == (path,)


class TestPathsByPlatform:
    def test_windows_separates_and_quotes_folders_its_own_way(self) -> None:
        environ = {"Path": r'C:\Windows;"C:\Program Files\nodejs";;tools'}
        assert search_folders({}, environ, r"D:\work", "win32") == [
            r"C:\Windows",
            r"C:\Program Files\nodejs",
            r"D:\work\tools",
        ]
        assert search_folders({"PATH": r"E:\x"}, environ, r"D:\work", "win32") == [r"E:\x"]

    def test_pathext_says_which_files_are_programs_on_windows(self) -> None:
        assert path_extensions({"PathExt": ".EXE;.CMD;junk"}, "win32") == (".exe", ".cmd")
        assert path_extensions({}, "win32") == (".com", ".exe", ".bat", ".cmd")
        assert path_extensions({"PATHEXT": ".EXE"}, "linux") == ()

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("npx", [r"C:\n\npx.exe", r"C:\n\npx.cmd"]),
            ("npx.CMD", [r"C:\n\npx.CMD", r"C:\n\npx.CMD.exe", r"C:\n\npx.CMD.cmd"]),
            ("server.py", [r"C:\n\server.py.exe", r"C:\n\server.py.cmd"]),
        ],
    )
    def test_a_command_gets_the_endings_of_pathext(self, name: str, expected: list[str]) -> None:
        assert list(candidates(name, [r"C:\n"], (".exe", ".cmd"), "win32")) == expected

    def test_a_command_on_posix_has_one_name_per_folder(self) -> None:
        assert list(candidates("npx", ["/a", "/b/"], (), "linux")) == ["/a/npx", "/b/npx"]

    @pytest.mark.parametrize(
        ("name", "platform", "expected"),
        [
            ("npx", "linux", False),
            ("./npx", "linux", True),
            (r"a\b", "linux", False),
            (r".\npx", "win32", True),
            ("./npx", "win32", True),
            ("C:npx", "win32", True),
            ("npx.cmd", "win32", False),
        ],
    )
    def test_a_path_is_told_from_a_name(self, name: str, platform: str, expected: bool) -> None:
        assert is_path(name, platform) is expected

    def test_names_of_variables_have_no_case_on_windows(self) -> None:
        base = {"Path": "a", "SystemRoot": "b", "Secret": "c"}
        assert merge_environments(base, {"PATH": "x"}, "win32") == {
            "SystemRoot": "b",
            "Secret": "c",
            "PATH": "x",
        }
        assert merge_environments(base, {"PATH": "x"}, "linux") == {**base, "PATH": "x"}
        kept = child_environment(base, inherit_all=False, platform="win32")
        assert kept == {"Path": "a", "SystemRoot": "b"}

    def test_a_folder_is_added_once(self) -> None:
        assert extend_folders(["/a", "/b"], ["/b", "/c", "/a"], "linux") == ["/a", "/b", "/c"]
