"""The picture in the README shows what the commands print today, and loads nothing."""

import re
from xml.etree import ElementTree

from tests.docs.markdown import ROOT
from tests.docs.picture import COLUMNS, COMMANDS, PICTURE, plain, screen

_TEXT = "{http://www.w3.org/2000/svg}text"


def test_it_shows_what_the_commands_print() -> None:
    shown = ["".join(text.itertext()) for text in ElementTree.parse(PICTURE).iter(_TEXT)]
    printed = [plain(line) for line in screen()]
    assert shown == [line for line in printed if line], "run `make pictures`"
    assert [f"$ {command}" for command in COMMANDS] == [
        line for line in shown if line.startswith("$ ")
    ]
    assert max(map(len, shown)) <= COLUMNS


def test_it_is_in_the_readme() -> None:
    assert f"]({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text()


def test_it_loads_nothing() -> None:
    text = PICTURE.read_text()
    assert not re.search(r"href|src=|url\(|@import|<script|<style", text)
    assert re.findall(r"https?://[^\s\"<]+", text) == [
        "http://www.w3.org/2000/svg",
        "http://localhost:1/mcp",
        "http://localhost:1/mcp",
        "http://localhost:1/mcp:",
    ]
