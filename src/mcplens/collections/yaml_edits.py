"""Changes to the steps of a collection's text: everything else stays byte for byte.

A step is replaced, removed or appended as text, so that comments, unknown keys and the layout of
other steps survive. Each result is parsed again and must mean what was wanted; where it does not
(a layout that is out of the ordinary), the whole text is written anew with its comments.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from mcplens.collections.yaml_text import dump
from mcplens.protocol.yaml_values import Node, YamlProblem, parse

_LINE: Final = "\n"
# Keys that a step begins with, in this order; others follow as they were.
_ORDER: Final = ("name", "description", "server", "call", "read", "prompt", "request", "with")


def append_step(text: str, step: dict[str, Any]) -> str:
    """The text with one more step at its end."""
    return append_steps(text, [step])


def append_steps(text: str, steps: Sequence[dict[str, Any]]) -> str:
    """The text with more steps at its end; it is parsed once for all of them."""
    return _with_line_ends(text, lambda text: _append(text, steps))


def replace_step(text: str, index: int, fields: dict[str, Any]) -> str:
    """The text with these fields of a step; those that are None are removed."""
    return _with_line_ends(text, lambda text: _replace(text, index, fields))


def remove_step(text: str, index: int) -> str:
    """The text without a step; comments above it stay, since they may be about what follows."""
    return _with_line_ends(text, lambda text: _remove(text, index))


def _with_line_ends(text: str, change: Callable[[str], str]) -> str:
    """A change that keeps the line ends of Windows, if the text has them."""
    if "\r\n" not in text:
        return change(text)
    return change(text.replace("\r\n", "\n")).replace("\n", "\r\n")


def _append(text: str, steps: Sequence[dict[str, Any]]) -> str:
    root = parse(text)
    wanted = dict(root.value)
    wanted["tests"] = [*(root.value.get("tests") or ()), *steps]
    tests = root.members.get("tests")
    changed = None
    if tests is not None and tests.items and not tests.is_flow:
        end = _line_end(text, _trimmed(text, tests.end))
        column, blank = _dash_column(text, tests.items[-1]), _blank(text, tests)
        blocks = "".join(f"{blank}{_item(step, column)}" for step in steps)
        rest = text[end:] if text[end:].strip() else ""
        changed = f"{text[:end]}\n{blocks}{rest.removeprefix(_LINE)}"
    return _checked(text, changed, wanted)


def _replace(text: str, index: int, fields: dict[str, Any]) -> str:
    root = parse(text)
    node = root.members["tests"].items[index]
    step = _merged(node.value, fields)
    if step == node.value:
        return text
    wanted = dict(root.value)
    wanted["tests"] = [step if at == index else one for at, one in enumerate(root.value["tests"])]
    changed = None
    if not node.is_flow and not root.members["tests"].is_flow:
        column = _dash_column(text, node)
        start, end = _line_start(text, node.start), _trimmed(text, node.end)
        # The dash becomes a space, so that the step can be read alone.
        alone = f"{' ' * (node.column - 1)}{text[node.start : _line_end(text, end)]}\n"
        block = _edited(alone, fields, step)
        if block is not None:
            lead = f"{' ' * column}-{' ' * (node.column - column - 2)}"
            lines = _indented(block, node.column - 1)
            changed = text[:start] + lead + lines.lstrip(" ").rstrip("\n")
            changed += text[_line_end(text, end) :]
    return _checked(text, changed, wanted)


def _remove(text: str, index: int) -> str:
    root = parse(text)
    tests = root.members["tests"]
    wanted = dict(root.value)
    wanted["tests"] = [one for at, one in enumerate(root.value["tests"]) if at != index]
    changed = None
    if not tests.is_flow:
        node = tests.items[index]
        before = text[: _line_start(text, node.start)]
        if len(tests.items) == 1:
            before = re.sub(r"^tests:(?=[ \t]*(#.*)?$)", "tests: []", before, flags=re.M)
        end = _line_end(text, _trimmed(text, node.end))
        changed = before + text[end:].removeprefix("\n")
    return _checked(text, changed, wanted)


def _merged(step: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    merged = {**step, **fields}
    kept = {key: value for key, value in merged.items() if value is not None or key not in fields}
    first = [key for key in _ORDER if key in kept]
    return {key: kept[key] for key in (*first, *(key for key in kept if key not in first))}


def _checked(text: str, changed: str | None, wanted: dict[str, Any]) -> str:
    """The changed text if it means what is wanted; else all of it written anew."""
    if changed is not None:
        try:
            if parse(changed).value == wanted:
                return changed
        except YamlProblem:
            pass
    anew = _anew(text, wanted)
    if parse(anew).value != wanted:
        raise YamlProblem("this file has a layout that cannot be edited; edit it in an editor")
    return anew


def _anew(text: str, wanted: dict[str, Any]) -> str:
    import msgspec

    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        pass
    else:  # JSON stays JSON; it has no comments
        return msgspec.json.format(msgspec.json.encode(wanted), indent=2).decode() + "\n"
    from ruamel.yaml import YAML

    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 2**30
    document = writer.load(text)
    _set_steps(document, wanted["tests"])
    stream = io.StringIO()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.dump(document, stream)
    return stream.getvalue()


def _set_steps(document: Any, wanted: list[Any]) -> None:
    """Change what differs, so that the comments of the rest survive."""
    tests = document.get("tests")
    if not tests:
        document["tests"] = _loaded(wanted)
        return
    if len(wanted) > len(tests):
        tests.extend(_loaded(wanted[len(tests) :]))
    elif len(wanted) < len(tests):
        at = next((at for at, one in enumerate(wanted) if tests[at] != one), len(wanted))
        del tests[at]
    else:
        for at, one in enumerate(wanted):
            if tests[at] != one:
                tests[at] = _loaded(one)


def _loaded(value: Any) -> Any:
    """A value as ruamel.yaml keeps it, in the styles of `dump`."""
    from ruamel.yaml import YAML

    return YAML().load(dump(value))


def _edited(alone: str, fields: dict[str, Any], step: dict[str, Any]) -> str | None:
    """The text of one step with these fields, its comments kept; None if that does not work."""
    from ruamel.yaml import YAML

    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 2**30
    writer.indent(mapping=2, sequence=4, offset=2)
    document = writer.load(alone)
    for key, value in fields.items():
        if value is None:
            document.pop(key, None)
        elif document.get(key) != value:
            new = _loaded({key: value})[key]
            if key in document:
                document[key] = new
            else:
                before = [one for one in list(step)[: list(step).index(key)] if one in document]
                document.insert(len(before), key, new)
    stream = io.StringIO()
    writer.dump(document, stream)
    try:
        return stream.getvalue() if parse(stream.getvalue()).value == step else None
    except YamlProblem:
        return None


def _item(step: dict[str, Any], column: int) -> str:
    """A step as an item of a list whose dashes are in this column."""
    lines = _indented(dump(step), column + 2)
    return f"{' ' * column}- {lines.lstrip(' ')}"


def _indented(block: str, by: int) -> str:
    return "".join(
        f"{' ' * by}{line}" if line.strip() else line for line in block.splitlines(keepends=True)
    )


def _dash_column(text: str, item: Node) -> int:
    line = text[_line_start(text, item.start) : item.start]
    return max(line.rfind("-"), 0)


def _blank(text: str, tests: Node) -> str:
    """An empty line, if the steps of this file have one between them."""
    items = tests.items
    if len(items) < 2:
        return ""
    between = text[_trimmed(text, items[-2].end) : _line_start(text, items[-1].start)]
    return "\n" if re.search(r"\n[ \t]*\n", between) else ""


def _trimmed(text: str, end: int) -> int:
    """The end without blank lines, which a block of text takes with it."""
    return len(text[:end].rstrip())


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """The end of the line, so that a comment behind the value belongs to it."""
    end = text.find("\n", index)
    return len(text) if end < 0 else end
