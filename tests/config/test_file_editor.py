"""Writing our file: only what was asked for, in place, all or nothing, with a backup beside it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.config.configuration import load_configuration, read_file
from mcplens.config.file_editor import (
    _value,
    _with_server,
    _without_server,
    add_server,
    add_servers,
    import_servers,
    remove_server,
)
from mcplens.config.jsonc import parse
from mcplens.config.other_tools import read_tool
from mcplens.errors import ConfigurationError
from tests.config.machine import Machine

COMMENTED = """\
// my servers
{
  "theme": "dark", // not ours
  "mcpServers": {
    /* the first */
    "a": { "command": "x", /* inside */ "args": [1,2] }, // a
    "b": {
      "command": "y"
    } // b
    // the end
  }
}
"""


def added(text: str, name: str = "new", raw: dict[str, Any] | None = None) -> str:
    return _with_server("mcp.json", text, name, raw or {"command": "z", "args": ["1"]})


def removed(text: str, name: str) -> str:
    return _without_server("mcp.json", text, name)


class TestAdding:
    def test_comments_and_layout_stay(self) -> None:
        assert (
            added(COMMENTED)
            == """\
// my servers
{
  "theme": "dark", // not ours
  "mcpServers": {
    /* the first */
    "a": { "command": "x", /* inside */ "args": [1,2] }, // a
    "b": {
      "command": "y"
    }, // b
    "new": {
      "command": "z",
      "args": [
        "1"
      ]
    }
    // the end
  }
}
"""
        )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", '{\n  "mcpServers": {\n    "new": {}\n  }\n}\n'),
            ("// mine", '// mine\n{\n  "mcpServers": {\n    "new": {}\n  }\n}\n'),
            ("{}", '{\n  "mcpServers": {\n    "new": {}\n  }\n}'),
            ('{"mcpServers": null}', '{"mcpServers": {\n  "new": {}\n}}'),
            ('{"mcpServers": {}}', '{"mcpServers": {\n  "new": {}\n}}'),
            ('{"mcpServers": {"a": {}}}', '{"mcpServers": {"a": {}, "new": {}}}'),
            (
                '{\n    "mcpServers": {\n        // none yet\n    }\n}\n',
                '{\n    "mcpServers": {\n        // none yet\n        "new": {}\n    }\n}\n',
            ),
            (
                '{\n\t"mcpServers": {\n\t\t"a": {},\n\t},\n}\n',
                '{\n\t"mcpServers": {\n\t\t"a": {},\n\t\t"new": {},\n\t},\n}\n',
            ),
            (
                '{\r\n  "x": 1\r\n}\r\n',
                '{\r\n  "x": 1,\r\n  "mcpServers": {\r\n    "new": {}\r\n  }\r\n}\r\n',
            ),
        ],
    )
    def test_the_new_one_looks_like_what_is_there(self, text: str, expected: str) -> None:
        assert _with_server("mcp.json", text, "new", {}) == expected

    def test_one_that_is_there_is_replaced_where_it_stands(self) -> None:
        changed = added(COMMENTED, "a", {"url": "https://h"})
        assert changed == COMMENTED.replace(
            '{ "command": "x", /* inside */ "args": [1,2] }', '{\n      "url": "https://h"\n    }'
        )


class TestRemoving:
    @pytest.mark.parametrize(
        ("name", "gone"),
        [
            ("a", '    "a": { "command": "x", /* inside */ "args": [1,2] }, // a\n'),
            ("b", '    "b": {\n      "command": "y"\n    } // b\n'),
        ],
    )
    def test_only_that_server_goes(self, name: str, gone: str) -> None:
        expected = COMMENTED.replace(gone, "")
        if name == "b":
            expected = expected.replace("[1,2] },", "[1,2] }")
        assert removed(COMMENTED, name) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('{"mcpServers": {"a": {}}}', '{"mcpServers": {}}'),
            ('{"mcpServers": {"a": {}, "b": {}}}', '{"mcpServers": {"b": {}}}'),
            ('{"mcpServers": {"b": {}, "a": {}}}', '{"mcpServers": {"b": {}}}'),
            ('{"mcpServers": {\n "b": {},\n "a": {},\n}}', '{"mcpServers": {\n "b": {},\n}}'),
        ],
    )
    def test_the_commas_stay_right(self, text: str, expected: str) -> None:
        assert removed(text, "a") == expected


NAMES = st.sampled_from(["a", "b", "c", "é", "x.y", '"'])
GAPS = st.sampled_from(["", " ", "\n", "\n  ", " // c\n", "/* c */", "\r\n\t"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Files as people leave them behind."""
    members = draw(st.lists(st.tuples(NAMES, GAPS, GAPS), max_size=4))
    body = ""
    for number, (name, before, after) in enumerate(members):
        last = number == len(members) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        body += f'{before}{json.dumps(name)}:{after}{{"command": "x"}}{draw(GAPS)}{comma}'
    other = draw(st.sampled_from(["", '"o": 1,', '"o": [1, {}], // o\n']))
    return f'{draw(GAPS)}{{{other}"mcpServers":{draw(GAPS)}{{{body}{draw(GAPS)}}}{draw(GAPS)}}}\n'


@given(texts(), NAMES)
def test_whatever_a_file_looks_like_an_edit_changes_one_server_and_no_comment(
    text: str, name: str
) -> None:
    before = _value("mcp.json", text)
    changed = added(text, name, {"url": "https://h"})  # compares the values itself
    assert _comments(changed) >= _comments(text)
    while name in _value("mcp.json", changed)["mcpServers"]:
        changed = removed(changed, name)
    rest = {key: value for key, value in before["mcpServers"].items() if key != name}
    assert _value("mcp.json", changed) == before | {"mcpServers": rest}


def _comments(text: str) -> int:
    return text.count("// ") + text.count("/* c")


class TestFiles:
    def test_a_new_file_is_made_with_its_folders_and_read_by_its_owner_alone(
        self, machine: Machine
    ) -> None:
        path = machine.home / ".config" / "mcplens" / "mcp.json"
        written = add_server(str(path), "a", {"command": "x"}, is_private=True)
        assert (written.path, written.backup) == (str(path), None)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [one.name for one in load_configuration(here=machine.here()).servers] == ["a"]

    def test_the_former_content_stays_beside_it_with_its_mode(self, machine: Machine) -> None:
        path = machine.write_project(COMMENTED)
        path.chmod(0o640)
        written = add_server(str(path), "new", {"command": "z"})
        backup = Path(str(written.backup))
        assert (backup, backup.read_text()) == (Path(f"{path}.bak"), COMMENTED)
        for file in (path, backup):
            assert stat.S_IMODE(file.stat().st_mode) == 0o640
        assert sorted(os.listdir(path.parent)) == [".git", "mcp.json", "mcp.json.bak"]

    def test_what_is_private_cannot_be_read_by_others_from_then_on(self, machine: Machine) -> None:
        path = machine.write_user(COMMENTED)
        path.chmod(0o644)
        backup = Path(f"{path}.bak")
        backup.write_text("{}")
        add_server(str(path), "new", {"command": "z", "env": {"TOKEN": "t"}}, is_private=True)
        for file in (path, backup):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600

    def test_a_name_that_is_taken_is_refused_unless_replacing_was_asked_for(
        self, machine: Machine
    ) -> None:
        path = machine.write_project(COMMENTED)
        with pytest.raises(ConfigurationError, match="already has a server 'a'"):
            add_servers(str(path), {"new": {"command": "z"}, "a": {"command": "z"}})
        assert path.read_text() == COMMENTED
        assert not Path(f"{path}.bak").exists()
        add_server(str(path), "a", {"command": "z"}, replaces=True)
        assert parse(path.read_text()).root.value["mcpServers"]["a"] == {"command": "z"}  # type: ignore[union-attr]

    def test_placeholders_are_written_as_they_are(self, machine: Machine) -> None:
        machine.environ["TOKEN"] = "s3cret"
        path = machine.write_project({})
        add_server(str(path), "a", {"command": "x", "env": {"T": "${TOKEN}"}})
        assert "s3cret" not in path.read_text()
        (entry,) = load_configuration(here=machine.here()).servers
        assert entry.env == {"T": "s3cret"}

    def test_a_server_that_stands_twice_is_gone_after_removing(self, machine: Machine) -> None:
        path = machine.write_project(
            '{"mcpServers": {\n"a": {"command": "1"},\n"b": {},\n"a": {}}}'
        )
        remove_server(str(path), "a")
        assert path.read_text() == '{"mcpServers": {\n"b": {}\n}}'

    def test_removing_what_is_not_there_is_an_error(self, machine: Machine) -> None:
        path = machine.write_project(COMMENTED)
        with pytest.raises(ConfigurationError, match="has no server 'z'"):
            remove_server(str(path), "z")
        with pytest.raises(ConfigurationError, match="has no server 'z'"):
            remove_server(str(machine.home / "no.json"), "z")
        assert path.read_text() == COMMENTED

    def test_a_broken_file_is_never_written_to(self, machine: Machine) -> None:
        for text in ('{"mcpServers": {', '{"mcpServers": []}', "[]"):
            path = machine.write_project(text)
            with pytest.raises(ConfigurationError):
                add_server(str(path), "a", {})
            assert path.read_text() == text

    def test_another_tools_file_is_never_written_to(self, machine: Machine) -> None:
        for name, text in (
            (".vscode/mcp.json", '{"servers": {}}'),
            (".cursor/mcp.json", "{}"),
            ("config.toml", ""),
        ):
            path = machine.write(machine.project / name, text)
            with pytest.raises(ConfigurationError, match="belongs to"):
                add_server(str(path), "a", {})
            assert path.read_text() == text

    def test_a_link_stays_a_link_and_a_byte_order_mark_stays(self, machine: Machine) -> None:
        real = machine.home / "dotfiles" / "mcp.json"
        real.parent.mkdir()
        real.write_bytes(b"\xef\xbb\xbf{}")
        link = machine.project / "mcp.json"
        link.symlink_to(real)
        add_server(str(link), "a", {"command": "x"})
        assert link.is_symlink()
        assert real.read_bytes().startswith(b"\xef\xbb\xbf{")
        assert (real.parent / "mcp.json.bak").read_bytes() == b"\xef\xbb\xbf{}"

    def test_a_disk_that_refuses_leaves_the_file_as_it_was(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = machine.write_project(COMMENTED)

        def full(*arguments: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ConfigurationError, match="cannot be written: No space left"):
            add_server(str(path), "new", {})
        assert path.read_text() == COMMENTED
        assert sorted(os.listdir(path.parent)) == [".git", "mcp.json"]


class TestImporting:
    def test_what_is_imported_means_the_same_and_nothing_is_resolved(
        self, machine: Machine
    ) -> None:
        machine.environ |= {"KEY": "s3cret", "API_KEY": "s3cret"}
        cursor = machine.write(
            machine.project / ".cursor/mcp.json",
            {
                "mcpServers": {
                    "local": {
                        "command": "./server.py",
                        "args": ["${workspaceFolder}", "{brace}", "$KEY", "${userHome}"],
                        "env": {"A": "${env:KEY}", "B": "$${x}"},
                        "envFile": ".env",
                        "custom": 1,
                    }
                }
            },
        )
        vscode = machine.write(
            machine.project / ".vscode/mcp.json",
            {
                "inputs": [{"id": "api-key", "type": "promptString"}],
                "servers": {"api": {"url": "https://h", "headers": {"K": "${input:api-key}"}}},
            },
        )
        machine.write(machine.project / ".env", "SECRET=s3cret\n")
        target = machine.home / ".config" / "mcplens" / "mcp.json"
        for file in (cursor, vscode):
            import_servers(str(target), read_file(str(file), here=machine.here()), is_private=True)
        assert "s3cret" not in target.read_text()
        theirs = [
            entry
            for file in (cursor, vscode)
            for entry in read_file(str(file), here=machine.here())
        ]
        elsewhere = machine.here(machine.home)
        for before, after in zip(theirs, load_configuration(here=elsewhere).servers, strict=True):
            for field in ("name", "transport", "command", "args", "env", "url", "headers"):
                assert getattr(after, field) == getattr(before, field)
            assert after.unknown == before.unknown

    def test_what_a_project_starts_in_its_folder_still_starts_there(self, machine: Machine) -> None:
        machine.write(machine.project / ".mcp.json", {"mcpServers": {"a": {"command": "./s"}}})
        entries = read_tool("claude-code", machine.here())
        target = machine.home / "mine.json"
        import_servers(str(target), entries)
        (entry,) = read_file(str(target), here=machine.here(machine.home))
        assert entry.cwd == str(machine.project)
        # Beside the file itself nothing needs to be said.
        beside = machine.project / "mcp.json"
        import_servers(str(beside), entries)
        assert json.loads(beside.read_text())["mcpServers"]["a"] == {"command": "./s"}

    def test_an_entry_that_is_none_is_not_imported(self, machine: Machine) -> None:
        file = machine.write("x.json", {"mcpServers": {"a": 3}})
        target = machine.home / "mine.json"
        with pytest.raises(ConfigurationError, match="must be an object"):
            import_servers(str(target), read_file(str(file), here=machine.here()))
        assert not target.exists()
