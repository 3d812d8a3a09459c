"""The client: what a surface or a script holds of one server.

Wires the parts together, says where they stand, and offers MCP's operations, each of which one part
carries out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from mcplens.bus import Bus, Publisher
from mcplens.clock import Clock
from mcplens.errors import CancelledRequest, InspectorError
from mcplens.events import Event, Purpose
from mcplens.protocol.frames import Frame, RequestId
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.result_types import (
    Completion,
    Prompt,
    PromptResult,
    ReadResult,
    Resource,
    ResourceTemplate,
    Tool,
    ToolResult,
)
from mcplens.protocol.tasks import Task
from mcplens.session.capabilities import (
    ELICITATION,
    OWN_EXTENSIONS,
    RECEIVER_TASKS,
    ROOTS,
    SAMPLING,
    declared,
)
from mcplens.session.catalog import Catalog, ListPage
from mcplens.session.client_tasks import ClientTasks
from mcplens.session.connection import Connection
from mcplens.session.connector import Connector
from mcplens.session.elicitation import ElicitationHandler
from mcplens.session.input_rounds import InputRounds
from mcplens.session.notifications import NotificationHandler, Notifications
from mcplens.session.options import ClientOptions
from mcplens.session.question_handler import RequestHandler
from mcplens.session.queue import CallTag, RequestQueue
from mcplens.session.raw_calls import RawCalls
from mcplens.session.receiver_tasks import ReceiverTasks
from mcplens.session.request_sender import OnProgress, RequestOptions, RequestSender
from mcplens.session.results import Reply, check_reply, decode_reply, typed, typed_tool_result
from mcplens.session.roots import Roots
from mcplens.session.sampling import SamplingHandler
from mcplens.session.server_requests import ServerRequests
from mcplens.session.tool_calls import DEFAULT_TTL_S, ToolCalls
from mcplens.transports.base import Closing, Transport

if TYPE_CHECKING:  # for annotations alone
    from mcplens.protocol.skill_files import SkillFileReport
    from mcplens.protocol.skills import Skill, SkillList
    from mcplens.session.skills import Directory, SkillBudget, Skills


class Client:
    """One MCP server as a client sees it."""

    def __init__(
        self,
        make_transport: Callable[[], Transport],
        *,
        bus: Bus,
        clock: Clock,
        options: ClientOptions,
    ) -> None:
        self.server_id = options.server_id
        self.bus = bus
        self._options = options
        self._chosen_capabilities: Mapping[str, Any] = options.capabilities or {}
        connection = self._connection = Connection(
            publish=Publisher(bus, options.server_id), clock=clock, options=options
        )
        # What answers the server.
        self.sampling = SamplingHandler(
            connection, config=options.handler, answering=options.sampling
        )
        self.elicitation = ElicitationHandler(
            connection, config=options.handler, answering=options.elicitation
        )
        self.roots = Roots(connection, options.roots)
        self.receiver_tasks = ReceiverTasks(
            connection,
            ttl_s=options.receiver_task_ttl_s,
            completes_on_decline=options.completes_declined_tasks,
        )
        own_handlers = (self.sampling, self.elicitation, self.roots)
        self._server_requests = ServerRequests(
            connection, {each.method: each.on_request for each in own_handlers}, self.receiver_tasks
        )
        connection.on_call_cancelled = self._call_off
        # What asks the server.
        self._requests = RequestSender(connection)
        self._rounds = InputRounds(connection, self._requests, self._server_requests.ask)
        self._catalog = Catalog(connection, self._requests, self._rounds)
        self.raw_calls = RawCalls(
            connection,
            self._requests,
            self._rounds,
            ask=self._server_requests.ask,
            subscription_stream=self._catalog.subscription_stream,
        )
        self._client_tasks = ClientTasks(
            connection, self._requests, self._rounds, self._catalog.subscription_stream
        )
        self._tool_calls = ToolCalls(
            connection, self._requests, self._rounds, self._catalog, self._client_tasks
        )
        self._notifications = Notifications(
            connection,
            withdrawn=self._server_requests.withdrawn,
            list_changed=self._catalog.list_changed,
            resource_updated=self._catalog.resource_updated,
            stream_notified=self._catalog.subscription_stream.notified,
            elicitation_completed=self.elicitation.completed,
            task_notified=self._client_tasks.notified,
            task_progressed=self._client_tasks.progressed,
        )
        self._connector = Connector(
            connection,
            make_transport,
            on_request=self._server_requests.received,
            on_notification=self._notifications.received,
            tasks=self._client_tasks,
            capabilities=self._advertised,
            on_connected=self._connected,
            on_ended=self._ended,
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
        return self.bus.last_seq

    def kept_events(self, after_seq: int = 0) -> list[Event]:
        """What is still kept of the events after this one; more are kept once this was asked."""
        self.bus.expect_readers()
        return [
            event
            for event in self.bus.kept()
            if event.seq > after_seq and event.server_id == self.server_id
        ]

    async def events(self, after_seq: int = 0) -> AsyncIterator[Event]:
        """Everything that happens to this server, from the oldest event that is still kept."""
        async for event in self.bus.subscribe(after_seq):
            if event.server_id in (self.server_id, ""):
                yield event

    # -- connecting ----------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, with the retries that the configuration allows."""
        await self._connector.connect()

    async def reconnect(self) -> None:
        """Connect at once, from ERROR (without waiting for the next retry) or DISCONNECTED."""
        await self._connector.reconnect()

    def retry_now(self) -> None:
        """Do not wait any longer for the next retry, if one is waited for."""
        self._connector.retry_now()

    async def disconnect(self, closing: Closing = Closing.GRACEFUL) -> None:
        """Disconnect; what waits is rejected and nothing is left running."""
        try:
            await self._client_tasks.end()  # a task that was just cancelled is to hear of it
        finally:
            await self._connector.disconnect(closing)
        await self._client_tasks.end()  # a call may have become one meanwhile
        self.elicitation.end(CancelledRequest("disconnected"))
        await self._server_requests.end_all()
        await self.receiver_tasks.end()
        await self._notifications.end()
        await self._catalog.end()

    def use_transport(self, make_transport: Callable[[], Transport]) -> None:
        """Connect by this transport from the next time on."""
        self._connector.make_transport = make_transport

    def set_request_handler(self, method: str, handler: RequestHandler | None) -> None:
        """Answer a method of the server's; None takes the handler away."""
        self._server_requests.set_handler(method, handler)

    def set_notification_handler(self, method: str, handler: NotificationHandler | None) -> None:
        """Handle a notification of the server's (`*`: all that have no handler of their own)."""
        self._notifications.set_handler(method, handler)

    def choose_capabilities(self, capabilities: Mapping[str, Any]) -> None:
        """Declare these from the next connection on, word for word; None takes one away.

        One that was not on before waits for a person to answer.
        """
        self._chosen_capabilities = dict(capabilities)

    def _advertised(self) -> dict[str, Any]:
        """What is declared to the server, and so what is handled."""
        handled: dict[str, Any] = {"extensions": OWN_EXTENSIONS}
        if self.sampling.is_on:
            handled["sampling"] = SAMPLING
        if self.elicitation.is_on:
            handled["elicitation"] = ELICITATION
        if self.roots.is_on:
            handled["roots"] = ROOTS
        if self._options.receiver_tasks:
            handled["tasks"] = RECEIVER_TASKS
        return declared(handled, self._server_requests.capabilities(), self._chosen_capabilities)

    def _call_off(self, call_id: str) -> None:
        """A call was cancelled, and with it what the server asked because of it."""
        self.sampling.call_off(call_id)
        self.elicitation.call_off(call_id)
        self._server_requests.call_off(call_id)

    def _connected(self) -> None:
        self._catalog.connected()
        self._client_tasks.channel.connected()

    def _ended(self, error: InspectorError) -> None:
        self._server_requests.drop_all()
        self.receiver_tasks.clear()
        self._catalog.disconnected(error)
        self._client_tasks.disconnected(error)
        if self.state is ConnectionState.DISCONNECTED:
            self.elicitation.end(error)

    # -- tools, resources, prompts -------------------------------------------------------------

    async def list_tools(self, **options: Unpack[RequestOptions]) -> list[Tool]:
        """All tools, from all pages; a broken definition is listed with `problem` set."""
        return await self._catalog.fetch("tools", Tool, **options)

    async def list_resources(self, **options: Unpack[RequestOptions]) -> list[Resource]:
        """All resources, from all pages."""
        return await self._catalog.fetch("resources", Resource, **options)

    async def list_resource_templates(
        self, **options: Unpack[RequestOptions]
    ) -> list[ResourceTemplate]:
        """All resource templates, from all pages."""
        return await self._catalog.fetch("resource_templates", ResourceTemplate, **options)

    async def list_prompts(self, **options: Unpack[RequestOptions]) -> list[Prompt]:
        """All prompts, from all pages."""
        return await self._catalog.fetch("prompts", Prompt, **options)

    async def list_page(
        self, kind: str, cursor: str | None = None, **options: Unpack[RequestOptions]
    ) -> ListPage:
        """One page of `tools`, `resources`, `resource_templates` or `prompts`."""
        return await self._catalog.fetch_page(kind, cursor, **options)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        task: bool | float | None = None,
        tag: CallTag | None = None,
    ) -> ToolResult:
        """Call a tool; its own failure is returned (`is_error`), not raised.

        `task` calls it as a task that lives so many seconds (True: 60) and waits for its end. None
        does so for tools that can be called in no other way.

        `timeout_s` covers the wait in the queue, the call, and the task that it became; a task is
        not cancelled when the time is up. Without it a request has the limits of the connection,
        and a task is polled until it ends.

        Raises:
            InspectorError: no answer, an error answer, or one that breaks its shape.
        """
        return await self._tool_calls.call(
            name,
            arguments,
            tag=tag or self._connection.new_tag(),
            timeout_s=timeout_s,
            on_progress=on_progress,
            meta=meta,
            headers=headers,
            task=task,
        )

    async def read_resource(self, uri: str, **options: Unpack[RequestOptions]) -> ReadResult:
        """Read a resource."""
        return await self._catalog.read(uri, **options)

    async def subscribe(self, uri: str) -> None:
        """Subscribe to updates of a resource; it is read again after each."""
        await self._catalog.subscribe(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self._catalog.unsubscribe(uri)

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> PromptResult:
        """Get a prompt with its arguments filled in."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = arguments
        frame = await self._rounds.send("prompts/get", params, options)
        return typed(frame, "prompts/get", PromptResult, self._connection.names)

    async def complete(
        self,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> Completion:
        """Suggestions for an argument of a prompt (`{"type": "ref/prompt", "name": …}`) or a
        resource template (`{"type": "ref/resource", "uri": …}`)."""
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": context}
        frame = await self._rounds.send("completion/complete", params, options)
        return typed(frame, "completion/complete", Completion, self._connection.names)

    # -- skills --------------------------------------------------------------------------------

    @cached_property
    def _skills(self) -> Skills:
        from mcplens.session.skills import Skills  # few servers have them

        return Skills(self._connection, self._rounds)

    async def list_skills(
        self, budget: SkillBudget | None = None, **options: Unpack[RequestOptions]
    ) -> SkillList:
        """All skills of the server's list, within the budget; no file of theirs is read.

        A broken entry is listed with `problem` set, and cannot be read. The list may be partial:
        `get_skill` finds others by their URI.
        """
        return await self._skills.list_all(budget, **options)

    async def get_skill(self, uri: str, **options: Unpack[RequestOptions]) -> Skill:
        """The entry of one skill, by the URI of its SKILL.md."""
        return await self._skills.get(uri, **options)

    async def read_skill_file(
        self,
        skill: Skill,
        path: str = "SKILL.md",
        budget: SkillBudget | None = None,
        **options: Unpack[RequestOptions],
    ) -> SkillFileReport:
        """Read a file of a skill by its path or URI, and verify it.

        Raises:
            SkillMismatch: size, digest or front matter differ, or the manifest does not have it.
            InspectorError: no answer, an error answer, or one that breaks its shape.
        """
        return await self._skills.read(skill, path, budget, **options)

    async def check_skill_file(
        self,
        skill: Skill,
        path: str = "SKILL.md",
        budget: SkillBudget | None = None,
        **options: Unpack[RequestOptions],
    ) -> SkillFileReport:
        """The same for people who look into a mismatch: it is in `findings`, and not raised."""
        return await self._skills.check(skill, path, budget, **options)

    async def read_directory(
        self,
        uri: str,
        *,
        recursive: bool = False,
        budget: SkillBudget | None = None,
        **options: Unpack[RequestOptions],
    ) -> Directory:
        """What is in a folder of the server's, for servers that declare `directoryRead`."""
        return await self._skills.directory(uri, recursive=recursive, budget=budget, **options)

    # -- logging and liveness ------------------------------------------------------------------

    async def set_level(self, level: str) -> None:
        """Ask for server logs from this level up."""
        await self._catalog.set_level(level)

    async def ping(self, timeout_s: float | None = None) -> float:
        """How long the server takes to answer, in seconds; never waits in the queue."""
        session = self._connection.ready_session()
        method = "server/discover" if session.is_stateless else "ping"
        started = session.clock.monotonic()
        entry = session.sender.start_now(
            method, tag=self.new_tag(), timeout_s=timeout_s, is_quiet=True
        )
        await self._requests.answer_of(entry)
        latency_s = self._connection.latency_s = session.clock.monotonic() - started
        return latency_s

    # -- tasks ---------------------------------------------------------------------------------

    async def start_tool_task(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        ttl_s: float | None = DEFAULT_TTL_S,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        tag: CallTag | None = None,
    ) -> Task:
        """Call a tool as a task and return as soon as there is one; it is polled from then on.

        In 2026-07-28 the server decides whether there is one, and how long it lives.

        Raises:
            InspectorError: as for `call_tool`, or the server made no task of it.
        """
        return await self._tool_calls.start_task(
            name,
            arguments,
            ttl_s,
            tag=tag or self.new_tag(),
            timeout_s=timeout_s,
            on_progress=on_progress,
            meta=meta,
            headers=headers,
        )

    async def get_client_task(self, task_id: str) -> Task:
        """Where a task stands, as the server says now."""
        return await self._client_tasks.get(task_id)

    async def get_client_task_result(
        self, task_id: str, *, timeout_s: float | None = None, tag: CallTag | None = None
    ) -> ToolResult:
        """The result of a call that became a task; waits for its end, at most `timeout_s`.

        Raises:
            InspectorError: the call failed, the task was cancelled, or the server forgot it.
        """
        tag = tag or self.new_tag()
        frame, tool = await self._client_tasks.result(task_id, tag, timeout_s)
        return typed_tool_result(frame, self._catalog.tool(tool), self._catalog.output_schemas)

    async def list_client_tasks(self) -> list[Task]:
        """All tasks that the server knows of, from all pages (2025-11-25)."""
        return await self._client_tasks.list()

    async def cancel_client_task(self, task_id: str) -> Task:
        """Cancel a task; in 2026-07-28 it may go on for a while."""
        return await self._client_tasks.cancel(task_id)

    @property
    def tracked_client_tasks(self) -> list[Task]:
        """The tasks that are polled, and those that ended on this connection."""
        return self._client_tasks.tracked()

    def get_tracked_client_tasks(self) -> list[Task]:
        """The same as `tracked_client_tasks`."""
        return self._client_tasks.tracked()

    def update_tracked_client_task(self, task: Task) -> Task:
        """Take over where a task stands, and notify subscribers; returns where it stands then.

        A task that has ended stays as it is. One that is not tracked is tracked from now on.
        """
        return self._client_tasks.update(task)

    # -- any message ---------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        tag: CallTag | None = None,
    ) -> Reply:
        """Any method; a result that breaks its shape is returned with the findings.

        Raises:
            InspectorError: no answer, an error answer, or one that is not JSON.
        """
        frame = await self._requests.send(
            method,
            params,
            tag=tag or self.new_tag(),
            timeout_s=timeout_s,
            on_progress=on_progress,
            headers=headers,
        )
        try:
            value, findings = decode_reply(method, frame)
        except InspectorError as error:
            self._connection.describe(error, method)
            raise
        findings += check_reply(
            method,
            frame,
            value,
            is_stateless=self._connection.is_stateless,
            tool=self._catalog.tool(str((params or {}).get("name"))),
            schemas=self._catalog.output_schemas,
        )
        return Reply(value, bytes(frame.body), tuple(dict.fromkeys(findings)))

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self._requests.notify(method, params)

    async def send_raw(
        self,
        data: bytes,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] | None = None,
        force: bool = False,
        tag: CallTag | None = None,
    ) -> Frame | None:
        """Send bytes exactly as they are. If they are a request, its answer is waited for.

        Raises:
            InspectorError: the id is in flight (unless forced), or as for `request`.
        """
        return await self._requests.send_raw(
            data,
            tag=tag or self.new_tag("raw"),
            timeout_s=timeout_s,
            on_progress=on_progress,
            headers=headers,
            force=force,
        )

    def new_tag(self, purpose: Purpose = "call") -> CallTag:
        """What the requests of a new operation have in common."""
        return self._connection.new_tag(purpose)

    def cancel(self, request_id: RequestId) -> bool:
        """Cancel a request that has not been sent."""
        return self._requests.cancel(request_id)

    def abort(self, request_id: RequestId, reason: str = "cancelled by the user") -> bool:
        """Cancel a request; one in progress is cancelled on the server too."""
        return self._requests.abort(request_id, reason)
