"""What a server changed in a list."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from mcplens.protocol.result_types import Item, decode_item
from mcplens.session.catalog import METHODS
from mcplens.workspace.list_changes import MOST_NAMES, Names, change_of


def listed(kind: str, *values: Any) -> list[Item]:
    raws = (value if isinstance(value, bytes) else msgspec.json.encode(value) for value in values)
    return [decode_item(Raw(raw), METHODS[kind][1]) for raw in raws]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("tools", "name"),
        ("prompts", "name"),
        ("resources", "uri"),
        ("resource_templates", "uriTemplate"),
    ],
)
def test_items_are_known_by_what_the_page_calls_them(kind: str, name: str) -> None:
    def item(key: str, about: str) -> dict[str, Any]:
        return {"name": "x", name: key, "description": about, "inputSchema": {}}

    before = listed(kind, item("a", "1"), item("b", "1"), item("c", "1"))
    after = listed(kind, item("d", "1"), item("c", "2"), item("a", "1"))
    change = change_of(kind, before, after, 7.0)
    assert change.at == 7.0
    assert change.added == Names(1, ["d"])
    assert change.removed == Names(1, ["b"])
    assert change.changed == Names(1, ["c"])


def test_the_order_of_members_changes_nothing_and_the_type_of_a_value_does() -> None:
    before = listed("prompts", b'{"name":"a","_meta":{"x":1,"y":2}}', b'{"name":"b","_meta":1}')
    after = listed("prompts", b'{"_meta":{"y":2,"x":1},"name":"a"}', b'{"name":"b","_meta":true}')
    assert change_of("prompts", before, after, 7.0).changed == Names(1, ["b"])


def test_items_without_a_name_and_with_the_same_name_are_told_apart() -> None:
    same, nameless = {"name": "a"}, {"description": "no name"}
    before = listed("prompts", same, nameless)
    after = listed("prompts", same, nameless, same, 42)
    change = change_of("prompts", before, after, 7.0)
    assert change.added == Names(2, ["a #2", "#4"])
    assert (change.removed.count, change.changed.count) == (0, 0)
    assert change
    assert not change_of("prompts", after, list(after), 8.0)


def test_many_changes_are_counted_and_the_first_are_named() -> None:
    many = listed("prompts", *({"name": f"p{number}"} for number in range(5_000)))
    added = change_of("prompts", [], many, 7.0).added
    assert added.count == 5_000
    assert added.names == [f"p{number}" for number in range(MOST_NAMES)]


def test_thousands_of_one_name_are_numbered() -> None:
    added = change_of("prompts", [], listed("prompts", *[{"name": "a"}] * 20_000), 7.0).added
    assert added.count == 20_000
    assert added.names == ["a", *(f"a #{number}" for number in range(2, MOST_NAMES + 1))]
