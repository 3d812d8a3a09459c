"""What happens at the terminal while somebody is asked, and how a question ends."""

import re
from pathlib import Path

from mcplens.cli import exit_codes
from tests.cli.scripted_server import LEGACY, NAME, form, result_of, scripted
from tests.cli.shell import Shell
from tests.cli.terminal import terminal

# -- meanwhile ---------------------------------------------------------------------------------


def test_several_questions_are_asked_one_after_the_other(
    shell: Shell, protocol: tuple[str, str]
) -> None:
    with terminal(shell, "call", "demo", "elicit-two", *protocol) as screen:
        screen.until("(2 wait) name*> ")
        screen.type("Ada\n")
        screen.until_line("name*> Ada")
        screen.answer("name*> ", "Alan")
        assert screen.end() == exit_codes.DONE
    assert "Ada and Alan" in screen.lines


def test_logs_that_come_meanwhile_stay_above_what_is_being_typed(shell: Shell, fifo: Path) -> None:
    log = {"say": ["notifications/message", {"level": "info", "data": "a log"}]}
    steps = [form(NAME), {"hold": str(fifo)}, log, {"wait": 1}]
    with terminal(shell, *scripted(*steps)) as screen:
        screen.until("name*> ")
        screen.type("Ad")
        screen.until("name*> Ad")
        fifo.write_text("now")
        assert screen.until_line("a log") == "[info] a log"
        screen.until("name*> Ad")
        screen.type("a\n")
        assert screen.end() == exit_codes.DONE
    assert "name*> Ada" in screen.lines
    assert result_of(screen) == {"1": {"action": "accept", "content": {"name": "Ada"}}}


def test_the_progress_line_is_away_while_somebody_types(shell: Shell, fifo: Path) -> None:
    log = {"say": ["notifications/message", {"level": "info", "data": "a log"}]}
    steps = [{"progress": 10}, form(NAME), {"hold": str(fifo)}, {"progress": 20}, log, {"wait": 1}]
    with terminal(shell, *scripted(*steps, {"progress": 30})) as screen:
        screen.until("name*> ")
        fifo.write_text("now")
        screen.until_line("a log")  # the progress came before it
        screen.answer("name*> ", "Ada")
        assert screen.end() == exit_codes.DONE
    assert "10%, " in screen.drawn
    assert "20%, " not in screen.drawn
    assert "30%, " in screen.drawn


def test_a_line_is_edited_as_on_any_terminal(shell: Shell) -> None:
    with terminal(shell, *scripted(form(NAME), {"wait": 1})) as screen:
        screen.until("name*> ")
        screen.type("wrong\x15one two\x17\x1b[D\x1bOAtw\x7fhree 世\x7f世界\n")
        assert screen.end() == exit_codes.DONE
        assert screen.echoes()
    assert result_of(screen) == {"1": {"action": "accept", "content": {"name": "one three 世界"}}}


def test_what_was_typed_before_the_question_is_no_answer_to_it(shell: Shell, fifo: Path) -> None:
    with terminal(shell, *scripted({"hold": str(fifo)}, form(NAME), {"wait": 1})) as screen:
        screen.type("too early\n")
        screen.until_line("too early")  # as the terminal itself shows it
        fifo.write_text("now")
        screen.answer("name*> ", "Ada")
        assert screen.end() == exit_codes.DONE
    assert result_of(screen) == {"1": {"action": "accept", "content": {"name": "Ada"}}}


def test_40_columns_are_enough(shell: Shell) -> None:
    long = "wide " * 20
    with terminal(shell, "call", "demo", "elicit-steps", *LEGACY, columns=40) as screen:
        screen.until("name*> ")
        screen.type(long)
        screen.until("name*> …" + long[-31:])
        screen.type("\n")
        screen.answer("sure* [true]> ", "no")
        assert screen.end() == exit_codes.DONE
    assert f"name*> {long}" in screen.lines
    shown = [line for line in screen.lines if long.strip() not in line]
    assert all(len(line) <= 40 for line in shown if line.startswith(" "))


# -- the end -----------------------------------------------------------------------------------


def test_ctrl_c_while_asked_cancels_the_call_on_the_server(shell: Shell, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    steps = [form(NAME), {"hear": ["notifications/cancelled", str(heard)]}, {"die": True}]
    with terminal(shell, *scripted(*steps)) as screen:
        screen.until("name*> ")
        screen.type("A")
        screen.until("name*> A")
        screen.press_ctrl_c()
        assert screen.end() == exit_codes.INTERRUPTED
        assert screen.echoes()
    assert heard.read_text() == "heard"
    assert screen.lines[-1] == "mcplens: interrupted"
    assert "Traceback" not in screen.text


def test_a_second_ctrl_c_leaves_the_terminal_as_it_was(shell: Shell, fifo: Path) -> None:
    with terminal(shell, *scripted(form(NAME), {"hold": str(fifo)})) as screen:
        screen.until("name*> ")
        assert not screen.echoes()
        screen.press_ctrl_c()
        screen.press_ctrl_c()
        assert screen.end() == exit_codes.INTERRUPTED
        assert screen.echoes()
    assert "Traceback" not in screen.text


def test_a_server_that_dies_while_somebody_types_ends_the_question(
    shell: Shell, fifo: Path
) -> None:
    with terminal(shell, *scripted(form(NAME), {"hold": str(fifo)}, {"die": True})) as screen:
        screen.until("name*> ")
        screen.type("A")
        screen.until("name*> A")
        fifo.write_text("now")
        assert screen.end() == exit_codes.NOT_CONNECTED
        assert screen.echoes()
    at = screen.lines.index("name*> A")
    assert screen.lines[at + 1] == "  (the server no longer waits for this answer)"
    assert re.search("server exited|exit code 3", "\n".join(screen.lines[at:]))


def test_a_question_that_the_server_withdraws_ends_and_the_next_one_starts_clean(
    shell: Shell, fifo: Path
) -> None:
    cancel = {"say": ["notifications/cancelled", {"requestId": 1, "reason": "never mind"}]}
    steps = [form(NAME), {"hold": str(fifo)}, cancel, form(NAME, "Again?", 2), {"wait": 2}]
    with terminal(shell, *scripted(*steps)) as screen:
        screen.until("name*> ")
        screen.type("half a li")
        screen.until("name*> half a li")
        fifo.write_text("now")
        screen.until_line("(the server no longer waits for this answer)")
        screen.answer("name*> ", "Ada")
        assert screen.end() == exit_codes.DONE
    assert result_of(screen) == {"2": {"action": "accept", "content": {"name": "Ada"}}}


def test_lines_can_be_piped_where_asking_is_wanted_and_their_end_cancels(shell: Shell) -> None:
    words = ("call", "demo", "elicit-two", "--elicit", "ask", *LEGACY)
    assert shell.run(*words, stdin=b"Ada\nAlan\n").text == "Ada and Alan\n"
    ended = shell.run(*words, stdin=b"Ada\n")
    assert ended.code == exit_codes.REFUSED
    assert "the form was not filled in: cancel" in ended.text
    (shell.home / "lines").write_text("Ada\nAlan")
    with (shell.home / "lines").open() as lines:
        process = shell.start(*words, stdin=lines.fileno())
        assert process.communicate(timeout=60)[0] == b"Ada and Alan\n"
