"""The lists of all servers as one view publishes them: merged, renamed, filtered, paged. Pure.

Items stay as their servers wrote them; only name, description and `_meta` are rewritten, and
nothing else is decoded. A catalog never changes: when a server's list does, a new one is made.
Made by gateway.py; asked by view_handler.py.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec
from msgspec import Raw

from mcplens.config.views import View
from mcplens.gateway.hidden_names import HiddenNames
from mcplens.gateway.names import NameTable, Original, publish_names
from mcplens.gateway.uri_routing import OwnedTemplate, UriRoutes
from mcplens.gateway.views import plain_uri, why_hidden, why_resource_hidden, why_tool_hidden
from mcplens.protocol.eras import HeaderPath, InvalidHeaderAnnotation, header_parameters

Kind = Literal["tools", "prompts", "resources", "resource_templates"]
KINDS: Final[tuple[Kind, ...]] = ("tools", "prompts", "resources", "resource_templates")

# The member of a list's result that holds the items, and the member of an item that names it.
LIST_KEY: Final[Mapping[Kind, str]] = {
    "tools": "tools",
    "prompts": "prompts",
    "resources": "resources",
    "resource_templates": "resourceTemplates",
}
_ID_KEY: Final[Mapping[Kind, str]] = {
    "tools": "name",
    "prompts": "name",
    "resources": "uri",
    "resource_templates": "uriTemplate",
}

_URI_KINDS: Final[tuple[Kind, ...]] = ("resources", "resource_templates")

# `_meta` members that we add.
META_SERVER: Final = "mcplens/server"
META_NAME: Final = "mcplens/name"
META_STALE: Final = "mcplens/stale"

# A page holds as many items as fit; a client that cannot page sees most catalogs whole.
MAX_PAGE_ITEMS: Final = 1_000
MAX_PAGE_BYTES: Final = 4 * 1024 * 1024
# What one server may publish; beyond it items are left out and reported.
MAX_ITEMS: Final = 10_000
MAX_ITEM_BYTES: Final = 1024 * 1024
MAX_NAME_LENGTH: Final = 4_096

# Why a definition is hidden that was not approved as it is.
HELD: Final = "held back until it is approved"


class ChangedList(NamedTuple):
    """A list of a server that was fetched again, or that a server no longer has."""

    server_id: str
    kind: Kind


class Stale(msgspec.Struct, frozen=True):
    """Why a list is not up to date."""

    age_s: float
    reason: str


class ServerList(msgspec.Struct, frozen=True):
    """One list of a server: its items word for word.

    `sources` has the items as the server wrote them, where the gateway added to them; `own` are the
    gateway's own items, which need no approval.
    """

    items: tuple[Raw, ...] = ()
    stale: Stale | None = None
    sources: tuple[Raw, ...] = ()
    own: tuple[Raw, ...] = ()


class ServerLists(msgspec.Struct, frozen=True, kw_only=True):
    """What one server offers."""

    server_id: str
    tools: ServerList = ServerList()
    prompts: ServerList = ServerList()
    resources: ServerList = ServerList()
    resource_templates: ServerList = ServerList()


class Hidden(msgspec.Struct, frozen=True):
    """Something that a view does not show, and why."""

    kind: Kind
    server_id: str
    name: str
    reason: str


class Unapproved(NamedTuple):
    """A definition that was not approved as it is now, as its server wrote it."""

    kind: Kind
    original: Original
    raw: Raw


class DefinitionCheck(Protocol):
    """Whether definitions were approved for a view; one that `holds` hides the others."""

    @property
    def holds(self) -> bool: ...

    def is_approved(self, kind: Kind, original: Original, raw: Raw) -> bool: ...


class _Entry(msgspec.Struct, frozen=True):
    kind: Kind
    original: Original
    members: dict[str, Raw]
    stale: Stale | None


class InvalidCursor(ValueError):
    """A cursor that is not one of this list's."""


_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_text = msgspec.json.Decoder(str).decode
_encode = msgspec.json.Encoder().encode


class ViewCatalog:
    """What one view publishes."""

    def __init__(
        self,
        view: View,
        servers: Sequence[ServerLists],
        server_ids: Iterable[str] | None = None,
        check: DefinitionCheck | None = None,
    ) -> None:
        self.view = view
        self.hidden: list[Hidden] = []
        self.unapproved: list[Unapproved] = []
        self._check = check
        self._held: dict[Kind, dict[Original, None]] = {kind: {} for kind in KINDS}
        problems: list[str] = []
        known = [one.server_id for one in servers] if server_ids is None else [*server_ids]
        self._server_ids = known
        entries = {
            kind: [entry for one in servers for entry in self._read(kind, one, problems)]
            for kind in KINDS
        }
        self._names: dict[Kind, NameTable] = {
            kind: publish_names(
                [entry.original for entry in entries[kind]],
                known,
                separator=view.separator,
                rename=view.rename,
            )
            for kind in ("tools", "prompts")
        }
        for table in self._names.values():
            problems += table.problems
        self._routes = UriRoutes(
            (entry.original for entry in entries["resources"]),
            (OwnedTemplate(*entry.original) for entry in entries["resource_templates"]),
            closed={one.server_id for kind in _URI_KINDS for one in self._held[kind]},
        )
        self._held_uris = {plain_uri(one.name) for one in self._held["resources"]}
        self.items: dict[Kind, dict[Original, Raw]] = {
            kind: self._published(kind, entries[kind], problems) for kind in KINDS
        }
        self._header_parameters = _header_parameters(entries["tools"])
        self.problems = tuple(problems)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(items)} {kind}" for kind, items in self.items.items())
        return f"<ViewCatalog {self.view.name or 'of everything'}: {counts}>"

    # -- reading what servers offer --------------------------------------------------------------

    def _read(self, kind: Kind, server: ServerLists, problems: list[str]) -> list[_Entry]:
        listed: ServerList = getattr(server, kind)
        found: list[_Entry] = []
        sources: Iterable[Raw | None] = listed.sources or listed.items
        pairs = [*zip(listed.items[:MAX_ITEMS], sources, strict=False)]
        pairs += [(raw, None) for raw in listed.own]
        for raw, source in pairs:
            entry = _read_item(kind, server.server_id, raw, listed.stale)
            if isinstance(entry, str):
                problems.append(f"{server.server_id}: {entry} is left out of {kind}")
                continue
            reason = self._why_hidden(entry) or self._why_held(entry, source)
            if reason is None:
                found.append(entry)
            else:
                self.hidden.append(Hidden(kind, server.server_id, entry.original.name, reason))
        if len(listed.items) > MAX_ITEMS:
            text = f"{server.server_id}: {len(listed.items)} {kind}, of which the first {MAX_ITEMS}"
            problems.append(f"{text} are published")
        held = self._held[kind]
        # Listed twice, once as approved: which of the two a call would mean is not known.
        return [entry for entry in found if entry.original not in held] if held else found

    def _why_hidden(self, entry: _Entry) -> str | None:
        server_id, name = entry.original
        if entry.kind == "tools":
            annotations = _decoded(entry.members.get("annotations"))
            given = annotations if isinstance(annotations, dict) else None
            return why_tool_hidden(self.view, server_id, name, given)
        if entry.kind == "prompts":
            return why_hidden(self.view, "prompts", server_id, name)
        return why_resource_hidden(self.view, server_id, name)

    def _why_held(self, entry: _Entry, source: Raw | None) -> str | None:
        check, kind, original = self._check, entry.kind, entry.original
        if check is None or source is None or check.is_approved(kind, original, source):
            return None
        self.unapproved.append(Unapproved(kind, original, source))
        if not check.holds:
            return None
        self._held[kind][original] = None
        return HELD

    def _published(
        self, kind: Kind, entries: Sequence[_Entry], problems: list[str]
    ) -> dict[Original, Raw]:
        """The items as clients get them, by their originals; of duplicates the first."""
        found: dict[Original, Raw] = {}
        owners: dict[str, Original] = {}  # of URIs: two servers may offer the same
        table = self._names.get(kind)
        for entry in entries:
            original = entry.original
            if original in found:
                continue
            if table is None:
                owner = owners.setdefault(original.name, original)
                if owner != original:
                    problems.append(
                        f"{original.server_id}: {original.name} is {owner.server_id}'s already"
                    )
                    continue
            published = None if table is None else table.published[original]
            found[original] = self._rewritten(entry, published)
        return found

    def _rewritten(self, entry: _Entry, published: str | None) -> Raw:
        members: dict[str, Any] = dict(entry.members)
        server_id, name = entry.original
        meta = _decoded_members(members.get("_meta"))
        meta[META_SERVER] = server_id
        if published is not None:
            members["name"] = published
            meta[META_NAME] = name
            description = self.view.descriptions.get(entry.original.qualified)
            if description is not None:
                members["description"] = description
        if entry.stale is not None:
            meta[META_STALE] = {
                "ageSeconds": round(entry.stale.age_s),
                "reason": entry.stale.reason,
            }
        members["_meta"] = meta
        return Raw(_encode(members))

    # -- what clients ask ------------------------------------------------------------------------

    def page(self, kind: Kind, cursor: str | None = None) -> tuple[list[Raw], str | None]:
        """The items after a cursor, and the cursor of the next page.

        A cursor names the last item of its page, so a list that changed meanwhile can be read on.

        Raises:
            InvalidCursor: it is none of ours, or its item is gone.
        """
        items = self.items[kind]
        originals = list(items)
        start = 0
        if cursor is not None:
            try:
                start = originals.index(_decode_cursor(cursor)) + 1
            except ValueError:
                raise InvalidCursor(f"{cursor!r} is not a cursor of this list") from None
        found: list[Raw] = []
        size = 0
        for original in originals[start:]:
            item = items[original]
            size += len(item)
            if found and (len(found) >= MAX_PAGE_ITEMS or size > MAX_PAGE_BYTES):
                return found, _encode_cursor(originals[start + len(found) - 1])
            found.append(item)
        return found, None

    def find(self, kind: Literal["tools", "prompts"], name: str) -> Original | None:
        """The tool or prompt that a client means; None if this view has none of that name."""
        return self._names[kind].resolve(name)

    def published_names(self, kind: Literal["tools", "prompts"]) -> list[str]:
        return list(self._names[kind].published.values())

    def published_name(self, kind: Literal["tools", "prompts"], original: Original) -> str | None:
        return self._names[kind].published.get(original)

    def owner_of(self, uri: str) -> str | None:
        """The server that a resource is read from; None if this view shows no such resource."""
        return self._visible(uri, self._routes.owner_of(uri))

    def owner_of_template(self, template: str) -> str | None:
        """The server that completes the variables of a template."""
        return self._visible(template, self._routes.owner_of_template(template))

    def is_held(self, kind: Literal["tools", "prompts"], name: str) -> bool:
        """Whether a client means something that is held back."""
        held = self._held[kind]
        if not held:
            return False
        view, ids = self.view, self._server_ids
        table = publish_names([*held], ids, separator=view.separator, rename=view.rename)
        return table.resolve(name) is not None

    @cached_property
    def hidden_names(self) -> HiddenNames:
        """Why a client does not find something, for the audit log."""
        return HiddenNames(self.view, self._server_ids, self.hidden)

    def is_uri_held(self, uri: str) -> bool:
        """Whether a resource is held back."""
        return bool(self._held_uris) and plain_uri(uri) in self._held_uris

    def _visible(self, uri: str, server_id: str | None) -> str | None:
        if self.is_uri_held(uri):
            return None
        if server_id is None or why_resource_hidden(self.view, server_id, uri) is not None:
            return None
        return server_id

    def header_parameters(self, name: str) -> Mapping[str, HeaderPath]:
        """The arguments of a published tool that HTTP headers repeat."""
        if not self._header_parameters:
            return {}
        original = self.find("tools", name)
        return {} if original is None else self._header_parameters.get(original, {})


def _read_item(kind: Kind, server_id: str, raw: Raw, stale: Stale | None) -> _Entry | str:
    """One item, or what is wrong with it."""
    if len(raw) > MAX_ITEM_BYTES:
        return f"an item of {len(raw)} bytes"
    key = _ID_KEY[kind]
    try:
        members = _decode_members(raw)
        name = _decode_text(members[key])
    except KeyError:
        return f"an item without {key}"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return f"an item that cannot be read ({bytes(raw)[:60]!r})"
    if not name or len(name) > MAX_NAME_LENGTH:
        return f"an item whose {key} has {len(name)} characters"
    return _Entry(kind, Original(server_id, name), members, stale)


def _decoded(raw: Raw | None) -> Any:
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _decoded_members(raw: Raw | None) -> dict[str, Any]:
    """The members of an object, undecoded; none if it is not an object."""
    try:
        return {} if raw is None else dict(_decode_members(raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _header_parameters(entries: Sequence[_Entry]) -> dict[Original, dict[str, HeaderPath]]:
    found: dict[Original, dict[str, HeaderPath]] = {}
    for entry in entries:
        schema = entry.members.get("inputSchema")
        if schema is None or b"x-mcp-header" not in bytes(schema):
            continue
        try:
            parameters = header_parameters(_decoded(schema))
        except InvalidHeaderAnnotation:
            continue  # clients must not call such a tool over HTTP
        if parameters:
            found.setdefault(entry.original, parameters)
    return found


def _encode_cursor(last: Original) -> str:
    return base64.urlsafe_b64encode(_encode([*last])).decode().rstrip("=")


def _decode_cursor(cursor: str) -> Original:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        server_id, name = msgspec.json.decode(
            base64.b64decode(padded.encode(), altchars=b"-_", validate=True), type=tuple[str, str]
        )
    except (ValueError, msgspec.DecodeError, UnicodeDecodeError):
        raise ValueError("not a cursor") from None
    return Original(server_id, name)
