"""Roots: told to the server, and changed while it is connected."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcplens.errors import ConfigurationError
from mcplens.events import RootsChanged

from .scripted import Rig
from .server_questions import result_of


async def test_roots_are_told_and_changes_are_announced(tmp_path: Path) -> None:
    folder = tmp_path / "my project"
    async with Rig(roots=[tmp_path]) as rig:
        added = rig.client.roots.add(folder, "Project")
        await rig.settle()
        rig.server.ask("q1", "roots/list")
        await rig.settle()
        assert result_of(rig, "q1") == {
            "roots": [{"uri": tmp_path.as_uri()}, {"uri": folder.as_uri(), "name": "Project"}]
        }
        assert rig.client.roots.remove(added)
        assert not rig.client.roots.remove(added)
        rig.client.roots.set([tmp_path])  # no change, no word of it
        await rig.settle()
        assert len(rig.server.sent("notifications/roots/list_changed")) == 2
        assert [len(event.roots) for event in rig.events(RootsChanged)] == [2, 1]


@pytest.mark.parametrize("bad", ["http://example.com/x", "", "file:///a/%2e%2e/b", "a\0b"])
async def test_what_is_no_folder_is_no_root(bad: str) -> None:
    async with Rig(roots=[]) as rig:
        with pytest.raises(ConfigurationError, match="root"):
            rig.client.roots.add(bad)
        with pytest.raises(ConfigurationError, match="root"):
            rig.client.roots.set(["/tmp", bad])
        assert rig.client.roots.list() == []


async def test_roots_without_list_changed_are_changed_in_silence() -> None:
    async with Rig(roots=[], capabilities={"roots": {}}) as rig:
        rig.client.roots.add("/srv")
        await rig.settle()
        assert rig.server.sent("notifications/roots/list_changed") == []
