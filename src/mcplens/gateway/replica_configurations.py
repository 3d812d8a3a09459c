"""Whether the replicas of a gateway have the same configuration: digests, remarks on who differs.

Each replica serves its own files. The digest stands in its presence in the store; differences are
shown in the log, and both digests in `/status`. Made by service.py.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from mcplens.config.model import ServerEntry, Settings
from mcplens.events import Remark

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

# What a replica has to itself.
_OWN: Final = ("listen", "replica")
_DIGITS: Final = 16


def configuration_digest(
    entries: Iterable[ServerEntry], settings: Settings, view: str, keys: tuple[str, ...]
) -> str:
    """Tells one configuration from another; keyed, since it is made of secrets too."""
    servers = [(entry.name, entry.raw) for entry in entries]
    gateway = {name: value for name, value in settings.gateway.items() if name not in _OWN}
    raw = msgspec.json.encode([servers, settings.views, view, gateway], order="sorted")
    key = keys[0].encode() if keys else b""
    return hmac.new(key, raw, hashlib.sha256).hexdigest()[:_DIGITS]


class ReplicaConfigurations:
    """Publishes a remark when another replica begins or ceases to differ."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._differing: set[str] = set()  # names
        gateway.replica.on_look.append(self._compare)

    def __repr__(self) -> str:
        return f"<ReplicaConfigurations {len(self._differing)} differ>"

    def use(self, digest: str) -> None:
        """This replica has another configuration from now on."""
        self._gateway.replica.configuration = digest

    def _compare(self) -> None:
        replica = self._gateway.replica
        others = {one.name: one.configuration for one in replica.others.values()}
        known, own = self._differing, replica.configuration
        self._differing = {name for name, digest in others.items() if digest and digest != own}
        for name in sorted(self._differing - known):
            self._tell(
                f"{name} has another configuration ({others[name]}) than {replica.name} ({own}): "
                "each serves its own"
            )
        for name in sorted((known - self._differing) & others.keys()):
            self._tell(f"{name} has the same configuration as {replica.name} now ({own})")

    def _tell(self, text: str) -> None:
        self._gateway.bus.publish(Remark(message=text), "")
