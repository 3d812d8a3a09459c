"""Well-known hosts as clients: what each says of itself, what it declares, how long it waits.

Each fact names the public pages that it was read from and their dates: hosts change. A fact that no
page states is assumed, and says so. Called by hooks.py for `mcp_clients` and `--mcp-clients`;
docs/reference/pytest.md has the same facts, which a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec
import pytest

T = TypeVar("T")

# Taken away unless a host declares them: the mark's own handlers would declare them too.
_CAPABILITIES: Final = ("roots", "sampling", "elicitation", "tasks", "extensions")
# MCP Apps, as hosts that show them declare it.
_APPS: Final = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}


class Source(msgspec.Struct, frozen=True):
    """A public page, and the date of what it says (of a source file: the commit)."""

    url: str
    date: str


class Fact(msgspec.Struct, Generic[T], frozen=True):
    """A value, and where it was read; without a source it is assumed."""

    value: T
    sources: tuple[Source, ...] = ()


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A host as a client. A time of None means that it waits for ever."""

    client_info: Fact[dict[str, str]]
    protocol_version: Fact[str]
    capabilities: Fact[dict[str, Any]]
    connection_timeout_s: Fact[float | None]
    request_timeout_s: Fact[float | None]

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options of `mcplens.connect()`; `given` are those of the test's server.

        A question that the host would show to its user is declined, unless the test answers it.
        """
        from mcplens.session.profiles import Profiles

        declared = self.capabilities.value
        options: dict[str, Any] = {
            "client_info": self.client_info.value,
            "protocol_version": self.protocol_version.value,
            "capabilities": dict.fromkeys(_CAPABILITIES) | declared,
            "connection_timeout_s": self.connection_timeout_s.value,
            "request_timeout_s": self.request_timeout_s.value,
            "max_total_timeout_s": self.request_timeout_s.value,
        }
        for kind in ("sampling", "elicitation"):
            if kind in declared and not given.get(kind):
                options[kind] = Profiles().get("refuse")
        if "roots" in declared and given.get("roots") is None:
            options["roots"] = []
        return options


def _read(value: T, *sources: tuple[str, str]) -> Fact[T]:
    return Fact(value, tuple(Source(url, date) for url, date in sources))


_GITHUB: Final = "https://github.com"
# Handshakes of several hosts, captured by a server that writes down what it receives.
_PROBES: Final = (
    f"{_GITHUB}/commonmeasure/commonmeasure/blob/main/docs/knowledge-base/host-surfaces.md",
    "2026-09-13",
)
_CLAUDE_DESKTOP: Final = (
    f"{_GITHUB}/coddingtonbear/obsidian-local-rest-api/issues/329",
    "2026-08-20",
)
_CLAUDE_CODE: Final = (f"{_GITHUB}/aqm857886159/Nomi/pull/432", "2026-09-03")
_CLAUDE_CODE_TIMES: Final = ("https://code.claude.com/docs/en/env-vars", "2026-09-25")
_VSCODE: Final = (f"{_GITHUB}/rsclarke/mcp-taskfile-server/issues/134", "2026-07-24")

HOSTS: Final = {
    "claude-desktop": Identity(
        client_info=_read({"name": "claude-ai", "version": "0.1.0"}, _PROBES),
        protocol_version=_read("2025-11-25", _PROBES),
        capabilities=_read({"extensions": _APPS}, _CLAUDE_DESKTOP),
        connection_timeout_s=_read(60, _CLAUDE_DESKTOP),
        request_timeout_s=_read(
            240, (f"{_GITHUB}/anthropics/claude-code/issues/65643", "2026-06-05")
        ),
    ),
    "claude-code": Identity(
        client_info=_read(
            {"name": "claude-code", "version": "2.1.232"},
            (f"{_GITHUB}/cl-ai-project/cl-mcp/issues/26", "2025-12-19"),  # the name
            _CLAUDE_CODE,  # the version
        ),
        protocol_version=_read("2025-11-25", _CLAUDE_CODE),
        capabilities=_read({"roots": {"listChanged": True}, "elicitation": {}}, _CLAUDE_CODE),
        connection_timeout_s=_read(30, _CLAUDE_CODE_TIMES),
        request_timeout_s=_read(100_000, _CLAUDE_CODE_TIMES),
    ),
    "codex": Identity(
        client_info=_read(
            {"name": "codex-mcp-client", "title": "Codex", "version": "0.154.0"}, _PROBES
        ),
        protocol_version=_read("2025-06-18", _PROBES),
        capabilities=_read(
            {"elicitation": {"form": {}, "url": {}}},
            (f"{_GITHUB}/OldJobobo/splinterm/pull/84", "2026-09-15"),
        ),
        connection_timeout_s=_read(30, (f"{_GITHUB}/openai/codex/pull/16080", "2026-03-28")),
        request_timeout_s=_read(300, (f"{_GITHUB}/openai/codex/pull/28234", "2026-06-15")),
    ),
    "cursor": Identity(
        client_info=_read({"name": "cursor-vscode", "version": "1.0.0"}, _PROBES),
        protocol_version=_read("2025-11-25", _PROBES),
        # The page names the three, without what is below them.
        capabilities=_read(
            {"roots": {}, "elicitation": {}, "extensions": _APPS},
            ("https://articles.mcpruntime.org/mcp/request-flow/", "2026-06-04"),
        ),
        connection_timeout_s=Fact(60),  # the default of the TypeScript SDK
        request_timeout_s=_read(300, (f"{_GITHUB}/cursor/cursor/issues/3510", "2025-08-19")),
    ),
    "vscode": Identity(
        client_info=_read({"name": "Visual Studio Code", "version": "1.129.1"}, _VSCODE),
        protocol_version=_read("2025-11-25", _VSCODE),
        capabilities=_read(
            {
                "roots": {"listChanged": True},
                "sampling": {},
                "elicitation": {"form": {}, "url": {}},
                "tasks": {
                    "list": {},
                    "cancel": {},
                    "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
                },
                "extensions": _APPS,
            },
            _VSCODE,
        ),
        connection_timeout_s=_read(
            None,
            (
                f"{_GITHUB}/microsoft/vscode/blob/c5308376f79a19368c9bd9dccc81090aa1bfcb79"
                "/src/vs/workbench/contrib/mcp/common/mcpServerRequestHandler.ts",
                "c5308376",
            ),
        ),
        request_timeout_s=_read(None, (f"{_GITHUB}/microsoft/vscode/issues/311595", "2026-04-21")),
    ),
}


def host(name: str) -> Identity:
    """The host of this name.

    Raises:
        UsageError: it is not known.
    """
    if name not in HOSTS:
        raise pytest.UsageError(f"mcp_clients: {name!r} is not one of {', '.join(HOSTS)}")
    return HOSTS[name]
