"""What a shell offers after Tab, asked as the shell asks."""

import json

import pytest

from tests.cli.shell import Shell, good


def offered(shell: Shell, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    shell.variables |= {
        "_MCPLENS_COMPLETE": "bash_complete",
        "COMP_WORDS": "mcplens " + " ".join(words),
        "COMP_CWORD": str(len(words)),
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


def test_tools_that_were_seen_are_offered_after_their_server(shell: Shell, url: str) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {"web": {"url": url}}}))
    assert offered(shell, "call", "web", "e") == []
    shell.run("tools", "web")
    assert offered(shell, "call", "web", "e") == ["echo", "error", "end_listen"]
    assert offered(shell, "call", "web.ec") == ["web.echo"]


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


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_help_says_how_to_switch_it_on_and_each_shell_gets_its_script(
    shell: Shell, kind: str
) -> None:
    assert f"_MCPLENS_COMPLETE={kind}_source mcplens" in shell.run("--help").text
    shell.variables["_MCPLENS_COMPLETE"] = f"{kind}_source"
    assert "_MCPLENS_COMPLETE" in shell.run().text
