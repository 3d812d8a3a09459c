"""Commands about what a server offers: its lists, completion, subscriptions, logs."""

from __future__ import annotations

from mcplens.web.commands.base import Command
from mcplens.web.views import ListKind


class List(Command, frozen=True, kw_only=True):
    """A list; the kept one unless `refresh`. Fetched to its end, or with `one_page` only the first.

    Without `after` the reply comes when all is there. With it the reply has at most `most` items
    from this one on, as soon as there are any; `of` is the `fetched` of the reply that had those
    before (0: none). Items of another fetch begin at 0 again. `StopList` ends a fetch.
    """

    server_id: str
    kind: ListKind
    refresh: bool = False
    one_page: bool = False
    after: int | None = None
    of: float = 0.0
    most: int = 10_000


class MoreOfList(Command, frozen=True, kw_only=True):
    """Fetch what comes after the last page that came: all, or one page. `List` has it then."""

    server_id: str
    kind: ListKind
    one_page: bool = False


class StopList(Command, frozen=True, kw_only=True):
    """Wait for no more pages of a list; those that came stay."""

    server_id: str
    kind: ListKind


class Complete(Command, frozen=True, kw_only=True):
    """Suggestions for an argument of a prompt or template."""

    server_id: str
    ref: dict[str, str]
    argument: str
    value: str
    context: dict[str, str] = {}


class Subscribe(Command, frozen=True, kw_only=True):
    """Follow a resource."""

    server_id: str
    uri: str


class Unsubscribe(Command, frozen=True, kw_only=True):
    server_id: str
    uri: str


class SetLevel(Command, frozen=True, kw_only=True):
    """The level from which the server logs."""

    server_id: str
    level: str


class Ping(Command, frozen=True, kw_only=True):
    server_id: str
