"""Values of JSON's types as YAML text, for collections; protocol/yaml_values.py reads it back."""

from __future__ import annotations

import io
import re
from typing import Any, Final

from mcplens.protocol.yaml_values import plain_value

# What YAML 1.1 takes for a boolean: quoted, so that every reader takes it for text.
_OLD_BOOL: Final = re.compile(r"y|yes|n|no|on|off", re.I)


def dump(value: Any) -> str:
    """A value as YAML in block style; texts of several lines as blocks that can be read."""
    from ruamel.yaml import YAML

    writer = YAML()
    writer.width = 2**30  # a line break within a text is hard to read and to edit
    writer.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    writer.dump(_styled(value), stream)
    return stream.getvalue().removesuffix("...\n")


def _styled(value: Any) -> Any:
    if isinstance(value, dict):
        return {_styled_text(str(key), is_key=True): _styled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_styled(item) for item in value]
    return _styled_text(value) if isinstance(value, str) else value


def _styled_text(text: str, *, is_key: bool = False) -> Any:
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    if _OLD_BOOL.fullmatch(text) or _plain_or_text(text) != text:
        return DoubleQuotedScalarString(text)
    if text.isprintable():
        return text
    lines = text.split("\n")
    is_readable = all(line.isprintable() and line == line.rstrip() for line in lines)
    # A block whose first line begins with a space needs an indicator; quotes are clearer.
    if is_readable and not is_key and text.strip("\n") and not text.startswith((" ", "\n")):
        return LiteralScalarString(text)
    return DoubleQuotedScalarString(text)


def _plain_or_text(text: str) -> Any:
    try:
        return plain_value(text)
    except ValueError:  # a number with too many digits
        return None
