"""Binary content of a result: images, audio and video are shown, everything else is downloaded.

Content from a server must never run in our origin: only a few types that cannot contain scripts are
shown; all else is an attachment without a type, under a policy that allows nothing. Called by
routes.py.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import Response

from mcplens.errors import InspectorError

# No SVG and no HTML: both may contain scripts.
SHOWN_TYPES: Final = frozenset(
    {
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp",
        "audio/mpeg", "audio/mp3", "audio/wav", "audio/x-wav", "audio/wave", "audio/ogg",
        "audio/webm", "audio/mp4", "audio/aac", "audio/flac", "video/mp4", "video/webm",
    }
)  # fmt: skip


def blob_response(value: Any, pointer: str) -> Response:
    """The base64 text at a JSON pointer, as bytes of the type given beside it.

    Raises:
        InspectorError: there is no such text.
    """
    holder, text = _at(value, pointer)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise InspectorError("INVALID_REQUEST", f"not valid base64: {problem}") from None
    mime = holder.get("mimeType") if isinstance(holder, dict) else None
    kind = str(mime or "").partition(";")[0].strip().lower()
    if kind in SHOWN_TYPES:
        return Response(data, media_type=kind)
    return attachment(data, f"content{_ending(kind)}")


def attachment(data: bytes, name: str) -> Response:
    """Bytes as a download, never shown in our origin."""
    return Response(data, media_type="application/octet-stream", headers=saved_as(name))


def saved_as(name: str) -> dict[str, str]:
    """The header that makes a response a download, with an ASCII name as well (RFC 6266)."""
    name = re.sub(r"[^\w.-]", "_", name)[:120].lstrip(".") or "content"
    plain = re.sub(r"[^\x20-\x7e]", "_", name)
    return {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
    }


def _ending(kind: str) -> str:
    import mimetypes

    return mimetypes.guess_extension(kind) or ".bin"


def _at(value: Any, pointer: str) -> tuple[Any, str]:
    """The text at a JSON pointer (RFC 6901), and the object that contains it."""
    holder: Any = None
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        holder = value
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            value = None
    if not isinstance(value, str):
        raise InspectorError("INVALID_REQUEST", f"there is no text at {pointer!r}")
    return holder, value
