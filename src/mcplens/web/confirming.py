"""What a person is shown before a server that came from elsewhere is first started.

The values of its variables too: NODE_OPTIONS or LD_PRELOAD make another program of a harmless
command. Nothing of the command or the address is masked: what is masked could be the harmful
part. Called by server_commands.py.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from mcplens.config.model import ServerEntry
from mcplens.config.trust import asked_variables, fingerprint, given_values
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.web import views
from mcplens.web.showing.entries import words_of

# What else decides what it may see or whom it may speak for.
_OTHERS: Final = ("inheritEnv", "profile", "roots", "capabilities", "meta", "caFile", "insecure")


def confirmation_view(entry: ServerEntry) -> views.ConfirmationView:
    """All that decides what an entry would do, with the fingerprint of just that."""
    view = views.ConfirmationView(
        command=words_of(entry),
        url=_url(entry),
        cwd=entry.cwd,
        env=_pairs(entry.env, entry.raw.get("env")),
        headers=_pairs(entry.headers, entry.raw.get("headers")),
        others=[
            views.PairView(key, msgspec.json.encode(entry.raw[key], enc_hook=str).decode(), False)
            for key in _OTHERS
            if key in entry.raw
        ],
        variables=list(asked_variables(entry)),
    )
    shown = fingerprint(entry).encode() + msgspec.json.encode(view)
    return msgspec.structs.replace(view, fingerprint=hashlib.sha256(shown).hexdigest())


def _url(entry: ServerEntry) -> str | None:
    """As the file has it: what a placeholder stands for may be a secret."""
    if entry.url is None:
        return None
    written = (entry.raw.get(key) for key in ("url", "serverUrl", "httpUrl"))
    return next((url for url in written if isinstance(url, str) and url), entry.url)


def _pairs(resolved: dict[str, str], written: Any) -> list[views.PairView]:
    return [
        views.PairView(name, value, is_secret_name(name))
        for name, value in given_values(resolved, written).items()
    ]
