"""What the server asks is asked of the person at the terminal, who may make mistakes."""

import json
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from mcplens.cli.interactive_questions import described_sampling
from tests.cli.scripted_server import LEGACY, NAME, form, result_of, scripted
from tests.cli.shell import Shell
from tests.cli.terminal import terminal

INSIST = "Send it anyway? [y/N] "


# -- a completion ------------------------------------------------------------------------------


def test_a_completion_is_shown_and_typed(shell: Shell, protocol: tuple[str, str]) -> None:
    with terminal(shell, "call", "demo", "sample", *protocol) as screen:
        shown = screen.answer("Answer> ", "Glass, mostly.")
        assert screen.end() == exit_codes.DONE
    assert "? The server asks for a completion (sampling/createMessage)" in shown
    assert "  [user] What is a lens?" in shown
    assert any("max tokens 200" in line for line in shown)
    assert "a person says: Glass, mostly." in screen.lines


def test_an_empty_line_refuses_a_completion(shell: Shell) -> None:
    with terminal(shell, "call", "demo", "sample", *LEGACY) as screen:
        screen.answer("Answer> ", "")
        assert screen.end() == exit_codes.REFUSED
    assert "the client refused: the user rejected the request (-1)" in screen.text


def test_a_refused_completion_ends_the_call_in_2026_07_28(shell: Shell) -> None:
    with terminal(shell, "call", "demo", "sample", "--protocol", "2026-07-28") as screen:
        screen.answer("Answer> ", "")
        assert screen.end() == exit_codes.FAILED
    assert "input refused" in screen.text


def test_a_tool_is_called_by_hand_and_its_result_shown(
    shell: Shell, protocol: tuple[str, str]
) -> None:
    with terminal(shell, "call", "demo", "sample-with-tools", *protocol) as screen:
        first = screen.answer("Answer> ", '/call add {"a": 2, "b": 2}')
        second = screen.answer("Answer> ", "4")
        assert screen.end() == exit_codes.DONE
    assert "  tool add: Adds two numbers." in first
    assert '  [assistant] calls add {"a":2,"b":2}' in second
    assert any("result of call_1" in line and '"text":"4"' in line for line in second)
    assert "a person says after 2 rounds: 4" in screen.lines


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("/call add {", "the arguments are not valid JSON"),
        ("/call add [1]", "the arguments must be a JSON object"),
        ("/call", "/call needs the name of a tool"),
    ],
)
def test_a_call_that_cannot_be_read_is_asked_for_again(shell: Shell, typed: str, told: str) -> None:
    with terminal(shell, "call", "demo", "sample-with-tools", *LEGACY) as screen:
        screen.answer("Answer> ", typed)
        assert told in screen.answer("Answer> ", "4")[0]
        assert screen.end() == exit_codes.DONE


def test_an_answer_that_breaks_the_rules_is_sent_only_when_wanted(shell: Shell) -> None:
    words = ("call", "demo", "sample-with-tools", "toolChoice=required", *LEGACY)
    with terminal(shell, *words) as screen:
        screen.answer("Answer> ", "/call multiply")
        assert screen.answer(INSIST, "") == [
            "  content: tool_use of 'multiply', which is not offered"
        ]
        screen.answer("Answer> ", "words")
        assert screen.answer(INSIST, "y") == ["  content: no tool_use, but toolChoice is required"]
        assert screen.end() == exit_codes.DONE
    assert "a person says after 1 rounds: words" in screen.lines


# -- a form ------------------------------------------------------------------------------------


def test_a_form_is_asked_field_by_field(shell: Shell, protocol: tuple[str, str]) -> None:
    with terminal(shell, "call", "demo", "elicit-form", *protocol) as screen:
        shown = screen.answer("Your name*> ", "")
        assert "? The server asks for input (elicitation/create)" in shown
        assert screen.answer("Your name*> ", "Ada") == ["  This field is required."]
        assert screen.answer("nick [demo]> ", "") == ["  Already filled in."]
        screen.answer("email> ", "nobody")
        told = screen.answer("email> ", "ada@example.com")
        assert told == ["  must be an email address, such as user@example.com"]
        for label in ("website", "birthday", "meeting"):
            screen.answer(f"{label}> ", "")
        screen.answer("age> ", "old")
        assert "number" in screen.answer("age> ", "200")[0]
        assert "150" in screen.answer("age> ", "36")[0]
        screen.answer("height> ", "1.6")
        screen.answer("newsletter [false]> ", "yes")
        assert screen.answer("colour [green]> ", "3") == [
            "    1. red",
            "    2. green",
            "    3. blue",
        ]
        assert screen.answer("size> ", "Large") == ["    1. s: Small", "    2. l: Large"]
        screen.answer("days [mon]> ", "1, 2, 3")
        assert screen.answer("days [mon]> ", "tue,3")[0].startswith("  ")
        screen.answer("access> ", "Read access, 2")
        screen.answer("grade> ", "Fair")
        assert screen.end() == exit_codes.DONE
    content = json.loads(next(line for line in screen.lines if line.startswith('{"name"')))
    assert content == {
        "name": "Ada", "nick": "demo", "email": "ada@example.com", "age": 36, "height": 1.6,
        "newsletter": True, "colour": "blue", "size": "l", "days": ["tue", "wed"],
        "access": ["read", "write"], "grade": "b",
    }  # fmt: skip


@pytest.mark.parametrize("word", ["decline", "cancel"])
def test_a_form_is_declined_or_cancelled(
    shell: Shell, protocol: tuple[str, str], word: str
) -> None:
    with terminal(shell, "call", "demo", "elicit-form", *protocol) as screen:
        screen.answer("Your name*> ", f"/{word}")
        assert screen.end() == exit_codes.REFUSED
    assert f"the form was not filled in: {word}" in screen.lines


def test_the_end_of_the_input_cancels_a_form_and_refuses_a_completion(shell: Shell) -> None:
    with terminal(shell, "call", "demo", "elicit-form", *LEGACY) as screen:
        screen.answer("Your name*> ", "Ada")
        screen.until("nick [demo]> ")
        screen.type("\x04")
        assert screen.end() == exit_codes.REFUSED
        assert "the form was not filled in: cancel" in screen.lines
    with terminal(shell, "call", "demo", "sample", *LEGACY) as screen:
        screen.until("Answer> ")
        screen.type("\x04")
        assert screen.end() == exit_codes.REFUSED
        assert "the user rejected the request" in screen.text


def test_a_form_that_breaks_a_rule_of_the_whole_is_asked_again_or_sent_on_purpose(
    shell: Shell,
) -> None:
    schema = {**NAME, "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    schema |= {"required": [], "minProperties": 1}
    with terminal(
        shell, *scripted(form(schema), {"wait": 1}, form(schema, number=2), {"wait": 2})
    ) as screen:
        screen.answer("a> ", "")
        screen.answer("b> ", "")
        assert screen.answer(INSIST, "n")
        screen.answer("a> ", "x")
        screen.answer("b> ", "")
        screen.answer("a> ", "")
        screen.answer("b> ", "")
        screen.answer(INSIST, "y")
        assert screen.end() == exit_codes.DONE
    assert result_of(screen) == {
        "1": {"action": "accept", "content": {"a": "x"}},
        "2": {"action": "accept", "content": {}},
    }


def test_a_form_without_fields_and_a_schema_that_is_none_are_confirmed_and_not_assumed(
    shell: Shell,
) -> None:
    prompt = "Accept (a), decline (d), cancel (c)? [c] "
    steps = [
        form({"type": "object", "properties": {}}),
        {"wait": 1},
        form(7, number=2),
        {"wait": 2},
    ]
    with terminal(shell, *scripted(*steps)) as screen:
        screen.answer(prompt, "what?")
        assert screen.answer(prompt, "a") == ["  Type a, d or c."]
        assert any("Answers are not checked" in line for line in screen.answer(prompt, ""))
        assert screen.end() == exit_codes.DONE
    assert result_of(screen) == {
        "1": {"action": "accept", "content": {}},
        "2": {"action": "cancel"},
    }


# -- a URL -------------------------------------------------------------------------------------


def test_a_url_is_shown_with_its_host_and_what_is_odd_about_it(shell: Shell) -> None:
    url = "http://bank.example@evil.example/login"
    params = {"mode": "url", "message": "Sign in", "url": url, "elicitationId": "e"}
    with terminal(
        shell, *scripted({"ask": [1, "elicitation/create", params]}, {"wait": 1})
    ) as screen:
        shown = screen.answer("Opened it (a), decline (d), cancel (c)? [c] ", "d")
        assert screen.end() == exit_codes.DONE
    assert f"  {url}" in shown
    assert "  It opens evil.example." in shown
    assert any(line.startswith("  Careful: It is http") for line in shown)
    assert result_of(screen) == {"1": {"action": "decline"}}


def test_a_page_that_the_server_says_was_visited_needs_no_answer_any_more(
    shell: Shell, fifo: Path
) -> None:
    params = {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e"}
    done = {"say": ["notifications/elicitation/complete", {"elicitationId": "e"}]}
    ask = {"ask": [1, "elicitation/create", params]}
    with terminal(shell, *scripted(ask, {"hold": str(fifo)}, done, {"wait": 1})) as screen:
        screen.until("Opened it (a), decline (d), cancel (c)? [c] ")
        fifo.write_text("now")
        assert screen.end() == exit_codes.DONE
    assert "  (the server no longer waits for this answer)" in screen.lines
    assert result_of(screen) == {"1": {"action": "accept"}}


def test_what_a_server_writes_cannot_draw_on_the_terminal(shell: Shell) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string", "title": "a\x1b[2Jb\nc"}}}
    with terminal(shell, *scripted(form(schema, "x\x1b[2J\x07\n? fake"), {"wait": 1})) as screen:
        shown = screen.answer("a\\x1b[2Jb\\nc> ", "1")
        assert screen.end() == exit_codes.DONE
    assert "  x\\x1b[2J\\x07" in shown
    assert "  ? fake" in shown


def test_half_a_character_in_a_question_is_shown_all_the_same() -> None:
    content = [{"odd": "\ud800"}]
    assert described_sampling({"messages": [{"role": "user", "content": content}]}) == [
        '[user] {"odd":"\ud800"}'
    ]
