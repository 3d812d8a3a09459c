"""What a cassette lacks, in the mode `new`: asked of the real server, and added to the cassette.

The server is started at the first such call, and ends with the test. Its session has the options of
the test's own; its questions and notifications go to the test's client. Runs in the event loop of
that client. Called by cassettes.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from itertools import count
from typing import Any

import msgspec

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.errors import InspectorError, ServerError
from mcplens.inbound.refusal import INTERNAL_ERROR
from mcplens.mocking.mock_client import MockClient
from mcplens.mocking.playback import Playback
from mcplens.mocking.recorded_calls import Step
from mcplens.protocol.frames import Frame
from mcplens.pytest_plugin.servers import McpServer
from mcplens.session.attribution import Link
from mcplens.session.call_hooks import CallHooks
from mcplens.session.client import Client
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import CallTag
from mcplens.session.raw_calls import error_member, read_params
from mcplens.store.recorder import Recorder
from mcplens.version import VERSION


class Additions:
    """The real server behind a cassette."""

    def __init__(
        self,
        start: Callable[[], AbstractContextManager[McpServer]],
        trace: str,
        revision: str | None,
    ) -> None:
        self.options: dict[str, Any] = {}  # of the test's own session
        self.secret_keys: tuple[str, ...] = ()
        self._start = start
        self._trace = trace
        self._revision = revision
        self._stack = ExitStack()
        self._lock = asyncio.Lock()
        self._client: Client | None = None
        self._numbers = count(1)

    def __repr__(self) -> str:
        return f"<Additions by {self._client!r}>"

    @property
    def has_any(self) -> bool:
        """Whether anything was recorded."""
        return os.path.exists(self._trace)

    async def answer(self, playback: Playback) -> None:
        """Send a request of the test to the real server, and its answer to the test."""

        def notify(frame: Frame, link: Link) -> None:
            playback.notify(Step("notification", frame.raw))

        async def ask(request: ServerRequest) -> Any:
            return await _asked(playback, request)

        meta = playback.params.get("_meta")
        try:
            client = await self._connected(playback.client)
            frame = await client.raw_calls.send(
                playback.method,
                read_params(json.dumps(playback.params).encode()),
                tag=CallTag(call_id=f"new-{next(self._numbers)}"),
                hooks=CallHooks(ask, notify),
                wants_progress=isinstance(meta, dict) and "progressToken" in meta,
            )
        except ServerError as error:
            playback.refuse(bytes(error_member(error.raw)) or _error(error), error.rpc_code)
        except InspectorError as error:
            playback.refuse(_error(ServerError(INTERNAL_ERROR, error.message)), INTERNAL_ERROR)
        else:
            playback.give(frame.body)

    async def _connected(self, asking: MockClient) -> Client:
        async with self._lock:
            if self._client is None:
                bus = Bus(SystemClock())
                server = await asyncio.to_thread(self._stack.enter_context, self._start())
                recorder = Recorder(
                    bus, None, trace=self._trace, secret_keys=self.secret_keys, version=VERSION
                )
                self._stack.callback(recorder.close)
                options = {**server.options, **self.options}
                options.setdefault("protocol_version", self._revision)
                client = connect(server.target, bus=bus, server_id=server.name, **options).client
                client.connection.on_notification = lambda frame, link: asking.peer.send(frame.raw)
                self._client = client
                await client.connect()
        return self._client

    async def close(self) -> None:
        """End the server, if it was started, and the recording of it."""
        if self._client is not None:
            with contextlib.suppress(InspectorError):
                await self._client.disconnect()
        await asyncio.to_thread(self._stack.close)


async def _asked(playback: Playback, request: ServerRequest) -> Any:
    """The answer of the test's own client to a question."""
    given = await playback.client.ask(request.method, request.params, playback.id)
    error = given.get("error")
    if error is not None:
        raise ServerError(error["code"], error["message"], error.get("data"))
    return given["result"]


def _error(error: ServerError) -> bytes:
    return msgspec.json.encode({"code": error.rpc_code, "message": error.rpc_message})
