"""Where collections are, what is written and what is confirmed."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from mcplens.collections.examples_conversion import convert_examples
from mcplens.collections.folder import CollectionFolder
from mcplens.collections.kept_results import KeptResults, key_of
from mcplens.config.environment import user_state_folder
from mcplens.errors import ConfigurationError, InspectorError
from tests.web.harness import machine

TEXT = "version: 1\nserver: demo\ntests:\n  - name: a\n    call: add\n"


def test_folders_are_directories(tmp_path: Path) -> None:
    folder = CollectionFolder(machine(tmp_path))
    assert folder.files() == []
    folder.create("billing/refunds", "usual")
    made = folder.create("", "first")
    assert made.path == str(tmp_path / ".config/mcplens/collections/first.mcp.yaml")
    assert stat.S_IMODE(os.stat(made.path).st_mode) == 0o600
    assert [file.key for file in folder.files()] == ["first", "billing/refunds/usual"]
    assert folder.folders() == ["billing", "billing/refunds"]
    with pytest.raises(InspectorError, match="exists already"):
        folder.create("", "first.mcp.yaml")
    moved = folder.rename(folder.read(made), "billing", "second")
    assert [file.key for file in folder.files()] == ["billing/second", "billing/refunds/usual"]
    backup = folder.delete(folder.read(moved))
    assert not os.path.exists(moved.path)
    assert os.path.exists(backup)


@pytest.mark.parametrize(
    ("inside", "name"),
    [("", ".."), ("..", "a"), ("", "a/b"), ("", "a\\b"), ("", ".a"), ("", ""), ("a/../b", "c"),
     ("", "a\nb"), ("", "x" * 101), ("", "a:b")],
)  # fmt: skip
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, inside: str, name: str) -> None:
    with pytest.raises(InspectorError, match="cannot be the name"):
        CollectionFolder(machine(tmp_path)).create(inside, name)
    assert not list(tmp_path.rglob("*.yaml"))


def test_a_link_out_of_the_folder_is_read_but_not_written(tmp_path: Path) -> None:
    folder = CollectionFolder(machine(tmp_path))
    folder.create("", "mine")
    outside = tmp_path / "elsewhere.mcp.yaml"
    outside.write_text(TEXT)
    os.symlink(outside, os.path.join(folder.path, "linked.mcp.yaml"))
    content = folder.read(folder.find("linked"))
    assert content.collection.servers == ["demo"]
    with pytest.raises(InspectorError, match="outside of"):
        folder.write(content, "version: 1\n")
    os.symlink(tmp_path, os.path.join(folder.path, "away"))
    with pytest.raises(InspectorError, match="outside of"):
        folder.create("away", "new")
    assert outside.read_text() == TEXT


def test_a_file_named_at_the_start_is_listed_first_and_may_be_written(tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = Path(here.cwd) / "team.mcp.yaml"
    path.write_text(TEXT)
    folder = CollectionFolder(here, ["team.mcp.yaml"])
    (file,) = folder.files()
    assert (file.path, file.name, file.is_given) == (str(path), "team", True)
    folder.write(folder.read(file), TEXT + "# more\n")
    assert path.read_text().endswith("# more\n")
    with pytest.raises(InspectorError, match="rename it where it is"):
        folder.rename(folder.read(file), "", "other")


def test_a_file_that_changed_on_disk_is_not_overwritten(tmp_path: Path) -> None:
    folder = CollectionFolder(machine(tmp_path))
    content = folder.read(folder.create("", "mine"))
    Path(content.file.path).write_text("version: 1 # of an editor\n")
    for change in (
        lambda: folder.write(content, TEXT),
        lambda: folder.delete(content),
        lambda: folder.rename(content, "", "other"),
    ):
        with pytest.raises(InspectorError, match="changed by another program") as caught:
            change()
        assert caught.value.details["changed_on_disk"] is True
    assert Path(content.file.path).read_text() == "version: 1 # of an editor\n"


def test_what_we_wrote_is_confirmed_and_what_others_wrote_is_not(tmp_path: Path) -> None:
    folder = CollectionFolder(machine(tmp_path))
    content = folder.read(folder.create("", "mine"))
    assert folder.is_confirmed(content.digest)
    content = folder.write(content, TEXT)
    assert folder.is_confirmed(content.digest)
    path = Path(content.file.path)
    path.write_text(TEXT.replace("demo", "bank"))
    foreign = folder.read(content.file)
    assert not folder.is_confirmed(foreign.digest)
    # A change of ours does not confirm what others wrote before.
    changed = folder.write(foreign, foreign.text + "# ours\n")
    assert not folder.is_confirmed(changed.digest)
    folder.confirm(changed)
    again = CollectionFolder(machine(tmp_path))
    assert again.is_confirmed(changed.digest)


def test_a_file_that_is_not_a_collection_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    folder = CollectionFolder(machine(tmp_path))
    file = folder.create("", "broken", "version: 1\ntests:\n  - name: [\n")
    content = folder.read(file)
    assert content.line == 4
    assert "line 4, column 1" in (content.problem or "")
    assert "at step 1, name" in (content.problem or "")
    Path(file.path).write_bytes(b"version: 1 # \xff\n")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        folder.read(file)
    Path(file.path).write_text("#" * 2_000_000)
    with pytest.raises(ConfigurationError, match="larger than 1024 kB"):
        folder.read(file)


def test_examples_become_collections_once(tmp_path: Path) -> None:
    here = machine(tmp_path)
    state = Path(user_state_folder(here))
    state.mkdir(parents=True)
    old = [
        {"server_id": "demo", "tool": "add", "name": "five", "saved": 1.5,
         "arguments": {"a": 2, "b": "${B} is text"}, "result": {"content": []}},
        {"server_id": "demo", "tool": "echo", "name": "five", "saved": 2.5, "arguments": {}},
        {"server_id": "a/b: c", "tool": "t", "name": "odd", "saved": 3.5, "arguments": [1]},
    ]  # fmt: skip
    before = json.dumps(old)
    (state / "examples.json").write_text(before)
    folder, results = CollectionFolder(here), KeptResults(here)
    assert convert_examples(here, folder, results) == 3
    assert [file.key for file in folder.files()] == ["a-b- c", "demo"]
    content = folder.read(folder.find("demo"))
    assert content.problem is None
    assert folder.is_confirmed(content.digest)
    first, second = content.collection.steps
    assert (first.name, first.target, first.arguments) == (
        "five", "add", {"a": 2, "b": "$${B} is text"},
    )  # fmt: skip
    assert second.name == "five (echo)"
    assert first.variables == ()
    kept = results.all()[key_of(content.file.path, "five")]
    assert (kept.saved, kept.result) == (1.5, {"content": []})
    (odd,) = folder.read(folder.find("a-b- c")).collection.steps
    assert (odd.server, odd.kind) == ("a/b: c", "request")
    assert odd.arguments == {"name": "t", "arguments": [1]}
    assert (state / "examples.json").read_text() == before
    folder.delete(content)
    assert convert_examples(here, folder, results) == 0
    assert [file.key for file in folder.files()] == ["a-b- c"]


def test_examples_that_a_name_already_has_a_file_for_get_a_file_of_their_own(
    tmp_path: Path,
) -> None:
    here = machine(tmp_path)
    folder = CollectionFolder(here)
    folder.create("", "demo", TEXT)
    state = Path(user_state_folder(here))
    example = {"server_id": "demo", "tool": "t", "name": "x", "saved": 1.0, "arguments": {}}
    (state / "examples.json").write_text(json.dumps([example]))
    convert_examples(here, folder, KeptResults(here))
    assert [file.key for file in folder.files()] == ["demo", "demo 2"]
    assert Path(folder.find("demo").path).read_text() == TEXT
