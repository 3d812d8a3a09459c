"""What a person is shown before a server that came from elsewhere is first started.

The values of its variables too: NODE_OPTIONS or LD_PRELOAD make another program of a harmless
command. Called by server_commands.py.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from mcplens.config.model import ServerEntry
from mcplens.config.trust import asked_variables, fingerprint
from mcplens.protocol.masking import is_secret_name, mask_url
from mcplens.web import views
from mcplens.web.pictures import command_of


def confirmation_view(entry: ServerEntry) -> views.ConfirmationView:
    """All that decides what an entry would do, with the fingerprint of just that."""
    view = views.ConfirmationView(
        command=command_of(entry),
        url=None if entry.url is None else mask_url(entry.url),
        cwd=entry.cwd,
        env=_pairs(entry.env, entry.raw.get("env")),
        headers=_pairs(entry.headers, entry.raw.get("headers")),
        variables=list(asked_variables(entry)),
    )
    shown = fingerprint(entry).encode() + msgspec.json.encode(view)
    return msgspec.structs.replace(view, fingerprint=hashlib.sha256(shown).hexdigest())


def _pairs(resolved: dict[str, str], written: Any) -> list[views.PairView]:
    """As the file has them, since a placeholder stands for a value of the user's own.

    Those of an `envFile` are only among the resolved ones.
    """
    values: dict[str, Any] = resolved | (written if isinstance(written, dict) else {})
    return [
        views.PairView(name, str(value), is_secret_name(name))
        for name, value in sorted(values.items())
    ]
