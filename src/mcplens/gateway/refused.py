"""The gateway's own refusals, as JSON-RPC errors: what happened, to which server, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

from mcplens.errors import InspectorError
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS


class Refused(Exception):
    """A request that is answered with an error of ours."""

    def __init__(
        self, code: int, message: str, data: Any = None, *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        # Over HTTP it is then a 503: nothing was begun, and a load balancer may send it elsewhere.
        self.retry_after_s = retry_after_s


def shutting_down() -> Refused:
    """The refusal of a call that comes after a gateway was told to stop."""
    text = "the gateway is shutting down, and this call was not begun; connect again later"
    return Refused(INTERNAL_ERROR, text, retry_after_s=1)


def lost_with_replica(what: str) -> Refused:
    """The refusal of a request about work that another replica had, which is gone."""
    text = (
        f"the replica of the gateway that had this {what} is gone, and with it the {what}, which "
        "may have been carried out; check before you repeat it"
    )
    return Refused(INVALID_PARAMS, text, {"code": "CONNECTION_LOST", "mayHaveRun": True})


def given_up(server_id: str, why: str) -> tuple[str, dict[str, Any]]:
    """What the client of a call is told that the gateway did not wait for any longer."""
    what = f"{server_id} may have carried it out" if server_id else "nothing was carried out"
    text = f"{why} before this call was finished; {what}"
    return text, {"code": "CONNECTION_LOST", "server": server_id}


def naming(server_id: str, error: InspectorError) -> str:
    """The message of an error, with the server that it is about: a client knows several."""
    if not server_id or server_id in error.message:
        return error.message
    return f"{server_id}: {error.message}"


# What whoever runs the gateway can do about an error; `{0}` is the server's name.
_ADVICE: Final = {
    "AUTHENTICATION_FAILED": "sign in with `mcplens auth login {0}`, or in the web UI",
    "SIGN_IN_FAILED": "sign in with `mcplens auth login {0}`, or in the web UI",
    "COMMAND_NOT_FOUND": "install the command, or correct `command` of {0} in the configuration",
    "CONFIGURATION_INVALID": "correct {0} in the configuration; the gateway follows the file",
    "CONNECTION_REFUSED": "start the server, or correct `url` of {0} in the configuration",
    "HOST_NOT_FOUND": "correct `url` of {0} in the configuration",
    "TLS_FAILED": "set `caFile` of {0} in the configuration",
    "SERVER_EXITED": "`mcplens doctor {0}` checks whether it starts, and shows what it prints",
    "CONNECTION_TIMEOUT": "`mcplens tools {0}` shows how far it gets when it starts",
    "REQUEST_TIMEOUT": "allow more time with `requestTimeout` of {0} in the configuration",
    "MESSAGE_TOO_LARGE": "allow more with `maxMessageBytes` of {0} in the configuration",
}


def advice_for(server_id: str, error: InspectorError) -> str | None:
    """What can be done about an error of a server's connection; None where nothing is known."""
    found = _ADVICE.get(error.code)
    return None if found is None else found.format(server_id or "the server")


def unknown_name(word: str, name: str, names: Sequence[str]) -> str:
    """What is said of a name that a view does not have, with those that may be meant."""
    shown = name[:200]
    near = get_close_matches(shown, names, n=3, cutoff=0.6)
    if near:
        return f"Unknown {word}: {shown}. Did you mean {' or '.join(near)}?"
    return f"Unknown {word}: {shown}. {word}s/list has the names that can be used here"


def forget_frames(error: BaseException | None) -> None:
    """Release what an error holds by its frames: a request that was given up is kept for long."""
    while error is not None:
        error.__traceback__ = None
        error = error.__context__
