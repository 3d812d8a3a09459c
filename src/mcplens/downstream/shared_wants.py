"""What several clients want of one server: resource subscriptions, tasks and a log level.

Pure: counts who wants what, and says when the server must be told.
"""

from __future__ import annotations

from collections.abc import Hashable

from mcplens.protocol.eras import LOG_LEVELS


class SharedWants:
    """Subscriptions and log levels by holder."""

    def __init__(self) -> None:
        self._holders: dict[str, set[Hashable]] = {}  # by URI
        self._watchers: dict[str, set[Hashable]] = {}  # by task
        self._levels: dict[Hashable, str] = {}

    def __repr__(self) -> str:
        return f"<SharedWants {len(self._holders)} resources, {len(self._levels)} levels>"

    @property
    def has_watchers(self) -> bool:
        """Whether anybody wants updates of a resource or a task."""
        return bool(self._holders or self._watchers)

    def subscribe(self, uri: str, holder: Hashable) -> bool:
        """Returns whether the server must be asked: nobody was subscribed."""
        holders = self._holders.setdefault(uri, set())
        holders.add(holder)
        return len(holders) == 1

    def unsubscribe(self, uri: str, holder: Hashable) -> bool:
        """Returns whether the server must be told: nobody is subscribed any more."""
        return _take_out(self._holders, uri, holder)

    def subscribers(self, uri: str) -> frozenset[Hashable]:
        """Who is subscribed to a resource, or to one that holds it (`file:///a` holds `…/a/b`)."""
        found: set[Hashable] = set()
        for base, holders in self._holders.items():
            if uri == base or uri.startswith(base.removesuffix("/") + "/"):
                found |= holders
        return frozenset(found)

    def watch(self, task_id: str, holder: Hashable) -> bool:
        """Returns whether the server must be asked to report on a task: nobody watched it."""
        watchers = self._watchers.setdefault(task_id, set())
        watchers.add(holder)
        return len(watchers) == 1

    def unwatch(self, task_id: str, holder: Hashable) -> bool:
        """Returns whether nobody watches the task any more."""
        return _take_out(self._watchers, task_id, holder)

    def drop_watches(self, holder: Hashable) -> list[str]:
        """A holder is gone: the tasks that nobody watches any more."""
        return [one for one in list(self._watchers) if self.unwatch(one, holder)]

    @property
    def level(self) -> str | None:
        """The most verbose level that anybody asked for."""
        return min(self._levels.values(), key=_rank, default=None)

    def set_level(self, level: str, holder: Hashable) -> str | None:
        """Returns the level that the server must be asked for; None if it stays."""
        before = self.level
        self._levels[holder] = level
        return None if self.level == before else self.level

    def drop(self, holder: Hashable) -> tuple[list[str], str | None]:
        """A holder is gone: the URIs nobody wants any more, and the new level if it changes."""
        uris = [uri for uri in list(self._holders) if self.unsubscribe(uri, holder)]
        before = self.level
        self._levels.pop(holder, None)
        return uris, None if self.level == before else self.level


def _take_out(holders: dict[str, set[Hashable]], key: str, holder: Hashable) -> bool:
    """Returns whether this was the last holder."""
    found = holders.get(key)
    if found is None or holder not in found:
        return False
    found.discard(holder)
    if not found:
        del holders[key]
    return not found


def _rank(level: str) -> int:
    return LOG_LEVELS.index(level) if level in LOG_LEVELS else len(LOG_LEVELS)
