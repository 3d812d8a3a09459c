"""A URI leads to the server that offers it, and matching takes linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.gateway.uri_routing import OwnedTemplate, UriPattern, UriRoutes
from mcplens.protocol.uri_templates import expand

VALUES = st.text("abc-%1", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("template", "uri", "does_match"),
    [
        ("test://template/{id}/data", "test://template/7/data", True),
        ("test://template/{id}/data", "test://template/7/8/data", False),
        ("file:///{+path}", "file:///a/b/c", True),
        ("file:///{path}", "file:///a/b", False),
        ("db://{table}{?limit,offset}", "db://users?limit=3", True),
        ("db://{table}{?limit,offset}", "db://users", True),
        ("x://a", "x://a", True),
        ("x://a", "x://ab", False),
        ("x://{a}", "y://1", False),
    ],
)
def test_a_template_matches_what_it_can_expand_to(
    template: str, uri: str, does_match: bool
) -> None:
    assert UriPattern(template).matches(uri) == does_match


@given(st.sampled_from(["{a}", "{+a}", "{/a}", "{?a}", "{#a}", "{;a}", "{.a}"]), VALUES)
def test_every_expansion_of_a_template_matches_it(expression: str, value: str) -> None:
    template = f"x://y/{expression}"
    assert UriPattern(template).matches(expand(template, {"a": value}))


def test_a_hostile_template_costs_no_more_than_its_length() -> None:
    pattern = UriPattern("{a}x" * 2_000)
    assert not pattern.matches("x" * 1_000_000 + "y")


def test_exact_wins_over_template_over_scheme() -> None:
    routes = UriRoutes(
        [("notes", "note://1"), ("other", "note://x/special")],
        [OwnedTemplate("wide", "note://{+all}"), OwnedTemplate("narrow", "note://x/{id}")],
    )
    assert routes.owner_of("note://1") == "notes"
    assert routes.owner_of("note://x/7") == "narrow"
    assert routes.owner_of("note://y/7") == "wide"
    assert routes.owner_of("mail://1") is None
    assert routes.owner_of_template("note://x/{id}") == "narrow"


def test_a_scheme_that_one_server_uses_leads_to_it() -> None:
    routes = UriRoutes([("a", "mail://1"), ("b", "file:///x"), ("c", "file:///y")], [])
    assert routes.owner_of("mail://2") == "a"
    assert routes.owner_of("file:///z") is None


def test_a_second_server_cannot_take_over_a_uri() -> None:
    routes = UriRoutes([("first", "x://1"), ("second", "x://1")], [])
    assert routes.owner_of("x://1") == "first"
