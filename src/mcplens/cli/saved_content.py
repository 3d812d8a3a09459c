"""Saves images, sounds and resources of results to files (`--save DIR`).

A file is named after the tool, prompt or resource, its place in the result, and its type; a file
that exists is never overwritten. Used by the commands that print results.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterable
from typing import Any, Final

import click

from mcplens.cli import output
from mcplens.protocol.result_types import Content, ResourceContents

# What MCP servers send most; others are looked up in the system's table.
_ENDINGS: Final = {
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp",
    "image/svg+xml": "svg", "audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3",
    "audio/ogg": "ogg", "application/json": "json", "application/pdf": "pdf", "text/plain": "txt",
    "text/markdown": "md", "text/html": "html", "text/csv": "csv",
}  # fmt: skip
# A name that every file system takes, with room for a number and an ending.
_LONGEST_NAME: Final = 80


def _prepare(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Create the folder before anything is sent, so that a call is not made in vain."""
    if value is None or ctx.resilient_parsing:
        return value
    try:
        os.makedirs(value, exist_ok=True)
    except OSError as problem:
        raise click.BadParameter(f"{value} cannot be created: {problem.strerror}") from None
    if not os.access(value, os.W_OK | os.X_OK):
        raise click.BadParameter(f"{value} cannot be written to")
    return value


save_option = click.option(
    "--save",
    "folder",
    metavar="DIR",
    callback=_prepare,
    help="Save images, audio and resources of the result in this folder.",
)


class SavedContent:
    """The files of one result, by the place of their block in it."""

    def __init__(self, folder: str | None, name: str) -> None:
        self._folder = folder
        self._stem = _stem(name)
        self.paths: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<SavedContent {self._stem!r} in {self._folder!r}: {len(self.paths)} files>"

    def save_blocks(self, blocks: Iterable[Content], *, is_told: bool) -> None:
        """Save what can be saved of content blocks; `is_told` prints the paths on stderr."""
        for place, block in enumerate(blocks, 1):
            if block.type in ("image", "audio"):
                self._save(place, block.mime_type, None, block.data)
            elif block.type == "resource" and isinstance(block.resource, dict):
                part = block.resource
                self._save(place, part.get("mimeType"), part.get("text"), part.get("blob"))
        self._tell(is_told)

    def save_parts(self, parts: Iterable[ResourceContents], *, is_told: bool) -> None:
        """Save the parts of a resource."""
        for place, part in enumerate(parts, 1):
            self._save(place, part.mime_type, part.text, part.blob)
        self._tell(is_told)

    def _tell(self, is_told: bool) -> None:
        for path in self.paths.values() if is_told else ():
            output.note(f"saved {path}")

    def _save(self, place: int, kind: Any, text: Any, data: Any) -> None:
        if self._folder is None:
            return
        try:
            content = _bytes_of(text, data)
        except ValueError as problem:
            output.note(f"mcplens: block {place} is not saved: {problem}", fg="yellow")
            return
        ending = _ending(kind, is_text=isinstance(text, str))
        try:
            self.paths[place] = self._write(place, ending, content)
        except OSError as problem:
            raise output.CannotWrite(
                f"{self._folder} cannot be written to: {problem.strerror}"
            ) from None

    def _write(self, place: int, ending: str, content: bytes) -> str:
        assert self._folder is not None
        number = 1
        while True:
            again = f"-{number}" if number > 1 else ""
            path = os.path.join(self._folder, f"{self._stem}-{place}{again}.{ending}")
            try:
                with open(path, "xb") as file:  # follows no link, and replaces nothing
                    file.write(content)
                return path
            except FileExistsError:
                number += 1


def _bytes_of(text: Any, data: Any) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(str(data or ""), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise ValueError(f"it is not valid base64 ({problem})") from None


def _stem(name: str) -> str:
    """A file name that stays in its folder, whatever the server calls things."""
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    return stem[-_LONGEST_NAME:].lstrip("-.") or "result"


def _ending(kind: Any, *, is_text: bool) -> str:
    media = kind.partition(";")[0].strip().lower() if isinstance(kind, str) else ""
    if media in _ENDINGS:
        return _ENDINGS[media]
    import mimetypes

    found = (mimetypes.guess_extension(media) or "").lstrip(".")
    if re.fullmatch("[a-z0-9]{1,8}", found):
        return found
    return "txt" if is_text or media.startswith("text/") else "bin"
