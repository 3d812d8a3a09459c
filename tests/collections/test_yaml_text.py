"""YAML as JSON's types: what is read, what is refused and where, and what is written."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.collections.yaml_text import dump
from mcplens.protocol.yaml_values import LARGEST_BYTES, YamlProblem, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2020-01-01", {"a": "2020-01-01"}),
        ("a: 12:30:45", {"a": "12:30:45"}),
        ("[yes, no, on, off, Yes]", ["yes", "no", "on", "off", "Yes"]),
        ("[true, False, null, ~, ]", [True, False, None, None]),
        ("[1, -2, 0x1f, 0o17, 1.5, 1e3, .5, 1_000]", [1, -2, 31, 15, 1.5, 1000.0, 0.5, "1_000"]),
        ("[.inf, .nan]", [".inf", ".nan"]),
        ("1: one", {"1": "one"}),
        ("'a': \"\\u00e9\"", {"a": "é"}),
        ("a: !!str 5", {"a": "5"}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ("%YAML 1.1\n---\na: yes", {"a": "yes"}),
        ("a: 123456789012345678901234567890", {"a": 123456789012345678901234567890}),
        ("", None),
    ],
)
def test_what_is_read_is_of_jsons_types(text: str, value: Any) -> None:
    assert parse(text).value == value


@pytest.mark.parametrize(
    ("text", "line", "column", "key", "says"),
    [
        ("tests:\n  - with: {a: [1", 2, 17, "tests[0].with.a", "expected"),
        ("a:\n  b: 1\n  b: 2", 3, 3, "a.b", "twice"),
        ("a: &x 1\nb:\n  c: *x", 3, 6, "b.c", "alias"),
        ("a: !!binary aGk=", 1, 4, "a", "tag !!binary"),
        ("a: !!python/object:os.system x", 1, 4, "a", "tag"),
        ("? [a]\n: 1", 1, 3, "", "key must be text"),
        ("a: 1\n---\nb: 2", 2, 1, "a", "one document"),
        ("a: 1e999", 1, 4, "a", "too large"),
        ("a: " + "9" * 5000, 1, 4, "a", "too many digits"),
        ("a: \x07", 1, 4, "", "U.0007"),
        ("a: b: c", 1, 5, "a", "there is a ':' too many"),
        ("a:\n  - b: 1\n   c: 2", 3, 4, "a", "the indentation does not match the lines above"),
        ("a: 1\nb\nc: 2", 3, 1, "a", "a ':' is missing after a key"),
        ("\tx", 1, 1, "", "there is a tab; indent with spaces"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_key(
    text: str, line: int, column: int, key: str, says: str
) -> None:
    with pytest.raises(YamlProblem, match=says) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.key) == (line, column, key)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "".join(" " * depth + "a:\n" for depth in range(500)),
        "[" + "1," * 100_000 + "]",
        "a: " + "x" * LARGEST_BYTES,
        "a: &a [x,x]\n" + "".join(f"k{n}: &k{n} [*a,*a,*a,*a,*a]\n" for n in range(50)),
    ],
)
def test_a_file_made_to_exhaust_the_reader_is_refused(text: str) -> None:
    with pytest.raises(YamlProblem):
        parse(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(value=_JSON)
def test_every_value_is_written_so_that_it_is_read_again(value: Any) -> None:
    text = dump({"value": value})
    assert parse(text).value == {"value": value}


@pytest.mark.parametrize("text", ["yes", "No", "1", "null", "2.5", "0x1f", "~", "on"])
def test_text_that_a_reader_could_take_for_something_else_is_quoted(text: str) -> None:
    assert dump({"a": text}) == f'a: "{text}"\n'


def test_text_of_several_lines_is_a_block() -> None:
    assert dump({"a": "one\ntwo\n"}) == "a: |\n  one\n  two\n"


def test_the_yaml_library_is_loaded_only_where_it_is_used() -> None:
    code = (
        "import sys, mcplens.web.server, mcplens.cli.call, mcplens.cli.collections\n"
        "sys.exit(any(name.startswith('ruamel') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
