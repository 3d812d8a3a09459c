"""A page that sends and does not read is not read either, until it has taken its replies."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from starlette.websockets import WebSocket, WebSocketState

from mcplens.web.feed import Feed
from mcplens.web.socket import MOST_COMMANDS, Socket

from .harness import PATIENCE_S, Site

COUNT = MOST_COMMANDS * 2


class DeafPage:
    """Sends so many commands, and takes replies once it is told to."""

    application_state = WebSocketState.DISCONNECTED

    def __init__(self) -> None:
        self.sent_count = 0
        self.replies: list[str] = []
        self.reads = asyncio.Event()
        self.has_all = asyncio.Event()

    def __repr__(self) -> str:
        return f"<DeafPage sent {self.sent_count}, has {len(self.replies)} replies>"

    async def receive_text(self) -> str:
        if self.sent_count == COUNT:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.sent_count += 1
        return '{"type":"no command","id":7}'

    async def send_text(self, text: str) -> None:
        await self.reads.wait()
        self.replies.append(text)
        if len(self.replies) == COUNT:
            self.has_all.set()


async def test_a_page_that_takes_no_replies_is_not_read_any_further(web: Site) -> None:
    page = DeafPage()
    workspace = web.workspace
    feed = Feed(workspace.bus, workspace.bus_reader)
    socket = Socket(cast(WebSocket, cast(Any, page)), workspace, feed, None)
    running = asyncio.create_task(socket.run())
    for _ in range(10 * COUNT):
        await asyncio.sleep(0)
    assert page.sent_count == MOST_COMMANDS
    page.reads.set()
    async with asyncio.timeout(PATIENCE_S):
        await page.has_all.wait()
    assert page.sent_count == COUNT
    socket.end()
    await running
