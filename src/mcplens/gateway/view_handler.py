"""All servers as one view publishes them, at `/mcp` and `/mcp/<view>`.

Lists are merged, names are routed to their servers, and what the view hides cannot be reached by
any method. A name that is missing makes all lists be fetched anew once before it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

from msgspec import Raw

from mcplens.config.views import View
from mcplens.downstream.server_connection import ServerConnection
from mcplens.gateway.catalog import (
    HELD,
    LIST_KEY,
    ChangedList,
    InvalidCursor,
    Kind,
    ViewCatalog,
)
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.handler import (
    MAX_INSTRUCTIONS,
    InboundHandler,
    list_result,
    unknown_method,
)
from mcplens.gateway.inbound_call import InboundCall
from mcplens.gateway.inbound_client import InboundClient
from mcplens.gateway.names import Original
from mcplens.gateway.own_methods import Description
from mcplens.gateway.refused import Refused, unknown_name
from mcplens.gateway.task_shapes import capabilities_for
from mcplens.gateway.views import why_server_hidden
from mcplens.gateway.wire import members, object_of, text_of
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.inbound.request_validation import HeaderParameters
from mcplens.protocol.eras import SKILLS_EXTENSION
from mcplens.version import VERSION

_LISTS: Final[dict[str, Kind]] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resource_templates",
}
# The code of 2025-11-25 for a resource that does not exist.
_RESOURCE_NOT_FOUND: Final = -32002


class ViewHandler(InboundHandler):
    """Publishes what a view shows of all servers."""

    def __init__(self, gateway: Gateway, view: View, path: str) -> None:
        super().__init__(gateway, path)
        self.view = view
        self._catalog: ViewCatalog | None = None

    def use_view(self, view: View) -> None:
        """Publish another view at this path."""
        if view != self.view:
            self.view = view
            self.gateway.servers_changed()

    @property
    def catalog(self) -> ViewCatalog:
        if self._catalog is None:
            self._catalog = self.gateway.catalog(self.view)
        return self._catalog

    def connections(self) -> list[ServerConnection]:
        """The servers of which this view shows anything."""
        return [one for one in self.gateway.usable() if self.shows(one.server_id)]

    # -- what it is --------------------------------------------------------------------------------

    async def describe(self, client: InboundClient) -> Description:
        await self.gateway.settled()
        connections = self.connections()
        texts = [
            f"# {one.server_id}\n\n{one.introduction.instructions}"
            for one in connections
            if one.introduction is not None and one.introduction.instructions
            if self._tells(one.server_id, one.introduction.instructions)
        ]
        instructions = "\n\n".join(texts)[:MAX_INSTRUCTIONS] or None
        info = {"name": "mcplens-gateway", "version": VERSION}
        merged = _merged_capabilities(connections, is_stateless=client.is_stateless)
        return Description(info, merged, instructions)

    def _tells(self, server_id: str, instructions: str) -> bool:
        """Whether the instructions of a server are passed on."""
        approvals = self.gateway.approvals
        return approvals is None or not approvals.holds_instructions(
            self.view, server_id, instructions
        )

    def shows(self, server_id: str) -> bool:
        return why_server_hidden(self.view, server_id) is None

    def published_changes(self, changed: Iterable[ChangedList]) -> set[Kind]:
        before, self._catalog = self._catalog, None
        kinds = {one.kind for one in changed}
        if before is None:
            return kinds
        return {kind for kind in kinds if before.items[kind] != self.catalog.items[kind]}

    def header_parameters(self, tool: str) -> HeaderParameters:
        return self.catalog.header_parameters(tool)

    def server_of_uri(self, uri: str, caller: str) -> str | None:
        sessions = self.gateway.users.sessions
        catalog = self.catalog if sessions is None else sessions.catalogs.last(self, caller)
        return catalog.owner_of(uri)

    async def catalog_for(self, call: InboundCall) -> ViewCatalog:
        """What this view shows to the user of a call."""
        sessions = self.gateway.users.sessions
        return self.catalog if sessions is None else await sessions.catalogs.of(self, call.client)

    # -- requests ----------------------------------------------------------------------------------

    async def passed_on(self, call: InboundCall, params: dict[str, Any]) -> bytes:
        method = call.method
        if method == "tools/call":
            return await self._named(call, params, "tools")
        if method == "prompts/get":
            return await self._named(call, params, "prompts")
        if method in _LISTS:
            return await self._list(call, params, _LISTS[method])
        if method == "resources/read":
            uri = text_of(params.get("uri"))
            if uri is None:
                raise Refused(INVALID_PARAMS, "uri is missing")
            connection = await self._owner(call, uri)
            return await call.relay(connection, method, params)
        if method == "completion/complete":
            return await self._complete(call, params)
        if method.startswith("tasks/"):
            return await self.tasks.answer(call, params, self.connections())
        raise unknown_method(method)

    async def _list(self, call: InboundCall, params: dict[str, Any], kind: Kind) -> bytes:
        await self.gateway.settled()
        cursor = params.get("cursor")
        text = None if cursor is None else text_of(cursor)
        if cursor is not None and text is None:
            raise Refused(INVALID_PARAMS, "cursor must be a string")
        try:
            items, following = (await self.catalog_for(call)).page(kind, text)
        except InvalidCursor as problem:
            raise Refused(INVALID_PARAMS, str(problem)) from None
        return list_result(LIST_KEY[kind], items, following, is_stateless=call.is_stateless)

    async def _named(
        self, call: InboundCall, params: dict[str, Any], kind: Literal["tools", "prompts"]
    ) -> bytes:
        original = await self._original(call, kind, params.get("name"))
        params["name"] = original.name
        connection = self._connection(original.server_id)
        sessions = self.gateway.users.sessions
        if sessions is not None and sessions.tools.has(call, connection, original.name):
            return await sessions.tools.call(call, connection, original.name)
        return await self.tasks.relay(call, connection, params)

    async def _original(
        self, call: InboundCall, kind: Literal["tools", "prompts"], raw: Raw | None
    ) -> Original:
        """What a client means by a name; unknown ones are looked for once more."""
        name = text_of(raw)
        if name is None:
            raise Refused(INVALID_PARAMS, "name is missing")
        catalog = await self.catalog_for(call)
        original = catalog.find(kind, name)
        if original is None and catalog.is_held(kind, name):
            call.reason = HELD
        sessions = self.gateway.users.sessions
        if original is None and sessions is not None:
            original = sessions.catalogs.find_former(self, call, kind, name)
            if original is not None and self._holds(call, original):
                connection = self._connection(original.server_id)
                catalog = await sessions.catalogs.after_sign_in(self, call, connection)
                original = catalog.find(kind, name)
                if original is None and catalog.is_held(kind, name):
                    call.reason = HELD
        if original is None and not call.reason:
            await self.gateway.list_search.search(lambda: self.catalog.find(kind, name) is not None)
            catalog = await self.catalog_for(call)
            original = catalog.find(kind, name)
        if original is None:
            call.reason = call.reason or catalog.hidden_names.why_not_named(kind, name)
            word = "tool" if kind == "tools" else "prompt"
            names = catalog.published_names(kind)
            raise Refused(INVALID_PARAMS, unknown_name(word, name, names))
        return original

    def _holds(self, call: InboundCall, original: Original) -> bool:
        """Whether a user's tool or prompt may be held back here: no list of theirs has it yet."""
        approvals, sessions = self.gateway.approvals, self.gateway.users.sessions
        if approvals is None or approvals.mode_of(self.view) != "hold" or sessions is None:
            return False
        return not sessions.tools.has(call, self._connection(original.server_id), original.name)

    def find_tool(self, name: str) -> tuple[ServerConnection, str] | None:
        original = self.catalog.find("tools", name)
        if original is None:
            return None
        connection = self.gateway.server(original.server_id)
        return None if connection is None else (connection, original.name)

    async def _complete(self, call: InboundCall, params: dict[str, Any]) -> bytes:
        reference = object_of(params.get("ref"))
        kind, name, uri = (reference.get(key) for key in ("type", "name", "uri"))
        if kind == "ref/prompt" and isinstance(name, str):
            original = await self._original(call, "prompts", members(params["ref"]).get("name"))
            params["ref"] = {**members(params["ref"]), "name": original.name}
            connection = self._connection(original.server_id)
        elif kind == "ref/resource" and isinstance(uri, str):
            catalog = await self.catalog_for(call)
            server_id = catalog.owner_of_template(uri)
            if server_id is None:
                call.reason = catalog.hidden_names.why_no_resource(uri)
                raise Refused(INVALID_PARAMS, f"there is no resource template {uri[:200]}")
            connection = self._connection(server_id)
        else:
            raise Refused(INVALID_PARAMS, "ref must be a ref/prompt or a ref/resource")
        return await call.relay(connection, call.method, params)

    async def _owner(self, call: InboundCall, uri: str) -> ServerConnection:
        catalog = await self.catalog_for(call)
        server_id = catalog.owner_of(uri)
        if server_id is None and catalog.is_uri_held(uri):
            call.reason = HELD
        elif server_id is None:
            await self.gateway.list_search.search(lambda: self.catalog.owner_of(uri) is not None)
            catalog = await self.catalog_for(call)
            server_id = catalog.owner_of(uri)
        if server_id is None:
            call.reason = call.reason or catalog.hidden_names.why_no_resource(uri)
            code = INVALID_PARAMS if call.is_stateless else _RESOURCE_NOT_FOUND
            raise Refused(code, f"Resource not found: {uri[:200]}", {"uri": uri[:2000]})
        return self._connection(server_id)

    def _connection(self, server_id: str) -> ServerConnection:
        connection = self.gateway.server(server_id)
        if connection is None:
            raise Refused(INVALID_PARAMS, f"the server {server_id} is no longer configured")
        return connection


def _merged_capabilities(
    connections: list[ServerConnection], *, is_stateless: bool
) -> dict[str, Any]:
    """What the servers can do together; of one that is not there yet, the usual is expected."""
    found: dict[str, Any] = {}
    for connection in connections:
        introduction = connection.introduction
        if introduction is None:
            found |= {name: found.get(name, {}) for name in ("tools", "prompts", "resources")}
            continue
        capabilities = capabilities_for(introduction.capabilities, is_stateless=is_stateless)
        for name in ("tools", "prompts", "resources", "completions", "logging"):
            if isinstance(capabilities.get(name), dict):
                found.setdefault(name, {})
        resources = capabilities.get("resources")
        if isinstance(resources, dict) and resources.get("subscribe"):
            found["resources"]["subscribe"] = True
        extensions, tasks = capabilities.get("extensions"), capabilities.get("tasks")
        if isinstance(extensions, dict):
            # A view serves no skills/list: the URIs of two servers' skills may be the same.
            kept = {name: each for name, each in extensions.items() if name != SKILLS_EXTENSION}
            found.setdefault("extensions", {}).update(kept)
        if isinstance(tasks, dict):
            found["tasks"] = {**found.get("tasks", {}), **tasks}
    for name in ("tools", "prompts", "resources"):
        if name in found:
            found[name]["listChanged"] = True
    return found
