"""Roots as values: a folder as the `file://` URI that servers are given, and back.

Paths are text here, of either platform; the disk is not accessed. Called by the session, which
keeps the list, and by the surfaces, which pass on what a person typed.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import Any, Final

import msgspec

# RFC 3986, 3.3: what a path may hold as it is.
_PLAIN: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/"
)
# Two letters at least: one letter and a colon is a drive.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# Names of machines, and `wsl$`.
_HOST: Final = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9._$-]*")


class Root(msgspec.Struct, frozen=True):
    """A folder that is offered to servers."""

    uri: str
    name: str | None = None


def root_of(text: str, *, name: str | None = None, platform: str = "posix", cwd: str) -> Root:
    """The root for a path or a `file://` URI.

    Raises:
        ValueError: not a valid root; the message says why.
    """
    if not text.strip():
        raise ValueError("a root needs a path or a file:// URI")
    if "\0" in text:
        raise ValueError("a root cannot contain a null character")
    if _SCHEME.match(text):
        path = path_of(text, platform)
    elif platform == "nt":
        path = _windows_path(text, cwd)
    else:
        path = _posix_path(text, cwd)
    return Root(_uri_of(path, platform), name)


def path_of(uri: str, platform: str = "posix") -> str:
    """The path of a `file://` URI on a platform.

    Raises:
        ValueError: not a valid URI; the message says why.
    """
    host, path = _parts(uri, platform)
    if platform == "nt":
        if host:
            return _normal_windows(f"//{host}{path}")
        # The slash before a drive is the URI's, not the path's.
        return _normal_windows(path[1:] if _DRIVE.match(path[1:]) else path)
    if host:
        raise ValueError(
            f"the root is on another machine, {host!r}; a local root starts with file:///"
        )
    return _normal_posix(path)


def to_wire(root: Root) -> dict[str, Any]:
    """The root as `roots/list` gives it."""
    return {"uri": root.uri} if root.name is None else {"uri": root.uri, "name": root.name}


def _parts(uri: str, platform: str) -> tuple[str, str]:
    """Host (empty for this machine) and decoded path of a URI."""
    scheme = _SCHEME.match(uri)
    if scheme is None:
        raise ValueError("a root's URI must start with file://")
    if scheme[1].lower() != "file":
        raise ValueError(
            f"a root must be a file:// URI, not {scheme[1]}: (a folder with a colon in its name "
            "is written as ./name)"
        )
    rest = uri[scheme.end() :]
    if not rest.startswith("//"):
        raise ValueError("a root's URI must start with file:// and a full path: file:///folder")
    if "?" in rest or "#" in rest:
        raise ValueError("a root cannot have a query or fragment; write ? as %3F and # as %23")
    host, slash, path = rest[2:].partition("/")
    if not slash:
        raise ValueError("a root's URI needs a full path: file:///folder")
    if host.lower() == "localhost":
        host = ""
    if host and not _HOST.fullmatch(host):
        raise ValueError(f"{host[:80]!r} is not a valid host name")
    return host, "/".join(["", *(_decoded(part, platform) for part in path.split("/"))])


def _decoded(part: str, platform: str) -> str:
    """One decoded path segment; encoded separators and dots are refused."""
    if _BAD_ESCAPE.search(part):
        raise ValueError("a root has a % that is not followed by two hex digits; write % as %25")
    decoded = _ESCAPES.sub(
        lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogateescape"),
        part,
    )
    if "\0" in decoded:
        raise ValueError("a root cannot contain a null character")
    if decoded in (".", "..") and decoded != part:
        raise ValueError("a root cannot contain encoded dots (%2e): they hide where it leads")
    slashes = r"[/\\]" if platform == "nt" else "/"
    if decoded != part and len(re.findall(slashes, decoded)) > len(re.findall(slashes, part)):
        raise ValueError("a root cannot contain an encoded slash (%2F, %5C)")
    return decoded


def _posix_path(text: str, cwd: str) -> str:
    if re.match(r"[A-Za-z]:\\", text) or text.startswith("\\\\"):
        raise ValueError("this is a Windows path; give its URI instead: file:///C:/folder")
    path = posixpath.join(cwd, text)
    if not path.startswith("/"):
        raise ValueError(f"{text!r} needs a folder to start from, as a full path")
    return _normal_posix(path)


def _normal_posix(path: str) -> str:
    return "/" + posixpath.normpath(path).strip("/") if path.strip("/") else "/"


def _windows_path(text: str, cwd: str) -> str:
    path = text.replace("/", "\\")
    if path.startswith("\\\\?\\UNC\\"):
        path = "\\\\" + path[8:]
    elif path.startswith("\\\\?\\"):
        path = path[4:]
    elif path.startswith("\\\\.\\"):
        raise ValueError("a device is not a folder")
    path = ntpath.join(cwd, path)
    if not (re.match(r"[A-Za-z]:[\\/]", path) or re.match(r"[\\/]{2}[^\\/]", path)):
        raise ValueError(f"{text!r} needs a folder to start from, as a full path")
    return _normal_windows(path)


def _normal_windows(path: str) -> str:
    path = path.replace("/", "\\")
    if not path.startswith("\\\\"):
        path = ntpath.normpath(path)
        return f"{path}\\" if re.fullmatch(_DRIVE, path) else path
    host, _, rest = path[2:].partition("\\")
    share, _, rest = rest.partition("\\")
    if not _HOST.fullmatch(host) or share in ("", ".", ".."):
        raise ValueError("a root on another machine needs its name and a share: \\\\host\\share")
    inner = ntpath.normpath(f"\\{rest.lstrip(chr(92))}").strip("\\")
    return "\\".join(filter(None, ["\\", host, share, inner]))


def _uri_of(path: str, platform: str) -> str:
    if platform == "nt":
        path = path.replace("\\", "/")
        if path.startswith("//"):
            return "file:" + _encoded(path)
        if _DRIVE.match(path):
            path = f"/{path}"
    return "file://" + _encoded(path)


def _encoded(path: str) -> str:
    try:
        # Python represents non-UTF-8 bytes in file names as surrogates.
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError("a root cannot contain half a character (a lone surrogate)") from None
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
