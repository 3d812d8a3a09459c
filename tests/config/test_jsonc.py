"""JSON as people write it: read where it can be, refused with line and column where not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.config.jsonc import Document, JsonProblem, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def value(text: str) -> Any:
    root = parse(text).root
    assert root is not None
    return root.value


def problem(text: str) -> JsonProblem:
    with pytest.raises(JsonProblem) as caught:
        parse(text)
    return caught.value


@given(VALUES, st.sampled_from([None, 1, 4]), st.booleans())
def test_strict_json_is_read_as_the_standard_library_reads_it(
    expected: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(expected, indent=indent, ensure_ascii=ascii_only)
    assert value(text) == json.loads(text)


@given(st.text(max_size=60) | st.text('{}[]",:/*#0a\\\n ', max_size=40))
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    try:
        parse(text)
        place = (1, 1)
    except JsonProblem as refused:
        place = (refused.line, refused.column)
    assert 1 <= place[0] <= text.count("\n") + 1
    assert place[1] >= 1


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, // one\n"b": [2]}',
        '// first\n{"a": 1, "b": [2]}',
        '{"a": /* one */ 1, "b" /* b */ : [2 /* two */]} // last',
        '{"a": 1, "b": [2,],}',
        '/**/{"a":1,/* a\n comment * over / lines **/"b":[2]}/**/',
        '\ufeff {"a": 1, "b": [2]}'.lstrip("\ufeff"),
        '{\r\n\t"a": 1,\r\n\t"b": [2]\r\n}\r\n',
    ],
)
def test_comments_and_trailing_commas_are_passed_over(text: str) -> None:
    assert value(text) == {"a": 1, "b": [2]}


def test_what_looks_like_a_comment_in_a_string_is_text() -> None:
    assert value('{"url": "http://host/*path*/"}') == {"url": "http://host/*path*/"}


@pytest.mark.parametrize("text", ["", " \n\t", "// nothing\n", "/* nothing */"])
def test_a_text_without_a_value_is_empty(text: str) -> None:
    assert parse(text) == Document(text, None)


def test_escapes_are_undone_and_half_a_character_is_no_character() -> None:
    assert value(r'"\u00e9 \ud83d\ude00 \n \/ \" \\"') == 'é 😀 \n / " \\'
    assert value(r'"a\ud83d"') == "a�"


def test_a_key_that_stands_twice_is_reported_and_the_last_one_counts() -> None:
    document = parse('{"a": {"x": 1,\n "y": 0, "x": 2}}')
    assert document.root is not None
    assert document.root.value == {"a": {"x": 2, "y": 0}}
    (duplicate,) = document.duplicates
    assert duplicate.path == ("a", "x")
    assert [document.position(at) for at in (duplicate.first, duplicate.last)] == [(1, 8), (2, 10)]


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ('{"a": 1\n "b": 2}', 2, 2, "a comma is missing before this"),
        ('{"a": [1 2]}', 1, 10, "a comma is missing before this"),
        ('{"a" 1}', 1, 6, "expected a colon after 'a', not 1"),
        ('{"a": }', 1, 7, "expected a value, not '}'"),
        ('{"a": 1', 1, 1, "this object is not closed; a } is missing"),
        ('{"a": 1,', 1, 9, "the object that starts in line 1, column 1 lacks its closing }"),
        ("[1, 2", 1, 1, "this array is not closed; a ] is missing"),
        ("[1, ", 1, 1, "this array is not closed; a ] is missing"),
        ('{"a": 1}}', 1, 9, "unexpected text after the end of the value"),
        ('{"a": "b\n"}', 1, 7, "this string is not closed on its line"),
        ('{"a": "C:\\Users"}', 1, 10, "\\U is not a valid escape; write a backslash"),
        ("{'a': 1}", 1, 2, "strings need straight double quotes, not '"),
        ("{“a”: 1}", 1, 2, "strings need straight double quotes, not “"),
        ('{"a": True}', 1, 7, "write true in lower case"),
        ('{"a": nan}', 1, 7, "expected a value, not nan"),
        ("{a: 1}", 1, 2, "expected a key in double quotes or }, not a"),
        ('{\n  "a":\u00a01}', 2, 7, "expected a value, not NO-BREAK SPACE"),
        ('{"a": 01}', 1, 7, "expected a value, not 01"),
        ('{"a": 1 /* never closed }', 1, 9, "this comment is not closed"),
        ('{"a": ,}', 1, 7, "expected a value, not ','"),
        ("[" * 300, 1, 201, "nested deeper than 200 levels"),
        ("9" * 5000, 1, 1, "this number is too long"),
        ('{"a":', 1, 6, "expected a value, but the text ends here"),
        ('{"a": 1; "b": 2}', 1, 8, "expected a comma or }, not ';'"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_column(
    text: str, line: int, column: int, said: str
) -> None:
    found = problem(text)
    assert found.text.startswith(said)
    assert (found.line, found.column) == (line, column)
