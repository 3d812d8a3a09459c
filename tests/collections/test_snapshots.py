"""Snapshots that several processes write to one file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcplens.collections.snapshots import Snapshots


def test_writers_at_once_keep_what_the_others_wrote(tmp_path: Path) -> None:
    path = str(tmp_path / "notes.mcp.yaml")

    def write(number: int) -> None:
        snapshots = Snapshots(path)
        snapshots.put(f"test {number}", number)
        assert snapshots.write()
        assert not snapshots.write()  # nothing is new

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    found = Snapshots(path)
    assert [found.get(f"test {number}") for number in range(40)] == list(range(40))
    assert [file.name for file in tmp_path.iterdir()] == ["notes.mcp.snap.json"]


def test_what_is_moved_or_dropped_is_gone_and_the_rest_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "notes.mcp.yaml")
    first = Snapshots(path)
    for name in ("a", "b", "c"):
        first.put(name, name)
    first.write()
    second, third = Snapshots(path), Snapshots(path)
    second.move("a", "b")
    second.drop("c")
    third.put("d", "d")
    assert third.write()
    assert second.write()
    found = Snapshots(path)
    assert {name: found.get(name) for name in ("b", "d")} == {"b": "a", "d": "d"}
    assert "a" not in found
    assert "c" not in found
    assert found.write(["d"])  # only of these tests
    assert "b" not in Snapshots(path)
