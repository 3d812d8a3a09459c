"""The checks of an examination, and its result. Values only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

State = Literal["ok", "warning", "failed"]

# In the order in which things fail; the names are stable, the titles are for people.
TITLES: Final = {
    "configuration": "Configuration",
    "placeholders": "Placeholders",
    "command": "Command found",
    "started": "Started",
    "alive": "Keeps running",
    "first_byte": "First byte",
    "framing": "Framing",
    "dns": "DNS",
    "tcp": "TCP",
    "proxy": "Proxy",
    "tls": "TLS",
    "http_status": "HTTP status",
    "content_type": "Content type",
    "protected_resource": "Protected resource",
    "authorization_server": "Authorization server",
    "sign_in": "Sign-in",
    "era": "Era probe",
    "handshake": "Handshake",
    "capabilities": "Capabilities",
    "tools": "Tools",
    "resources": "Resources",
    "resource_templates": "Templates",
    "prompts": "Prompts",
    "ping": "Ping",
    "exit": "Clean exit",
}


class Check(msgspec.Struct, frozen=True):
    """One check: what was tried, what came, how long it took, and output that shows it."""

    name: str
    state: State
    tried: str
    came: str
    elapsed_s: float | None = None
    lines: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.name]


OnCheck = Callable[[Check], None]


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The checks that were made, one sentence about them, and one command that would help."""

    server: str
    checks: tuple[Check, ...]
    conclusion: str
    command: str
    error: dict[str, Any] | None = None

    @property
    def is_healthy(self) -> bool:
        return self.error is None and all(check.state != "failed" for check in self.checks)


class Examined(msgspec.Struct, frozen=True):
    """The server to examine: its name, and what `connect` takes."""

    name: str
    target: Any
    options: dict[str, Any]
    shown: str
    # How a person names it on the command line.
    words: str
    # The file that it is configured in.
    file: str | None = None

    @property
    def url(self) -> str | None:
        is_remote = isinstance(self.target, str) and "://" in self.target.split(" ", 1)[0]
        return self.target if is_remote else None
