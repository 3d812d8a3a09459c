"""Sign-ins of the gateway's users to servers that each user signs in to: the list, and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from mcplens.errors import InspectorError
from mcplens.gateway import callers
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mcplens.gateway.sign_outs import SignOuts


class UserSignInView(msgspec.Struct, frozen=True):
    """A user of the gateway who is signed in to a server; `caller` tells users apart.

    `renewed_at` is when the token was got, or last refreshed.
    """

    caller: str
    user: str
    server_id: str
    server_url: str
    renewed_at: float


class UserSignIns(Command, frozen=True, kw_only=True):
    """Who is signed in to what through the gateway."""


@command
async def user_sign_ins(workspace: Workspace, command: UserSignIns) -> list[UserSignInView]:
    return [
        UserSignInView(
            one.caller,
            callers.name_of(one.caller),
            one.server_id,
            one.server_url,
            one.renewed_at,
        )
        for one in await _sign_outs(workspace).kept()
    ]


class SignUserOut(Command, frozen=True, kw_only=True):
    """End a user's sign-in: its token is forgotten, and revoked where that is possible."""

    caller: str
    server_id: str
    server_url: str


@command
async def sign_user_out(workspace: Workspace, command: SignUserOut) -> str:
    done = await _sign_outs(workspace).end(
        command.caller, command.server_id, command.server_url, "an operator, on the page"
    )
    return f"{callers.name_of(command.caller)} {done.text}"


def _sign_outs(workspace: Workspace) -> SignOuts:
    service = workspace.gateway.service
    sessions = None if service is None else service.gateway.users.sessions
    if sessions is None:
        text = "no server behind the gateway has each user sign in (auth.perUser)"
        raise InspectorError("INVALID_REQUEST", text)
    return sessions.sign_outs
