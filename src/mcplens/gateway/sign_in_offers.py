"""How a user's client is told that the user has to sign in to a server first.

A client that can open URLs is asked to (elicitation in URL mode): by a request in 2025-11-25, by an
`input_required` result in 2026-07-28. Any other gets an error with the link. Called by
user_sessions.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from msgspec import Raw

from mcplens.errors import ServerError
from mcplens.gateway.inbound_call import does_answer, input_required
from mcplens.gateway.refused import Refused
from mcplens.gateway.wire import encoded, object_of, text_of
from mcplens.inbound.refusal import INTERNAL_ERROR
from mcplens.protocol.input_required import MAY_ASK

if TYPE_CHECKING:
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.user_sessions import UserSessions

# By which a client of 2026-07-28 comes again after it was asked.
_STATE: Final = "mcplens-sign-in"
_METHOD: Final = "elicitation/create"


class InputNeeded(Exception):
    """A request of 2026-07-28 is answered with an `input_required` result, which is here."""

    def __init__(self, body: bytes) -> None:
        super().__init__("the user has to sign in first")
        self.body = body


def take_answers(params: dict[str, Any]) -> bool:
    """Whether a request comes again after a sign-in was offered; the server sees no trace of it."""
    if text_of(params.get("requestState")) != _STATE:
        return False
    del params["requestState"]
    params.pop("inputResponses", None)
    return True


async def offer_sign_in(sessions: UserSessions, call: InboundCall, server_id: str) -> None:
    """Offer a sign-in to the user of a call, and wait for it where the client can be asked.

    Raises:
        Refused: the user did not sign in; the message has the link, if that was not shown.
        InputNeeded: the client comes again when the user is done.
    """
    caller = call.client.peer.caller
    if call.is_after_sign_in and await sessions.until_signed_in(caller, server_id):
        return
    url = await sessions.links.offer(caller, server_id)
    message = f"Sign in to {server_id}, so that calls to it are made with your account."
    params: dict[str, Any] = {"mode": "url", "message": message, "url": url}
    can_open = does_answer(call.capabilities, _METHOD, params)
    if call.is_stateless and can_open and call.method in MAY_ASK:
        questions = {"sign_in": (_METHOD, Raw(encoded(params)))}
        raise InputNeeded(input_required(questions, _STATE))
    if call.is_stateless or not can_open:
        text = f"{server_id} wants you to sign in first: open {url}, then call again"
        raise Refused(INTERNAL_ERROR, text, {"code": "SIGN_IN_REQUIRED", "url": url})
    await _ask(sessions, call, server_id, params)


async def _ask(
    sessions: UserSessions, call: InboundCall, server_id: str, params: dict[str, Any]
) -> None:
    """Ask a client of 2025-11-25 to open the link, and wait until the user is done."""
    name = str(uuid4())
    params = {**params, "elicitationId": name}
    try:
        answer = await call.client.ask(_METHOD, Raw(encoded(params)), call.id)
    except ServerError as error:
        text = f"{server_id} wants you to sign in, and the client did not ask: {error.rpc_message}"
        raise Refused(INTERNAL_ERROR, text) from None
    if object_of(answer).get("action") != "accept":
        raise Refused(INTERNAL_ERROR, f"{server_id}: the sign-in was declined")
    is_done = await sessions.until_signed_in(call.client.peer.caller, server_id)
    call.client.notify("notifications/elicitation/complete", {"elicitationId": name}, call.id)
    if not is_done:
        raise Refused(INTERNAL_ERROR, f"{server_id}: nobody signed in in time; call again")
