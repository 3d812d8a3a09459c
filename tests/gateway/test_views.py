"""What a view hides stays hidden, however it is spelled."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.config.keys import InvalidValue
from mcplens.config.views import Globs, View, read_gateway, read_view
from mcplens.gateway.views import (
    EVERYTHING,
    plain_uri,
    why_hidden,
    why_resource_hidden,
    why_server_hidden,
    why_tool_hidden,
)

TEXT = st.text(min_size=1, max_size=20)


@given(TEXT, TEXT)
def test_the_view_of_everything_hides_nothing(server_id: str, name: str) -> None:
    assert why_tool_hidden(EVERYTHING, server_id, name, None) is None
    assert why_hidden(EVERYTHING, "prompts", server_id, name) is None
    assert why_resource_hidden(EVERYTHING, server_id, name) is None


@given(TEXT, TEXT)
def test_what_is_denied_is_hidden_whatever_is_allowed(server_id: str, name: str) -> None:
    view = View(allow=Globs(tools=("*",), servers=("*",)), deny=Globs(servers=("*",), tools=("*",)))
    assert why_tool_hidden(view, server_id, name, None) is not None
    assert why_resource_hidden(view, server_id, name) is not None


def test_a_hidden_server_hides_all_that_it_offers() -> None:
    view = View(deny=Globs(servers=("db*",)))
    assert why_server_hidden(view, "db1") == "deny.servers has 'db*'"
    assert why_hidden(view, "prompts", "db1", "x") == "deny.servers has 'db*'"
    assert why_resource_hidden(view, "db1", "file:///x") == "deny.servers has 'db*'"


def test_a_pattern_with_a_colon_names_the_server_and_one_without_any_server() -> None:
    view = View(allow=Globs(tools=("git:*", "search")))
    assert why_hidden(view, "tools", "git", "status") is None
    assert why_hidden(view, "tools", "web", "search") is None
    assert why_hidden(view, "tools", "web", "status") == "allow.tools does not name it"


def test_a_tool_cannot_pretend_to_be_another_servers_by_its_name() -> None:
    view = View(allow=Globs(tools=("git:status",)))
    assert why_hidden(view, "tools", "bad", "git:status") is not None


@pytest.mark.parametrize(
    ("annotations", "is_hidden"),
    [
        (None, True),
        ({}, True),
        ({"readOnlyHint": True}, False),
        ({"destructiveHint": False}, False),
        ({"destructiveHint": True}, True),
        ({"destructiveHint": "no"}, True),
    ],
)
def test_a_missing_hint_counts_as_the_specification_says(
    annotations: dict[str, Any] | None, is_hidden: bool
) -> None:
    view = View(hide_annotated={"destructiveHint": True})
    assert (why_tool_hidden(view, "s", "t", annotations) is not None) == is_hidden


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "file:///%65tc/passwd",
        "file:///tmp/../etc/passwd",
        "file:///tmp/%2e%2e/etc/passwd",
        "file:///etc/./passwd",
    ],
)
def test_no_spelling_of_a_denied_uri_is_visible(uri: str) -> None:
    view = View(deny=Globs(resources=("file:///etc/*",)))
    assert why_resource_hidden(view, "files", uri) is not None
    allowed = View(allow=Globs(resources=("file:///tmp/*",)))
    assert why_resource_hidden(allowed, "files", uri) is not None


@given(TEXT)
def test_a_plain_uri_stays_as_it_is(text: str) -> None:
    plain = plain_uri(text)
    if "%" not in plain:
        assert plain_uri(plain) == plain


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"alow": {}}, "views.v.alow: not a key here"),
        ({"allow": {"tool": []}}, "views.v.allow.tool: not a key here"),
        ({"rename": {"tool": "x"}}, "views.v.rename.tool: must be written as server:name"),
        ({"rename": {"a:tool": "x y"}}, "views.v.rename.a:tool: must be 1 to 64 letters"),
        ({"separator": "/"}, 'views.v.separator: must be "__", ":" or "none"'),
        ({"hideAnnotated": {"readOnlyHint": "maybe"}}, "must be true or false"),
        (3, "views.v: must be an object, not a number"),
    ],
)
def test_a_view_with_a_mistake_is_refused_whole(value: Any, problem: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        read_view("v", value)
    assert problem in str(caught.value)


def test_the_name_of_a_view_is_part_of_a_path() -> None:
    with pytest.raises(InvalidValue):
        read_view("a/b", {})


def test_the_gateway_block_has_its_defaults_and_refuses_what_it_does_not_know() -> None:
    settings = read_gateway({"limits": {"sessions": 5}, "staleForSeconds": 1}, "gateway")
    assert (settings.listen, settings.stale_for_s, settings.limits.sessions) == (
        "127.0.0.1:0", 1.0, 5,
    )  # fmt: skip
    for wrong in ({"port": 1}, {"listen": "here"}, {"listen": "a:70000"}, {"limits": {"x": 1}}):
        with pytest.raises(InvalidValue):
            read_gateway(wrong, "gateway")
    with pytest.raises(InvalidValue, match=r"gateway\.replica\.keys: is needed with a store"):
        read_gateway({"store": {"url": "redis://127.0.0.1"}}, "gateway")
