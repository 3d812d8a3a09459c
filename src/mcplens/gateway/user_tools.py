"""The gateway's own tools for servers that each user signs in to: `sign_in` and `sign_out`.

`sign_in` stands in place of the tools of a server while a user is not signed in; `sign_out` is
beside them otherwise, unless the server has a tool of that name itself. Used by user_sessions.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Raw

from mcplens.gateway.catalog import ServerList, ServerLists
from mcplens.gateway.refused import Refused
from mcplens.gateway.sign_in_offers import offer_sign_in
from mcplens.gateway.users import user_of
from mcplens.gateway.wire import completed, encoded, members, text_of

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.user_sessions import UserSessions

SIGN_IN_TOOL: Final = "sign_in"
SIGN_OUT_TOOL: Final = "sign_out"


def sign_in_lists(server_id: str) -> ServerLists:
    """What a user who is not signed in sees of a server."""
    tool = _tool(
        SIGN_IN_TOOL,
        f"Sign in to {server_id}",
        f"{server_id} wants each user to sign in. Call this to get the address "
        "where the user signs in; the tools of the server are listed then.",
        {"readOnlyHint": True, "openWorldHint": True},
    )
    return ServerLists(server_id=server_id, tools=ServerList(own=(tool,)))


def with_sign_out(lists: ServerLists) -> ServerLists:
    """What a user who is signed in sees of a server."""
    tools = lists.tools
    if any(text_of(members(tool).get("name")) == SIGN_OUT_TOOL for tool in tools.items):
        return lists
    server_id = lists.server_id
    tool = _tool(
        SIGN_OUT_TOOL,
        f"Sign out of {server_id}",
        f"Call this only when the user wants to sign out of {server_id}, or to use another "
        "account there. It gives the address where the user confirms it.",
        {"readOnlyHint": True, "openWorldHint": True},
    )
    return msgspec.structs.replace(lists, tools=msgspec.structs.replace(tools, own=(tool,)))


class UserTools:
    """Answers calls of these tools."""

    def __init__(self, sessions: UserSessions) -> None:
        self._sessions = sessions

    def __repr__(self) -> str:
        return f"<UserTools of {self._sessions!r}>"

    def has(self, call: InboundCall, connection: ServerConnection, tool: str) -> bool:
        """Whether a tool is ours: the one to sign in, or the one to sign out."""
        if tool not in (SIGN_IN_TOOL, SIGN_OUT_TOOL) or not connection.entry.is_per_user:
            return False
        caller = call.client.peer.caller
        if tool == SIGN_IN_TOOL:
            return not self._sessions.is_open(caller, connection)
        own = self._sessions.find(caller, connection.server_id)
        return own is None or own.lists.tool(tool) is None

    async def call(self, call: InboundCall, connection: ServerConnection, tool: str) -> bytes:
        """The result of a tool of ours; raises Refused if the caller is not one user."""
        caller, server_id = user_of(call.client, connection), connection.server_id
        is_signed_in = await self._sessions.has_token(caller, connection)
        if tool == SIGN_OUT_TOOL and is_signed_in:
            url = await self._sessions.links.offer(caller, server_id, is_sign_out=True)
            text = f"To sign out of {server_id}, open {url}"
        elif tool == SIGN_OUT_TOOL:
            text = f"You are not signed in to {server_id}."
        else:
            text = f"You are signed in to {server_id}; its tools are listed now."
            if not is_signed_in:
                try:
                    await offer_sign_in(self._sessions, call, server_id)
                except Refused as refused:
                    text = str(refused)  # a model reads results, and has the user open the link
        return _result(call, text)


def _result(call: InboundCall, text: str) -> bytes:
    body = encoded({"content": [{"type": "text", "text": text}]})
    return completed(body) if call.is_stateless else body


def _tool(name: str, title: str, description: str, annotations: dict[str, Any]) -> Raw:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    tool = {"name": name, "title": title, "description": description}
    return Raw(encoded({**tool, "inputSchema": schema, "annotations": annotations}))
