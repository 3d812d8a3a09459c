"""What stands for a value: resolved once, never guessed, and the same grammar as at launch."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.config.placeholders import (
    PlaceholderProblem,
    escape,
    escape_dollar,
    pieces,
    placeholder,
    resolve,
    resolve_all,
    rewrite,
    variable_name,
    variables_of,
)
from mcplens.errors import ConfigurationError
from mcplens.transports.launch import resolve_placeholders

ENVIRON = {"USER": "ada", "EMPTY": "", "NESTED": "${USER} {USER} $${x}"}
TEXTS = st.text("${}:-AB _env\"'", max_size=24)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${USER}", "ada"),
        ("a${USER}b${env:USER}c", "aadabadac"),
        ("{USER}", "ada"),
        ("https://{USER}.example.com/{USER}", "https://ada.example.com/ada"),
        ("${MISSING:-fallback}", "fallback"),
        ("${MISSING:-}", ""),
        ("${EMPTY:-fallback}", "fallback"),
        ("${EMPTY}", ""),
        ("${env:MISSING:-x}", "x"),
        ("$${USER}", "${USER}"),
        ("${{}USER}", "{USER}"),
        ("${NESTED}", "${USER} {USER} $${x}"),
        ("$USER", "$USER"),
        ('{"json": {"USER": 1}}', '{"json": {"USER": 1}}'),
        ("{{USER}}", "{{USER}}"),
        ("{USER }", "{USER }"),
        ("{}", "{}"),
        ("{1}", "{1}"),
        ("100 %", "100 %"),
    ],
)
def test_a_text_resolves_to(text: str, expected: str) -> None:
    assert resolve(text, ENVIRON.get) == expected


@pytest.mark.parametrize("text", ["${MISSING}", "{MISSING}", "x ${env:MISSING} y"])
def test_a_variable_that_is_not_set_is_named(text: str) -> None:
    with pytest.raises(PlaceholderProblem, match="'MISSING' is not set") as caught:
        resolve(text, ENVIRON.get)
    assert caught.value.variable == "MISSING"


def test_braces_that_were_meant_literally_come_with_advice() -> None:
    with pytest.raises(
        PlaceholderProblem, match=re.escape("if {name} is not a placeholder, write ")
    ):
        resolve("{name}", ENVIRON.get)
    assert resolve("${{}name}", ENVIRON.get) == "{name}"


@pytest.mark.parametrize("text", ["${command:x}", "${a b}", "${", "${input:key}", "${A:-${B}}"])
def test_a_placeholder_that_we_do_not_know_is_refused_and_not_sent(text: str) -> None:
    with pytest.raises(PlaceholderProblem, match="not a known placeholder"):
        resolve(text, ENVIRON.get)


def test_every_string_of_a_value_is_resolved_but_no_key() -> None:
    value = {"${USER}": ["${USER}", {"x": "{USER}"}, 1, None, True]}
    assert resolve_all(value, ENVIRON.get) == {"${USER}": ["ada", {"x": "ada"}, 1, None, True]}
    assert list(variables_of(value)) == ["USER", "USER"]


@given(TEXTS)
def test_what_is_escaped_resolves_to_itself(text: str) -> None:
    assert resolve(escape(text), lambda _: None) == text


@given(TEXTS)
def test_what_was_resolved_is_not_resolved_again_by_the_stdio_transport(text: str) -> None:
    assert resolve_placeholders({"KEY": escape_dollar(text)}, ENVIRON) == {"KEY": text}


@given(st.text("${}:-USERMIX env", max_size=24))
def test_both_grammars_agree_but_for_single_braces(text: str) -> None:
    """transports/launch.py resolves the env of a command that was typed; here all else."""
    if "${{}" in text or re.search(r"(?<!\$)\{", text):
        return
    try:
        expected = resolve_placeholders({"KEY": text}, ENVIRON)["KEY"]
    except ConfigurationError:
        with pytest.raises(PlaceholderProblem):
            resolve(text, ENVIRON.get)
    else:
        assert resolve(text, ENVIRON.get) == expected


def test_another_grammar_is_rewritten_and_its_plain_text_escaped() -> None:
    dollar = re.compile(r"\$(\w+)")

    def ours(text: str) -> str:
        return rewrite(text, dollar, lambda match: placeholder(match[1]))

    assert ours("$USER {USER} ${USER}") == "${USER} ${{}USER} $${USER}"
    assert resolve(ours("$USER {USER} ${USER}"), ENVIRON.get) == "ada {USER} ${USER}"
    assert resolve(ours("5 $$USER"), ENVIRON.get) == "5 $ada"


def test_a_text_comes_apart_into_plain_parts_and_placeholders() -> None:
    parts = [(one.text, one.variable, one.default) for one in pieces("a$${b{C}${D:-e}${{}f}")]
    assert parts == [
        ("a${b", None, None),
        ("{C}", "C", None),
        ("${D:-e}", "D", "e"),
        ("{f}", None, None),
    ]


@pytest.mark.parametrize(
    ("text", "name"), [("api-key", "API_KEY"), ("Brave Key!", "BRAVE_KEY"), ("2fa", "_2FA")]
)
def test_what_a_person_is_asked_for_has_a_variable(text: str, name: str) -> None:
    assert variable_name(text) == name
