"""The files of Claude Desktop and Claude Code, with their quirks."""

from __future__ import annotations

from pathlib import Path

from mcplens.config.model import Source
from mcplens.config.other_tools import read_servers, read_tool
from tests.config.machine import Machine, windows
from tests.config.tool_file import Tool


class TestClaude:
    def test_claude_desktop(self, machine: Machine) -> None:
        tool = Tool(machine, "claude-desktop", ".config/Claude/claude_desktop_config.json")
        found = tool.read(
            {
                "globalShortcut": "",
                "mcpServers": {
                    "files": {"command": "npx", "args": ["-y", "fs", "${HOME}", "{literal}"]},
                    "bad": 3,
                },
            }
        )
        assert found["files"].args == ("-y", "fs", str(machine.home), "{literal}")
        assert found["bad"].problem is not None

    def test_claude_code_for_the_user_for_a_project_and_with_it(self, machine: Machine) -> None:
        project = str(machine.project)
        machine.write(
            ".claude.json",
            {
                "numStartups": 7,
                "mcpServers": {"all": {"command": "user"}, "everywhere": {"command": "user"}},
                "projects": {
                    str(machine.home): {"mcpServers": {"too-far": {"command": "x"}}},
                    project: {"mcpServers": {"all": {"command": "local"}}, "history": []},
                    project + "-other": {"mcpServers": {"other": {"command": "x"}}},
                },
            },
        )
        machine.write(
            machine.project / ".mcp.json",
            {"mcpServers": {"all": {"command": "project"}, "shared": {"command": "project"}}},
        )
        found = {entry.name: entry for entry in read_tool("claude-code", machine.here())}
        assert {name: (entry.command, entry.source.scope) for name, entry in found.items()} == {
            "all": ("local", "local"),
            "shared": ("project", "project"),
            "everywhere": ("user", "user"),
        }
        assert found["shared"].cwd == project

    def test_claude_codes_placeholders(self, machine: Machine) -> None:
        machine.environ["KEY"] = "k"
        found = Tool(machine, "claude-code", machine.project / ".mcp.json").read(
            {
                "mcpServers": {
                    "api": {
                        "type": "http",
                        "url": "${BASE:-https://api.example.com}/mcp",
                        "headers": {"Authorization": "Bearer ${KEY}", "X": "$KEY {KEY} ${env:KEY}"},
                        "timeout": 5000,
                        "oauth": {"clientId": "me"},
                        "headersHelper": "./token.sh",
                    },
                    "here": {
                        "command": "${CLAUDE_PROJECT_DIR}/s",
                        "args": ["${CLAUDE_PROJECT_DIR:-.}"],
                    },
                    "unset": {"command": "${NOT_SET}"},
                }
            }
        )
        api = found["api"]
        assert (api.transport, api.url) == ("http", "https://api.example.com/mcp")
        assert api.headers == {"Authorization": "Bearer k", "X": "$KEY {KEY} ${env:KEY}"}
        assert (api.request_timeout_s, api.auth) == (5.0, {"clientId": "me"})
        assert api.remarks == ("unknown keys: headersHelper",)
        project = str(machine.project)
        assert (found["here"].command, found["here"].args) == (f"{project}/s", (project,))
        assert "'NOT_SET' is not set" in str(found["unset"].problem)

    def test_a_project_is_found_by_the_rules_of_windows(self, tmp_path: Path) -> None:
        file = tmp_path / ".claude.json"
        file.write_text(
            '{"projects": {"c:/users/ADA/Project": {"mcpServers": {"w": {"command": "x"}}}}}'
        )
        (entry,) = read_servers(Source("claude-code", str(file), "user"), windows())
        assert (entry.name, entry.source.scope) == ("w", "local")
