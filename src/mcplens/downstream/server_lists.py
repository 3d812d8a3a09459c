"""The lists of one server as last fetched: items with their bytes, age, and why a fetch failed.

A list that cannot be fetched keeps its last good items, marked as stale; those of a server that is
gone are dropped after a while. Filled by list_fetcher.py, read by the gateway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from mcplens.downstream.capabilities_cache import ServerCapabilities
from mcplens.protocol.result_types import Item, Prompt, Resource, ResourceTemplate, Tool
from mcplens.session.catalog import METHODS

I = TypeVar("I", bound=Item)  # noqa: E741


class ServerList(msgspec.Struct, frozen=True, kw_only=True):
    """One list; `fetched_at` is the wall time of its items, None if it was never fetched."""

    kind: str
    items: tuple[Item, ...] = ()
    fetched_at: float | None = None
    error: dict[str, Any] | None = None  # of the last fetch
    is_supported: bool = True  # False: the server does not announce it
    is_stale: bool = False  # the server is gone, or the last fetch failed

    @property
    def is_known(self) -> bool:
        """Whether it was fetched, could not be, or is not offered; False before the first time."""
        return self.fetched_at is not None or self.error is not None or not self.is_supported

    def age_s(self, now_wall: float) -> float | None:
        return None if self.fetched_at is None else max(0.0, now_wall - self.fetched_at)


class ServerLists:
    """The four lists of one server, by kind."""

    def __init__(self) -> None:
        self._lists = {kind: ServerList(kind=kind) for kind in METHODS}
        self._tools: dict[str, Tool] = {}

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(each.items)} {each.kind}" for each in self)
        return f"<ServerLists {counts}>"

    def __getitem__(self, kind: str) -> ServerList:
        return self._lists[kind]

    def __iter__(self) -> Iterator[ServerList]:
        return iter(self._lists.values())

    def replace(self, kind: str, **changes: Any) -> None:
        """Change a list."""
        self._lists[kind] = msgspec.structs.replace(self._lists[kind], **changes)
        if kind == "tools":
            self._tools = {each.name: each for each in self._items("tools", Tool)}

    @property
    def are_known(self) -> bool:
        """Whether each list was asked for at least once."""
        return all(each.is_known for each in self)

    def tool(self, name: str) -> Tool | None:
        """A tool as last listed."""
        return self._tools.get(name)

    @property
    def capabilities(self) -> ServerCapabilities:
        """All lists; one whose last fetch failed is empty."""
        return ServerCapabilities(
            tools=self._fetched("tools", Tool),
            resources=self._fetched("resources", Resource),
            resource_templates=self._fetched("resource_templates", ResourceTemplate),
            prompts=self._fetched("prompts", Prompt),
        )

    def _fetched(self, kind: str, shape: type[I]) -> tuple[I, ...]:
        return () if self._lists[kind].error is not None else self._items(kind, shape)

    def _items(self, kind: str, shape: type[I]) -> tuple[I, ...]:
        return tuple(item for item in self._lists[kind].items if isinstance(item, shape))
