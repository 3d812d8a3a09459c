"""What a test file says, and how a wrong one is explained."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec
import pytest

from mcplens.collections.expect_shapes import EXPECT_KEYS
from mcplens.collections.model import STEP_KEYS, TEST_KEYS, read_collection
from mcplens.collections.test_file import (
    FILE_KEYS,
    TestFileProblem,
    read_test_file,
    sentence,
)
from mcplens.collections.variables import PlaceholderProblem, fill_in
from mcplens.protocol.schema_validation import Validator

WHOLE = """\
version: 1
description: All that a test file can have
server: {command: python, args: [server.py]}
profiles: {polite: {kind: fixed, text: Hello}}
profile: polite
timeout_ms: 5000
tests:
  - name: creates
    call: create
    with: {title: "${TITLE}"}
    expect:
      structured: {contains: data, id: 7}
      schema: {type: object, required: [id]}
      jsonpath: {"$.content[*].type": [text]}
      is_error: false
      within_ms: 500
      valid: true
    save: {id: $.structuredContent.id}
  - {name: reads, read: "note://${id}", expect: {text: {contains: [a, b], matches: "^a"}}}
  - {prompt: greet, with: {who: you}, expect: {result: {messages: [{role: user}]}}}
  - {name: completes, complete: greet, with: {argument: who, value: y}}
  - {list: tools, expect: {snapshot: {ignore: $.tools}}}
  - {request: ping, server: other, profile: {kind: echo}, timeout_ms: 10}
  - {name: raw, raw: '{"jsonrpc":', expect: {error: -32700}}
  - {notify: notifications/cancelled, with: {requestId: 1}}
  - name: waits
    wait: notifications/message
    with: {level: info}
    expect:
      notifications: [notifications/message, {method: notifications/progress}]
      progress: [1, {progress: 2, total: 2}]
      log: [text, {level: info, text: {matches: x}}]
      questions: [sampling/createMessage]
"""


def schema() -> Any:
    text = files("mcplens.collections").joinpath("collection.schema.json").read_text("utf-8")
    return msgspec.json.decode(text)


def test_a_file_with_every_kind_of_step_is_read() -> None:
    found = read_test_file(WHOLE)
    assert [step.kind for step in found.steps] == [
        "call", "read", "prompt", "complete", "list", "request", "raw", "notify", "wait",
    ]  # fmt: skip
    first, second = found.steps[:2]
    assert first.server == {"command": "python", "args": ["server.py"]}
    assert (first.save, second.variables) == ({"id": "$.structuredContent.id"}, ["id"])
    assert (first.profile, first.timeout_ms) == ("polite", 5000)
    assert (found.steps[5].server, found.steps[5].profile) == ("other", {"kind": "echo"})
    assert found.variables == ["TITLE"]  # what a step saved is not asked of the environment
    assert [step.name for step in found.steps][4:6] == ["tools", "ping"]


def test_a_collection_leaves_the_tests_of_the_same_file_alone() -> None:
    problems = {step.name: step.problem for step in read_collection(WHOLE).steps}
    assert "only `mcplens test` runs steps with `wait`" in (problems["waits"] or "")
    assert "only tests use an entry" in (problems["creates"] or "")


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("{call: add, wiht: {}}", "4:16: step 1: unknown key 'wiht'; did you mean 'with'?"),
        ("{call: add, expect: {strutured: {}}}", "did you mean 'structured'?"),
        ("{call: add, expect: {text: {contain: a}}}", "did you mean 'contains'?"),
        ("{call: add, expect: {text: {matches: '('}}}", "not a regular expression"),
        ("{call: add, expect: {text: 5}}", "must be a text"),
        ("{call: add, expect: {within_ms: soon}}", "step 1, expect.within_ms: must be a number"),
        ("{call: add, expect: {valid: maybe}}", "must be true or false"),
        ("{call: add, expect: {schema: {type: 5}}}", "not a JSON Schema"),
        ("{call: add, expect: {jsonpath: {a.b: 1}}}", "not a JSONPath: 'a.b'"),
        ("{call: add, save: {id: 5}}", "step 1, save.id: not a JSONPath"),
        ("{call: add, save: {1d: $.a}}", "does not begin with a digit"),
        ("{call: add, expect: {error: [1]}}", "is true, a code"),
        ("{call: add, expect: {notifications: [{params: {}}]}}", "`method` is missing"),
        ("{call: add, expect: {snapshot: {ignored: $.a}}}", "did you mean 'ignore'?"),
        ("{call: add, expect: {log: [5]}}", "is a text, or a mapping"),
        ("{call: add, expect: [1]}", "`expect` is a mapping"),
        ("{call: add, with: {a: '${A B}'}}", "is not a placeholder"),
        ("{call: add, read: x}", "a step has one of `call`, `read`"),
        ("{name: a}", "a step has one of `call`, `read`, `prompt`"),
        ("{call: ''}", "`call` must not be empty"),
        ("{list: tool}", "`list` is one of tools, resources, templates, prompts"),
        ("{notify: x, expect: {text: a}}", "a step with `notify` has no result"),
        ("{call: add, server: {comand: x}}", "a mapping with `command` or `url`"),
        ("{call: add, profile: 5}", "the name of a profile"),
        ("{call: add}, {call: add}", "a test named 'add' already, in line 4"),
        ("just text", "a step is a mapping"),
    ],
)
def test_a_wrong_step_is_named_with_line_column_and_the_nearest_key(step: str, says: str) -> None:
    with pytest.raises(TestFileProblem) as caught:
        read_test_file(f"version: 1\nserver: demo\ntests: [\n   {step}]\n")
    told = [sentence(problem) for problem in caught.value.problems]
    assert any(says in one for one in told), told
    assert all(problem.line == 4 and problem.column > 1 for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version: 2", "1:10: version: version 2 is not known"),
        ("server: demo\ntests: []", "`version: 1` is missing"),
        ("version: 1\ntest: []", "2:1: unknown key 'test'; did you mean 'tests'?"),
        ("version: 1\ntests: [{call: add}]", "no `server`"),
        ("version: 1\ntests: {a: 1}", "`tests` is a list"),
        ("- 1", "a test file is a mapping"),
        ("version: [", "1:"),
    ],
)
def test_a_file_that_holds_no_tests_is_refused(text: str, says: str) -> None:
    with pytest.raises(TestFileProblem) as caught:
        read_test_file(text)
    assert says in sentence(caught.value.problems[0])


def test_all_problems_of_a_file_are_told_at_once() -> None:
    text = "version: 1\nserver: demo\ntests:\n  - cal: a\n  - {call: b, expekt: 1}\n"
    with pytest.raises(TestFileProblem) as caught:
        read_test_file(text)
    assert [problem.line for problem in caught.value.problems] == [4, 4, 5]


def test_a_value_keeps_its_type_where_it_stands_alone() -> None:
    values = {"id": 7, "tags": ["a"], "text": "${id}"}
    given = {"id": "${id}", "in": "note ${id} of ${tags}", "tags": "${tags}", "text": "${text}"}
    assert fill_in(given, values.get) == {
        "id": 7, "in": 'note 7 of ["a"]', "tags": ["a"], "text": "${id}",
    }  # fmt: skip
    with pytest.raises(PlaceholderProblem, match="other is not set"):
        fill_in("${other}", values.get)


def test_the_schema_for_editors_knows_what_the_reader_knows() -> None:
    found = schema()
    step, expect = found["$defs"]["step"], found["$defs"]["expect"]
    assert set(found["properties"]) == set(FILE_KEYS)
    assert set(step["properties"]) == {*STEP_KEYS, *TEST_KEYS}
    assert set(expect["properties"]) == set(EXPECT_KEYS)
    from mcplens.protocol.yaml_values import parse

    assert Validator(found).findings(parse(WHOLE).value) == ()
    wrong = {"version": 1, "tests": [{"call": "a", "expect": {"strutured": 1}}]}
    assert Validator(found).findings(wrong)
