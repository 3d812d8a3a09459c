"""Replaces recorded answers in a trace by newer ones, and leaves every other byte as it is.

Called by `mcplens verify --update`. The file is written beside the trace first, and takes its place
when it is whole. Secrets of the new answers are masked as when they are recorded.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from mcplens.protocol.frames import Frame, parse
from mcplens.store.lenient_json import from_json, to_json
from mcplens.store.recorded_secrets import KeyMasker, Mask
from mcplens.store.rows import payload_field


def update_trace(
    path: str, run_id: str, replies: Mapping[int, bytes], secret_keys: tuple[str, ...]
) -> int:
    """Write these answers, by the `seq` of the recorded ones; returns how many were replaced.

    Raises:
        OSError: the trace cannot be written.
    """
    masker = KeyMasker(secret_keys)
    path = os.path.realpath(path)
    count = 0
    descriptor, fresh = tempfile.mkstemp(
        prefix=f"{os.path.basename(path)}.", dir=os.path.dirname(path)
    )
    try:
        with open(descriptor, "wb") as new, open(path, "rb") as old:
            for line in old:
                changed = _changed(line, run_id, replies, masker)
                count += changed is not None
                new.write(line if changed is None else changed)
        shutil.copymode(path, fresh)
        os.replace(fresh, path)
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)
    return count


def _changed(
    line: bytes, run_id: str, replies: Mapping[int, bytes], masker: KeyMasker
) -> bytes | None:
    """The line with the newer answer; None if it stays."""
    if b"FrameReceived" not in line:
        return None
    try:
        event: Any = from_json(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or event.get("type") != "FrameReceived":
        return None
    reply = replies.get(event.get("seq", 0)) if event.get("run_id") == run_id else None
    if reply is None or not isinstance(event.get("message"), dict):
        return None
    event.pop("masked", None)
    reply, secrets = masker.mask(reply)
    field = payload_field("FrameReceived")
    marks = [Mask(field, start, end, key) for start, end, key in secrets]
    if marks:
        event["masked"] = marks
    message = {name: item for name, item in event["message"].items() if not name.startswith("raw")}
    frame = parse(reply)
    if isinstance(frame, Frame):
        message["kind"] = frame.kind.value
    event["message"] = message | {"raw": reply.decode()}
    event["size_bytes"] = len(reply)
    return to_json(event) + b"\n"
