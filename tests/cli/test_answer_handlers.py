"""Who answers what a server asks: --sampling, --elicit, --root, and a server's own settings."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcplens.cli import exit_codes
from mcplens.session.profiles import BUILT_IN
from tests.cli.demo import serving_demo
from tests.cli.shell import Ran, Shell
from tests.cli.terminal import terminal

pytestmark = pytest.mark.slow

ERAS = ["2025-11-25", "2026-07-28"]
DEMO = [sys.executable, "-m", "mcplens.demo"]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def demo_url() -> Iterator[str]:
    with serving_demo() as url:
        yield url


def call(shell: Shell, era: str, tool: str, *words: str) -> Ran:
    return shell.run("call", "demo", tool, *words, "--protocol", era)


def configure(shell: Shell, profiles: dict[str, Any] | None = None, **server: Any) -> None:
    """A configured server, `mine`, which is the demo."""
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    entry = {"command": DEMO[0], "args": DEMO[1:], **server}
    shell.config.write_text(json.dumps({"mcpServers": {"mine": entry}, "profiles": profiles or {}}))


# -- completions -------------------------------------------------------------------------------

# Built-in profile -> exit code, and what the demo's tool with tools says of the model's answer.
SAID = {
    "fixed": (
        exit_codes.DONE,
        "mcplens-fixed says after 1 rounds: This is a fixed answer of mcplens.",
    ),
    "echo": (exit_codes.DONE, "mcplens-echo says after 1 rounds: What is 2 + 2?"),
    "tool-use": (exit_codes.DONE, "mcplens-tool-use says after 2 rounds: What is 2 + 2?"),
    "tool-use-each": (exit_codes.DONE, "mcplens-tool-use says after 2 rounds: What is 2 + 2?"),
    "refuse": (exit_codes.REFUSED, "the client refused: the user rejected the request (-1)"),
    "manual": (
        exit_codes.REFUSED,
        "the client refused: nobody is available to provide a completion (-1)",
    ),
}


def test_every_built_in_profile_is_tried_here() -> None:
    assert SAID.keys() == BUILT_IN.keys()


@pytest.mark.parametrize("profile", SAID)
def test_a_built_in_profile_answers_for_the_model(shell: Shell, profile: str) -> None:
    done = call(shell, ERAS[0], "sample-with-tools", "--sampling", profile)
    code, said = SAID[profile]
    assert (done.code, done.text.strip()) == (code, said)


@pytest.mark.parametrize("profile", ["echo", "tool-use"])
def test_a_profile_answers_in_2026_07_28_too(shell: Shell, profile: str) -> None:
    done = call(shell, ERAS[1], "sample-with-tools", "--sampling", profile)
    assert (done.code, done.text.strip()) == SAID[profile]


def test_a_refusal_ends_a_call_of_2026_07_28_with_words_and_a_code(shell: Shell) -> None:
    done = call(shell, ERAS[1], "sample", "--sampling", "refuse")
    assert (done.code, done.text) == (exit_codes.FAILED, "")
    assert "sampling/createMessage rejected: the user rejected the request" in done.err
    assert "input refused" in done.err


def test_manual_asks_the_person_at_the_terminal(shell: Shell) -> None:
    with terminal(shell, "call", "demo", "sample", "--sampling", "manual") as screen:
        screen.answer("Answer> ", "by hand")
        assert screen.end() == exit_codes.DONE
    assert "a person says: by hand" in screen.lines


def test_a_profile_of_the_configuration_answers(shell: Shell, era: str) -> None:
    configure(shell, {"mine": {"kind": "fixed", "text": "configured", "model": "m"}})
    assert call(shell, era, "sample", "--sampling", "mine").text == "m says: configured\n"


def test_a_profile_that_does_not_exist_is_refused_with_those_that_do(shell: Shell) -> None:
    configure(shell, {"mine": {"kind": "echo"}})
    done = shell.run("call", "demo", "sample", "--sampling", "nobody")
    assert (done.code, done.text) == (exit_codes.USAGE, "")
    assert "there is no profile 'nobody'; there are: echo, fixed, manual, mine," in done.err


def test_a_profile_with_wrong_settings_says_which(shell: Shell) -> None:
    configure(shell, {"mine": {"kind": "delay", "seconds": "long", "then": "echo"}})
    done = shell.run("call", "demo", "sample", "--sampling", "mine")
    assert done.code == exit_codes.USAGE
    assert "the profile mine: seconds has to be a number" in done.err


# -- a server's own settings -------------------------------------------------------------------


def test_a_servers_profile_answers_completions_and_forms(shell: Shell, era: str) -> None:
    profile = {"kind": "fixed", "text": "as set", "elicitation": {"content": {"name": "Ada"}}}
    configure(shell, {"quick": profile}, profile="quick")
    done = shell.run("call", "mine", "ask-everything", "--protocol", era)
    assert done.text == "Ada has 0 roots, and the model says: as set\n"


def test_options_win_over_a_servers_profile(shell: Shell, era: str) -> None:
    configure(shell, profile="refuse")
    words = ("--sampling", "echo", "--elicit", "accept", "--protocol", era)
    done = shell.run("call", "mine", "ask-everything", *words)
    assert done.text == "example has 0 roots, and the model says: Say something nice.\n"


def test_what_a_servers_profile_leaves_to_a_person_is_refused_where_there_is_none(
    shell: Shell,
) -> None:
    configure(shell, {"half": {"kind": "echo"}}, profile="half")
    assert shell.run("call", "mine", "sample").code == exit_codes.DONE
    done = shell.run("call", "mine", "elicit-form", "--protocol", ERAS[0])
    assert done.code == exit_codes.REFUSED
    assert "the server asked for input; use --elicit" in done.err


def test_a_servers_roots_come_first_and_those_of_the_command_line_after(
    shell: Shell, era: str, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    named = {"uri": "file:///srv/data", "name": "Data"}
    configure(shell, roots=[named, "~/other"])
    done = shell.run("call", "mine", "list-roots", "--root", str(tmp_path), "--protocol", era)
    assert json.loads(done.out) == [named, uri(tmp_path / "other"), uri(tmp_path)]


def test_a_server_is_told_of_the_capabilities_that_were_chosen(shell: Shell) -> None:
    chosen: dict[str, Any] = {
        "sampling": None,
        "elicitation": {"form": {}},
        "experimental": {"x": {}},
    }
    configure(shell, capabilities=chosen)
    words = ("call", "mine", "sample", "--sampling", "echo", "-v", "--protocol", ERAS[0])
    done = shell.run(*words)
    assert done.code == exit_codes.REFUSED  # it cannot ask: that was not declared
    sent = next(line for line in done.err.splitlines() if '"initialize"' in line)
    declared = json.loads(sent.removeprefix("-> "))["params"]["capabilities"]
    assert "sampling" not in declared
    assert declared["elicitation"] == {"form": {}}
    assert declared["experimental"] == {"x": {}}
    assert declared["roots"] == {"listChanged": True}
    assert declared["tasks"]["requests"] == {"elicitation": {"create": {}}}


# -- forms -------------------------------------------------------------------------------------


def test_a_form_is_accepted_with_defaults_and_made_up_values(shell: Shell, era: str) -> None:
    done = call(shell, era, "elicit-form", "--elicit", "accept")
    content = json.loads(done.out)
    assert (content["nick"], content["colour"], content["days"]) == ("demo", "green", ["mon"])
    assert content["name"]


@pytest.mark.parametrize("how", ["decline", "cancel"])
def test_a_form_is_declined_or_cancelled(shell: Shell, era: str, how: str) -> None:
    done = call(shell, era, "elicit-form", "--elicit", how)
    assert (done.code, done.text) == (exit_codes.REFUSED, f"the form was not filled in: {how}\n")


def test_a_form_is_filled_from_a_file_and_defaults_stand_for_the_rest(
    shell: Shell, era: str
) -> None:
    (shell.home / "form.json").write_text('{"name": "Ada", "age": 36}')
    content = json.loads(call(shell, era, "elicit-form", "--elicit", "@form.json").out)
    assert (content["name"], content["age"], content["nick"]) == ("Ada", 36, "demo")
    assert "email" not in content


def test_a_file_that_does_not_fit_the_form_is_not_sent_and_said(shell: Shell) -> None:
    (shell.home / "form.json").write_text('{"name": "Ada", "age": "old"}')
    done = call(shell, ERAS[0], "elicit-form", "--elicit", "@form.json")
    assert done.code == exit_codes.REFUSED
    assert "the answer of --elicit @form.json is not valid: ['age']" in done.err


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("perhaps", "'perhaps': use ask, accept, decline, cancel or @file"),
        ("", "'': use ask, accept, decline, cancel or @file"),
        ("@missing.json", "--elicit: missing.json cannot be read"),
        ("@list.json", "--elicit must be a JSON object, not list"),
        ("@broken.json", "--elicit is not valid JSON"),
    ],
)
def test_a_wrong_way_to_answer_is_refused_before_anything_is_started(
    shell: Shell, how: str, said: str
) -> None:
    (shell.home / "list.json").write_text("[]")
    (shell.home / "broken.json").write_text("{")
    done = shell.run("call", "demo", "elicit-form", "--elicit", how)
    assert (done.code, done.text) == (exit_codes.USAGE, "")
    assert said in " ".join(done.err.split())


# -- roots -------------------------------------------------------------------------------------


def uri(folder: Path) -> dict[str, str]:
    return {"uri": folder.as_uri()}


def test_roots_are_folders_or_uris(shell: Shell, era: str, tmp_path: Path) -> None:
    spaced = tmp_path / "with spaces 100% ümlaut"
    spaced.mkdir()
    words = ("--root", str(spaced), "--root", ".", "--root", "file:///not/here")
    done = call(shell, era, "list-roots", *words)
    assert json.loads(done.out) == [uri(spaced), uri(tmp_path), {"uri": "file:///not/here"}]
    assert "with%20spaces" in done.text


def test_there_are_no_roots_unless_they_are_named(shell: Shell, era: str) -> None:
    assert json.loads(call(shell, era, "list-roots").out) == []


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("missing", "'missing' is not a folder"),
        ("file", "'file' is not a folder"),
        ("https://example.com/", "'https://example.com/' is not a folder"),
        ("file://elsewhere", "file://elsewhere"),
    ],
)
def test_a_root_that_is_none_is_refused(shell: Shell, root: str, said: str) -> None:
    (shell.home / "file").write_text("")
    done = call(shell, ERAS[0], "list-roots", "--root", root)
    assert (done.code, done.text) == (exit_codes.USAGE, "")
    assert said in done.err


# -- nobody ------------------------------------------------------------------------------------


def test_a_completion_that_nobody_gives_names_the_option(shell: Shell) -> None:
    done = call(shell, ERAS[0], "sample")
    assert done.code == exit_codes.REFUSED
    assert "mcplens: the server asked for a completion; use --sampling PROFILE\n" in done.err
    done = call(shell, ERAS[1], "sample")
    assert done.code == exit_codes.FAILED
    assert "mcplens: the server asked for a completion; use --sampling PROFILE\n" in done.err


def test_input_that_nobody_gives_names_the_option_once(shell: Shell, era: str) -> None:
    done = call(shell, era, "elicit-two")
    assert done.code == exit_codes.REFUSED
    line = "mcplens: the server asked for input; use --elicit accept|decline|cancel|@file\n"
    assert done.err.count(line) == 1


def test_with_json_stdout_is_exactly_the_result(shell: Shell, era: str) -> None:
    done = call(shell, era, "sample", "--sampling", "echo", "--json")
    assert done.out.count(b"\n") == 1
    assert json.loads(done.out)["content"][0]["text"] == "mcplens-echo says: What is a lens?"
    with terminal(
        shell, "call", "demo", "sample", "--json", "--protocol", era, stdout=shell.home / "out"
    ) as screen:
        screen.answer("Answer> ", "typed")
        assert screen.end() == exit_codes.DONE
    result = json.loads((shell.home / "out").read_bytes())
    assert result["content"][0]["text"] == "a person says: typed"


def test_quiet_asks_nobody(shell: Shell) -> None:
    with terminal(shell, "call", "demo", "sample", "-q", "--protocol", ERAS[0]) as screen:
        assert screen.end() == exit_codes.REFUSED
    assert "use --sampling PROFILE" in screen.text


# -- over the network --------------------------------------------------------------------------


def test_all_is_the_same_over_http(shell: Shell, era: str, demo_url: str, tmp_path: Path) -> None:
    words = ("--sampling", "echo", "--elicit", "accept", "--root", str(tmp_path))
    done = shell.run("call", demo_url, "ask-everything", *words, "--protocol", era)
    assert (done.code, done.err) == (exit_codes.DONE, "")
    assert done.text == "example has 1 roots, and the model says: Say something nice.\n"


def test_a_person_is_asked_over_http(shell: Shell, era: str, demo_url: str) -> None:
    with terminal(shell, "call", demo_url, "elicit-steps", "--protocol", era) as screen:
        screen.answer("name*> ", "Ada")
        screen.answer("sure* [true]> ", "no")
        assert screen.end() == exit_codes.DONE
    assert "Ada is not sure" in screen.lines


@pytest.mark.parametrize("verb", ["read", "prompt", "complete", "tools"])
def test_every_command_declares_what_it_can_answer(shell: Shell, demo_url: str, verb: str) -> None:
    words = {
        "read": ["demo://text"],
        "prompt": ["translate", "text=hello", "language=French"],
        "complete": ["translate", "language=g"],
        "tools": [],
    }[verb]
    done = shell.run(verb, demo_url, *words, "-v", "--protocol", ERAS[0])
    assert done.code == exit_codes.DONE
    sent = next(line for line in done.err.splitlines() if '"initialize"' in line)
    declared = json.loads(sent.removeprefix("-> "))["params"]["capabilities"]
    assert declared["sampling"] == {"tools": {}, "context": {}}
    assert declared["elicitation"] == {"form": {}, "url": {}}
    assert declared["roots"] == {"listChanged": True}
    assert declared["tasks"]["requests"] == {
        "sampling": {"createMessage": {}},
        "elicitation": {"create": {}},
    }
