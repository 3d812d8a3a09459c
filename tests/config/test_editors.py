"""The files of editors, with their quirks."""

from __future__ import annotations

from pathlib import Path

from mcplens.config.model import Source
from mcplens.config.other_tools import read_servers
from tests.config.machine import Machine, windows
from tests.config.tool_file import Tool

VSCODE = """{
  // asked once
  "inputs": [
    {"type": "promptString", "id": "api-key", "description": "Key of the API", "password": true},
    {
      "type": "pickString",
      "id": "region",
      "options": ["eu", {"label": "US", "value": "us"}],
      "default": "eu"
    },
  ],
  "servers": {
    "github": {
      "type": "http",
      "url": "https://${input:region}.example.com/mcp",
      "headers": {"Authorization": "Bearer ${input:api-key}"},
    },
    "local": {
      "type": "stdio",
      "command": "node",
      "args": ["${workspaceFolder}/s.js"],
      "dev": {"watch": "*"}
    },
    "odd": {"command": "x", "args": ["${command:pick}"]},
    "undeclared": {"command": "x", "args": ["${input:who}"]}
  }
}"""


class TestEditors:
    def test_cursors_placeholders_env_file_and_auth(self, machine: Machine) -> None:
        machine.environ["KEY"] = "k"
        machine.write(machine.project / ".env", "FROM_FILE=1\n")
        found = Tool(machine, "cursor", machine.project / ".cursor/mcp.json").read(
            {
                "mcpServers": {
                    "local": {
                        "type": "stdio",
                        "command": "${userHome}${/}bin${pathSeparator}s",
                        "args": ["${workspaceFolder}", "${workspaceFolderBasename}", "{brace}"],
                        "env": {"KEY": "${env:KEY}"},
                        "envFile": "${workspaceFolder}/.env",
                    },
                    "remote": {
                        "url": "https://h/mcp",
                        "headers": {"Authorization": "Bearer ${env:KEY}"},
                        "auth": {"CLIENT_ID": "${env:KEY}", "CLIENT_SECRET": "x", "scopes": ["a"]},
                    },
                    "unset": {"command": "x", "env": {"A": "${env:NOT_SET}"}},
                }
            }
        )
        local, remote = found["local"], found["remote"]
        project = str(machine.project)
        assert local.command == f"{machine.home}/bin/s"
        assert local.args == (project, "project", "{brace}")
        assert local.env == {"FROM_FILE": "1", "KEY": "k"}
        assert local.cwd == project
        assert remote.headers == {"Authorization": "Bearer k"}
        assert remote.auth == {"clientId": "k", "clientSecret": "x", "scopes": ("a",)}
        assert "'NOT_SET' is not set" in str(found["unset"].problem)

    def test_cursor_on_windows(self, tmp_path: Path) -> None:
        file = tmp_path / "mcp.json"
        file.write_text(
            '{"mcpServers": {"a": {"command": "${userHome}${/}x", "args": ["${workspaceFolder}"]}}}'
        )
        (entry,) = read_servers(Source("cursor", str(file), "user"), windows())
        assert entry.command == r"C:\Users\ada\x"
        assert entry.args == (r"C:\Users\ada\project",)

    def test_vs_codes_inputs_must_be_supplied(self, machine: Machine) -> None:
        tool = Tool(machine, "vscode", machine.project / ".vscode/mcp.json")
        found = tool.read(VSCODE)
        github = found["github"]
        assert github.problem is not None
        assert github.problem.message.endswith("(api-key: Key of the API)")
        assert github.problem.details["variable"] == "API_KEY"
        by_id = {one.id: one for one in github.inputs}
        assert (by_id["api-key"].variable, by_id["api-key"].is_secret) == ("API_KEY", True)
        assert (by_id["region"].choices, by_id["region"].default) == (("eu", "us"), "eu")
        assert "not a known placeholder" in str(found["odd"].problem)
        assert [one.variable for one in found["undeclared"].inputs] == ["WHO"]
        assert found["local"].args == (f"{machine.project}/s.js",)
        assert found["local"].remarks == ("unknown keys: dev",)

    def test_vs_codes_inputs_come_from_values_or_from_the_environment(
        self, machine: Machine
    ) -> None:
        tool = Tool(machine, "vscode", machine.project / ".vscode/mcp.json")
        github = tool.read(VSCODE, values={"api-key": "${s3cret}", "region": "us"})["github"]
        assert github.problem is None
        assert github.url == "https://us.example.com/mcp"
        assert github.headers == {"Authorization": "Bearer ${s3cret}"}
        machine.environ["API_KEY"] = "from environment"
        github = tool.read(VSCODE)["github"]
        assert github.url == "https://eu.example.com/mcp"
        assert github.headers == {"Authorization": "Bearer from environment"}

    def test_vs_codes_settings_of_older_days(self, machine: Machine) -> None:
        tool = Tool(machine, "vscode", ".config/Code/User/settings.json")
        assert tool.read('{"editor.fontSize": 12, // big\n}') == {}
        found = tool.read({"mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}})
        assert found["a"].command == "x"

    def test_windsurf_says_server_url(self, machine: Machine) -> None:
        machine.environ["KEY"] = "k"
        tool = Tool(machine, "windsurf", ".codeium/windsurf/mcp_config.json")
        found = tool.read(
            {
                "mcpServers": {
                    "remote": {
                        "serverUrl": "https://h/${env:KEY}/mcp",
                        "headers": {"A": "${env:KEY}"},
                        "disabled": True,
                        "disabledTools": ["x"],
                    },
                    "local": {"command": "x"},
                }
            }
        )
        remote = found["remote"]
        assert (remote.transport, remote.url) == ("http", "https://h/k/mcp")
        assert (remote.enabled, remote.problem) == (False, None)
        assert remote.remarks == ("unknown keys: disabledTools",)
        assert found["local"].is_usable
