"""Published names are valid, unique, stable, and lead back to what they stand for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcplens.config.views import Separator
from mcplens.gateway.names import MAX_LENGTH, Original, fit, is_publishable, publish_names

NAMES = st.text(min_size=1, max_size=90)
SIMPLE = st.text("ab_.:-", min_size=1, max_size=6)
ORIGINALS = st.lists(
    st.builds(Original, st.one_of(SIMPLE, NAMES), st.one_of(SIMPLE, NAMES)), max_size=12
)
SEPARATORS = st.sampled_from(["__", ":", "none"])


def server_ids(originals: list[Original]) -> list[str]:
    return list(dict.fromkeys(one.server_id for one in originals))


@given(ORIGINALS, SEPARATORS)
def test_every_original_has_one_name_and_every_name_leads_back(
    originals: list[Original], separator: Separator
) -> None:
    table = publish_names(originals, server_ids(originals), separator=separator)
    assert set(table.published) == set(originals)
    assert len(set(table.published.values())) == len(table.published)
    for original, name in table.published.items():
        assert table.resolve(name) == original
        assert 1 <= len(name) <= MAX_LENGTH
        assert is_publishable(name.replace(":", "_") if separator == ":" else name)


@given(ORIGINALS, SEPARATORS)
def test_the_qualified_name_is_accepted_unless_it_is_the_published_name_of_another(
    originals: list[Original], separator: Separator
) -> None:
    table = publish_names(originals, server_ids(originals), separator=separator)
    for original in originals:
        found = table.resolve(original.qualified)
        assert found is not None
        assert found.qualified == original.qualified or table.published[found] == original.qualified


@given(ORIGINALS, st.sampled_from(["__", ":"]))
def test_a_prefixed_name_does_not_depend_on_what_other_servers_offer(
    originals: list[Original], separator: Separator
) -> None:
    ids = server_ids(originals)
    together = publish_names(originals, ids, separator=separator).published
    for server_id in ids:
        own = [one for one in originals if one.server_id == server_id]
        alone = publish_names(own, ids, separator=separator).published
        assert {one: together[one] for one in alone} == alone


def test_the_default_separator_is_two_underscores() -> None:
    table = publish_names([Original("git", "status")], ["git"])
    assert table.published == {Original("git", "status"): "git__status"}
    assert table.problems == ()


def test_without_a_separator_only_shared_names_have_a_prefix() -> None:
    originals = [Original("a", "search"), Original("b", "search"), Original("b", "read")]
    table = publish_names(originals, ["a", "b"], separator="none")
    assert list(table.published.values()) == ["a__search", "b__search", "read"]


def test_a_name_that_could_be_another_servers_has_a_hash_even_while_that_server_is_away() -> None:
    table = publish_names([Original("a", "b__c")], ["a", "a__b"])
    (name,) = table.published.values()
    assert name.startswith("a__b__c_")
    assert publish_names([Original("a__b", "c")], ["a", "a__b"]).published != table.published


def test_a_long_name_is_shortened_and_says_what_it_stands_for_by_a_hash() -> None:
    first, second = (fit("x" * 80, Original("s", "x" * 80 + end)) for end in "ab")
    assert len(first) == len(second) == MAX_LENGTH
    assert first != second


def test_a_rename_wins_over_a_server_that_uses_the_same_name() -> None:
    originals = [Original("bad", "status"), Original("git", "git_status")]
    table = publish_names(
        originals, ["bad", "git"], separator="none", rename={"git:git_status": "status"}
    )
    assert table.resolve("status") == Original("git", "git_status")
    assert "bad:status is published as status_" in table.problems[0]


def test_two_renames_to_one_name_are_reported_and_the_first_is_kept() -> None:
    originals = [Original("a", "x"), Original("b", "x")]
    table = publish_names(originals, ["a", "b"], rename={"a:x": "find", "b:x": "find"})
    assert table.published == {Original("a", "x"): "find", Original("b", "x"): "b__x"}
    assert table.problems == ("b:x is not renamed: a:x is called find",)


def test_a_tool_that_is_listed_twice_is_reported() -> None:
    table = publish_names([Original("a", "x"), Original("a", "x")], ["a"])
    assert table.problems == ("listed twice, the first is published: a:x",)
