"""Where the keys and values of a YAML text are, so that it can be edited in place.

The same tree as jsonc.py makes of JSON, from the nodes that the parser composes. Pure; called by
entry_text.py.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, SequenceNode

from mcplens.config.jsonc import Member, Node


def parse_yaml(text: str) -> Node | None:
    """The root of a text that yaml_value has accepted; None if it has no value."""
    found = YAML(typ="safe", pure=True).compose(text)
    return None if found is None else _node(found)


def _node(found: Any) -> Node:
    start, end = found.start_mark.index, found.end_mark.index
    if isinstance(found, MappingNode):
        members = tuple(
            Member(str(key.value), key.start_mark.index, _node(value), None)
            for key, value in found.value
        )
        values = {member.key: member.node.value for member in members}
        return Node(start, _end(found, end, [one.node for one in members]), values, members=members)
    if isinstance(found, SequenceNode):
        items = tuple(_node(one) for one in found.value)
        return Node(start, _end(found, end, items), [one.value for one in items], items=items)
    return Node(start, end, found.value)


def _end(found: Any, end: int, inner: Any) -> int:
    """A block ends with its last value; its mark is after the blank lines and comments below."""
    return end if found.flow_style or not inner else max(one.end for one in inner)
