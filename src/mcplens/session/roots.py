"""Roots: the folders that the server may know about (`roots/list`), with change notifications."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mcplens.errors import ConfigurationError
from mcplens.events import RootsChanged
from mcplens.session.connection import Connection

if TYPE_CHECKING:
    from mcplens.protocol.roots import Root
    from mcplens.session.question_handler import ServerRequest

    RootLike = str | os.PathLike[str] | Root | dict[str, Any]


class Roots:
    """The roots of one server, in the order in which they were added."""

    method = "roots/list"
    capability = "roots"

    def __init__(self, connection: Connection, roots: Iterable[RootLike] | None = None) -> None:
        self._connection = connection
        self.is_on = roots is not None
        self._roots = _by_uri(roots or ())

    def __repr__(self) -> str:
        return f"<Roots {list(self._roots)}>"

    def list(self) -> list[Root]:
        return [*self._roots.values()]

    def add(self, root: RootLike, name: str | None = None) -> Root:
        """Tell the server of one more folder: a path or a file:// URI.

        Raises:
            ConfigurationError: CONFIGURATION_INVALID; it is neither.
        """
        added = _root(root, name)
        self._set(self._roots | {added.uri: added})
        return added

    def remove(self, root: RootLike) -> bool:
        """Take a folder away again; False if it was none."""
        uri = _root(root).uri
        if uri not in self._roots:
            return False
        self._set({known: value for known, value in self._roots.items() if known != uri})
        return True

    def set(self, roots: Iterable[RootLike]) -> None:
        """Have exactly these roots.

        Raises:
            ConfigurationError: CONFIGURATION_INVALID; nothing was changed.
        """
        self._set(_by_uri(roots))

    def on_request(self, request: ServerRequest) -> dict[str, Any]:
        """The answer to roots/list."""
        return {"roots": self._wire()}

    def _set(self, roots: dict[str, Root]) -> None:
        if roots == self._roots:
            return
        self._roots = roots
        self.is_on = True
        connection = self._connection
        connection.publish(RootsChanged(roots=self._wire()))
        session = connection.session
        if session is None or session.is_lost or session.is_stateless:
            return
        declared = session.client_capabilities.get(self.capability)
        if isinstance(declared, dict) and declared.get("listChanged"):
            session.sender.notify("notifications/roots/list_changed")

    def _wire(self) -> Any:
        from mcplens.protocol.roots import to_wire

        return [to_wire(root) for root in self._roots.values()]


def _by_uri(roots: Iterable[RootLike]) -> dict[str, Root]:
    return {root.uri: root for root in map(_root, roots)}


def _root(value: RootLike, name: str | None = None) -> Root:
    from mcplens.protocol.roots import Root, root_of

    if isinstance(value, Root):
        return value
    text: Any = value
    if isinstance(value, dict):
        text, name = value.get("uri"), name or value.get("name")
    try:
        platform = "nt" if os.name == "nt" else "posix"
        return root_of(os.fspath(text), name=name, platform=platform, cwd=os.getcwd())
    except (ValueError, TypeError, OSError) as problem:
        message = f"{text!r} cannot be a root: {problem}"
        raise ConfigurationError("CONFIGURATION_INVALID", message) from None
