"""The lists of a server: fetched page by page, kept, and fetched again when they change.

Also what is subscribed to, in the way of either era, and restored after a reconnect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar, Unpack

import msgspec

from mcplens.errors import InspectorError
from mcplens.events import ListRefreshed, ResourceRefreshed
from mcplens.protocol.eras import InvalidHeaderAnnotation, header_parameters
from mcplens.protocol.result_types import (
    Item,
    Prompt,
    ReadResult,
    Resource,
    ResourceTemplate,
    Tool,
    decode_item,
)
from mcplens.session.connection import Connection
from mcplens.session.input_rounds import InputRounds
from mcplens.session.notifications import Refresher
from mcplens.session.paging import each_page, read_page
from mcplens.session.queue import CallTag
from mcplens.session.request_sender import RequestOptions, RequestSender
from mcplens.session.results import LIST_KEYS, OutputSchemas, decode_reply, typed
from mcplens.session.subscription_stream import SubscriptionStream

I = TypeVar("I", bound=Item)  # noqa: E741

# The method that asks for each list, and what its items are.
METHODS: Final[dict[str, tuple[str, type[Item]]]] = {
    "tools": ("tools/list", Tool),
    "resources": ("resources/list", Resource),
    "resource_templates": ("resources/templates/list", ResourceTemplate),
    "prompts": ("prompts/list", Prompt),
}


class ListPage(msgspec.Struct, frozen=True):
    """One page of a list."""

    items: list[Any]
    next_cursor: str | None
    raw: bytes


class Catalog:
    """What a server offers, as far as we asked."""

    def __init__(
        self, connection: Connection, requests: RequestSender, rounds: InputRounds
    ) -> None:
        self._connection = connection
        self._requests = requests
        self._rounds = rounds
        self._lists: dict[str, list[Any]] = {}
        self._changed_meanwhile: dict[str, bool] = {}  # of each list that is on its way first
        self.page_counts: dict[str, int] = {}  # in how many pages each of them came
        self._tools: dict[str, Tool] = {}
        self.output_schemas = OutputSchemas()
        self.dropped_tools: list[Tool] = []  # left out because of a bad x-mcp-header annotation
        self.resources: dict[str, ReadResult] = {}  # last read of each subscribed resource
        self._subscribed: set[str] = set()
        self._level = connection.options.log_level  # chosen by the user
        self.reads_updates = True  # else the surface reads it after ResourceRefreshed
        # Set by the owner: called when a list was fetched again, with what went wrong.
        self.on_refreshed: Callable[[str, InspectorError | None], None] | None = None
        self._refresher = Refresher()
        self._announced: set[str] = set()  # names of refetches that the server asked for
        self.subscription_stream = SubscriptionStream(connection, self._refetch)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(items)} {kind}" for kind, items in self._lists.items())
        return f"<Catalog {counts or 'empty'}>"

    def known(self, kind: str) -> list[Any] | None:
        """A list as last fetched; None if it never was."""
        return self._lists.get(kind)

    def tool(self, name: str) -> Tool | None:
        """A tool as last listed; the first of that name."""
        return self._tools.get(name)

    def tools_named(self, name: str) -> list[Tool]:
        """All tools of a name: a server may have it twice."""
        listed = [tool for tool in self._lists.get("tools", ()) if tool.name == name]
        known = self._tools.get(name)
        return listed or ([] if known is None else [known])

    @property
    def subscribed(self) -> frozenset[str]:
        return frozenset(self._subscribed)

    @property
    def level(self) -> str | None:
        """From which level on the server was asked to log."""
        if self._level is None and self._connection.is_stateless:
            return self._connection.options.default_log_level
        return self._level

    def take_over(self, former: Catalog) -> None:
        """Want what a former client of the same server wanted, from the next connection on."""
        self._subscribed |= former._subscribed
        self._level = former._level or self._level

    # -- lists ---------------------------------------------------------------------------------

    async def fetch(self, kind: str, shape: type[I], **options: Unpack[RequestOptions]) -> list[I]:
        """A whole list, all pages."""
        items: list[I] = []
        count = 0
        async for page in self.pages(kind, **options):
            items += page.items
            count += 1
        self.keep(kind, items)
        self.page_counts[kind] = count
        return items

    def pages(
        self, kind: str, cursor: str | None = None, **options: Unpack[RequestOptions]
    ) -> AsyncIterator[ListPage]:
        """A list page by page, to its end or to where the server begins to repeat itself."""
        self._listen_for(kind)
        # All pages are one operation.
        if "tag" not in options:
            options["tag"] = self._connection.new_tag("catalog")
        if kind not in self._lists:
            self._changed_meanwhile.setdefault(kind, False)
        now, timeout_s = self._connection.clock.monotonic, options.get("timeout_s")
        ends_at = None if timeout_s is None else now() + timeout_s

        def fetch(cursor: str | None) -> Awaitable[ListPage]:
            if ends_at is not None:  # the caller's time is for all pages together
                options["timeout_s"] = max(0.0, ends_at - now())
            return self.fetch_page(kind, cursor, **options)

        return each_page(kind, fetch, self._connection.remark, cursor)

    async def fetch_page(
        self, kind: str, cursor: str | None = None, **options: Unpack[RequestOptions]
    ) -> ListPage:
        """One page of a list."""
        if kind not in METHODS:
            error = InspectorError("INVALID_REQUEST", f"no list is called {kind!r}")
            raise self._connection.describe(error)
        if "tag" not in options:
            options["tag"] = self._connection.new_tag("catalog")
        method, shape = METHODS[kind]
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        frame = await self._rounds.send(method, params, options)
        page = read_page(kind, method, LIST_KEYS[method], frame, self._connection)
        items: list[Any] = [decode_item(raw, shape) for raw in page.items]
        if kind == "tools":
            items = self._learn_tools(items)
        return ListPage(items, page.next_cursor, bytes(frame.body))

    def keep(self, kind: str, items: list[Any]) -> None:
        """Take this for the list from now on."""
        self._lists[kind] = items
        if kind == "tools":
            self._tools = {tool.name: tool for tool in reversed(items)}
            self.output_schemas.forget()
        if self._changed_meanwhile.pop(kind, False):
            self._announced.add(kind)
            self._refetch(kind)

    def _listen_for(self, kind: str) -> None:
        """Before the list is asked for, so that no change falls between the two."""
        if self._connection.is_stateless:
            self.subscription_stream.want_list(
                "resources" if kind == "resource_templates" else kind
            )

    def _learn_tools(self, tools: list[Tool]) -> list[Tool]:
        """Note which arguments each tool mirrors as headers (2026-07-28 over HTTP)."""
        session = self._connection.session
        self._tools.update((tool.name, tool) for tool in reversed(tools))
        self.output_schemas.forget()
        if session is None or not session.is_stateless:
            return tools
        usable = []
        for tool in tools:
            try:
                session.envelope.header_parameters[tool.name] = header_parameters(tool.input_schema)
                usable.append(tool)
            except InvalidHeaderAnnotation as problem:
                tool.problem = str(problem)
                if session.transport.exchange_per_request:
                    self._drop(tool)
                else:
                    usable.append(tool)
        return usable

    def _drop(self, tool: Tool) -> None:
        """The specification forbids offering such a tool over HTTP; it stays visible here."""
        self.dropped_tools = [t for t in self.dropped_tools if t.name != tool.name] + [tool]
        self._connection.remark(f"the tool {tool.name} is left out: {tool.problem}")

    def list_changed(self, kind: str) -> None:
        """The server says so; fetched again only if it was fetched before, or is being."""
        if kind in self._lists:
            self._announced.add(kind)
            self._refetch(kind)
        elif kind in self._changed_meanwhile:
            self._changed_meanwhile[kind] = True

    def _is_announced(self, name: str) -> bool:
        """Whether the refetch that begins was announced; the next one need not be."""
        is_announced = name in self._announced
        self._announced.discard(name)
        return is_announced

    def _refetch(self, kind: str | None) -> None:
        if kind is None:
            for uri in sorted(self._subscribed):
                self._refetch_resource(uri)
        elif kind in self._lists:
            self._refresher.ask(kind, lambda: self._fetch_again(kind))

    async def _fetch_again(self, kind: str) -> None:
        is_announced = self._is_announced(kind)
        count = 0
        failure: InspectorError | None = None
        try:
            items = await self.fetch(kind, METHODS[kind][1], tag=CallTag(purpose="catalog"))
            count = len(items)
        except InspectorError as error:
            failure = error.shortened()
        self._connection.publish(
            ListRefreshed(
                kind=kind,
                count=count,
                error=None if failure is None else failure.to_dict(),
                is_unannounced=not is_announced,
            )
        )
        if self.on_refreshed is not None:
            self.on_refreshed(kind, failure)

    # -- resources -----------------------------------------------------------------------------

    async def read(self, uri: str, **options: Unpack[RequestOptions]) -> ReadResult:
        """Read a resource."""
        frame = await self._rounds.send("resources/read", {"uri": uri}, options)
        return typed(frame, "resources/read", ReadResult, self._connection.names)

    async def subscribe(self, uri: str) -> None:
        session = self._connection.ready_session()
        if session.is_stateless:
            await self.subscription_stream.add(uri)
        else:
            await self._ask("resources/subscribe", {"uri": uri})
        self._subscribed.add(uri)

    async def unsubscribe(self, uri: str) -> None:
        session = self._connection.ready_session()
        if session.is_stateless:
            await self.subscription_stream.remove(uri)
        else:
            await self._ask("resources/unsubscribe", {"uri": uri})
        self._subscribed.discard(uri)
        self.resources.pop(uri, None)

    def resource_updated(self, uri: str) -> None:
        """The server says so; read again only if we are subscribed to it or to what holds it."""
        holders = (base.removesuffix("/") + "/" for base in self._subscribed)
        if uri in self._subscribed or any(uri.startswith(holder) for holder in holders):
            self._announced.add(_refetch_name(uri))
            self._refetch_resource(uri)

    def _refetch_resource(self, uri: str) -> None:
        if self.reads_updates:
            self._refresher.ask(_refetch_name(uri), lambda: self._read_again(uri))
        else:
            is_announced = self._is_announced(_refetch_name(uri))
            self._connection.publish(ResourceRefreshed(uri=uri, is_unannounced=not is_announced))

    async def _read_again(self, uri: str) -> None:
        is_announced = self._is_announced(_refetch_name(uri))
        failure: dict[str, Any] | None = None
        try:
            tag = CallTag(purpose="catalog")
            self.resources[uri] = await self.read(uri, tag=tag)
        except InspectorError as error:
            failure = error.shortened().to_dict()
        self._connection.publish(
            ResourceRefreshed(uri=uri, error=failure, is_unannounced=not is_announced)
        )

    # -- logging -------------------------------------------------------------------------------

    async def set_level(self, level: str) -> None:
        session = self._connection.ready_session()
        if session.is_stateless:
            session.envelope.set_log_level(level)
        else:
            await self._ask("logging/setLevel", {"level": level})
        self._level = level

    # -- the connection's life -------------------------------------------------------------------

    def connected(self) -> None:
        """Ask for what is wanted from the start, and for what a lost connection took with it."""
        session = self._connection.session
        if session is None:
            return
        if session.is_stateless:
            if self.level is not None:
                session.envelope.set_log_level(self.level)
            self.subscription_stream.want_resources(self._subscribed)
            if self.subscription_stream.has_wants:
                self.subscription_stream.resume()
        elif self._subscribed or self._level:
            self._refresher.ask("subscriptions", self._restore)

    async def _restore(self) -> None:
        for uri in sorted(self._subscribed):
            error = await self._ask_again("resources/subscribe", {"uri": uri})
            if error is not None:
                told = ResourceRefreshed(uri=uri, error=error.to_dict(), is_unannounced=True)
                self._connection.publish(told)
        if self._level is not None:
            error = await self._ask_again("logging/setLevel", {"level": self._level})
            if error is not None and error.category == "server":
                self._level = None

    async def _ask_again(self, method: str, params: Mapping[str, Any]) -> InspectorError | None:
        """What went wrong, if anything did."""
        try:
            await self._ask(method, params, CallTag(purpose="catalog"))
        except InspectorError as error:
            self._connection.remark(f"{method} failed: {error.message}")
            return error
        return None

    async def _ask(
        self, method: str, params: Mapping[str, Any], tag: CallTag | None = None
    ) -> None:
        tag = tag or self._connection.new_tag()
        decode_reply(method, await self._requests.send(method, params, tag=tag))

    def disconnected(self, error: InspectorError) -> None:
        self._announced.clear()
        self.subscription_stream.drop(error)

    async def end(self) -> None:
        await self.subscription_stream.end()
        await self._refresher.end()


def _refetch_name(uri: str) -> str:
    return f"resource {uri}"
