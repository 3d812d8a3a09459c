"""Other tools' files: where they are on each platform, their quirks, and servers by `tool:name`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcplens.config.configuration import read_file
from mcplens.config.model import ServerEntry, Source
from mcplens.config.sources import (
    TOOLS,
    find_server,
    find_sources,
    is_qualified,
    read_servers,
    read_tool,
    user_files,
)
from mcplens.config.surroundings import Surroundings
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
def test_a_tool_keeps_its_files_there(kind: str, here: Surroundings, files: list[str]) -> None:
    assert user_files(kind, here) == files


@pytest.mark.parametrize(
    ("here", "folder"),
    [
        (mac(), "/Users/ada/Library/Application Support/Code/User/"),
        (windows(), rf"{ROAMING}\Code\User" + "\\"),
    ],
)
def test_vs_code_keeps_its_files_with_other_programs(here: Surroundings, folder: str) -> None:
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
        with pytest.raises(ConfigurationError, match="Cursor has no server 'x'; it has: w, u"):
            find_server("cursor:x", here)
        with pytest.raises(ConfigurationError, match="no servers of it were found"):
            find_server("codex:x", here)
        with pytest.raises(ConfigurationError, match="'emacs' is no tool that we know"):
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
            ("bomb.yaml", "\n".join(lines), "line 2, column 10: the alias \\*a0 is not read"),
            ("deep.yaml", "[" * 100_000, "nested too deeply"),
        ):
            path = machine.write(name, text)
            with pytest.raises(ConfigurationError, match=f"{name}.*{reason}"):
                read_file(str(path), here=machine.here())

    def test_a_file_of_something_else_is_refused(self, machine: Machine) -> None:
        path = machine.write("list.yaml", "- 1\n")
        with pytest.raises(ConfigurationError, match="this is no file of Goose"):
            read_file(str(path), here=machine.here())


class Tool:
    """One tool's file on a machine."""

    def __init__(self, machine: Machine, kind: str, path: str | Path) -> None:
        self.machine, self.kind, self.path = machine, kind, path

    def read(self, content: Any, **options: Any) -> dict[str, ServerEntry]:
        path = self.machine.write(self.path, content)
        is_project = path.is_relative_to(self.machine.project)
        source = Source(self.kind, str(path), "project" if is_project else "user")
        entries = read_servers(source, self.machine.here(), **options)
        return {entry.name: entry for entry in entries}


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
        assert api.remarks == ("not known to mcplens: headersHelper",)
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
        assert "no placeholder that we know" in str(found["odd"].problem)
        assert [one.variable for one in found["undeclared"].inputs] == ["WHO"]
        assert found["local"].args == (f"{machine.project}/s.js",)
        assert found["local"].remarks == ("not known to mcplens: dev",)

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
        assert remote.remarks == ("not known to mcplens: disabledTools",)
        assert found["local"].is_usable


def test_gemini_tells_streamable_http_from_sse_by_the_key(machine: Machine) -> None:
    machine.environ["KEY"] = "k"
    found = Tool(machine, "gemini", ".gemini/settings.json").read(
        {
            "theme": "x",
            "mcp": {"excluded": ["off"]},
            "mcpServers": {
                "stream": {"httpUrl": "https://h/$KEY/mcp", "timeout": 5000},
                "events": {"url": "https://h/sse"},
                "typed": {"url": "https://h/mcp", "type": "http"},
                "local": {
                    "command": "x",
                    "args": ["$KEY", "${KEY}", "${NONE:-d}", "5 $", "{x}"],
                    "env": {"A": "$KEY-1"},
                    "trust": True,
                },
                "off": {"command": "x"},
            },
        }
    )
    transports = {name: entry.transport for name, entry in found.items()}
    assert transports == {
        "stream": "http",
        "events": "sse",
        "typed": "http",
        "local": "stdio",
        "off": "stdio",
    }
    assert (found["stream"].url, found["stream"].request_timeout_s) == ("https://h/k/mcp", 5.0)
    assert found["local"].args == ("k", "k", "d", "5 $", "{x}")
    assert found["local"].env == {"A": "k-1"}
    assert (found["off"].enabled, found["local"].enabled) == (False, True)


CODEX = """
model = "gpt-5"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs", "${HOME}", "{x}"]
cwd = "/srv"
env_vars = ["KEY", { name = "OTHER", source = "local" }]
startup_timeout_sec = 12.5
tool_timeout_sec = 90
enabled_tools = ["a"]

[mcp_servers.docs.env]
MODE = "$${x}"

[mcp_servers.figma]
url = "https://h/mcp"
bearer_token_env_var = "KEY"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "KEY" }
enabled = false
scopes = ["read"]
oauth = { client_id = "me" }

[mcp_servers.unset]
url = "https://h/mcp"
bearer_token_env_var = "NOT_SET"

[mcp_servers.nothing]
"""


def test_codex_takes_secrets_from_the_environment_by_keys_of_its_own(machine: Machine) -> None:
    machine.environ["KEY"] = "k"
    found = Tool(machine, "codex", ".codex/config.toml").read(CODEX)
    docs, figma = found["docs"], found["figma"]
    assert docs.args == ("-y", "docs", "${HOME}", "{x}")
    assert docs.env == {"MODE": "$${x}", "KEY": "k", "OTHER": ""}
    assert (docs.cwd, docs.connection_timeout_s, docs.request_timeout_s) == ("/srv", 12.5, 90.0)
    assert docs.remarks == ("not known to mcplens: enabled_tools",)
    assert (figma.transport, figma.enabled) == ("http", False)
    assert figma.headers == {"X-Region": "eu", "X-Key": "k", "Authorization": "Bearer k"}
    assert figma.auth == {"scopes": ("read",), "clientId": "me"}
    assert "'NOT_SET' is not set" in str(found["unset"].problem)
    assert "needs a command or a url" in str(found["nothing"].problem)


GOOSE = """
GOOSE_PROVIDER: anthropic
extensions:
  developer: {type: builtin, name: developer, enabled: true, bundled: true}
  todo: {type: platform, name: todo, enabled: true}
  github:
    type: stdio
    name: GitHub
    description: issues
    enabled: true
    cmd: npx
    args: ["-y", "github", "{x}"]
    envs: {MODE: fast, DEBUG: true, PORT: 80}
    env_keys: [KEY]
    timeout: 300
  remote:
    type: streamable_http
    name: remote
    enabled: false
    uri: https://h/mcp
    headers: {Authorization: "Bearer $KEY", X-Mode: "${MODE}-1"}
    envs: {MODE: fast}
    env_keys: [KEY]
  old:
    enabled: true
    config: {type: sse, name: old, uri: "https://h/sse"}
"""


def test_gooses_extensions_that_are_servers(machine: Machine) -> None:
    tool = Tool(machine, "goose", ".config/goose/config.yaml")
    found = tool.read(GOOSE)
    assert list(found) == ["github", "remote", "old"]
    github = found["github"]
    assert "'KEY' is not set" in str(github.problem)
    assert [(one.variable, one.is_secret) for one in github.inputs] == [("KEY", True)]
    machine.environ["KEY"] = "k"
    found = tool.read(GOOSE)
    github, remote, old = found.values()
    assert (github.title, github.command, github.args) == ("GitHub", "npx", ("-y", "github", "{x}"))
    assert github.env == {"MODE": "fast", "DEBUG": "true", "PORT": "80", "KEY": "k"}
    assert (github.request_timeout_s, github.remarks) == (300.0, ())
    assert (remote.transport, remote.enabled, remote.url) == ("http", False, "https://h/mcp")
    assert remote.headers == {"Authorization": "Bearer k", "X-Mode": "fast-1"}
    assert (old.transport, old.url) == ("sse", "https://h/sse")
