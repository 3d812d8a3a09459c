"""The gateway's own refusal of a request, as a JSON-RPC error."""

from __future__ import annotations

from typing import Any

from mcplens.errors import InspectorError


class Refused(Exception):
    """A request that is answered with an error of ours."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def naming(server_id: str, error: InspectorError) -> str:
    """The message of an error, with the server that it is about: a client knows several."""
    if not server_id or server_id in error.message:
        return error.message
    return f"{server_id}: {error.message}"
