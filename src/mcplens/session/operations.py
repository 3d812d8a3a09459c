"""MCP's operations, typed, over whatever sends a request and waits for its answer.

The half of the client that knows what methods mean; client.py is the half that knows how they
travel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from mcplens.errors import ProtocolError, ServerError
from mcplens.protocol.eras import HEADER_MISMATCH, Era
from mcplens.protocol.frames import Frame
from mcplens.protocol.shapes import (
    Completion,
    Prompt,
    PromptResult,
    ReadResult,
    Resource,
    ResourceTemplate,
    Tool,
    ToolResult,
)
from mcplens.session.catalog import Catalog, ListPage
from mcplens.session.queue import Progress, QueueEntry
from mcplens.session.results import check_result_type, typed, typed_tool_result

if TYPE_CHECKING:
    from mcplens.session.connection import Connection

OnProgress = Callable[[Progress], None]
S = TypeVar("S", bound=msgspec.Struct)


class Operations:
    """What can be asked of a server."""

    server_id: str
    _catalog: Catalog
    _connection: Connection

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
    ) -> ToolResult:
        """Call a tool; its own failure is returned (`is_error`), not raised.

        Raises:
            InspectorError: no answer, an error answer, or one that breaks its shape.
        """
        params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
        if meta:
            params["_meta"] = dict(meta)
        try:
            frame = await self._send("tools/call", params, timeout_s, on_progress, headers)
        except ServerError as error:
            if error.rpc_code != HEADER_MISMATCH or not self._is_stateless:
                raise
            # 2026-07-28: our view of the tool's headers is old; look again and try once more.
            await self.list_tools()
            frame = await self._send("tools/call", params, timeout_s, on_progress, headers)
        try:
            if self._is_stateless:
                check_result_type(frame, "tools/call")
            return typed_tool_result(frame, self._catalog.tool(name), self._catalog.output_schemas)
        except ProtocolError as error:
            raise error.with_details(server_id=self.server_id) from None

    async def read_resource(self, uri: str, **options: Any) -> ReadResult:
        """Read a resource."""
        frame = await self._send_with("resources/read", {"uri": uri}, options)
        return self._typed(frame, "resources/read", ReadResult)

    async def subscribe(self, uri: str) -> None:
        """Hear of updates to a resource; it is read again on each."""
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
        method = "server/discover" if session.era is Era.STATELESS else "ping"
        started = session.clock.monotonic()
        entry = session.direct(method, timeout_s=timeout_s, is_quiet=True)
        await self._settled(entry)
        latency_s = self._connection.latency_s = session.clock.monotonic() - started
        return latency_s

    @property
    def _is_stateless(self) -> bool:
        session = self._connection.session
        return session is not None and session.era is Era.STATELESS

    def _typed(self, frame: Frame, method: str, shape: type[S]) -> S:
        try:
            return typed(frame, method, shape)
        except ProtocolError as error:
            raise error.with_details(server_id=self.server_id) from None

    async def _send_with(
        self, method: str, params: dict[str, Any], options: dict[str, Any]
    ) -> Frame:
        known = {"timeout_s", "on_progress", "headers", "meta"}
        if unknown := options.keys() - known:
            raise TypeError(f"{method}: unknown option {', '.join(sorted(unknown))}")
        meta = options.pop("meta", None)
        if meta:
            params["_meta"] = dict(meta)
        frame = await self._send(
            method,
            params,
            options.get("timeout_s"),
            options.get("on_progress"),
            options.get("headers"),
        )
        if self._is_stateless:
            check_result_type(frame, method)
        return frame

    async def _send(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        timeout_s: float | None,
        on_progress: OnProgress | None,
        headers: Mapping[str, str] | None,
    ) -> Frame:
        raise NotImplementedError

    async def _settled(self, entry: QueueEntry) -> Any:
        raise NotImplementedError
