"""Every way to write a tool's arguments."""

import json
import re
import sys
from typing import Any

import click
import pytest

from mcplens.cli import exit_codes
from mcplens.cli.arguments import collect, read_words
from mcplens.protocol.eras import VERSIONS
from tests.cli.shell import Shell, good, serving
from tests.servers.run import ROOT, argv

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "words",
    [
        ["a=2", "b=3"],
        ["a=2", "b:=3"],
        ["a:=2.0", "b:=3"],
        ["--args", '{"a": 2, "b": 3}'],
        ["--params", '{"a": 2, "b": 3}'],
        ["--args", "@numbers.json"],
        ["--args", "-"],
        ["--tool-arg", "a=2", "--tool-arg", "b=3"],
        ['{"a": 2, "b": 3}'],
        ["--args", '{"a": 7, "b": 3}', "a=2"],
        ["a@two.txt", "b=3"],
    ],
    ids=" ".join,
)
def test_every_style_calls_the_tool_with_the_same_arguments(
    shell: Shell, url: str, words: list[str]
) -> None:
    (shell.home / "numbers.json").write_text('{"a": 2, "b": 3}')
    (shell.home / "two.txt").write_text("2")
    done = shell.run("call", url, "add", *words, stdin=b'{"a": 2, "b": 3}')
    assert json.loads(done.out) == {"sum": 5}
    assert (done.code, done.err) == (0, "")


def test_a_text_stays_a_text_where_the_schema_wants_one(shell: Shell, url: str) -> None:
    assert shell.run("call", url, "echo", "text=42").text == "42\n"
    assert shell.run("call", url, "echo", "text=a=b:=c@d").text == "a=b:=c@d\n"


def test_arguments_that_are_pydantic_models_are_read_by_their_schemas(shell: Shell) -> None:
    words = (
        'person={"name": "Ada", "home": {"street": "St James Square", "number": 12}}',
        "numbers=1,2,3", "limit=5", "colours=red", "colours=green", "mode=7",
        'counts={"a": 1}', "is_sure=yes",
    )  # fmt: skip
    done = shell.run("call", "meet", *words, "--", *argv("sdk_models"))
    assert json.loads(done.text) == {
        "person": {"name": "Ada", "home": {"street": "St James Square", "number": 12}},
        "numbers": [1, 2, 3],
        "limit": 5,
        "colours": ["red", "green"],
        "mode": 7,
        "counts": {"a": 1},
        "is_sure": True,
    }


# As pydantic writes it.
MEET: dict[str, Any] = {
    "$defs": {"Person": {"type": "object", "properties": {"name": {"type": "string"}},
                         "required": ["name"]}},
    "type": "object",
    "properties": {
        "person": {"$ref": "#/$defs/Person"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "ratio": {"type": "number"},
        "colour": {"type": "string", "default": "red"},
        "size": {"anyOf": [{"enum": ["s", "m", 3]}, {"type": "null"}]},
        "people": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
        "grid": {"type": "array",
                 "items": {"type": "array", "items": {"type": ["number", "null"]}}},
        "month": {"enum": [f"m{number}" for number in range(1, 13)]},
        "sizes": {"type": "array", "items": {"enum": ["s", "m"], "type": "string"}},
    },
    "required": ["person", "colour"],
}  # fmt: skip
PERSON = 'person={"name":"Ada"}'


def collected(*words: str, schema: Any = MEET, is_forced: bool = False) -> dict[str, Any]:
    return collect(read_words(words), schema=schema, is_forced=is_forced)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("person=oops", "person: 'oops' is not of type object; write it as JSON, such as "
                        """person='{"name": "example"}'"""),
        ("limit=some", "limit: 'some' is not of type integer or null; limit:=JSON sends any value"),
        ("numbers=1,x", "numbers: '1,x' is not of type integer[]; write its items with commas"),
        ("ratio=nan", "ratio: 'nan' is not of type number"),
        ("ratio:=NaN", "ratio: JSON cannot hold the number NaN"),
        ("people=oops", """write it as JSON, such as people='[{"name": "example"}]'"""),
        ("grid=oops", "grid: 'oops' is not of type (number|null)[][]"),
        ("month=13", "month: '13' is not one of m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12"),
        ("size=xl", "size: 'xl' is not one of s, m, 3, null\n--force sends it anyway"),
        ("sizes=s,xl", "sizes: 's,xl' has an item that is not one of s, m\n--force sends"),
        ('numbers:=[1e999]', "numbers: JSON cannot hold the number 1e999"),
    ],
)  # fmt: skip
def test_a_text_of_another_type_is_an_error_that_says_how_to_write_it(word: str, told: str) -> None:
    with pytest.raises(click.UsageError, match=re.escape(told)):
        collected(word)


def test_a_value_that_the_schema_does_not_list_is_sent_by_force_or_as_json() -> None:
    assert collected("size=xl", is_forced=True) == {"size": "xl"}
    assert collected("sizes=s,xl", is_forced=True) == {"sizes": ["s", "xl"]}
    assert collected(PERSON, 'size:="xl"')["size"] == "xl"


@pytest.mark.parametrize("word", ["a:=abc", '{"a": 1', "a", "a@missing.txt"])
def test_an_argument_that_cannot_be_read_is_refused_before_the_server_is_started(
    shell: Shell, word: str
) -> None:
    marker = shell.home / "started"
    start = f"import pathlib; pathlib.Path({str(marker)!r}).touch()"
    done = shell.run("call", "add", word, "--", sys.executable, "-c", start)
    assert done.code == exit_codes.USAGE
    assert "add" not in done.err.splitlines()
    assert not marker.exists()


def test_an_argument_given_twice_is_a_list_or_an_error_and_never_the_last_one() -> None:
    assert collected(PERSON, "numbers=1", "numbers:=2")["numbers"] == [1, 2]
    for schema, is_forced in ((MEET, False), (MEET, True), (None, True)):
        with pytest.raises(click.UsageError, match="limit is given 2 times"):
            collected(PERSON, "limit=1", "limit=2", schema=schema, is_forced=is_forced)


def test_a_required_argument_with_a_default_is_filled_with_it_unless_forced() -> None:
    assert collected(PERSON) == {"person": {"name": "Ada"}, "colour": "red"}
    assert collected(PERSON, is_forced=True) == {"person": {"name": "Ada"}}


def test_a_file_gives_a_text_with_all_its_lines(shell: Shell, url: str) -> None:
    (shell.home / "poem.txt").write_text("grün\nund blau")
    assert shell.run("call", url, "echo", "text@poem.txt").text == "grün\nund blau\n"


def test_server_dot_tool_names_a_configured_server_and_its_tool(shell: Shell) -> None:
    command, *args = argv("good")
    entry = {"command": command, "args": args, "cwd": str(ROOT)}
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(json.dumps({"mcpServers": {"mine": entry}}))
    assert shell.run("call", "mine.echo", "text=hello").text == "hello\n"
    assert shell.run("call", "mine", "echo", "text=hello").text == "hello\n"


def test_flags_may_stand_before_and_after_the_target(shell: Shell, url: str) -> None:
    plain = shell.run("call", url, "echo", "text=x", "--json").out
    assert shell.run("call", "--json", url, "echo", "text=x").out == plain
    assert shell.run("call", url, "--json", "echo", "text=x").out == plain


def test_a_script_is_a_target(shell: Shell) -> None:
    script = shell.home / "server.py"
    script.write_text(
        "import asyncio\nfrom tests.servers import good\nasyncio.run(good.main(good.parse()))\n"
    )
    assert shell.run("call", "server.py", "echo", "text=hi").text == "hi\n"


def test_a_host_without_a_scheme_is_http_on_this_machine(shell: Shell, url: str) -> None:
    assert shell.run("call", url.removeprefix("http://"), "echo", "text=hi").text == "hi\n"


def test_unknown_and_missing_arguments_are_named_with_the_nearest_name(
    shell: Shell, url: str
) -> None:
    done = shell.run("call", url, "echo", "txet=hello")
    assert done.code == exit_codes.USAGE
    assert "unknown argument txet; did you mean text?" in done.err
    assert "missing argument text (string)" in done.err
    assert "--force" in done.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"persn": {}}, ["unknown argument persn; did you mean person?",
                         "missing argument person (object)"]),
        ({"person": {"name": 1}}, ["""person['name']: 1 is not of type "string\""""]),
        ({"person": {"name": "Ada"}, "numbers": [1, "x"]},
         ["""numbers[1]: "x" is not of type "integer\""""]),
        ({"person": {"name": "Ada"}, "month": "m13"}, ['month: "m13" is not one of ']),
        ({"person": {"name": "Ada"}, "ratio": "x" * 1000}, ["ratio: " + '"' + "x" * 199 + "…"]),
    ],
)  # fmt: skip
def test_arguments_in_a_json_object_are_checked_by_the_schema(
    given: dict[str, Any], told: list[str]
) -> None:
    text = json.dumps(given)
    for words, whole in (([], given), ([text], None)):
        with pytest.raises(click.UsageError) as caught:
            collect(read_words(words), whole=whole, schema=MEET)
        lines = caught.value.message.splitlines()
        assert len(lines) == len(told) + 1
        assert all(line.startswith(one) for line, one in zip(lines, told, strict=False))
        assert lines[-1] == "--force sends it anyway"
        assert collect(read_words(words), whole=whole, schema=MEET, is_forced=True) == given


def test_arguments_in_a_json_object_are_sent_as_they_are() -> None:
    given = {"person": {"name": "Ada"}}  # without `colour`, which has a default
    assert collect(read_words([]), whole=given, schema=MEET) == given
    # A single argument may be any JSON, also beside an object.
    assert collect(read_words(["ratio:=[]"]), whole=given, schema=MEET) == given | {"ratio": []}
    # A schema that is itself wrong keeps nobody from calling.
    broken = {"type": "object", "properties": {"a": {"type": "sting"}}}
    assert collect(read_words([]), whole={"a": 1}, schema=broken) == {"a": 1}


def test_what_is_wrong_with_the_arguments_as_a_whole_is_told() -> None:
    either = {"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1}
    with pytest.raises(click.UsageError, match=r"the arguments: .* has more than 1 property"):
        collect(read_words([]), whole={"a": 1, "b": 1}, schema=either)
    none = {"type": "object", "properties": {}, "additionalProperties": False}
    with pytest.raises(click.UsageError, match="unknown argument a; the tool has none"):
        collect(read_words(["a=1"]), schema=none)


def test_a_json_object_is_checked_before_the_call_and_sent_by_force(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "add", "--args", '{"a": "two", "c": 4}')
    assert done.code == exit_codes.USAGE
    assert "unknown argument c; the tool has a, b\nmissing argument b (number)\n" in done.err
    assert 'a: "two" is not of type "number"\n--force sends it anyway' in done.err
    forced = shell.run("call", url, "add", "--args", '{"a": 2, "b": 3, "c": 4}', "--force")
    assert json.loads(forced.out) == {"sum": 5}


def test_arguments_of_a_prompt_are_checked_by_their_names(shell: Shell, url: str) -> None:
    for words in (["nmae=Ada"], ["--args", '{"nmae": "Ada"}']):
        done = shell.run("prompt", url, "greet", *words)
        assert done.code == exit_codes.USAGE
        assert "unknown argument nmae; did you mean name?\nmissing argument name\n" in done.err
        assert "--force sends it anyway" in done.err
    forced = shell.run("prompt", url, "greet", "name=Ada", "mood=glad", "--force")
    assert (forced.code, b"Ada" in forced.out) == (exit_codes.DONE, True)
    # A value that is not a text is sent as its JSON.
    assert b"42" in shell.run("prompt", url, "greet", "--args", '{"name": 42}').out


def test_a_word_that_is_no_argument_says_how_to_write_one(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "echo", "hello")
    assert done.code == exit_codes.USAGE
    assert "'hello' is not a valid argument: write key=text, key:=json or key@file" in done.err


def test_a_value_that_does_not_fit_the_schema_can_be_sent_as_json(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "add", "a=two", "b=3")
    assert done.code == exit_codes.USAGE
    assert "a: 'two' is not of type number; a:=JSON sends any value" in done.err
    sent = shell.run("call", url, "add", 'a:="two"', "b=3")
    assert sent.code == exit_codes.REFUSED


def test_force_sends_what_the_schema_does_not_know(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "add", "a=2", "b=3", "c=4", "--force")
    assert json.loads(done.out) == {"sum": 5}


def test_a_tool_that_is_not_there_is_told_with_the_nearest_names(shell: Shell, url: str) -> None:
    done = shell.run("call", url, "eco", "text=hello")
    assert done.code == exit_codes.REFUSED
    assert "no tool called 'eco'; did you mean echo" in done.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["prompt", "greet", "name=Ada"], b"Ada"),
        (["read", "memo://text"], b"memo://text revision 0\n"),
        (["read", "memo://blob"], bytes(range(256))),
        (["prompts"], b"greet"),
        (["resources"], b"memo://counter"),
        (["templates"], b"memo://item/{name}"),
        (["info"], b"wellbehaved 1.0.0"),
        (["ping"], b"answered in"),
        (["request", "tools/list"], b'"name": "echo"'),
        (["raw", '{"jsonrpc":"2.0","id":"x","method":"ping"}'], b'{"jsonrpc":"2.0","id":"x"'),
        (["complete", "greet", "name=A"], b""),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_every_other_command_does_its_work(
    shell: Shell, url: str, words: list[str], expected: bytes
) -> None:
    name, *rest = words
    done = shell.run(name, url, *rest)
    assert (done.code, done.err) == (0, "")
    assert expected in done.out


def test_raw_bytes_that_are_no_message_show_what_the_server_says_to_them(shell: Shell) -> None:
    done = shell.run("raw", "no JSON at all", "--wait", "0.3", *good())
    assert done.code == exit_codes.REFUSED
    assert b"Parse error" in done.out


def test_raw_bytes_that_http_refuses_show_the_body_of_the_refusal(shell: Shell) -> None:
    with serving("bad", "http_500_html", "--transport", "http") as address:
        done = shell.run("raw", address, "no JSON at all", "--wait", "0.3")
        assert done.out == b'{"error":"not a JSON-RPC message"}\n'
        assert done.err == "HTTP status 400 Bad Request\n"
        assert done.code == exit_codes.REFUSED
        call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "bad"}}
        page = shell.run("raw", address, json.dumps(call))
        assert page.out.startswith(b"<!doctype html>")
        assert "HTTP status 500" in page.err
        assert page.code != exit_codes.DONE


def test_a_subscription_prints_the_resource_now_and_after_an_update(shell: Shell) -> None:
    uri = "memo://counter"
    done = shell.run("subscribe", uri, "--for", "0.3", *good())
    assert done.text == f"{uri} revision 0\n"


def test_watch_shows_messages_and_fields_as_text(shell: Shell) -> None:
    shell.variables["COLUMNS"] = "400"
    done = shell.run("watch", "--for", "0.2", *good())
    lines = [line.split(maxsplit=1)[1] for line in done.text.splitlines()]
    assert lines[0].split() == ["StateChanged", "DISCONNECTED", "->", "CONNECTING"]
    assert any(line.startswith('-> {"jsonrpc"') for line in lines)
    assert any(line.startswith('<- {"jsonrpc"') for line in lines)
    assert not re.search(r"=b'|='|\bNone\b|Frame\(|<\w+ ", done.text)


DASHED = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message["method"]
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    info = {"name": "dashed", "version": "1"}
    answers = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": info},
        "tools/list": {"tools": [{"name": "-x", "inputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(message.get("params"))}]},
    }
    if number is not None and method in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": answers[method]}), flush=True)
    elif number is not None:
        error = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}), flush=True)
"""


def test_a_tool_whose_name_begins_with_a_dash_can_be_called_and_shown(shell: Shell) -> None:
    server = ["--", sys.executable, "-c", DASHED]
    called = shell.run("call", "--name=-x", "a=1", *server)
    received = json.loads(called.out)
    assert (received["name"], received["arguments"]) == ("-x", {"a": "1"})
    shown = shell.run("tools", "--name=-x", *server)
    assert "mcplens call --name=-x a=" in shown.text
    task = shell.run("tasks", "get", "--name=-t", "--force", *server)
    assert "no id" not in task.err
    assert task.code == exit_codes.REFUSED


def test_what_is_not_near_is_not_suggested(shell: Shell) -> None:
    for words in (["nosuch"], ["tools", "nosuch"], ["call", "demo", "zzz"], ["help", "zzz"]):
        assert "did you mean" not in shell.run(*words).err.lower()
    assert "Did you mean tools?" in shell.run("tolls").err
    assert "Did you mean demo?" in shell.run("tools", "dmo").err


def test_watch_shows_events_as_json_lines(shell: Shell) -> None:
    done = shell.run("watch", "--for", "0.2", "--json", *good())
    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert all("seq" in event for event in events)


def test_a_revision_that_is_not_known_is_refused_with_those_that_are(shell: Shell) -> None:
    done = shell.run("info", "demo", "--protocol", "2099-01-01")
    assert done.code == exit_codes.USAGE
    assert f"'2099-01-01' is not a revision that mcplens speaks: {', '.join(VERSIONS)}" in done.err
    assert shell.run("info", "demo", "--protocol", "auto").code == exit_codes.DONE


def test_a_capability_that_is_missing_names_the_option_that_sends_it_anyway(shell: Shell) -> None:
    done = shell.run("prompts", "--json", *good("--without", "prompts"))
    assert done.code == exit_codes.REFUSED
    message = json.loads(done.err)["error"]["message"]
    assert message.endswith("; --force sends it all the same")
