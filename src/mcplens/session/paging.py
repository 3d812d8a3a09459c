"""Lists that come page by page, followed to their end; what is odd about them is remarked on.

Called by catalog.py and client_tasks.py, which know what the items are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Protocol, TypeVar

from mcplens.protocol.frames import Frame
from mcplens.protocol.result_types import Page, ShapeError, decode_page
from mcplens.session.connection import Connection
from mcplens.session.results import invalid

# A server whose list never ends is stopped here.
MAX_PAGES: Final = 10_000

Say = Callable[[str], None]


class _HasCursor(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = TypeVar("P", bound=_HasCursor)


async def each_page(
    name: str,
    fetch: Callable[[str | None], Awaitable[P]],
    remark: Say,
    cursor: str | None = None,
) -> AsyncIterator[P]:
    """All pages, to the end of the list or to where the server begins to repeat itself."""
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await fetch(cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in seen:
            remark(f"{name}: the server gave the cursor {cursor!r} twice; stopped there")
            return
        seen.add(cursor)


def read_page(name: str, method: str, key: str, frame: Frame, connection: Connection) -> Page:
    """The page that a result is.

    Raises:
        ProtocolError: it is none.
    """
    try:
        page = decode_page(frame.body, key)
    except ShapeError as problem:
        raise connection.describe(invalid(method, str(problem), frame)) from None
    if page.problem is not None:
        connection.remark(f"{name}: {page.problem}; there may be more than this page")
    return page
