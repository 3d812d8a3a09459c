"""The client: what a surface or a script holds of one server.

It wires the connection to what the server asks and says, and tells where both stand. What can be
asked of the server is in operations.py, and beneath it in requests.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from mcplens.bus import Bus, Publisher
from mcplens.clock import Clock
from mcplens.errors import CancelledRequest, InspectorError
from mcplens.events import Event
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.capabilities import ELICITATION, RECEIVER_TASKS, ROOTS, SAMPLING, declared
from mcplens.session.catalog import Catalog
from mcplens.session.client_tasks import ClientTasks
from mcplens.session.config import ClientOptions, ConnectionConfig, RetryConfig
from mcplens.session.connection import Connection
from mcplens.session.elicitation import ElicitationHandler
from mcplens.session.input_rounds import InputRounds
from mcplens.session.notifications import NotificationHandler, Notifications
from mcplens.session.operations import Operations
from mcplens.session.queue import RequestQueue
from mcplens.session.receiver_tasks import ReceiverTasks
from mcplens.session.roots import Roots
from mcplens.session.sampling import SamplingHandler
from mcplens.session.server_requests import RequestHandler, ServerRequests
from mcplens.session.task_calls import TaskCalls
from mcplens.transports.base import Closing, Transport


class Client(Operations):
    """One MCP server as a client sees it."""

    def __init__(
        self,
        make_transport: Callable[[], Transport],
        *,
        bus: Bus,
        clock: Clock,
        server_id: str,
        config: ConnectionConfig,
        options: ClientOptions,
        retry: RetryConfig | None = None,
    ) -> None:
        self.server_id = server_id
        self._bus = bus
        self._options = options
        self._chosen_capabilities: Mapping[str, Any] = options.capabilities
        self._make_answering(options)
        self._make_asking()
        self._connection = Connection(
            make_transport,
            publish=Publisher(bus, server_id),
            clock=clock,
            config=config,
            options=options,
            retry=retry,
            on_request=self._server_requests.received,
            on_notification=self._notifications.received,
            tasks=self._client_tasks,
            capabilities=self._advertised,
            on_connected=self._connected,
            on_ended=self._ended,
        )

    def _make_answering(self, options: ClientOptions) -> None:
        """What answers the server."""
        self.sampling = SamplingHandler(
            lambda: self._connection, config=options.handler, answering=options.sampling
        )
        self.elicitation = ElicitationHandler(
            lambda: self._connection, config=options.handler, answering=options.elicitation
        )
        self.roots = Roots(lambda: self._connection, options.roots)
        self.receiver_tasks = ReceiverTasks(
            lambda: self._connection,
            ttl_s=options.receiver_task_ttl_s,
            completes_on_decline=options.completes_declined_tasks,
        )
        self._server_requests = ServerRequests(
            lambda: self._connection,
            {
                each.method: each.on_request
                for each in (self.sampling, self.elicitation, self.roots)
            },
            self.receiver_tasks,
        )

    def _make_asking(self) -> None:
        """What asks the server, and hears what it says on its own."""
        self._rounds = InputRounds(lambda: self._connection, self._server_requests.ask)
        self._client_tasks = ClientTasks(self, self._rounds)
        self._task_calls = TaskCalls(self, self._client_tasks)
        self._catalog = Catalog(self)
        self._notifications = Notifications(
            lambda: self._connection,
            withdrawn=self._server_requests.withdrawn,
            list_changed=self._catalog.list_changed,
            resource_updated=self._catalog.resource_updated,
            stream_notified=self._catalog.subscription_stream.notified,
            elicitation_completed=self.elicitation.completed,
            task_notified=self._client_tasks.notified,
            task_progressed=self._client_tasks.progressed,
        )

    def __repr__(self) -> str:
        return f"<Client {self.server_id} {self.state.value} {self.protocol_version or ''}>"

    # -- where it stands -----------------------------------------------------------------------

    @property
    def connection(self) -> Connection:
        return self._connection

    @property
    def state(self) -> ConnectionState:
        return self._connection.state

    @property
    def last_error(self) -> Exception | None:
        return self._connection.lifecycle.last_error

    @property
    def queue(self) -> RequestQueue:
        return self._connection.queue

    @property
    def protocol_version(self) -> str | None:
        """The negotiated revision."""
        introduction = self._connection.introduction
        return introduction.version if introduction is not None else None

    @property
    def server_info(self) -> dict[str, Any]:
        introduction = self._connection.introduction
        return introduction.server_info if introduction is not None else {}

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server declared."""
        introduction = self._connection.introduction
        return introduction.capabilities if introduction is not None else {}

    @property
    def instructions(self) -> str | None:
        introduction = self._connection.introduction
        return introduction.instructions if introduction is not None else None

    @property
    def catalog(self) -> Catalog:
        """The lists that were fetched, kept fresh by the server's notifications."""
        return self._catalog

    def describe(self) -> dict[str, Any]:
        """Facts about the channel (pid, session, address), secrets masked."""
        session = self._connection.session
        return session.transport.describe() if session is not None else {}

    @property
    def last_seq(self) -> int:
        """Where the stream of events stands."""
        return self._bus.last_seq

    def kept_events(self, after_seq: int = 0) -> list[Event]:
        """What is still kept of the events after this one."""
        return [
            event
            for event in self._bus.kept()
            if event.seq > after_seq and event.server_id == self.server_id
        ]

    async def events(self, after_seq: int = 0) -> AsyncIterator[Event]:
        """Everything that happens to this server, from the oldest event that is still kept."""
        async for event in self._bus.subscribe(after_seq):
            if event.server_id in (self.server_id, ""):
                yield event

    # -- connecting ----------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, with the retries that the configuration allows."""
        await self._connection.connect()

    async def disconnect(self, closing: Closing = Closing.GRACEFUL) -> None:
        """Disconnect; what waits is rejected and nothing is left running."""
        try:
            await self._client_tasks.end()  # a task that was just cancelled is to hear of it
        finally:
            await self._connection.disconnect(closing)
        await self._client_tasks.end()  # a call may have become one meanwhile
        self.elicitation.end(CancelledRequest("disconnected"))
        await self._server_requests.end_all()
        await self.receiver_tasks.end()
        await self._notifications.end()
        await self._catalog.end()

    def use_transport(self, make_transport: Callable[[], Transport]) -> None:
        """Connect by this transport from the next time on."""
        self._connection.make_transport = make_transport

    def set_request_handler(self, method: str, handler: RequestHandler | None) -> None:
        """Answer a method of the server's; None takes the handler away."""
        self._server_requests.set_handler(method, handler)

    def set_notification_handler(self, method: str, handler: NotificationHandler | None) -> None:
        """Handle a notification of the server's (`*`: all that have no handler of their own)."""
        self._notifications.set_handler(method, handler)

    def _advertised(self) -> dict[str, Any]:
        """What is declared to the server, and so what is handled."""
        handled: dict[str, Any] = {}
        if self.sampling.is_on:
            handled["sampling"] = SAMPLING
        if self.elicitation.is_on:
            handled["elicitation"] = ELICITATION
        if self.roots.is_on:
            handled["roots"] = ROOTS
        if self._options.receiver_tasks:
            handled["tasks"] = RECEIVER_TASKS
        return declared(handled, self._server_requests.capabilities(), self._chosen_capabilities)

    def choose_capabilities(self, capabilities: Mapping[str, Any]) -> None:
        """Declare these from the next connection on, word for word; None takes one away.

        One that was not on before waits for a person to answer.
        """
        self._chosen_capabilities = dict(capabilities)

    def _connected(self) -> None:
        self._catalog.connected()
        self._client_tasks.connected()

    def _ended(self, error: InspectorError) -> None:
        self._server_requests.drop_all()
        self.receiver_tasks.clear()
        self._catalog.disconnected(error)
        self._client_tasks.disconnected(error)
        if self.state is ConnectionState.DISCONNECTED:
            self.elicitation.end(error)
