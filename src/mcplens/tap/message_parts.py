"""What a message of a tapped conversation holds, as far as the conversation needs to know.

Pure. Used by conversation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from mcplens.protocol.frames import ABSENT, Batch, Frame, Kind, Malformed, Message


class _Params(msgspec.Struct, gc=False):
    """Of the params of a request only the metadata, whatever else they have."""

    meta: Raw = msgspec.field(name="_meta", default=ABSENT)


_decode_params = msgspec.json.Decoder(_Params).decode


def method_of(message: Message) -> str | None:
    return (message.method or None) if isinstance(message, Frame) else None


def may_infer(message: Message) -> bool:
    if isinstance(message, Malformed):
        return message.is_reply_like
    if not isinstance(message, Frame):
        return False
    return message.kind is Kind.REQUEST or message.method == "notifications/message"


def requests_in(message: Message) -> list[Frame]:
    members = message.members if isinstance(message, Batch) else (message,)
    return [one for one in members if isinstance(one, Frame) and one.kind is Kind.REQUEST]


def replies_in(message: Message) -> list[Frame]:
    members = message.members if isinstance(message, Batch) else (message,)
    replies = (Kind.RESULT, Kind.ERROR)
    return [one for one in members if isinstance(one, Frame) and one.kind in replies]


def value_of(frame: Frame) -> Any:
    try:
        return frame.value()
    except ValueError:
        return None


def fields_of(frame: Frame) -> Mapping[str, Any]:
    value = value_of(frame)
    return value if isinstance(value, Mapping) else {}


def meta_of(frame: Frame) -> Mapping[str, Any] | None:
    """The metadata of a request; the rest of its params is not decoded."""
    try:
        meta = msgspec.json.decode(_decode_params(frame.body).meta)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        meta = fields_of(frame).get("_meta")
    return meta if isinstance(meta, Mapping) else None
