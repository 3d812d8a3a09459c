"""MCP's operations, typed.

The part of the client that knows what methods mean; requests.py knows how they travel.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from mcplens.errors import ProtocolError, ServerError
from mcplens.protocol.eras import HEADER_MISMATCH
from mcplens.protocol.frames import Frame
from mcplens.protocol.input_required import MAY_ASK
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
from mcplens.session.catalog import ListPage
from mcplens.session.client_tasks import ClientTasks
from mcplens.session.input_rounds import URL_ELICITATION_REQUIRED, InputRounds
from mcplens.session.queue import CallTag
from mcplens.session.requests import OnProgress, Requests
from mcplens.session.results import invalid, result_type, typed, typed_tool_result
from mcplens.session.task_calls import DEFAULT_TTL_S, TaskCalls

S = TypeVar("S", bound=msgspec.Struct)


class Operations(Requests):
    """What can be asked of a server."""

    _rounds: InputRounds
    _client_tasks: ClientTasks
    _task_calls: TaskCalls

    async def list_tools(self, **options: Any) -> list[Tool]:
        """All tools, from all pages; a broken definition is listed with `problem` set."""
        return await self._catalog.fetch("tools", Tool, **options)

    async def list_resources(self, **options: Any) -> list[Resource]:
        """All resources, from all pages."""
        return await self._catalog.fetch("resources", Resource, **options)

    async def list_resource_templates(self, **options: Any) -> list[ResourceTemplate]:
        """All resource templates, from all pages."""
        return await self._catalog.fetch("resource_templates", ResourceTemplate, **options)

    async def list_prompts(self, **options: Any) -> list[Prompt]:
        """All prompts, from all pages."""
        return await self._catalog.fetch("prompts", Prompt, **options)

    async def list_page(self, kind: str, cursor: str | None = None, **options: Any) -> ListPage:
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

        `task` calls it as a task that lives so many seconds (True: 60) and waits for its end, which
        no timeout cuts short while the server says that it works on. None does so for tools that
        can be called in no other way.

        Raises:
            InspectorError: no answer, an error answer, or one that breaks its shape.
        """
        tag = tag or self.new_tag()
        params = _call_params(name, arguments, meta)
        if task is not None or "tasks" in self._declared:
            lifetime = await self._task_calls.augmentation(name, task, tag)
            if lifetime is not None:
                params["task"] = lifetime
        try:
            if "task" in params and not self._connection.is_stateless:
                frame = await self._call_as_task(params, tag, timeout_s, on_progress, headers)
            else:
                kind, frame = await self._interact(
                    "tools/call", params, tag, timeout_s, on_progress, headers
                )
                if kind == "task":
                    poller = self._task_calls.adopt(frame, params, on_progress, tag)
                    frame = await self._client_tasks.result_of(poller)
            return typed_tool_result(frame, self._catalog.tool(name), self._catalog.output_schemas)
        except ProtocolError as error:
            raise error.with_details(server_id=self.server_id) from None

    async def read_resource(self, uri: str, **options: Any) -> ReadResult:
        """Read a resource."""
        frame = await self._send_with("resources/read", {"uri": uri}, options)
        return self._typed(frame, "resources/read", ReadResult)

    async def subscribe(self, uri: str) -> None:
        """Subscribe to updates of a resource; it is read again after each."""
        await self._catalog.subscribe(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self._catalog.unsubscribe(uri)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, **options: Any
    ) -> PromptResult:
        """Get a prompt with its arguments filled in."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = arguments
        frame = await self._send_with("prompts/get", params, options)
        return self._typed(frame, "prompts/get", PromptResult)

    async def complete(
        self,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Completion:
        """Suggestions for an argument of a prompt (`{"type": "ref/prompt", "name": …}`) or a
        resource template (`{"type": "ref/resource", "uri": …}`)."""
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": context}
        frame = await self._send_with("completion/complete", params, options)
        return self._typed(frame, "completion/complete", Completion)

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
        await self._settled(entry)
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
        """Call a tool as a task and return as soon as there is one; it is followed from then on.

        In 2026-07-28 the server decides whether there is one, and how long it lives.

        Raises:
            InspectorError: as for `call_tool`, or the server made no task of it.
        """
        tag = tag or self.new_tag()
        params = _call_params(name, arguments, meta)
        frame: Frame
        if self._connection.is_stateless:
            kind, frame = await self._interact(
                "tools/call", params, tag, timeout_s, on_progress, headers
            )
            if kind == "task":
                return self._task_calls.adopt(frame, params, on_progress, tag).task
        else:
            wanted = True if ttl_s is None else ttl_s
            lifetime = await self._task_calls.augmentation(name, wanted, tag)
            params["task"] = {} if ttl_s is None else lifetime
            made = await self._task_calls.create(
                params, tag=tag, timeout_s=timeout_s, on_progress=on_progress, headers=headers
            )
            if not isinstance(made, Frame):
                return made.task
            frame = made
        raise invalid("tools/call", "the server answered at once and made no task of it", frame)

    async def get_client_task(self, task_id: str) -> Task:
        """Where a task stands, by the server's word."""
        return await self._client_tasks.get(task_id)

    async def get_client_task_result(
        self, task_id: str, *, tag: CallTag | None = None
    ) -> ToolResult:
        """The result of a call that became a task; waits for its end.

        Raises:
            InspectorError: the call failed, the task was cancelled, or the server forgot it.
        """
        frame, tool = await self._client_tasks.result(task_id, tag or self.new_tag())
        return typed_tool_result(frame, self._catalog.tool(tool), self._catalog.output_schemas)

    async def list_client_tasks(self) -> list[Task]:
        """All tasks that the server knows of, from all pages (2025-11-25)."""
        return await self._client_tasks.list()

    async def cancel_client_task(self, task_id: str) -> Task:
        """Cancel a task; in 2026-07-28 it may go on for a while."""
        return await self._client_tasks.cancel(task_id)

    @property
    def tracked_client_tasks(self) -> list[Task]:
        """The tasks that are followed, and those that ended on this connection."""
        return self._client_tasks.tracked()

    # -- beneath -------------------------------------------------------------------------------

    async def _call_as_task(
        self,
        params: dict[str, Any],
        tag: CallTag,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> Frame:
        """Call a tool as a task of 2025-11-25, to its end."""

        async def call() -> Frame:
            made = await self._task_calls.create(
                params, tag=tag, timeout_s=timeout_s, on_progress=on_progress, headers=headers
            )
            if isinstance(made, Frame):
                return made
            return await self._client_tasks.result_of(made)

        try:
            return await call()
        except ServerError as error:
            if error.rpc_code != URL_ELICITATION_REQUIRED:
                raise
            return await self._rounds.open_urls("tools/call", error, call, tag)

    @property
    def _declared(self) -> Mapping[str, Any]:
        introduction = self._connection.introduction
        return introduction.capabilities if introduction is not None else {}

    def _typed(self, frame: Frame, method: str, shape: type[S]) -> S:
        try:
            return typed(frame, method, shape)
        except ProtocolError as error:
            raise error.with_details(server_id=self.server_id) from None

    async def _send_with(
        self, method: str, params: dict[str, Any], options: dict[str, Any]
    ) -> Frame:
        known = {"timeout_s", "on_progress", "headers", "meta", "tag"}
        if unknown := options.keys() - known:
            raise TypeError(f"{method}: unknown option {', '.join(sorted(unknown))}")
        meta = options.pop("meta", None)
        if meta:
            params["_meta"] = dict(meta)
        kind, frame = await self._interact(
            method,
            params,
            options.get("tag") or self.new_tag(),
            options.get("timeout_s"),
            options.get("on_progress"),
            options.get("headers"),
        )
        if kind == "task":
            raise invalid(method, "only tools/call can be answered with a task", frame)
        return frame

    async def _interact(
        self,
        method: str,
        params: Mapping[str, Any],
        tag: CallTag,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> tuple[str, Frame]:
        """Send a request, and answer what its server wants to know before it answers.

        Gives the result, and whether it is `complete` or a `task`.
        """

        def send(given: Mapping[str, Any]) -> Awaitable[Frame]:
            return self._send(
                method,
                given,
                tag=tag,
                timeout_s=timeout_s,
                on_progress=on_progress,
                headers=headers,
            )

        try:
            frame = await send(params)
        except ServerError as error:
            frame = await self._mended(method, error, lambda: send(params), tag)
        if not self._connection.is_stateless:
            return "complete", frame
        kind = result_type(frame, method)
        if kind == "input_required":
            if method not in MAY_ASK:
                raise invalid(method, "input_required is not for this method", frame)
            frame = await self._rounds.answer(method, params, frame, send, tag)
            kind = result_type(frame, method)
        return kind, frame

    async def _mended(
        self, method: str, error: ServerError, send: Callable[[], Awaitable[Frame]], tag: CallTag
    ) -> Frame:
        """Try again after an error that says how to; any other is raised."""
        if self._connection.is_stateless:
            if error.rpc_code != HEADER_MISMATCH or method != "tools/call":
                raise error
            # Our view of the tool's headers is old.
            await self.list_tools(tag=tag)
            return await send()
        if error.rpc_code != URL_ELICITATION_REQUIRED:
            raise error
        return await self._rounds.open_urls(method, error, send, tag)


def _call_params(
    name: str, arguments: Mapping[str, Any] | None, meta: Mapping[str, Any] | None
) -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
    if meta:
        params["_meta"] = dict(meta)
    return params
