"""A lock holds contracts as text, and is read only if it is whole and of a known version."""

import json
from typing import Any

import pytest

from mcplens.contracts.contract import MASK, Contract, keyed, normalised
from mcplens.contracts.lock import LockProblem, read_lock, write_lock
from mcplens.contracts.pointers import in_lock, join, split

TOOL = {"name": "a", "inputSchema": {"type": "object", "maximum": 2**64}}


def contract(**facts: Any) -> Contract:
    lists = {"tools": keyed("tools", [TOOL]), "resources": {}, "prompts": None}
    return Contract(name="one", server_info={"name": "s", "version": "1"}, lists=lists, **facts)


def test_what_is_written_is_read_again_and_written_the_same() -> None:
    text = write_lock([contract(protocol_version="2026-07-28", instructions="be kind\n")])
    lock = json.loads(text)
    assert list(lock) == ["format", "servers", "version"]
    assert (lock["format"], lock["version"]) == ("mcplens-lock", 1)
    assert len(lock["servers"]["one"]["tools"]["a"]["sha256"]) == 64
    assert text == json.dumps(lock, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    found = read_lock(text)
    assert found["one"].lists["tools"] == {"a": TOOL}
    assert found["one"].lists["prompts"] is None
    assert write_lock(found.values()) == text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "update mcplens"),
        ({"version": 0}, "write it again"),
        ({"format": "other"}, 'no "format": "mcplens-lock"'),
        ({"servers": []}, 'no "servers"'),
        ({"servers": {"one": 1}}, "'one' is not an object"),
        ({"servers": {"one": {"tools": {"a": {}}}}}, 'has no "definition"'),
        ({"servers": {"one": {"tools": {"a": {"definition": {}}}}}}, "edited by hand"),
    ],
)
def test_a_lock_that_cannot_be_trusted_is_refused(change: dict[str, Any], words: str) -> None:
    lock = json.loads(write_lock([contract()])) | change
    with pytest.raises(LockProblem, match=words):
        read_lock(json.dumps(lock))


def test_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(LockProblem, match="not valid JSON"):
        read_lock("<<<<<<< HEAD\n{}")


def test_two_tools_of_one_name_and_one_without_are_all_kept() -> None:
    twins = [{"name": "a"}, {"name": "a"}, {"title": "x"}, 7]
    assert list(keyed("tools", twins)) == ["a", "a (2)", "(no name)", "(no name) (2)"]


def test_masks_of_any_length_are_alike_and_every_text_can_be_written() -> None:
    given = {
        "a": "****",
        "b": "key ************, ‹masked, 12 characters›",
        "c": "**bold**",
        "d": "*",
    }
    even = {"a": MASK, "b": f"key {MASK}, {MASK}", "c": "**bold**", "d": "*"}
    assert normalised(given) == even
    normalised("\ud800").encode()


def test_a_pointer_names_the_place_in_the_lock() -> None:
    pointer = join("", "tools", "a/b~c", "inputSchema")
    assert pointer == "/tools/a~1b~0c/inputSchema"
    assert split(pointer) == ["tools", "a/b~c", "inputSchema"]
    expected = ["servers", "one", "tools", "a/b~c", "definition", "inputSchema"]
    assert in_lock("one", pointer) == expected
    assert in_lock("one", "/tools/a") == ["servers", "one", "tools", "a"]
