"""The tap in one entry of a client's file: put in, and taken out again, byte for byte."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcplens.config.files import read_text
from mcplens.config.json_edits import compact
from mcplens.config.tap_entries import install_tap, remove_tap, tapped_at
from mcplens.config.tool_entries import (
    CLIENTS,
    EntryChange,
    apply_change,
    find_client_server,
    own_command,
)
from mcplens.errors import ConfigurationError
from tests.config.machine import Machine

# What each client's file looks like, and where it is; `files` is the server that gets the tap.
_MCP_SERVERS = """\
{
  // mine
  "mcpServers": {
    "files": {
      "command": "npx", /* the runner */
      "args": [
        "-y", // without asking
        "server"
      ],
      "env": {"A": "b"}
    },
    "other": {"command": "cat"}
  },
}
"""
_PLAIN = """\
{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server"], "env": {}},
 "other": {"command": "cat"}}}
"""
FILES = {
    "claude-desktop": (".config/Claude/claude_desktop_config.json", _MCP_SERVERS),
    "cursor": (".cursor/mcp.json", _PLAIN),
    "windsurf": (".codeium/windsurf/mcp_config.json", _PLAIN.replace("\n", "\r\n")),
    "gemini": (".gemini/settings.json", '{"theme": "x", ' + _PLAIN[1:]),
    "claude-code": (".claude.json", '{"numStartups": 3, ' + _PLAIN[1:]),
    "vscode": (".config/Code/User/mcp.json", _MCP_SERVERS.replace("mcpServers", "servers")),
    "mcplens": (".config/mcplens/mcp.json", _MCP_SERVERS),
    "codex": (
        ".codex/config.toml",
        """\
model = "x" # not ours
when = 2026-11-17 09:00:00

[mcp_servers.files]
command = 'npx'   # the runner
args = [
  "-y", "server", # and more
]
startup_timeout_sec = 20

[mcp_servers.files.env]
A = \"\"\"b\"\"\"

[[profiles]]
name = "a"

[mcp_servers."the other"]
command = "cat"
""",
    ),
    "goose": (
        ".config/goose/config.yaml",
        """\
GOOSE_MODEL: x   # not ours
extensions:
  files:
    enabled: true
    type: stdio
    cmd: npx     # the runner
    args:
    - -y
    - "server"
    envs: {A: b}
  # the next one
  other:
    type: stdio
    cmd: cat
    args: []
""",
    ),
}


def change(machine: Machine, client: str, name: str, *, is_install: bool = True) -> EntryChange:
    entry = find_client_server(client, name, machine.here())
    return (install_tap if is_install else remove_tap)(client, entry, machine.here())


def changed(machine: Machine, client: str, name: str, *, is_install: bool = True) -> str:
    written = apply_change(change(machine, client, name, is_install=is_install))
    return Path(written.path).read_bytes().decode()


def test_every_client_is_among_the_examples() -> None:
    assert sorted(FILES) == sorted(CLIENTS)


@pytest.mark.parametrize("client", FILES)
def test_a_client_gets_the_tap_and_loses_it_byte_for_byte(machine: Machine, client: str) -> None:
    path, content = FILES[client]
    file = machine.write(path, "")
    file.write_bytes(content.encode())
    before = find_client_server(client, "files", machine.here())
    text = changed(machine, client, "files")
    entry = find_client_server(client, "files", machine.here())
    program = own_command()
    assert (entry.command, *entry.args) == (
        *program,
        *("tap", "--name", "files", "--", "npx", "-y", "server"),
    )
    assert (entry.env, entry.request_timeout_s) == (before.env, before.request_timeout_s)
    # A second time, nothing changes.
    again = change(machine, client, "files")
    assert again.is_none
    apply_change(again)
    assert file.read_bytes().decode() == text
    # The rest may be edited meanwhile.
    edited = text.replace('"cat"', '"tac"').replace("cmd: cat", "cmd: tac")
    assert edited != text
    file.write_bytes(edited.encode())
    restored = changed(machine, client, "files", is_install=False)
    assert restored == content.replace('"cat"', '"tac"').replace("cmd: cat", "cmd: tac")
    assert (file.parent / f"{file.name}.mcplens.bak").read_bytes().decode() == edited
    assert change(machine, client, "files", is_install=False).is_none


def test_a_server_of_one_project_of_claude_codes_is_found_in_it(machine: Machine) -> None:
    project = str(machine.project)
    servers = {"files": {"command": "npx", "args": []}}
    content = {
        "mcpServers": {"files": {"command": "for all"}},
        "projects": {
            str(machine.home): {"mcpServers": {"files": {"command": "above"}}},
            project: {"allowedTools": [], "mcpServers": servers},
        },
    }
    file = machine.write(".claude.json", content)
    before = file.read_text()
    done = change(machine, "claude-code", "files")
    assert done.place.path == ("projects", project, "mcpServers", "files")
    apply_change(done)
    assert file.read_text().count('"tap"') == 1
    assert changed(machine, "claude-code", "files", is_install=False) == before


@pytest.mark.parametrize(
    ("client", "path", "content"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers":{"a":{"command":"x"}}}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers":{"a":{"command":"x","args":[ ]}}}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {"a": {\n "command": "\\u0078" // c\n}}}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers":{"a":{"args":["1"],"command":"x",},},}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers":{"a":{"command":"x","args":[1, 2.50]}}}'),
        ("codex", ".codex/config.toml", "[mcp_servers]\na = { command = 'x' }\n"),
        ("codex", ".codex/config.toml", "[mcp_servers]\na = { args = [], command = 'x' }\n"),
        ("codex", ".codex/config.toml", 'mcp_servers.a.command = "x"\n'),
        ("codex", ".codex/config.toml", "[mcp_servers.'a']\ncommand = '''x'''\n[y]\nz = 1"),
        ("goose", ".config/goose/config.yaml", "extensions:\n  a: {type: stdio, cmd: x}\n"),
        ("goose", ".config/goose/config.yaml", "extensions:\n  a:\n    cmd: x\n    type: stdio"),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions:\n  a:\n    enabled: true\n    config:\n      type: stdio\n"
            "      cmd: 'x'\n      args:\n        - one # first\n        - two\n",
        ),
        ("goose", ".config/goose/config.yaml", "extensions:\n  a:\n    type: stdio\n"
         "    cmd: x\n    args: ['1', two]\n"),
    ],
)  # fmt: skip
def test_every_way_to_write_an_entry_is_restored(
    machine: Machine, client: str, path: str, content: str
) -> None:
    file = machine.write(path, content)
    text = changed(machine, client, "a")
    words = change(machine, client, "a").command
    assert words[tapped_at(words)] == "x"  # type: ignore[index]  # it has the tap
    assert text != content
    assert changed(machine, client, "a", is_install=False) == content
    assert file.read_text() == content


def test_an_entry_that_the_client_has_written_anew_is_restored_too(machine: Machine) -> None:
    file = machine.write(".cursor/mcp.json", {"mcpServers": {"a": {"command": "x"}}})
    changed(machine, "cursor", "a")
    words = find_client_server("cursor", "a", machine.here())
    # Other order, other layout, one key more.
    machine.write(
        ".cursor/mcp.json",
        {"mcpServers": {"a": {"args": words.args, "env": {"N": "1"}, "command": words.command}}},
    )
    changed(machine, "cursor", "a", is_install=False)
    entry = find_client_server("cursor", "a", machine.here())
    assert (entry.command, entry.args, entry.env) == ("x", (), {"N": "1"})
    assert '"args"' not in file.read_text()


def test_a_tap_that_was_written_by_hand_can_be_removed(machine: Machine) -> None:
    args = ["tap", "--", "npx", "-y"]
    machine.write(".cursor/mcp.json", {"mcpServers": {"a": {"command": "mcplens", "args": args}}})
    assert change(machine, "cursor", "a").is_none
    changed(machine, "cursor", "a", is_install=False)
    entry = find_client_server("cursor", "a", machine.here())
    assert (entry.command, entry.args) == ("npx", ("-y",))


@pytest.mark.parametrize(
    ("url", "command"),
    [
        ("https://a.example/mcp", "mcplens tap https://a.example/mcp"),
        ("https://a.example/mcp?api_key=hunter2", "mcplens tap cursor:a"),
    ],
)
def test_a_url_is_refused_with_the_command_to_run(machine: Machine, url: str, command: str) -> None:
    file = machine.write(".cursor/mcp.json", {"mcpServers": {"a": {"url": url}}})
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match=r"reached by a URL") as refused:
        change(machine, "cursor", "a")
    assert f"run `{command}`" in refused.value.message
    assert "hunter2" not in refused.value.message
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "entry", ['{"command": 3}', '{"command": "x", "args": "y"}', '{"command": "x", "args": [[]]}']
)
def test_an_entry_that_makes_no_sense_is_left_alone(machine: Machine, entry: str) -> None:
    file = machine.write(".cursor/mcp.json", f'{{"mcpServers": {{"a": {entry}}}}}')
    before = file.read_bytes()
    with pytest.raises(ConfigurationError):
        change(machine, "cursor", "a")
    assert file.read_bytes() == before


def test_a_file_that_another_program_has_written_meanwhile_is_left_alone(machine: Machine) -> None:
    file = machine.write(".cursor/mcp.json", {"mcpServers": {"a": {"command": "x"}}})
    late = change(machine, "cursor", "a")
    machine.write(".cursor/mcp.json", {"mcpServers": {"a": {"command": "y"}}})
    with pytest.raises(ConfigurationError, match="changed by another program"):
        apply_change(late)
    assert '"y"' in file.read_text()


def test_a_file_in_utf_16_is_not_written(machine: Machine) -> None:
    file = machine.write(".cursor/mcp.json", "")
    file.write_text('{"mcpServers": {"a": {"command": "x"}}}', encoding="utf-16")
    with pytest.raises(ConfigurationError, match="UTF-16"):
        change(machine, "cursor", "a")


def test_an_unknown_server_is_answered_with_the_known_ones(machine: Machine) -> None:
    file = machine.write("elsewhere.json", {"mcpServers": {"a": {"command": "x"}}})
    with pytest.raises(ConfigurationError, match="known: a"):
        find_client_server("cursor", "b", machine.here(), file=str(file))
    assert find_client_server("cursor", "a", machine.here(), file=str(file)).command == "x"


_GAPS = st.sampled_from(["", " ", "\n", "\r\n  ", ' /* c, " */ ', " // x ]\n"])
_WORDS = st.lists(st.text(max_size=4), max_size=3)


@settings(max_examples=60)
@given(gaps=st.lists(_GAPS, min_size=30, max_size=30), words=_WORDS, has_args=st.booleans())
def test_any_layout_is_restored(gaps: list[str], words: list[str], has_args: bool) -> None:
    spaces = iter(gaps)

    def spaced(*tokens: str) -> str:
        return "".join(f"{token}{next(spaces)}" for token in tokens)

    quoted = [compact(word) for word in words]
    listed = [token for word in quoted for token in (word, ",")][:-1]
    args = [",", '"args"', ":", "[", *listed, "]"] if has_args else []
    content = spaced("{", '"mcpServers"', ":", "{", '"a"', ":", "{")
    content += spaced('"command"', ":", '"x"', *args, "}", "}", "}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mcp.json"
        file.write_bytes(content.encode())
        entry = find_client_server("cursor", "a", file=str(file))
        apply_change(install_tap("cursor", entry))
        tapped = find_client_server("cursor", "a", file=str(file))
        assert tapped_at((tapped.command or "", *tapped.args)) is not None
        apply_change(remove_tap("cursor", tapped))
        assert read_text(str(file)) == content
