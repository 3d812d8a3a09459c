"""The synchronous API: `connect_sync()` and the client that it gives, for scripts and notebooks.

The event loop runs in a thread of its own. Each method of `SyncClient` runs the method of `Client`
that has the same name there, and waits for it; tests see to it that none is missing.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from inspect import Signature
from types import TracebackType
from typing import Any, ClassVar, Concatenate, Final, Generic, ParamSpec, TypeVar, Unpack

from mcplens.app import connect
from mcplens.bus import Bus
from mcplens.errors import CancelledRequest, InspectorError
from mcplens.events import Event
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.tasks import Task
from mcplens.session.client import Client
from mcplens.session.elicitation import ElicitationHandler
from mcplens.session.options import ConnectKeywords
from mcplens.session.question_handler import QuestionHandler
from mcplens.session.roots import Roots
from mcplens.session.sampling import SamplingHandler
from mcplens.targets import MakeTransport, Target
from mcplens.transports.base import Transport

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)
Q = TypeVar("Q", bound=QuestionHandler)

# How long the end of the program waits for a server that was left connected.
_EXIT_WAIT_S: Final = 5.0


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._started = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="mcplens", daemon=True
        )
        self._thread.start()
        self._started.wait()

    def __repr__(self) -> str:
        return f"<LoopThread {'running' if self.is_running else 'ended'}>"

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        await self._stop.wait()

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run a coroutine in the loop and wait for it; Ctrl-C cancels it.

        Raises:
            InspectorError: INVALID_REQUEST, from a callback; NOT_CONNECTED, after the end.
        """
        future = self.start(work)
        try:
            return future.result(timeout_s)
        except CancelledError:
            raise CancelledRequest("the client was closed") from None
        finally:
            future.cancel()  # KeyboardInterrupt arrives while we wait; else it is over already

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine in the loop; raises as `run`."""
        problem = self._why_not()
        if problem is not None:
            work.close()
            raise problem
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _why_not(self) -> InspectorError | None:
        if threading.current_thread() is self._thread:
            text = "a handler or callback cannot wait for its own client; return, and call it after"
            return InspectorError("INVALID_REQUEST", text)
        if not self.is_running:
            return InspectorError("NOT_CONNECTED", "the client was closed")
        return None

    def stop(self, timeout_s: float | None = None) -> None:
        """End the loop and its thread."""
        if self._loop is not None and self._stop is not None and self.is_running:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout_s)


class InLoop(Generic[W_co]):
    """An object that lives in a loop of another thread."""

    def __init__(self, wrapped: W_co, thread: LoopThread) -> None:
        self._wrapped = wrapped
        self._thread = thread

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._wrapped!r}>"

    def run_in_loop(self, work: Callable[[W_co], Coroutine[Any, Any, T]]) -> T:
        """Do work with the object in its own loop, and wait for it."""
        return self._thread.run(work(self._wrapped))

    def start_in_loop(self, work: Callable[[W_co], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start work with the object in its own loop."""
        return self._thread.start(work(self._wrapped))


def waiting(
    method: Callable[Concatenate[W, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[InLoop[W], P], T]:
    """The method that runs a coroutine method in the loop, and waits for it."""

    @functools.wraps(method)
    def call(self: InLoop[W], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.run(method(self._wrapped, *args, **kwargs))

    return call


def hopping(method: Callable[Concatenate[W, P], T]) -> Callable[Concatenate[InLoop[W], P], T]:
    """The method that calls an ordinary method in the loop's thread."""

    @functools.wraps(method)
    def call(self: InLoop[W], /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def hop() -> T:
            return method(self._wrapped, *args, **kwargs)

        return self._thread.run(hop())

    return call


class SyncQuestions(InLoop[Q]):
    """The questions of one kind that wait; a thread other than the one that waits answers them."""

    get_pending = hopping(QuestionHandler.get_pending)
    get = hopping(QuestionHandler.get)
    resolve = hopping(QuestionHandler.resolve)
    reject = hopping(QuestionHandler.reject)
    use = hopping(QuestionHandler.use)


class SyncSampling(SyncQuestions[SamplingHandler]):
    """Completions that the server waits for."""


class SyncElicitation(SyncQuestions[ElicitationHandler]):
    """Input that the server waits for."""

    accept = hopping(ElicitationHandler.accept)
    decline = hopping(ElicitationHandler.decline)
    cancel = hopping(ElicitationHandler.cancel)
    wait_completed = waiting(ElicitationHandler.wait_completed)


class SyncClient(InLoop[Client]):
    """One MCP server as a synchronous client sees it."""

    def __init__(self, client: Client, thread: LoopThread) -> None:
        super().__init__(client, thread)
        self.sampling = SyncSampling(client.sampling, thread)
        self.elicitation = SyncElicitation(client.elicitation, thread)

    # -- where it stands -----------------------------------------------------------------------

    @property
    def server_id(self) -> str:
        return self._wrapped.server_id

    @property
    def bus(self) -> Bus:
        return self._wrapped.bus

    @property
    def roots(self) -> Roots:
        return self._wrapped.roots

    @property
    def state(self) -> ConnectionState:
        return self._wrapped.state

    @property
    def last_error(self) -> Exception | None:
        return self._wrapped.last_error

    @property
    def protocol_version(self) -> str | None:
        """The negotiated revision."""
        return self._wrapped.protocol_version

    @property
    def server_info(self) -> dict[str, Any]:
        return self._wrapped.server_info

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server declared."""
        return self._wrapped.capabilities

    @property
    def instructions(self) -> str | None:
        return self._wrapped.instructions

    @property
    def last_seq(self) -> int:
        """Where the stream of events stands."""
        return self._wrapped.last_seq

    @property
    def tracked_client_tasks(self) -> list[Task]:
        """The tasks that are polled, and those that ended on this connection."""
        return self.get_tracked_client_tasks()

    describe = hopping(Client.describe)
    kept_events = hopping(Client.kept_events)

    def events(self, after_seq: int = 0) -> Iterator[Event]:
        """Everything that happens to this server, from the oldest event that is still kept."""
        stream = self._wrapped.events(after_seq)

        async def next_event() -> Event | None:
            return await anext(stream, None)

        try:
            while (event := self._thread.run(next_event())) is not None:
                yield event
        finally:
            if isinstance(stream, AsyncGenerator) and self._thread.is_running:
                self._thread.run(stream.aclose())

    # -- connecting ----------------------------------------------------------------------------

    connect = waiting(Client.connect)
    disconnect = waiting(Client.disconnect)
    reconnect = waiting(Client.reconnect)
    retry_now = hopping(Client.retry_now)
    use_transport = hopping(Client.use_transport)
    set_request_handler = hopping(Client.set_request_handler)
    set_notification_handler = hopping(Client.set_notification_handler)
    choose_capabilities = hopping(Client.choose_capabilities)

    # -- tools, resources, prompts -------------------------------------------------------------

    list_tools = waiting(Client.list_tools)
    list_resources = waiting(Client.list_resources)
    list_resource_templates = waiting(Client.list_resource_templates)
    list_prompts = waiting(Client.list_prompts)
    list_page = waiting(Client.list_page)
    call_tool = waiting(Client.call_tool)
    read_resource = waiting(Client.read_resource)
    subscribe = waiting(Client.subscribe)
    unsubscribe = waiting(Client.unsubscribe)
    get_prompt = waiting(Client.get_prompt)
    complete = waiting(Client.complete)
    list_skills = waiting(Client.list_skills)
    get_skill = waiting(Client.get_skill)
    read_skill_file = waiting(Client.read_skill_file)
    check_skill_file = waiting(Client.check_skill_file)
    read_directory = waiting(Client.read_directory)
    set_level = waiting(Client.set_level)
    ping = waiting(Client.ping)

    # -- tasks ---------------------------------------------------------------------------------

    start_tool_task = waiting(Client.start_tool_task)
    get_client_task = waiting(Client.get_client_task)
    get_client_task_result = waiting(Client.get_client_task_result)
    list_client_tasks = waiting(Client.list_client_tasks)
    cancel_client_task = waiting(Client.cancel_client_task)
    get_tracked_client_tasks = hopping(Client.get_tracked_client_tasks)
    update_tracked_client_task = hopping(Client.update_tracked_client_task)

    # -- any message ---------------------------------------------------------------------------

    request = waiting(Client.request)
    notify = hopping(Client.notify)
    send_raw = waiting(Client.send_raw)
    new_tag = hopping(Client.new_tag)
    cancel = hopping(Client.cancel)
    abort = hopping(Client.abort)


class connect_sync:
    """Connect to a server for as long as the block lasts, without `async`.

    Targets, options and errors are those of `connect()`. Handlers and callbacks run in the thread
    of the event loop. Without a block, `open()` gives the client and `close()` disconnects; what is
    still open when the program ends is closed then.

    Raises:
        InspectorError: the target cannot be used, or the connection failed.
    """

    __signature__: ClassVar[Signature] = connect.__signature__

    def __init__(
        self,
        target: Target | Transport | MakeTransport,
        *,
        transport: str | None = None,
        **keywords: Unpack[ConnectKeywords],
    ) -> None:
        self._connection = connect(target, transport=transport, **keywords)
        self._client: SyncClient | None = None
        self._thread: LoopThread | None = None

    def __repr__(self) -> str:
        return f"<connect_sync {self._connection.client!r}>"

    def __enter__(self) -> SyncClient:
        return self.open()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> SyncClient:
        """Connect, and give the client."""
        if self._client is not None:
            return self._client
        thread = LoopThread()
        try:
            thread.run(self._connection.__aenter__())
        except BaseException:
            thread.stop()
            raise
        self._thread = thread
        self._client = SyncClient(self._connection.client, thread)
        _opened.add(self)
        return self._client

    def close(self, timeout_s: float | None = None) -> None:
        """Disconnect, and end the thread of the loop."""
        thread, self._thread, self._client = self._thread, None, None
        _opened.discard(self)
        if thread is not None:
            try:
                thread.run(self._connection.__aexit__(None, None, None), timeout_s)
            finally:
                thread.stop(timeout_s)


_opened: weakref.WeakSet[connect_sync] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """The program ends: what is still open is closed. The watchdog ends servers that hang."""
    for each in list(_opened):
        with suppress(Exception):
            each.close(_EXIT_WAIT_S)
