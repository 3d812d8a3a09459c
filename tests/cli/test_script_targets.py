"""Files and programs as targets: what is started, with which Python, and what to write instead."""

import json
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from mcplens.cli import exit_codes
from mcplens.cli.script_targets import project_python
from tests.cli.shell import Shell
from tests.servers.run import ROOT, argv

GOOD = "import asyncio\nfrom tests.servers import good\nasyncio.run(good.main(good.parse()))\n"


# -- files that are not started by themselves ----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("tools", "helper.sh"), "mcplens tools -- bash helper.sh"),
        (("tools", "./helper.sh"), "mcplens tools -- bash ./helper.sh"),
        (("./helper.sh",), "mcplens web -- bash ./helper.sh"),
        (("tools", "server.rb"), "mcplens tools -- ruby server.rb"),
        (("info", "server.rs"), "mcplens info -- cargo run --bin server"),
        (("call", "server.ts", "add", "a=1 2"), "mcplens call add 'a=1 2' -- npx tsx server.ts"),
        (("tools", "example.com"), "mcplens tools -- PROGRAM example.com"),
    ],
)
def test_a_file_that_exists_is_never_a_host(
    shell: Shell, words: tuple[str, ...], line: str
) -> None:
    for name in ("helper.sh", "server.rb", "server.rs", "server.ts", "example.com"):
        (shell.home / name).touch()
    done = shell.run(*words)
    assert done.code == exit_codes.USAGE
    assert "is a file, and mcplens starts only .py, .js, .mjs and .cjs files" in done.err
    assert done.err.endswith(f": {line}\n")


def test_a_program_of_no_known_kind_is_suggested_by_its_path(shell: Shell) -> None:
    program = shell.home / "serve"
    program.touch(0o755)
    assert shell.run("tools", "serve").err.endswith(": mcplens tools -- ./serve\n")


def test_a_configured_server_may_have_the_name_of_a_file(shell: Shell) -> None:
    _configure(shell, "notes.sh")
    (shell.home / "notes.sh").touch()
    assert shell.run("call", "notes.sh", "echo", "text=hello").text == "hello\n"


@pytest.mark.parametrize("name", ["gone.py", "gone.sh", "gone.rs"])
def test_a_script_that_does_not_exist_is_not_a_host_either(shell: Shell, name: str) -> None:
    done = shell.run("tools", name)
    assert done.code == exit_codes.USAGE
    assert f"there is no script '{name}'" in done.err
    assert f"https://{name}" in done.err


def test_a_page_of_a_host_may_end_like_a_script(shell: Shell) -> None:
    done = shell.run("tools", "127.0.0.1:1/mcp.php")
    assert (done.code, "http://127.0.0.1:1/mcp.php" in done.err) == (exit_codes.NOT_CONNECTED, True)


def test_a_script_that_does_not_exist_is_not_a_tool_of_a_server(shell: Shell) -> None:
    done = shell.run("tools", "demo.py")
    assert done.code == exit_codes.USAGE
    assert "there is no script 'demo.py'" in done.err
    assert "If you mean 'py' of the server 'demo', write: mcplens tools demo py" in done.err


# -- commands without -- --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("tools", "npx", "-y", "foo"), "mcplens tools -- npx -y foo"),
        (("npx", "-y", "foo"), "mcplens -- npx -y foo"),
        (("tools", "python", "shop.py"), "mcplens tools -- python shop.py"),
        (("info", "python", "my shop.py"), "mcplens info -- python 'my shop.py'"),
        (("tools", "python shop.py"), "mcplens tools -- python shop.py"),
        (("call", "python shop.py", "add", "a=1"), "mcplens call add a=1 -- python shop.py"),
        (("call", "npx", "-y", "foo", "add", "a=1"), "mcplens call add a=1 -- npx -y foo"),
        (("tools", "--timeout", "3", "uvx", "foo"), "mcplens tools --timeout 3 -- uvx foo"),
    ],
)
def test_a_command_without_the_separator_ends_with_the_line_to_write(
    shell: Shell, words: tuple[str, ...], line: str
) -> None:
    done = shell.run(*words)
    assert done.code == exit_codes.USAGE
    assert done.err.splitlines()[-1] == f"To start a server by its command, write: {line}"


def test_the_line_to_write_is_in_json_too_and_masks_secrets(shell: Shell) -> None:
    done = shell.run("tools", "--json", "npx", "-y", "foo", "--api-key", "sk-very-secret-1")
    message = json.loads(done.err)["error"]["message"]
    assert "mcplens tools --json -- npx -y foo --api-key" in message
    assert "sk-very-secret-1" not in message


@pytest.mark.parametrize("words", [("tools", "demo", "--nosuch"), ("history", "show", "python")])
def test_other_mistakes_have_no_such_line(shell: Shell, words: tuple[str, ...]) -> None:
    assert "To start a server" not in shell.run(*words).err


# -- the Python of a script -----------------------------------------------------------------------


def test_a_script_runs_with_the_python_of_its_project_and_info_names_it(shell: Shell) -> None:
    (shell.home / "project").mkdir()
    (shell.home / "project" / "server.py").write_text(GOOD)
    python = _environment(shell.home / "project" / ".venv")
    shell.variables["VIRTUAL_ENV"] = ""
    done = shell.run("info", "project/server.py", "--json")
    assert json.loads(done.out)["connection"]["command"] == [python, "project/server.py"]


def test_python_dash_m_runs_scripts_with_that_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    _environment(tmp_path / "env")
    main = ModuleType("__main__")
    main.__spec__ = ModuleSpec("mcplens.__main__", None)
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert project_python("server.py") == sys.executable


def test_the_python_is_chosen_from_the_nearest_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, project = tmp_path / "here", tmp_path / "here" / "project"
    project.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("PATH", "")
    script = "project/server.py"
    assert project_python(script) == sys.executable
    on_path = _environment(tmp_path / "system")
    monkeypatch.setenv("PATH", os.path.dirname(on_path))
    assert project_python(script) == on_path
    in_folder = _environment(here / "venv")
    assert project_python(script) == in_folder
    beside = _environment(project / ".venv")
    assert project_python(script) == beside
    activated = _environment(tmp_path / "activated")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "activated"))
    assert project_python(script) == activated
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "removed"))
    assert project_python(script) == beside
    # The current folder has nothing to do with a script elsewhere, and may be anybody's.
    assert project_python(str(tmp_path / "other.py")) == on_path


def test_a_module_that_is_not_installed_is_told_with_the_python_that_lacks_it(
    shell: Shell,
) -> None:
    (shell.home / "server.py").write_text("import no_such_module")
    done = shell.run("tools", "server.py")
    assert done.code == exit_codes.NOT_CONNECTED
    assert f"no_such_module is not installed for {sys.executable}" in done.err
    assert "-- PYTHON server.py" in done.err


def _environment(folder: Path) -> str:
    """A virtual environment, as far as it concerns us; its interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)


def _configure(shell: Shell, name: str) -> None:
    command, *args = argv("good")
    entry = {"command": command, "args": args, "cwd": str(ROOT)}
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {name: entry}}))
