"""Entries added to and removed from the text of any client's file, with everything else kept."""

from __future__ import annotations

import pytest

from mcplens.config.entry_text import entry_text
from mcplens.errors import ConfigurationError

ENTRY = {"command": "m", "args": ["gateway", "é"], "env": {"A": "1"}}

JSON = '{\n\t"theme": 1, // x\n\t"mcpServers": {\n\t\t"a": {"command": "x"} // last\n\t}\n}\n'
TOML = '# top\n[mcp_servers.a]\ncommand = "x" # here\n\n[other]\ny = [1, 2]\n'
YAML = (
    "top: 1 # one\nextensions:\n  a:\n    cmd: x # here\n    args:\n      - y\n\n# end\nlast: 2\n"
)


@pytest.mark.parametrize(
    ("path", "container", "text"),
    [
        ("a.json", "mcpServers", JSON),
        ("a.json", "mcpServers", '{"mcpServers": {}}'),
        ("a.json", "mcpServers", '{"mcpServers": {"a": {}}, "z": 1}'),
        ("a.toml", "mcp_servers", TOML),
        ("a.toml", "mcp_servers", TOML + "\n[z]\nq = 1\n"),
        ("a.yaml", "extensions", YAML),
        ("a.yaml", "extensions", "extensions:\n  a: {cmd: x}\n"),
    ],
)
def test_an_entry_is_added_and_removed_and_the_rest_stays(
    path: str, container: str, text: str
) -> None:
    added = entry_text(path, text).with_entry((container,), "new", ENTRY)
    opened = entry_text(path, added)
    assert opened.value[container]["new"] == ENTRY
    removed = opened.without((container, "new"))
    before = entry_text(path, text).value
    assert entry_text(path, removed).value == before
    if text not in ('{"mcpServers": {}}',):  # stays empty, on two lines
        assert removed == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", ""),
        ("a.json", '{"x": 1}'),
        ("a.json", '{"servers": null}'),
        ("a.toml", ""),
        ("a.toml", "x = 1"),
        ("a.yaml", ""),
        ("a.yaml", "x: 1"),
        ("a.yaml", "servers:\n"),
        ("a.yaml", "servers: {}\nx: 1\n"),
    ],
)
def test_what_leads_to_the_entry_is_made_where_it_is_missing(path: str, text: str) -> None:
    added = entry_text(path, text).with_entry(("servers",), "a b", ENTRY)
    assert entry_text(path, added).value["servers"] == {"a b": ENTRY}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{"servers": [1]}'),
        ("a.toml", "servers = { x = { } }\n"),
        ("a.yaml", "servers: {x: {}}\n"),
        ("a.yaml", "servers: 3\n"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(path: str, text: str) -> None:
    with pytest.raises(ConfigurationError):
        entry_text(path, text).with_entry(("servers",), "a", ENTRY)
