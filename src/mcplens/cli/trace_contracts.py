"""The contracts of the servers in a trace: what they said of themselves, and their last lists.

Reads the file as a stream, so that its size does not matter. A list counts only if it was recorded
from its first page to its last. Called by contract_sources.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mcplens.contracts.canonical import decode
from mcplens.contracts.contract import Contract, keyed
from mcplens.contracts.masking import mask_definition
from mcplens.contracts.pointers import LISTS
from mcplens.session.results import LIST_KEYS
from mcplens.store.recorded_secrets import KeysOf
from mcplens.store.rows import Row
from mcplens.store.trace import BrokenLine, TraceRow, read_trace

_FRAMES: Final = ("FrameSent", "FrameReceived")
_WANTED: Final = frozenset((*LIST_KEYS, "tools/call"))
# Which capability a server declares that has a list.
CAPABILITY_OF: Final = dict(zip(LISTS, ("tools", "resources", "resources", "prompts"), strict=True))
# Requests without an answer that are remembered: a trace may have millions.
_MOST_OPEN: Final = 10_000


class ResultSizes(msgspec.Struct):
    """How large the results of one tool were, in characters that a model reads."""

    count: int = 0
    characters: int = 0
    largest: int = 0


class Seen(msgspec.Struct):
    """What a trace has of one server in one run."""

    run_id: str
    server_id: str
    introduction: dict[str, Any] | None = None
    lists: dict[str, list[Any]] = msgspec.field(default_factory=dict)
    results: dict[str, ResultSizes] = msgspec.field(default_factory=dict)
    # Pages of lists that are not complete yet, and the cursor that comes next.
    pages: dict[str, tuple[list[Any], str | None]] = msgspec.field(default_factory=dict)
    # Method and params of requests that wait for an answer.
    open: dict[str, tuple[str, dict[str, Any]]] = msgspec.field(default_factory=dict)

    @property
    def is_telling(self) -> bool:
        return self.introduction is not None or bool(self.lists)

    def contract(self, keys_of: KeysOf) -> Contract:
        """The contract, with secrets masked by name."""
        about = self.introduction or {}
        keys = tuple(keys_of(self.server_id))
        capabilities = about.get("capabilities") or {}
        return Contract(
            name=self.server_id,
            server_info=mask_definition(about.get("server_info") or {}, keys),
            protocol_version=about.get("protocol_version") or None,
            capabilities=mask_definition(capabilities, keys),
            instructions=mask_definition(about.get("instructions"), keys),
            lists={kind: self._items(kind, capabilities, keys) for kind in LISTS},
        )

    def _items(
        self, kind: str, capabilities: dict[str, Any], keys: tuple[str, ...]
    ) -> dict[str, Any] | None:
        if kind in self.lists:
            return keyed(kind, (mask_definition(item, keys) for item in self.lists[kind]))
        is_declared = capabilities.get(CAPABILITY_OF[kind]) is not None
        return None if self.introduction is None or is_declared else {}


def read_contracts(path: str, broken: list[BrokenLine]) -> list[Seen]:
    """All servers of all runs in a trace; unreadable lines are added to `broken`.

    Raises:
        ConfigurationError: it is not a trace, or of an unknown version.
    """
    found: dict[tuple[str, str], Seen] = {}

    def leave_out(line: BrokenLine) -> None:
        if len(broken) < _MOST_OPEN:
            broken.append(line)

    for entry in read_trace(path, leave_out):
        if not isinstance(entry, TraceRow):
            continue
        row = entry.row
        if row.kind not in _FRAMES and row.kind != "ServerIntroduced":
            continue
        key = entry.run_id, row.server_id
        seen = found.get(key)
        if seen is None:
            seen = found[key] = Seen(*key)
        _take(seen, row)
    return [seen for seen in found.values() if seen.is_telling]


def _take(seen: Seen, row: Row) -> None:
    if row.kind == "ServerIntroduced":
        seen.introduction = row.detail or {}
    elif row.kind == "FrameSent":
        if row.status == "batch" or row.method in _WANTED:
            for message in _messages(row):
                _take_request(seen, message)
    elif row.status == "batch" or (
        row.status in ("result", "error") and _id_key(row.request_id) in seen.open
    ):
        for message in _messages(row):
            _take_answer(seen, message)


def _messages(row: Row) -> Iterator[dict[str, Any]]:
    """The messages of a frame; none if its bytes are lost or broken."""
    try:
        value = decode(row.payload or b"")
    except ValueError:
        return
    for message in value if isinstance(value, list) else [value]:
        if isinstance(message, dict):
            yield message


def _id_key(request_id: Any) -> str:
    return f"{type(request_id).__name__} {request_id}"


def _take_request(seen: Seen, message: dict[str, Any]) -> None:
    method, params = message.get("method"), message.get("params")
    if method not in _WANTED or "id" not in message:
        return
    if len(seen.open) >= _MOST_OPEN:
        del seen.open[next(iter(seen.open))]
    seen.open[_id_key(message["id"])] = method, params if isinstance(params, dict) else {}


def _take_answer(seen: Seen, message: dict[str, Any]) -> None:
    method, params = seen.open.pop(_id_key(message.get("id")), (None, {}))
    result = message.get("result")
    if method is None or not isinstance(result, dict):
        return
    if method == "tools/call":
        size = _size(result)
        if size is not None:
            sizes = seen.results.setdefault(str(params.get("name")), ResultSizes())
            sizes.count += 1
            sizes.characters += size
            sizes.largest = max(sizes.largest, size)
        return
    kind, cursor = LIST_KEYS[method], params.get("cursor")
    items = result.get(kind)
    if not isinstance(items, list):
        return
    if cursor is not None:
        earlier, awaited = seen.pages.get(kind, ([], None))
        if cursor != awaited:
            return
        items = earlier + items
    following = result.get("nextCursor")
    if isinstance(following, str):
        seen.pages[kind] = items, following
    else:
        seen.pages.pop(kind, None)
        seen.lists[kind] = items


def _size(result: dict[str, Any]) -> int | None:
    """Characters that a model reads of a tool's result; images and audio count otherwise."""
    content = result.get("content")
    if not isinstance(content, list):
        return None
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return sum(len(text) for text in texts if isinstance(text, str))
