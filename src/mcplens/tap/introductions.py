"""Who the client and the server of a tapped conversation say they are, published as events.

Used by conversation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcplens.bus import Publisher
from mcplens.events import ClientIntroduced, EraDecided, ServerIntroduced
from mcplens.protocol.eras import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    PROTOCOL_VERSION,
    SERVER_INFO,
    choose_version,
    era_of,
)


class Introductions:
    """Publishes who both sides are, when they say so and when that changes."""

    def __init__(self, publish: Publisher) -> None:
        self._publish = publish
        self._client: tuple[Any, Any] | None = None  # as it introduced itself last

    def __repr__(self) -> str:
        return f"<Introductions, client {'unknown' if self._client is None else 'known'}>"

    def client_asked(self, meta: Mapping[str, Any]) -> None:
        """2026-07-28 says it in `_meta` of every request."""
        if CLIENT_INFO in meta:
            about = (meta.get(CLIENT_INFO), meta.get(CLIENT_CAPABILITIES))
            self._introduce_client(meta.get(PROTOCOL_VERSION), about)

    def client_initialized(self, params: Mapping[str, Any]) -> None:
        """2025-11-25 says it once, in initialize."""
        about = (params.get("clientInfo"), params.get("capabilities"))
        self._introduce_client(params.get("protocolVersion"), about)

    def _introduce_client(self, version: object, about: tuple[Any, Any]) -> None:
        if about == self._client:
            return
        self._client = about
        info, capabilities = about
        self._publish(
            ClientIntroduced(
                protocol_version=str(version or ""),
                client_info=info if isinstance(info, dict) else {},
                capabilities=capabilities if isinstance(capabilities, dict) else {},
            )
        )

    def server_answered(self, method: str, fields: Mapping[str, Any]) -> None:
        """The result of `initialize` or `server/discover`."""
        version, info = fields.get("protocolVersion"), fields.get("serverInfo")
        if method == "server/discover":
            meta = fields.get("_meta")
            version = choose_version(fields.get("supportedVersions"))
            info = meta.get(SERVER_INFO) if isinstance(meta, Mapping) else None
        version = version if isinstance(version, str) else ""
        capabilities, instructions = fields.get("capabilities"), fields.get("instructions")
        self._publish(
            EraDecided(
                era=era_of(version).value,
                protocol_version=version,
                reason=f"the server answered the client's {method}",
            )
        )
        self._publish(
            ServerIntroduced(
                protocol_version=version,
                server_info=info if isinstance(info, dict) else {},
                capabilities=capabilities if isinstance(capabilities, dict) else {},
                instructions=instructions if isinstance(instructions, str) else None,
            )
        )
