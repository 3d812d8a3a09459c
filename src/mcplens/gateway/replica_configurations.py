"""Whether the replicas of a gateway have the same configuration: digests, remarks on who differs.

Each replica serves its own files. The digests of the whole and of its parts stand in its presence
in the store; the log, `/status` and the page say who differs, and in what. Made by service.py.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from mcplens.config.model import ServerEntry, Settings
from mcplens.events import Remark

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

# What a replica has to itself.
_OWN: Final = ("listen", "replica")
_KEYS: Final = "gateway.replica.keys"
_DIGITS: Final = 16
_PART_DIGITS: Final = 8
# Beyond so many parts of one kind only the kind is told: a presence is written every second.
_MOST_PARTS: Final = 100
# Of parts that differ, so many are named in the log.
_NAMED_PARTS: Final = 5


def configuration_digest(
    entries: Iterable[ServerEntry], settings: Settings, view: str, keys: tuple[str, ...]
) -> str:
    """Tells one configuration from another; keyed, since it is made of secrets too."""
    servers = [(entry.name, entry.raw) for entry in entries]
    gateway = {name: value for name, value in settings.gateway.items() if name not in _OWN}
    return _digest([servers, settings.views, view, gateway], keys)[:_DIGITS]


def part_digests(
    entries: Iterable[ServerEntry], settings: Settings, view: str, keys: tuple[str, ...]
) -> dict[str, str]:
    """Digests of the parts of a configuration, by the names that they have in the file."""
    kinds: dict[str, Mapping[str, object]] = {
        "mcpServers": {entry.name: entry.raw for entry in entries},
        "views": settings.views,
        "gateway": {key: value for key, value in settings.gateway.items() if key not in _OWN},
    }
    found = {_KEYS: _digest(None, keys)[:_PART_DIGITS]}
    found["defaultPresetId"] = _digest(view, keys)[:_PART_DIGITS]
    for kind, parts in kinds.items():
        if len(parts) > _MOST_PARTS:
            found[kind] = _digest(parts, keys)[:_PART_DIGITS]
            continue
        for name, value in parts.items():
            found[f"{kind}.{name}"] = _digest(value, keys)[:_PART_DIGITS]
    return found


def differing_parts(own: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The parts in which two configurations differ; none if one of them is not known by parts."""
    if not own or not other:
        return []
    if own.get(_KEYS) != other.get(_KEYS):
        return [_KEYS]  # by another key every digest is another one
    return sorted(name for name in own.keys() | other.keys() if own.get(name) != other.get(name))


def _digest(value: object, keys: tuple[str, ...]) -> str:
    key = keys[0].encode() if keys else b""
    raw = msgspec.json.encode(value, order="sorted")
    return hmac.new(key, raw, hashlib.sha256).hexdigest()


class ReplicaConfigurations:
    """Publishes a remark when another replica begins or ceases to differ."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._differing: set[str] = set()  # names
        gateway.replica.on_look.append(self._compare)

    def __repr__(self) -> str:
        return f"<ReplicaConfigurations {len(self._differing)} differ>"

    def use(
        self,
        entries: Sequence[ServerEntry],
        settings: Settings,
        view: str,
        keys: tuple[str, ...],
    ) -> None:
        """This replica has this configuration from now on."""
        replica = self._gateway.replica
        replica.configuration = configuration_digest(entries, settings, view, keys)
        if keys:  # else nobody compares them
            replica.parts = part_digests(entries, settings, view, keys)

    def _compare(self) -> None:
        replica = self._gateway.replica
        others = {one.name: one for one in replica.others.values()}
        known, own = self._differing, replica.configuration
        self._differing = {
            name for name, one in others.items() if one.configuration not in ("", own)
        }
        for name in sorted(self._differing - known):
            other = others[name]
            parts = differing_parts(replica.parts, other.parts)
            self._tell(
                f"{name} has another configuration ({other.configuration}) than {replica.name} "
                f"({own}): each serves its own{_in_words(parts)}"
            )
        for name in sorted((known - self._differing) & others.keys()):
            self._tell(f"{name} has the same configuration as {replica.name} now ({own})")

    def _tell(self, text: str) -> None:
        self._gateway.bus.publish(Remark(message=text), "")


def _in_words(parts: list[str]) -> str:
    if not parts:
        return ""
    more = len(parts) - _NAMED_PARTS
    shown = ", ".join(parts[:_NAMED_PARTS]) + (f" and {more} more" if more > 0 else "")
    return f". They differ in {shown}"
