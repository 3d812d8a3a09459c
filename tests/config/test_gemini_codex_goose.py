"""The files of Gemini, Codex and Goose, with their quirks."""

from __future__ import annotations

from tests.config.machine import Machine
from tests.config.tool_file import Tool


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
    assert docs.remarks == ("unknown keys: enabled_tools",)
    assert (figma.transport, figma.enabled) == ("http", False)
    assert figma.headers == {"X-Region": "eu", "X-Key": "k", "Authorization": "Bearer k"}
    assert figma.auth == {"scopes": ("read",), "clientId": "me"}
    assert "'NOT_SET' is not set" in str(found["unset"].problem)
    assert "a command or a url is required" in str(found["nothing"].problem)


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
