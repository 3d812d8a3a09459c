"""Other tools' files: where they are on each platform, and servers by `tool:name`."""

from __future__ import annotations

import pytest

from mcplens.config.configuration import read_file
from mcplens.config.environment import Environment
from mcplens.config.model import Source
from mcplens.config.other_tools import (
    TOOLS,
    find_server,
    find_sources,
    is_qualified,
    read_servers,
    read_tool,
    user_files,
)
from mcplens.errors import ConfigurationError
from tests.config.machine import Machine, linux, mac, windows

ROAMING = r"C:\Users\ada\AppData\Roaming"


@pytest.mark.parametrize(
    ("kind", "here", "files"),
    [
        ("claude-desktop", linux(), ["/home/ada/.config/Claude/claude_desktop_config.json"]),
        (
            "claude-desktop",
            mac(),
            ["/Users/ada/Library/Application Support/Claude/claude_desktop_config.json"],
        ),
        (
            "claude-desktop",
            windows(),
            [
                rf"{ROAMING}\Claude\claude_desktop_config.json",
                r"C:\Users\ada\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming"
                r"\Claude\claude_desktop_config.json",
            ],
        ),
        ("claude-code", linux(), ["/home/ada/.claude.json"]),
        ("claude-code", mac(CLAUDE_CONFIG_DIR="/x"), ["/x/.claude.json"]),
        ("claude-code", windows(), [r"C:\Users\ada\.claude.json"]),
        ("cursor", linux(), ["/home/ada/.cursor/mcp.json"]),
        ("cursor", mac(), ["/Users/ada/.cursor/mcp.json"]),
        ("cursor", windows(), [r"C:\Users\ada\.cursor\mcp.json"]),
        (
            "vscode",
            linux(XDG_CONFIG_HOME="/c"),
            [
                "/c/Code/User/mcp.json",
                "/c/Code/User/settings.json",
                "/c/Code - Insiders/User/mcp.json",
                "/c/Code - Insiders/User/settings.json",
            ],
        ),
        ("windsurf", linux(), ["/home/ada/.codeium/windsurf/mcp_config.json"]),
        ("windsurf", windows(), [r"C:\Users\ada\.codeium\windsurf\mcp_config.json"]),
        ("gemini", mac(), ["/Users/ada/.gemini/settings.json"]),
        ("codex", linux(), ["/home/ada/.codex/config.toml"]),
        ("codex", windows(CODEX_HOME=r"D:\codex"), [r"D:\codex\config.toml"]),
        ("goose", linux(), ["/home/ada/.config/goose/config.yaml"]),
        ("goose", mac(), ["/Users/ada/.config/goose/config.yaml"]),
        ("goose", windows(), [rf"{ROAMING}\Block\goose\config\config.yaml"]),
        ("registry", linux(), []),
    ],
)
def test_a_tool_keeps_its_files_there(kind: str, here: Environment, files: list[str]) -> None:
    assert user_files(kind, here) == files


@pytest.mark.parametrize(
    ("here", "folder"),
    [
        (mac(), "/Users/ada/Library/Application Support/Code/User/"),
        (windows(), rf"{ROAMING}\Code\User" + "\\"),
    ],
)
def test_vs_code_keeps_its_files_with_other_programs(here: Environment, folder: str) -> None:
    assert user_files("vscode", here)[0] == f"{folder}mcp.json"


class TestFinding:
    def test_what_is_on_this_machine_is_found_project_files_first(self, machine: Machine) -> None:
        assert find_sources(machine.here()) == ()
        project = machine.write(machine.project / ".cursor/mcp.json", {})
        user = machine.write(".cursor/mcp.json", {})
        codex = machine.write(".codex/config.toml", "")
        deep = machine.project / "a" / "b"
        deep.mkdir(parents=True)
        assert find_sources(machine.here(deep)) == (
            Source("cursor", str(project), "project"),
            Source("cursor", str(user), "user"),
            Source("codex", str(codex), "user"),
        )

    def test_the_users_own_file_found_upward_is_still_the_users(self, machine: Machine) -> None:
        user = machine.write(".cursor/mcp.json", {})
        assert find_sources(machine.here(machine.home)) == (Source("cursor", str(user), "user"),)

    def test_an_editors_settings_without_servers_are_no_source(self, machine: Machine) -> None:
        path = machine.write(".config/Code/User/settings.json", '{"editor.tabSize": 2, oops}')
        assert find_sources(machine.here()) == ()
        machine.write(path, '{"mcp": {"servers": {}}}')
        assert [source.path for source in find_sources(machine.here())] == [str(path)]

    def test_a_server_is_found_by_tool_and_name_the_projects_first(self, machine: Machine) -> None:
        machine.write(".cursor/mcp.json", {"mcpServers": {"w": {"command": "user"}, "u": {}}})
        machine.write(
            machine.project / ".cursor/mcp.json", {"mcpServers": {"w": {"command": "project"}}}
        )
        here = machine.here()
        assert find_server("cursor:w", here).command == "project"
        assert [entry.name for entry in read_tool("cursor", here)] == ["w", "u"]
        with pytest.raises(ConfigurationError, match="Cursor has no server 'x'; its servers: w, u"):
            find_server("cursor:x", here)
        with pytest.raises(ConfigurationError, match="it has no servers on this machine"):
            find_server("codex:x", here)
        with pytest.raises(ConfigurationError, match="'emacs' is not a known tool"):
            find_server("emacs:x", here)

    def test_a_name_of_a_server_may_hold_a_colon(self, machine: Machine) -> None:
        machine.write(".cursor/mcp.json", {"mcpServers": {"a:b": {"command": "x"}}})
        assert find_server("cursor:a:b", machine.here()).name == "a:b"
        assert is_qualified("cursor:a:b")
        assert not is_qualified("emacs:x")
        assert not is_qualified("cursor")

    @pytest.mark.parametrize("kind", TOOLS)
    def test_an_empty_file_of_any_tool_has_no_servers(self, machine: Machine, kind: str) -> None:
        ending = {"codex": "toml", "goose": "yaml"}.get(kind, "json")
        path = machine.write(f"empty.{ending}", "")
        found = read_servers(Source(kind, str(path), "user"), machine.here())
        assert [entry.problem is not None for entry in found] == [True] * (kind == "registry")

    def test_a_syntax_error_names_line_and_column_in_every_format(self, machine: Machine) -> None:
        for name, text, place in (
            ("a.json", '{"mcpServers": {\n "a" 1}}', "line 2, column 6"),
            ("a.toml", "[mcp_servers.a]\ncommand = \n", "line 2, column 11"),
            ("a.yaml", "extensions:\n  a: [1, 2\n", "line 3, column 1"),
        ):
            path = machine.write(name, text)
            with pytest.raises(ConfigurationError, match=f"{name}, {place}: ") as caught:
                read_file(str(path), here=machine.here())
            assert caught.value.details.keys() == {"file", "line", "column"}

    def test_a_text_that_stands_for_more_than_it_says_is_refused(self, machine: Machine) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        for at in range(1, 10):
            again = ", ".join([f"*a{at - 1}"] * 10)
            lines.append(f"a{at}: &a{at} [{again}]")
        for name, text, reason in (
            ("bomb.yaml", "\n".join(lines), "line 2, column 10: the alias \\*a0 is not supported"),
            ("deep.yaml", "[" * 100_000, "nested too deeply"),
        ):
            path = machine.write(name, text)
            with pytest.raises(ConfigurationError, match=f"{name}.*{reason}"):
                read_file(str(path), here=machine.here())

    def test_a_file_of_something_else_is_refused(self, machine: Machine) -> None:
        path = machine.write("list.yaml", "- 1\n")
        with pytest.raises(ConfigurationError, match="this is not a Goose file"):
            read_file(str(path), here=machine.here())
