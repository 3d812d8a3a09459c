"""What a shell offers after Tab, asked as the shell asks."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import MCPLENS, Shell, good, read_until

pytestmark = pytest.mark.slow


def offered(shell: Shell, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    shell.variables |= {
        "_MCPLENS_COMPLETE": "bash_complete",
        "COMP_LINE": "mcplens " + " ".join(words),
    }
    done = shell.run()
    shell.variables.clear()
    assert done.err == ""
    return [line.partition(",")[2] for line in done.text.splitlines() if line]


def test_commands_and_options_are_offered(shell: Shell) -> None:
    assert offered(shell, "to") == ["tools"]
    assert "resources" in offered(shell, "re")
    assert offered(shell, "tools", "--connect") == ["--connect-timeout"]
    assert offered(shell, "servers", "imp") == ["import"]


def test_configured_names_and_demo_are_offered_as_targets(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {"dark": {"command": "x"}}}))
    assert offered(shell, "tools", "d") == ["dark", "demo"]
    assert offered(shell, "call", "d") == ["dark", "demo"]
    assert offered(shell, "servers", "remove", "da") == ["dark"]


def test_ways_to_answer_the_server_are_offered(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {}, "profiles": {"eager": {"kind": "echo"}}}))
    (shell.home / "form.json").write_text("{}")
    (shell.home / "forms").mkdir()
    assert offered(shell, "call", "demo", "sample", "--sampling", "e") == ["eager", "echo"]
    assert "ask" in offered(shell, "call", "demo", "sample", "--sampling", "a")
    assert offered(shell, "call", "--elicit", "a") == ["ask", "accept"]
    assert offered(shell, "call", "--elicit", "@fo") == ["@form.json", "@forms/"]
    assert offered(shell, "call", "--elicit", "@nowhere/x") == []


def test_tools_that_were_seen_are_offered_after_their_server(shell: Shell, url: str) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {"web": {"url": url}}}))
    assert offered(shell, "call", "web", "e") == []
    shell.run("tools", "web")
    assert offered(shell, "call", "web", "e") == ["echo", "error", "end_listen"]
    assert offered(shell, "call", "web.ec") == ["web.echo"]


def test_arguments_prompts_and_uris_that_were_seen_are_offered(shell: Shell, url: str) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {"web": {"url": url}}}))
    for kind in ("tools", "prompts", "resources", "templates"):
        assert shell.run(kind, "web").code == 0
    assert offered(shell, "call", "web", "add", "") == ["a=", "b="]
    assert offered(shell, "call", "web", "add", "a=1", "") == ["b="]
    assert offered(shell, "call", "web.echo", "te") == ["text="]
    assert offered(shell, "prompt", "web", "gr") == ["greet"]
    assert offered(shell, "prompt", "web", "greet", "") == ["name=", "style="]
    assert offered(shell, "prompts", "web", "gr") == ["greet"]
    assert "//counter" in offered(shell, "read", "web", "memo:")  # what follows the colon
    assert "//counter" in offered(shell, "subscribe", "web", "memo:")
    assert offered(shell, "read", "web", "'memo://item/{name}'", "") == ["name="]
    assert "memo://item/{name}" in offered(shell, "complete", "web", "'memo:")
    assert offered(shell, "tasks", "web", "ca") == ["cancel"]


def test_recorded_runs_are_offered(shell: Shell, url: str) -> None:
    assert offered(shell, "history", "show", "") == []
    shell.run("tools", url)
    run_id = json.loads(shell.run("history", "list", "--json").text)["run_id"]
    for words in (["show"], ["export"], ["replay"], ["search", "x", "--run"]):
        assert offered(shell, "history", *words, run_id[:2]) == [run_id[:8]]


def test_servers_of_other_tools_are_offered(shell: Shell) -> None:
    (shell.home / ".cursor").mkdir()
    servers = {"weather": {"command": "x"}, "other": {"command": "x"}}
    (shell.home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert offered(shell, "tools", "cur") == ["cursor:weather", "cursor:other"]
    assert offered(shell, "tools", "cursor:we") == ["weather"]
    assert offered(shell, "servers", "import", "cur") == [
        "cursor", "cursor:weather", "cursor:other",
    ]  # fmt: skip


def test_a_call_remembers_the_tools_too_and_no_record_remembers_nothing(
    shell: Shell, url: str
) -> None:
    shell.run("call", url, "echo", "text=x", "--no-record")
    assert offered(shell, "call", url, "ech") == []
    shell.run("call", url, "echo", "text=x")
    assert offered(shell, "call", url, "ech") == ["echo"]


def test_a_state_folder_that_cannot_be_written_does_not_hurt(shell: Shell) -> None:
    (shell.home / "state").write_text("a file where the folder should be")
    assert shell.run("call", "echo", "text=x", *good()).text == "x\n"


def test_names_that_the_shell_would_take_apart_are_offered_whole(shell: Shell, url: str) -> None:
    shell.config.parent.mkdir(parents=True)
    servers = {"my server": {"command": "x"}, "team:db": {"command": "x"}}
    shell.config.write_text(json.dumps({"mcpServers": servers}))
    assert offered(shell, "tools", "my") == [r"my\ server"]
    assert offered(shell, "tools", "'my s") == ["my server"]
    assert offered(shell, "tools", "team:d") == ["db"]  # bash replaces what follows the colon
    shell.run("tools", url)
    assert offered(shell, "call", url, "ech") == ["echo"]


def test_after_two_dashes_files_are_offered(shell: Shell) -> None:
    shell.variables |= {"_MCPLENS_COMPLETE": "bash_complete", "COMP_LINE": "mcplens tools -- ls a"}
    assert shell.run().text == "file,a\n"


def test_an_unknown_command_is_no_error_while_a_line_is_typed(shell: Shell) -> None:
    assert "tools" in offered(shell, "nonsense", "")


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_help_says_how_to_switch_it_on_and_each_shell_gets_its_script(
    shell: Shell, kind: str
) -> None:
    assert f"mcplens --completion {kind}" in shell.run("--help").text
    script = shell.run("--completion", kind).text
    assert f"_MCPLENS_COMPLETE={kind}_complete" in script
    shell.variables["_MCPLENS_COMPLETE"] = f"{kind}_source"
    assert shell.run().text == script


INTERACTIVE = {
    "bash": ["bash", "--norc", "--noprofile"],
    "zsh": ["zsh", "-f"],
}


# What is typed, and what the shell then shows; a value or a file follows at once.
TYPED = (
    (b"mcplens call te\t", b"team:db "),
    (b"ec\t", b"echo "),
    (b"te\t", b"text="),
    (b"x", b"x"),
    (b" --conn\t", b"--connect-timeout "),
    (b"5 --elicit @fo\t", b"@forms/"),
    (b"y", b"y"),
    (b"\x15mcplens tools my\t", b"my\\ server "),
)


@pytest.mark.parametrize("kind", INTERACTIVE)
def test_the_tab_key_works_in_a_real_shell(shell: Shell, kind: str) -> None:
    if shutil.which(kind) is None:
        pytest.skip(f"{kind} is not installed")
    shell.variables |= {"PATH": f"{Path(MCPLENS).parent}:{os.environ['PATH']}", "TERM": "dumb"}
    shell.config.parent.mkdir(parents=True)
    demo = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}
    servers = {"team:db": demo, "my server": demo}
    shell.config.write_text(json.dumps({"mcpServers": servers}))
    (shell.home / "forms").mkdir()
    assert shell.run("tools", "team:db").code == 0
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        INTERACTIVE[kind],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=shell.home,
        env=shell.environment,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            os.write(ours, f'eval "$(mcplens --completion {kind})"; echo re""ady\n'.encode())
            read_until(ours, b"ready\r\n")
            for typed, completed in TYPED:
                os.write(ours, typed)
                shown = read_until(ours, completed)
                assert b"\a" not in shown  # what is completed makes no noise
                assert typed not in (b"x", b"y") or shown == typed  # no blank before it
        finally:
            process.kill()
    os.close(ours)


def test_the_tab_key_works_in_fish(shell: Shell) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    shell.variables["PATH"] = f"{Path(MCPLENS).parent}:{os.environ['PATH']}"
    asked = "mcplens --completion fish | source; complete -C 'mcplens tools --connect-t'"
    done = subprocess.run(
        ["fish", "-c", asked], env=shell.environment, cwd=shell.home, capture_output=True, text=True
    )
    assert done.stdout.startswith("--connect-timeout\t")
