"""Whether a result says that a tool ran and failed (`isError`), and in which words.

Pure. Called where calls, requests and events are counted or shown by how they ended.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

_MEMBER: Final = b'"isError"'
_SAYS_SO: Final = re.compile(rb'"isError"\s*:\s*true')
# How most messages end whose result says that all is well: it is the last member of the result.
_FINE_ENDS: Final = (b'"isError":false}}', b'"isError": false}}')
_MOST_CHARACTERS: Final = 2_000
_UNTOLD: Final = "The tool did not say why."


class _Result(msgspec.Struct, gc=False):
    isError: bool = False
    content: Any = None


class _Verdict(msgspec.Struct, gc=False):
    isError: bool = False


class _Answer(msgspec.Struct, gc=False):
    result: _Verdict  # its content is skipped: it may hold bytes that are not UTF-8


_decode: Final = msgspec.json.Decoder(_Result).decode
_decode_answer: Final = msgspec.json.Decoder(_Answer).decode


def is_tool_error(message: bytes) -> bool:
    """Whether a whole message is the result of a tool that failed; most are hardly looked at."""
    if _MEMBER not in message or _SAYS_SO.search(message) is None:
        return False
    try:
        return _decode_answer(message).result.isError
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def tool_failure(result: msgspec.Raw | bytes, message: bytes | None = None) -> str | None:
    """What a tool that failed said; None of any other result, which is hardly looked at.

    The message that a result came in is searched in its place: to search Raw is to copy it.
    """
    data = bytes(result) if message is None else message
    if message is not None and message.endswith(_FINE_ENDS):
        return None
    # A search for plain bytes is ten times as fast as one for the pattern, in a long result.
    at = data.find(_MEMBER)
    while at >= 0 and _SAYS_SO.match(data, at) is None:
        at = data.find(_MEMBER, at + len(_MEMBER))
    if at < 0:
        return None
    try:
        found = _decode(result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not found.isError:
        return None
    blocks = found.content if isinstance(found.content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    said = "\n".join(text for text in texts if isinstance(text, str)) or _UNTOLD
    return said if len(said) <= _MOST_CHARACTERS else f"{said[:_MOST_CHARACTERS]}…"
