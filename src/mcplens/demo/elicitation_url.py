"""Elicitation by URL: the person opens a page, and the server sees the visit directly.

The page is the demo's own (browser_page.py); visit it to complete the elicitation.
"""

from __future__ import annotations

from typing import Final

from mcplens.demo.browser_page import BrowserPage
from mcplens.demo.client_questions import ClientQuestion, ask, require
from mcplens.demo.registry import Fault, Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext

_REQUIRED: Final = -32042  # 2025-11-25: retry when the elicitations in the error are done
_MESSAGE: Final = "Please confirm on the demo's own page."
_PATIENCE_S: Final = 120.0
_LIFE_S: Final = 600.0
# Pages that clients were sent to; the oldest goes when there are too many.
_MOST_PAGES: Final = 50


@tool(
    "elicit-url",
    "Asks you to open a page (elicitation by URL) and waits until you did; 2025-11-25 then gets "
    "notifications/elicitation/complete, 2026-07-28 asks again until the page was visited.",
)
async def elicit_url(context: RequestContext) -> Json:
    if context.is_stateless:
        return await _ask_until_visited(context)
    page = BrowserPage(context.clock)
    await page.open(_PATIENCE_S)
    try:
        asked = {**_question(page), "elicitationId": page.id}
        answer = await ask(context, "page", "elicitation/create", asked)
        if answer.get("action") != "accept":
            raise ToolFailure(f"the page was not opened: {answer.get('action')}")
        if not await page.visited():
            raise ToolFailure(f"nobody visited the page within {_PATIENCE_S:g} s")
    finally:
        page.close()
    context.notify("notifications/elicitation/complete", {"elicitationId": page.id})
    return text("the page was visited")


async def _ask_until_visited(context: RequestContext) -> Json:
    """Each round asks under a new key; the first answer says which page it is about."""
    for number in range(1, 11):
        page = await _page(context)
        if page.is_visited:
            del context.demo.pages[_key(context)]
            return text("the page was visited")
        answer = await ask(context, f"page-{number}", "elicitation/create", _question(page))
        if answer.get("action") != "accept":
            raise ToolFailure(f"the page was not opened: {answer.get('action')}")
    raise ToolFailure("the page was accepted ten times but never visited")


@tool(
    "elicit-url-required",
    "In 2025-11-25 fails with error -32042 until you visited the page that the error names; then "
    "call it again. In 2026-07-28, which has no such error, it does as elicit-url.",
)
async def elicit_url_required(context: RequestContext) -> Json:
    if context.is_stateless:
        return await _ask_until_visited(context)
    require(context, ClientQuestion("elicitation/create", {"mode": "url"}))
    page = await _page(context)
    if page.is_visited:
        del context.demo.pages[_key(context)]
        return text("the page was visited; thank you")
    elicitation = {**_question(page), "elicitationId": page.id}
    raise Fault(_REQUIRED, "a page must be visited first", {"elicitations": [elicitation]})


async def _tell_when_visited(context: RequestContext, page: BrowserPage) -> None:
    if await page.visited():
        context.client.notify("notifications/elicitation/complete", {"elicitationId": page.id})


def _question(page: BrowserPage) -> Json:
    return {"mode": "url", "message": _MESSAGE, "url": page.url}


def _key(context: RequestContext) -> str:
    """A client's page for a tool; clients of 2026-07-28 without credentials share one."""
    owner = context.client.peer.caller if context.is_stateless else str(id(context.client))
    return f"{context.era.value} {context.params.get('name')} {owner}"


async def _page(context: RequestContext) -> BrowserPage:
    """The page that this client must visit; a new one if there is none, or if that is gone."""
    key, pages = _key(context), context.demo.pages
    if (known := _standing(pages, key)) is not None:
        return known
    page = BrowserPage(context.clock)
    await page.open(_LIFE_S)
    if (known := _standing(pages, key)) is not None:  # of a call beside this one
        page.close()
        return known
    pages[key] = page
    if not context.is_stateless:
        context.demo.spawn(_tell_when_visited(context, page))
    while len(pages) > _MOST_PAGES:
        pages.pop(next(iter(pages))).close()
    return page


def _standing(pages: dict[str, BrowserPage], key: str) -> BrowserPage | None:
    page = pages.get(key)
    return None if page is None or page.is_gone else page
