"""Well-known hosts as clients: what each says of itself, what it declares, how long it waits.

As they were seen on the wire or documented, with source and date: hosts change. Called by hooks.py
for `mcp_clients` and `--mcp-clients`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pytest

# Taken away unless a host declares them: the mark's own handlers would declare them too.
_CAPABILITIES: Final = ("roots", "sampling", "elicitation", "tasks", "extensions")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A host as a client. A time of None means that it waits for ever."""

    name: str
    version: str
    protocol_version: str
    capabilities: dict[str, Any]
    connection_timeout_s: float | None
    request_timeout_s: float | None
    source: str
    date: str

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options of `mcplens.connect()`; `given` are those of the test's server.

        A question that the host would show to its user is declined, unless the test answers it.
        """
        from mcplens.session.profiles import Profiles

        options: dict[str, Any] = {
            "client_info": {"name": self.name, "version": self.version},
            "protocol_version": self.protocol_version,
            "capabilities": dict.fromkeys(_CAPABILITIES) | self.capabilities,
            "connection_timeout_s": self.connection_timeout_s,
            "request_timeout_s": self.request_timeout_s,
            "max_total_timeout_s": self.request_timeout_s,
        }
        for kind in ("sampling", "elicitation"):
            if kind in self.capabilities and not given.get(kind):
                options[kind] = Profiles().get("refuse")
        if "roots" in self.capabilities and given.get("roots") is None:
            options["roots"] = []
        return options


HOSTS: Final = {
    "claude-desktop": Identity(
        name="claude-ai",
        version="0.1.0",
        protocol_version="2025-11-25",
        capabilities={},
        connection_timeout_s=60,
        request_timeout_s=60,
        source="https://github.com/modelcontextprotocol/servers/issues/4153",
        date="2026-05-13",
    ),
    "claude-code": Identity(
        name="claude-code",
        version="2.1.231",
        protocol_version="2025-11-25",
        capabilities={"roots": {"listChanged": True}, "elicitation": {}},
        connection_timeout_s=30,
        request_timeout_s=None,
        source="https://github.com/anthropics/claude-code/issues/86502",
        date="2026-08-13",
    ),
    "codex": Identity(
        name="codex-mcp-client",
        version="0.101.0",
        protocol_version="2025-06-18",
        capabilities={"elicitation": {}},
        connection_timeout_s=10,
        request_timeout_s=60,
        source="https://github.com/openai/codex/pull/20562",
        date="2026-05-01",
    ),
    "cursor": Identity(
        name="cursor-vscode",
        version="1.0.0",
        protocol_version="2025-11-25",
        capabilities={"roots": {"listChanged": False}, "elicitation": {}},
        connection_timeout_s=60,
        request_timeout_s=300,
        source="https://github.com/cursor/cursor/issues/3887",
        date="2025-12-15",
    ),
    "vscode": Identity(
        name="Visual Studio Code",
        version="1.129.1",
        protocol_version="2025-11-25",
        capabilities={
            "roots": {"listChanged": True},
            "sampling": {},
            "elicitation": {"form": {}, "url": {}},
            "tasks": {
                "list": {},
                "cancel": {},
                "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
            },
            "extensions": {
                "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}
            },
        },
        connection_timeout_s=None,
        request_timeout_s=None,
        source="https://github.com/rsclarke/mcp-taskfile-server/issues/134",
        date="2026-07-24",
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
