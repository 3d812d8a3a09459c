"""What is shown of tools, prompts, resources and templates, and the examples that can be pasted."""

import asyncio
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens.cli import exit_codes
from mcplens.cli.arguments import collect, read_words
from mcplens.cli.example_calls import example_words
from mcplens.cli.item_details import signature
from mcplens.protocol.result_types import Tool
from mcplens.session.capabilities import TASKS_EXTENSION
from tests.cli.shell import TIMEOUT_S, Ran, Shell
from tests.servers.run import argv

# Those that ask a person, fail or break on purpose, or wait for ten seconds.
CONDITIONAL = (
    "ask-", "broken-", "client-task-", "elicit-", "fail-", "sample", "task-a", "task-fail", "wait",
)  # fmt: skip


def pasted(shell: Shell, text: str) -> Ran:
    """Run the example at the end of what was printed as a person would who copies it."""
    line = text.rstrip().splitlines()[-1].strip()
    environment = shell.environment
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        cwd=shell.home,
        env=environment,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def test_the_list_of_tools_shows_their_signatures(shell: Shell) -> None:
    lines = shell.run("tools", "demo").text.splitlines()
    assert "add                  (a: number, b: number) Adds two numbers." in lines
    assert any("(count: integer = 3, [ratio: number]" in line for line in lines)
    assert any("(size: small|medium|large = medium, [access: (read" in line for line in lines)


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "object"}, "()"),
        ({"type": "object", "additionalProperties": True}, "(…)"),
        (
            {
                "properties": {
                    "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                    "who": {"$ref": "#/$defs/Person"},
                },
                "required": ["who"],
                "$defs": {"Person": {"type": "object"}},
            },
            "(who: object, [limit: integer])",
        ),
        ("no schema", "()"),
    ],
)
def test_a_signature_has_the_required_arguments_first(schema: Any, shown: str) -> None:
    assert signature(schema) == shown


def test_one_tool_is_shown_in_full_with_an_example_that_works(shell: Shell) -> None:
    shown = shell.run("tools", "demo", "form-text")
    lines = shown.text.splitlines()
    assert lines[0] == "form-text"
    assert "  needed     string, required (characters at least 1)  This one is required." in lines
    assert "  prefilled  string = already here" in lines
    assert any(line.startswith("cost") and "tokens" in line for line in lines)
    assert lines[-1] == "  mcplens call demo form-text needed=example"
    assert pasted(shell, shown.text).code == exit_codes.DONE


def test_annotations_and_members_of_members_are_shown(shell: Shell) -> None:
    assert "annotations  destructive, idempotent" in shell.run("tools", "demo.notes-clear").text
    shown = shell.run("tools", "meet", "--", *argv("sdk_models")).text
    assert "  person.home.street  string, required\n" in shown
    assert "  mode                fast|slow|integer = fast\n" in shown
    done = pasted(shell, shown)
    assert json.loads(done.out)["person"]["name"] == "example"


def test_other_items_are_shown_in_full_with_examples_that_work(shell: Shell) -> None:
    commands = (
        "prompts translate",
        "resources demo://text",
        "templates greeting",
        "templates 'demo://search{?query,limit}'",
    )
    shown = shell.run("shell", "demo", stdin="\n".join(commands).encode()).text.splitlines()
    assert "  tone      optional  In which tone; may be left out." in shown
    assert "size  29 bytes" in shown
    assert "Greets whom you name; the name can be completed." in shown
    assert "  limit  optional" in shown
    examples = [shown[at + 1].strip() for at, line in enumerate(shown) if line == "example"]
    assert len(examples) == len(commands)
    done = shell.run("shell", "demo", stdin="\n".join(examples).encode())
    assert (done.code, done.err) == (exit_codes.DONE, "")


def test_one_item_as_json_is_what_the_server_sent(shell: Shell) -> None:
    tool = json.loads(shell.run("tools", "demo", "add", "--json").out)
    assert (tool["name"], tool["inputSchema"]["required"]) == ("add", ["a", "b"])


def test_an_item_that_is_not_there_is_told_with_the_nearest_names(shell: Shell) -> None:
    done = shell.run("prompts", "demo", "translat")
    assert done.code == exit_codes.REFUSED
    assert "no prompt called 'translat'; did you mean translate?" in done.err


async def test_every_example_for_the_demo_server_is_a_call_that_works() -> None:
    async def call(tool: Tool) -> None:
        name, *words = shlex.split(shlex.join(example_words(tool)))
        whole = json.loads(words.pop()) if words[:1] == ["--args"] else None
        schema = tool.input_schema
        arguments = collect(read_words(words), whole=whole, schema=schema)
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, words)

    demo = [sys.executable, "-m", "mcplens.demo"]
    can: dict[str, Any] = {"extensions": {TASKS_EXTENSION: {}}}
    async with mcplens.connect(demo, concurrency=100, roots=["."], capabilities=can) as client:
        tools = [
            tool for tool in await client.list_tools() if not tool.name.startswith(CONDITIONAL)
        ]
        assert len(tools) > 35
        async with asyncio.TaskGroup() as group:
            for tool in tools:
                group.create_task(call(tool))


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("-x", "a", ["--name=-x", "a=example"]),
        ("x", "-a", ["x", "--args", '{"-a": "example"}']),
        ("x", "a=b", ["x", "--args", '{"a=b": "example"}']),
    ],
)
def test_odd_names_are_written_so_that_they_are_read_back(
    name: str, key: str, words: list[str]
) -> None:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    assert example_words(Tool(name=name, input_schema=schema)) == words


def test_an_example_of_a_list_has_an_item() -> None:
    person = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    schema = {
        "type": "object",
        "properties": {
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "names": {"type": "array", "items": {"type": "string"}},
            "people": {"type": "array", "items": person},
            "none": {"type": "array", "maxItems": 0},
        },
        "required": ["numbers", "names", "people", "none"],
    }
    assert example_words(Tool(name="x", input_schema=schema)) == [
        "x",
        "numbers=1",
        "names=example",
        'people=[{"name": "example"}]',
        "none=[]",
    ]


def test_a_template_is_filled_and_what_it_needs_is_named(shell: Shell) -> None:
    template = "demo://greeting/{name}"
    assert shell.run("read", "demo", template, "name=Ada Lovelace").text == "Hello, Ada Lovelace!\n"
    missing = shell.run("read", "demo", template)
    assert (missing.code, missing.out) == (exit_codes.USAGE, b"")
    assert f"{template} needs name=…" in missing.err
    unknown = shell.run("read", "demo", template, "nam=Ada")
    assert "unknown argument nam; did you mean name?" in unknown.err
    plain = shell.run("read", "demo", "demo://text", "name=Ada")
    assert "demo://text has no {variables}, but got: name=Ada" in plain.err


def test_info_names_extensions_and_experimental_capabilities(shell: Shell) -> None:
    shown = shell.run("info", "demo").text
    assert "extensions    io.modelcontextprotocol/tasks" in shown
    assert "experimental  mcplens/shout {" in shown
