"""Steps changed in the text of a file: everything else stays as it was."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from mcplens.collections.yaml_edits import append_step, append_steps, remove_step, replace_step
from mcplens.protocol.yaml_values import parse

TEXT = """\
# Refunds, as support tries them
version: 1
server: billing  # the sandbox
x-owner: support

tests:
  # the usual case
  - name: refund one
    call: refund   # asks nothing
    with: {id: 7, note: "it's broken"}
    expect: {is_error: false}

  # the text keeps its lines
  - name: two lines
    call: note
    with:
      text: |
        one
        two

# end
"""
NEW = {"name": "third", "call": "add", "with": {"a": 1}}


def changed_lines(after: str, before: str = TEXT) -> tuple[list[str], list[str]]:
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    removed = [line[2:] for line in lines if line.startswith("- ")]
    return removed, [line[2:] for line in lines if line.startswith("+ ")]


def test_a_new_step_only_adds_lines() -> None:
    removed, added = changed_lines(append_step(TEXT, NEW))
    assert removed == []
    assert [line for line in added if line] == [
        "  - name: third",
        "    call: add",
        "    with:",
        "      a: 1",
    ]


def test_an_edited_step_keeps_its_comments_and_unknown_keys() -> None:
    text = replace_step(TEXT, 0, {"name": "refund 8", "description": "New", "with": {"id": 8}})
    removed, added = changed_lines(text)
    assert "    expect: {is_error: false}" not in removed
    assert "  - name: refund 8" in added
    assert "    description: New" in added
    assert "# asks nothing" in text
    step = parse(text).value["tests"][0]
    assert list(step) == ["name", "description", "call", "with", "expect"]
    assert step["with"] == {"id": 8}
    assert "two lines" not in "".join(removed + added)


def test_a_field_of_none_is_removed() -> None:
    step = parse(replace_step(TEXT, 0, {"with": None, "server": "other"})).value["tests"][0]
    assert "with" not in step
    assert step["server"] == "other"


def test_a_removed_step_takes_no_comment_of_others_with_it() -> None:
    removed, added = changed_lines(remove_step(TEXT, 0))
    assert added == []
    assert [line.strip()[:8] for line in removed] == [
        "- name: ",
        "call: re",
        "with: {i",
        "expect: ",
    ]
    for comment in ("# the text keeps its lines", "# end", "# the sandbox"):
        assert comment in remove_step(TEXT, 0)


def test_the_last_step_leaves_an_empty_list() -> None:
    text = remove_step(remove_step(TEXT, 1), 0)
    assert parse(text).value["tests"] == []
    assert "# end" in text
    assert parse(append_step(text, NEW)).value["tests"] == [NEW]


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\n",
        "version: 1\ntests:\n",
        "version: 1\ntests: []\n# end",
        "version: 1\ntests: [{name: a, call: b}] # flow\n",
        "version: 1\ntests:\n- name: a\n  call: b",
        "version: 1\ntests:\n-   name: a # x\n    call: b\n-\n    name: c\n    call: d\n",
        '{"version": 1, "tests": [{"name": "a", "call": "b"}]}',
        "version: 1\r\ntests:\r\n- name: a\r\n  call: b # c\r\n",
        "version: 1\ntests:\n- name: a\n  call: b\n  when: 2020-01-01\n  t: |+\n    x\n\n\n",
        "---\nversion: 1\ntests:\n- {name: a, call: b}\n...\n",
        "version: 1\ntests:\n  - name: a\n    call: b\nserver: after\n",
    ],
)
def test_files_of_every_layout_can_be_changed(text: str) -> None:
    before: dict[str, Any] = parse(text).value
    steps = before.get("tests") or []
    longer = append_step(text, NEW)
    assert parse(longer).value == {**before, "tests": [*steps, NEW]}
    two = {**NEW, "name": "two"}
    assert parse(append_steps(text, [NEW, two])).value["tests"] == [*steps, NEW, two]
    renamed = replace_step(longer, len(steps), {"name": "other"})
    assert parse(renamed).value["tests"] == [*steps, {**NEW, "name": "other"}]
    if steps:
        edited = replace_step(longer, 0, {"call": "c: d", "with": {"x": [1, "y\nz"]}})
        wanted = {**steps[0], "call": "c: d", "with": {"x": [1, "y\nz"]}}
        assert parse(edited).value["tests"] == [wanted, *steps[1:], NEW]
    assert (parse(remove_step(longer, len(steps))).value.get("tests") or []) == steps
    for comment in ("# end", "# flow", "# x", "# c"):
        assert (comment in longer) == (comment in text)
    assert ("\r\n" in longer) == ("\r\n" in text)
