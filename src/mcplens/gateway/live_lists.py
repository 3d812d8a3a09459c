"""The lists of a live server in the form that catalogs are made of.

Called by gateway.py when a catalog is made anew.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from mcplens.downstream.server_connection import ServerConnection
from mcplens.gateway.catalog import KINDS, Kind, ServerList, ServerLists, Stale
from mcplens.gateway.inbound_call import is_stateless_server
from mcplens.gateway.task_shapes import MAY_BE_TASK, offers_extension
from mcplens.gateway.wire import encoded
from mcplens.protocol.result_types import Item, Tool


def lists_of(
    connection: ServerConnection, now: float, twin: ServerConnection | None = None
) -> ServerLists:
    """What a server offers; `twin` is its session of 2025-11-25, where it has two."""
    lists: dict[Kind, Any] = {}
    for kind in KINDS:
        listed = connection.lists[kind]
        stale = None
        if listed.is_stale:
            reason = (listed.error or {}).get("message") or connection.state.message
            stale = Stale(listed.age_s(now) or 0.0, str(reason or "the server is not connected"))
        items = tuple(Raw(item.raw) for item in listed.items)
        sources: tuple[Raw, ...] = ()
        if kind == "tools" and lacks_execution(connection):
            sources, items = items, tuple(_with_execution(item, twin) for item in listed.items)
        lists[kind] = ServerList(items, stale, sources)
    return ServerLists(server_id=connection.server_id, **lists)


def lacks_execution(connection: ServerConnection) -> bool:
    """Whether a 2026-07-28 server may make tasks of its tools: its list does not say of which.

    Clients of 2025-11-25 must not ask for a task unless the tool says that it may be one.
    """
    introduction = connection.introduction
    if introduction is None or not is_stateless_server(connection):
        return False
    return offers_extension(introduction.capabilities)


def _with_execution(item: Item, twin: ServerConnection | None) -> Raw:
    """A tool with what 2025-11-25 says about tasks, from the server's other session if possible."""
    raw = bytes(item.raw)
    if not isinstance(item, Tool) or item.execution is not None or raw[:1] != b"{":
        return Raw(raw)
    same = None if twin is None else twin.lists.tool(item.name)
    if same is None:
        execution = bytes(MAY_BE_TASK)
    elif same.execution is None:
        return Raw(raw)
    else:
        execution = encoded(same.execution)
    return Raw(b'{"execution":' + execution + b"," + raw[1:])
