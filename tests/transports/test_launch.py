"""What a server is started with: found, refused with a reason, and given the right environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mcplens.errors import ConfigurationError
from mcplens.transports.launch import (
    Launch,
    candidates,
    child_environment,
    extend_folders,
    is_path,
    merge_environments,
    path_extensions,
    resolve_placeholders,
    search_folders,
)

from .programs import program, resolve

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes executables by their mode")


def refusal(*command: str, **options: object) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        resolve(*command, **options)
    return caught.value


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
        with pytest.raises(ConfigurationError, match=r"env 'KEY' is not a known placeholder"):
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
