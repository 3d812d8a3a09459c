"""What a file of saved calls says, and what is wrong with its steps."""

from __future__ import annotations

import pytest

from mcplens.collections.model import read_collection
from mcplens.collections.secret_arguments import without_secrets
from mcplens.collections.variables import PlaceholderProblem, escape, fill_in, variables_in
from mcplens.errors import InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.protocol.yaml_values import YamlProblem


def test_a_file_is_read_step_by_step() -> None:
    found = read_collection(
        "version: 1\nserver: demo\ntests:\n"
        "  - {name: adds, description: Two and three, call: add, with: {a: 2, b: '${B}'}}\n"
        "  - {name: reads, server: files, read: 'file:///${NAME}'}\n"
        "  - {name: asks, prompt: greet, with: {who: you}, expect: {text: hi}}\n"
        "  - {name: pings, request: ping}\n"
    )
    assert [(one.kind, one.target, one.server) for one in found.steps] == [
        ("call", "add", "demo"),
        ("read", "file:///${NAME}", "files"),
        ("prompt", "greet", "demo"),
        ("request", "ping", "demo"),
    ]
    assert [one.problem for one in found.steps] == [None] * 4
    assert found.variables == ["B", "NAME"]
    assert found.servers == ["demo", "files"]
    assert found.steps[0].line == 4


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("{name: a, call: add, wiht: {a: 1}}", "did you mean 'with'"),
        ("{name: a, cal: add}", "did you mean 'call'"),
        ("{name: a}", "`call`, `read`, `prompt` or `request`"),
        ("{name: a, call: add, read: x}", "a step has one of"),
        ("{name: a, call: 5}", "`call` must be a text"),
        ("{name: 5, call: add}", "`name` must be a text"),
        ("{name: a, call: add, with: [1]}", "`with` is a mapping"),
        ("{name: a, call: add, server: {command: rm}}", "must be a configured name"),
        ("{name: a, call: add, with: {x: '${A B}'}}", "is not a placeholder"),
        ("just text", "a step is a mapping"),
    ],
)
def test_a_step_that_cannot_be_run_says_why_and_spares_the_others(step: str, says: str) -> None:
    text = f"version: 1\nserver: demo\ntests:\n  - {step}\n  - {{name: ok, call: add}}\n"
    broken, fine = read_collection(text).steps
    assert says in (broken.problem or "")
    assert fine.problem is None


def test_a_step_without_a_server_says_so() -> None:
    (step,) = read_collection("version: 1\ntests: [{name: a, call: b}]").steps
    assert "no `server`" in (step.problem or "")


def test_a_command_in_a_file_is_never_a_server() -> None:
    found = read_collection("version: 1\nserver: {command: sh}\ntests: [{name: a, call: b}]")
    assert found.servers == []
    assert "configured name" in (found.steps[0].problem or "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tests: []", "`version: 1` is missing"),
        ("version: 2", "version 2 is not known"),
        ("version: true", "version True is not known"),
        ("version: 1\ntests: {a: 1}", "`tests` is a list"),
        ("- 1", "a collection is a mapping"),
        ("", "a collection is a mapping"),
    ],
)
def test_what_is_not_a_collection_is_refused(text: str, says: str) -> None:
    with pytest.raises(YamlProblem, match=says):
        read_collection(text)


def test_variables_are_filled_in_once() -> None:
    values = {"A": "${B}", "B": "b"}
    given = {"x": ["${A} and $${B}", 5, None], "${A}": "{B}", "y": "$$${B}"}
    assert fill_in(given, values.get) == {
        "x": ["${B} and ${B}", 5, None],
        "${A}": "{B}",
        "y": "$${B}",
    }
    assert list(variables_in(given)) == ["A"]


@pytest.mark.parametrize("text", ["${", "a ${} b", "${A:-x}", "${a-b}", "$${${"])
def test_what_is_not_a_placeholder_is_not_guessed_at(text: str) -> None:
    with pytest.raises(PlaceholderProblem, match="is not a placeholder"):
        fill_in(text, lambda name: "x")


@pytest.mark.parametrize("text", ["${A}", "$${A}", "${", "a", "$$$${x", "{A}"])
def test_what_is_escaped_is_filled_in_to_itself(text: str) -> None:
    assert fill_in(escape(text), lambda name: None) == text


def test_secrets_are_saved_as_variables() -> None:
    known_secrets.learn("known-secret-1")
    given = {
        "maxTokens": 9,
        "api_key": "s3cret",
        "more": [{"password": "one", "n": 1}, {"password": "two"}, {"password": "one"}],
        "credentials": {"user": "ada", "pin": 1234},
        "text": "holds known-secret-1 inside",
        "body": '{"mine": "hidden"}',
        "mine": "hidden",
        "plain": "${HOME}",
        "empty_token": "",
    }
    saved = without_secrets(given, ("mine",))
    assert saved.arguments == {
        "maxTokens": 9,
        "api_key": "${API_KEY}",
        "more": [
            {"password": "${PASSWORD}", "n": 1},
            {"password": "${PASSWORD_2}"},
            {"password": "${PASSWORD}"},
        ],
        "credentials": {"user": "${CREDENTIALS_USER}", "pin": "${CREDENTIALS_PIN}"},
        "text": "${TEXT}",
        "body": "${BODY}",
        "mine": "${MINE}",
        "plain": "$${HOME}",
        "empty_token": "",
    }
    assert saved.values["PASSWORD_2"] == "two"
    assert "s3cret" not in repr(saved)


def test_half_a_character_cannot_be_saved() -> None:
    with pytest.raises(InspectorError, match="half a character"):
        without_secrets({"a": "\ud800"}, ())
