"""Elicitation by URL: the person opens a page, and the server hears of it without the client.

The page is the demo's own (pages.py); visit it to complete the elicitation.
"""

from __future__ import annotations

from typing import Final

from mcplens.clock import within
from mcplens.demo.asking import Question, ask, require
from mcplens.demo.call import Call
from mcplens.demo.pages import Page
from mcplens.demo.registry import Failure, Fault, Json, text, tool

_REQUIRED: Final = -32042  # 2025-11-25: retry when the elicitations in the error are done
_MESSAGE: Final = "Please confirm on the demo's own page."
_PATIENCE_S: Final = 120.0
# One page for each secret that a client was given; the oldest goes when there are too many.
_MOST_PAGES: Final = 50
_pages: dict[str, Page] = {}


@tool(
    "elicit-url",
    "Asks you to open a page (elicitation by URL) and waits until you did; 2025-11-25 then gets "
    "notifications/elicitation/complete, 2026-07-28 asks again until the page was visited.",
)
async def elicit_url(call: Call) -> Json:
    if call.is_stateless:
        return await _ask_until_visited(call)
    page = await _new_page(call)
    asked = _question(page)
    answer = await ask(call, "page", "elicitation/create", {**asked, "elicitationId": page.id})
    if answer.get("action") != "accept":
        page.close()
        raise Failure(f"the page was not opened: {answer.get('action')}")
    try:
        await within(call.clock, _PATIENCE_S, _visited(page))
    except TimeoutError:
        raise Failure(f"nobody visited the page within {_PATIENCE_S:g} s") from None
    call.notify("notifications/elicitation/complete", {"elicitationId": page.id})
    return text("the page was visited")


async def _ask_until_visited(call: Call) -> Json:
    """Each round asks under a new key; the first answer says which page it is about."""
    for number in range(1, 11):
        page = _pages.get(_key(call)) or await _new_page(call, _key(call))
        if page.visited.is_set():
            del _pages[_key(call)]
            return text("the page was visited")
        answer = await ask(call, f"page-{number}", "elicitation/create", _question(page))
        if answer.get("action") != "accept":
            raise Failure(f"the page was not opened: {answer.get('action')}")
    raise Failure("the page was promised ten times and never visited")


@tool(
    "elicit-url-required",
    "In 2025-11-25 fails with error -32042 until you visited the page that the error names; then "
    "call it again. In 2026-07-28, which has no such error, it does as elicit-url.",
)
async def elicit_url_required(call: Call) -> Json:
    if call.is_stateless:
        return await _ask_until_visited(call)
    page = _pages.get(_key(call)) or await _new_page(call, _key(call))
    if page.visited.is_set():
        del _pages[_key(call)]
        return text("the page was visited; thank you")
    require(call, Question("elicitation/create", _question(page)))
    call.demo.spawn(_tell_when_visited(call, page))
    elicitation = {**_question(page), "elicitationId": page.id}
    raise Fault(_REQUIRED, "a page must be visited first", {"elicitations": [elicitation]})


async def _tell_when_visited(call: Call, page: Page) -> None:
    await page.visited.wait()
    call.client.notify("notifications/elicitation/complete", {"elicitationId": page.id})


def _question(page: Page) -> Json:
    return {"mode": "url", "message": _MESSAGE, "url": page.url}


def _key(call: Call) -> str:
    """A client's page for a tool; clients of 2026-07-28 without credentials share one."""
    owner = call.client.peer.caller if call.is_stateless else str(id(call.client))
    return f"{call.era.value} {call.params.get('name')} {owner}"


async def _new_page(call: Call, key: str | None = None) -> Page:
    page = Page(call.clock)
    await page.open()
    _pages[key or page.id] = page
    while len(_pages) > _MOST_PAGES:
        _pages.pop(next(iter(_pages))).close()
    return page


async def _visited(page: Page) -> None:
    await page.visited.wait()
