"""The merged lists: items word for word, under published names, in pages."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mcplens.config.views import Globs, View
from mcplens.gateway import catalog
from mcplens.gateway.catalog import (
    KINDS,
    InvalidCursor,
    ServerList,
    ServerLists,
    Stale,
    ViewCatalog,
)
from mcplens.gateway.names import Original


def raw(**members: Any) -> Raw:
    return Raw(msgspec.json.encode(members))


def offering(server_id: str, **lists: list[Raw]) -> ServerLists:
    found: dict[str, Any] = {kind: ServerList(tuple(items)) for kind, items in lists.items()}
    return ServerLists(server_id=server_id, **found)


def listed(
    merged: ViewCatalog, kind: Literal["tools", "prompts", "resources"] = "tools"
) -> list[dict[str, Any]]:
    items, cursor = merged.page(kind)
    assert cursor is None
    return [msgspec.json.decode(item) for item in items]


def test_an_item_keeps_every_byte_but_name_and_meta() -> None:
    odd = Raw(b'{"name":"t","x":1.50,"inputSchema":{"n":1e2,"$defs":{}},"_meta":{"k":[1.0]}}')
    (item,), _ = ViewCatalog(View(), [offering("s", tools=[odd])]).page("tools")
    assert b'"x":1.50' in bytes(item)
    assert b'"inputSchema":{"n":1e2,"$defs":{}}' in bytes(item)
    assert msgspec.json.decode(item)["_meta"] == {
        "k": [1.0],
        "mcplens/server": "s",
        "mcplens/name": "t",
    }
    assert b'"k":[1.0]' in bytes(item)


def test_names_and_descriptions_are_those_of_the_view() -> None:
    view = View(rename={"s:t": "find"}, descriptions={"s:t": "Finds it."})
    merged = ViewCatalog(view, [offering("s", tools=[raw(name="t", description="?")])])
    assert [(one["name"], one["description"]) for one in listed(merged)] == [("find", "Finds it.")]
    assert merged.find("tools", "find") == Original("s", "t")
    assert merged.find("tools", "s:t") == Original("s", "t")


def test_what_is_hidden_cannot_be_found_by_any_name_and_is_reported_with_the_reason() -> None:
    view = View(separator="none", deny=Globs(tools=("s:t",), resources=("x://*",)))
    lists = offering(
        "s",
        tools=[raw(name="t")],
        resources=[raw(uri="x://1", name="1")],
        resource_templates=[raw(uriTemplate="x://{id}", name="all")],
    )
    merged = ViewCatalog(view, [lists])
    assert [merged.page(kind) for kind in KINDS] == [([], None)] * 4
    assert [merged.find("tools", name) for name in ("t", "s__t", "s:t")] == [None] * 3
    assert merged.owner_of("x://1") is None
    assert merged.owner_of_template("x://{id}") is None
    assert {(one.kind, one.reason) for one in merged.hidden} == {
        ("tools", "deny.tools has 's:t'"),
        ("resources", "deny.resources has 'x://*'"),
        ("resource_templates", "deny.resources has 'x://*'"),
    }
    why = merged.hidden_names
    for name in ("t", "s__t", "s:t"):
        told = "the view hides s:t: deny.tools has 's:t'"
        assert why.why_not_named("tools", name) == (told if name != "s__t" else "")
    assert why.why_not_named("prompts", "t") == ""
    for uri in ("x://1", "X://%31", "x://{id}"):
        assert why.why_no_resource(uri).endswith("deny.resources has 'x://*'")
    assert why.why_no_resource("y://1") == ""


def test_a_stale_entry_says_so_in_its_meta() -> None:
    stale = ServerList((raw(name="t"),), Stale(12.3, "the server exited"))
    merged = ViewCatalog(View(), [ServerLists(server_id="s", tools=stale)])
    (item,) = listed(merged)
    assert item["_meta"]["mcplens/stale"] == {"ageSeconds": 12, "reason": "the server exited"}


def test_a_broken_item_hides_no_other_and_is_reported() -> None:
    broken = [
        Raw(b"3"),
        Raw(b'{"title":"no name"}'),
        Raw(b'{"name":7}'),
        Raw(b'{"name":"\xff"}'),
        raw(name=""),
        raw(name="n" * (catalog.MAX_NAME_LENGTH + 1)),
        raw(name="big", description="x" * catalog.MAX_ITEM_BYTES),
    ]
    merged = ViewCatalog(View(), [offering("s", tools=[*broken, raw(name="good")])])
    assert [one["name"] for one in listed(merged)] == ["s__good"]
    assert len(merged.problems) == len(broken)


def test_of_a_list_without_end_the_beginning_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "MAX_ITEMS", 2)
    merged = ViewCatalog(View(), [offering("s", tools=[raw(name=name) for name in "abc"])])
    assert [one["name"] for one in listed(merged)] == ["s__a", "s__b"]
    assert merged.problems == ("s: 3 tools, of which the first 2 are published",)


def test_of_two_servers_with_one_uri_the_first_is_asked_and_the_second_reported() -> None:
    resource = raw(uri="x://1", name="one")
    merged = ViewCatalog(
        View(), [offering("a", resources=[resource]), offering("b", resources=[resource])]
    )
    assert [one["_meta"] for one in listed(merged, "resources")] == [{"mcplens/server": "a"}]
    assert merged.owner_of("x://1") == "a"
    assert merged.problems == ("b: x://1 is a's already",)


@given(
    st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=30),
    st.integers(min_value=1, max_value=7),
)
def test_the_pages_together_are_the_whole_list(names: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(catalog, "MAX_PAGE_ITEMS", most)
        merged = ViewCatalog(View(), [offering("s", tools=[raw(name=name) for name in names])])
        found: list[Raw] = []
        cursor: str | None = None
        while True:
            items, cursor = merged.page("tools", cursor)
            assert len(items) <= most
            found += items
            if cursor is None:
                break
    assert [msgspec.json.decode(item)["_meta"]["mcplens/name"] for item in found] == names


@given(st.text(max_size=30))
def test_any_text_is_a_cursor_or_an_invalid_cursor(text: str) -> None:
    merged = ViewCatalog(View(), [offering("s", tools=[raw(name="t")])])
    with pytest.raises(InvalidCursor):
        merged.page("tools", text)


def test_a_page_goes_on_after_the_list_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "MAX_PAGE_ITEMS", 1)
    before = ViewCatalog(View(), [offering("s", tools=[raw(name="a"), raw(name="b")])])
    _, cursor = before.page("tools")
    after = ViewCatalog(
        View(), [offering("s", tools=[raw(name="new"), raw(name="a"), raw(name="b")])]
    )
    (item,), _ = after.page("tools", cursor)
    assert msgspec.json.decode(item)["name"] == "s__b"


def test_arguments_that_headers_repeat_are_known_by_the_published_name() -> None:
    schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    }
    merged = ViewCatalog(View(), [offering("s", tools=[raw(name="t", inputSchema=schema)])])
    assert merged.header_parameters("s__t") == {"Region": ("region",)}
    assert merged.header_parameters("nothing") == {}
