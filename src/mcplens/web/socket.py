"""The WebSocket of one page: receives commands, sends replies, changes and events.

Commands run concurrently, so that a slow server does not delay the next command. If too many run at
once, no more are read from the page until some are done.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, Final

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from mcplens.background import Background
from mcplens.errors import CancelledRequest, InspectorError, classify
from mcplens.version import VERSION
from mcplens.web.api.answer_settings import profile_views
from mcplens.web.api.calls import LARGEST_IN_SNAPSHOT, call_view
from mcplens.web.api.collection_runs import collection_run_view
from mcplens.web.api.errors import error_view
from mcplens.web.api.gateway import gateway_view
from mcplens.web.api.questions import question_view
from mcplens.web.api.runs import other_run_view
from mcplens.web.api.servers import server_view
from mcplens.web.api.settings import setting_views
from mcplens.web.api.tasks import task_view
from mcplens.web.dispatch import Abandon, Resume, decode_command, dispatch
from mcplens.web.feed import Feed
from mcplens.web.messages import CommandReply, Failure, Hello
from mcplens.web.outbox import Outbox, shown
from mcplens.web.registry import Command
from mcplens.web.safe_json import json_safe
from mcplens.workspace.workspace import Workspace

# Commands of one page that may run at once.
MOST_COMMANDS: Final = 256
# Past events that a new page is sent; it fetches older ones from the recording.
BACKLOG: Final = 2_000
GOING_AWAY: Final = 1001

_log: Final = logging.getLogger("mcplens.web")


class _Identified(msgspec.Struct):
    id: int = 0


class Socket:
    """The conversation with one page."""

    def __init__(
        self, websocket: WebSocket, workspace: Workspace, feed: Feed, first_server_id: str | None
    ) -> None:
        self._websocket = websocket
        self._workspace = workspace
        self._first_server_id = first_server_id
        self._outbox = Outbox(workspace, feed)
        self._work = Background()
        self._free = asyncio.Semaphore(MOST_COMMANDS)
        self._under_way: dict[int, asyncio.Task[None]] = {}  # by the command's id
        self._unsent_count = 0  # replies that the page has not taken yet
        self._receiving: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Socket {len(self._work)} commands under way, {self._outbox!r}>"

    async def run(self) -> None:
        """Serve the page until it disconnects."""
        self._work.start(self._send(), "send to the page")
        self._receiving = self._work.start(self._receive_all(), "receive from the page")
        try:
            await asyncio.wait([self._receiving])
        finally:
            self._outbox.close()
            await self._work.end()
            if self._websocket.application_state is WebSocketState.CONNECTED:
                await self._close()

    def end(self) -> None:
        """Stop receiving from the page; `run` then ends."""
        if self._receiving is not None:
            self._receiving.cancel()

    async def _receive_all(self) -> None:
        try:
            while True:
                await self._free.acquire()
                self._receive(await self._websocket.receive_text())
        except (WebSocketDisconnect, KeyError):  # disconnected, or a binary message
            return

    async def _close(self) -> None:
        try:
            await self._websocket.close(GOING_AWAY)
        except (RuntimeError, WebSocketDisconnect):
            return  # already disconnected

    async def _send(self) -> None:
        try:
            async for message in self._outbox.messages():
                await self._send_one(message)
        except (RuntimeError, WebSocketDisconnect):
            return  # the page has disconnected
        except Exception:
            _log.exception("a page is disconnected, because sending to it failed")
        finally:
            self.end()  # a page that receives nothing must connect again

    async def _send_one(self, message: bytes) -> None:
        await self._websocket.send_text(message.decode())
        while self._unsent_count > self._outbox.reply_count:
            self._unsent_count -= 1
            self._free.release()

    def _reply(self, message: Any) -> None:
        """A command counts as running until its reply is sent, so that a page has to read."""
        self._unsent_count += 1
        self._outbox.reply(message)

    def _receive(self, text: str) -> None:
        try:
            command = decode_command(text)
        except (msgspec.DecodeError, RecursionError) as problem:
            error = InspectorError("INVALID_REQUEST", f"not a command: {problem}")
            self._fail(_id_of(text), error)
            return
        if isinstance(command, Resume):
            self._resume(command)
            return
        if isinstance(command, Abandon):
            self._abandon(command)
            return
        self._begin(command)

    def _begin(self, command: Command) -> None:
        task = self._work.start(self._carry_out(command), f"command {type(command).__name__}")
        self._under_way[command.id] = task
        task.add_done_callback(lambda _: self._under_way.pop(command.id, None))

    def _abandon(self, command: Abandon) -> None:
        """Cancel a running command; it may have been answered meanwhile."""
        identity = command.command_id
        task = self._under_way.get(identity)
        if task is not None and not task.done():
            task.add_done_callback(partial(self._tell_abandoned, identity))
            task.cancel()
        self._reply(CommandReply(command.id, None))

    def _tell_abandoned(self, identity: int, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            self._fail(identity, CancelledRequest("cancelled by the user"))

    async def _carry_out(self, command: Command) -> None:
        try:
            value = await dispatch(self._workspace, command)
        except asyncio.CancelledError:
            raise
        except Exception as problem:  # a bug of ours is shown like any other error
            self._fail(command.id, classify(problem, type(command).__name__))
        else:
            self._reply(CommandReply(command.id, value))

    def _fail(self, identity: int, error: InspectorError) -> None:
        view = error_view(json_safe(error.to_dict()))
        assert view is not None
        self._reply(Failure(identity, view))

    # -- the first command ---------------------------------------------------------------------

    def _resume(self, command: Resume) -> None:
        workspace, bus = self._workspace, self._workspace.bus
        workspace.reload()
        kept = bus.since(0)
        oldest = kept[0].seq if kept else bus.last_seq + 1
        is_resumed = command.run_id == bus.run_id and command.seq is not None
        if is_resumed and command.seq is not None:
            after = min(command.seq, bus.last_seq)
        else:
            after = max(oldest - 1, bus.last_seq - BACKLOG)
        self._reply(self._hello(command.id, after, is_resumed))
        self._outbox.follow(after)

    def _hello(self, identity: int, after: int, is_resumed: bool) -> Hello:
        workspace = self._workspace
        return Hello(
            id=identity,
            run_id=workspace.bus.run_id,
            version=VERSION,
            seq=workspace.bus.last_seq,
            after_seq=after,
            is_resumed=is_resumed,
            recording_problem=workspace.recording_problem,
            first_server_id=self._first_server_id,
            servers=shown(partial(server_view, workspace), workspace.servers.values()),
            calls=shown(
                lambda call: call_view(workspace, call, LARGEST_IN_SNAPSHOT), workspace.calls
            ),
            questions=shown(partial(question_view, workspace), workspace.questions),
            tasks=shown(partial(task_view, workspace), workspace.tasks),
            profiles=profile_views(workspace),
            settings=setting_views(workspace),
            collection_runs=shown(collection_run_view, workspace.collection_runs),
            runs=shown(other_run_view, workspace.other_runs.all()),
            gateway=gateway_view(workspace),
        )


def _id_of(text: str) -> int:
    try:
        return msgspec.json.decode(text, type=_Identified).id
    except (msgspec.DecodeError, RecursionError):
        return 0
