"""The lock file (`mcp.lock`): contracts of servers as indented JSON with sorted keys.

Owns the format (docs/reference/lock-format.md). Called by the commands `lock`, `diff` and `lint`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcplens.contracts.canonical import decode, digest
from mcplens.contracts.contract import Contract, normalised
from mcplens.contracts.pointers import LISTS

FORMAT: Final = "mcplens-lock"
VERSION: Final = 1
FILE_NAME: Final = "mcp.lock"


class LockProblem(Exception):
    """A lock that cannot be read; the text says why."""


def write_lock(contracts: Iterable[Contract]) -> str:
    """The text of a lock."""
    servers = {contract.name: _server(contract) for contract in contracts}
    lock = {"format": FORMAT, "version": VERSION, "servers": servers}
    return json.dumps(lock, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _server(contract: Contract) -> dict[str, Any]:
    found: dict[str, Any] = {
        "serverInfo": contract.server_info,
        "protocolVersion": contract.protocol_version,
        "capabilities": contract.capabilities,
        "instructions": contract.instructions,
    }
    for kind in LISTS:
        items = contract.lists.get(kind)
        found[kind] = None if items is None else {
            name: {"definition": definition, "sha256": digest(definition)}
            for name, definition in items.items()
        }  # fmt: skip
    return found


def read_lock(text: str) -> dict[str, Contract]:
    """The contracts of a lock, by the configured names of the servers.

    Raises:
        LockProblem: it is not a lock, of another version, or was changed by hand.
    """
    try:
        lock = decode(text)
    except ValueError as problem:
        raise LockProblem(f"it is not valid JSON: {problem}") from None
    if not isinstance(lock, dict) or lock.get("format") != FORMAT:
        raise LockProblem(f'it has no "format": "{FORMAT}"')
    version = lock.get("version")
    if version != VERSION:
        is_newer = isinstance(version, int) and version > VERSION
        advice = "update mcplens, or write it again" if is_newer else "write it again"
        raise LockProblem(
            f"its version is {version!r}; this release reads version {VERSION}: {advice} "
            "with `mcplens lock`"
        )
    servers = lock.get("servers")
    if not isinstance(servers, dict):
        raise LockProblem('it has no "servers"')
    return {name: _contract(name, server) for name, server in servers.items()}


def _contract(name: str, server: Any) -> Contract:
    if not isinstance(server, dict):
        raise LockProblem(f"the server {name!r} is not an object")
    info, capabilities = server.get("serverInfo"), server.get("capabilities")
    version, instructions = server.get("protocolVersion"), server.get("instructions")
    return Contract(
        name=name,
        server_info=info if isinstance(info, dict) else {},
        protocol_version=version if isinstance(version, str) else None,
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        instructions=instructions if isinstance(instructions, str) else None,
        lists={kind: _items(name, kind, server.get(kind)) for kind in LISTS},
    )


def _items(server: str, kind: str, items: Any) -> dict[str, Any] | None:
    if not isinstance(items, Mapping):
        return None
    found = {}
    for name, item in items.items():
        where = f"{kind} of {server!r}: {name!r}"
        if not isinstance(item, dict) or "definition" not in item:
            raise LockProblem(f'{where} has no "definition"')
        definition = item["definition"]
        if item.get("sha256") != digest(definition):
            raise LockProblem(
                f"{where} does not match its sha256: the lock was edited by hand; write it again "
                "with `mcplens lock`"
            )
        found[name] = normalised(definition)
    return found
