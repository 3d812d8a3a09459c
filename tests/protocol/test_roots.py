"""Roots: a folder becomes its `file://` URI on either platform; whatever else is refused."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol.roots import Root, path_of, root_of, to_wire


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("/", "file:///"),
        ("/srv/data", "file:///srv/data"),
        ("/srv/data/", "file:///srv/data"),
        ("//srv//data", "file:///srv/data"),
        ("/srv/my data", "file:///srv/my%20data"),
        ("/srv/Übung", "file:///srv/%C3%9Cbung"),
        ("/srv/100%?#", "file:///srv/100%25%3F%23"),
        ("/srv/a\\b", "file:///srv/a%5Cb"),
        ("/srv/\udcff", "file:///srv/%FF"),
        ("/srv/../etc", "file:///etc"),
        ("/../..", "file:///"),
        ("data", "file:///home/me/data"),
        (".", "file:///home/me"),
        ("../you/./x", "file:///home/you/x"),
        ("./a:b", "file:///home/me/a:b"),
        ("~/x", "file:///home/me/~/x"),
        ("file:///srv/data/", "file:///srv/data"),
        ("FILE:///srv", "file:///srv"),
        ("file://localhost/srv", "file:///srv"),
        ("file:///srv/my data/Ü", "file:///srv/my%20data/%C3%9C"),
        ("file:///srv/my%20data/%c3%9c", "file:///srv/my%20data/%C3%9C"),
        ("file:///srv/../etc", "file:///etc"),
        ("file:///C:/x", "file:///C:/x"),
        ("file:///", "file:///"),
    ],
)
def test_a_posix_path_becomes_a_uri(text: str, uri: str) -> None:
    assert root_of(text, platform="posix", cwd="/home/me").uri == uri


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("C:\\x", "file:///C:/x"),
        ("C:\\", "file:///C:/"),
        ("C:/x/y/", "file:///C:/x/y"),
        ("c:\\My Files\\Ü", "file:///c:/My%20Files/%C3%9C"),
        ("C:\\a\\..\\b", "file:///C:/b"),
        ("C:\\..\\..", "file:///C:/"),
        ("data", "file:///D:/stuff/data"),
        ("..", "file:///D:/"),
        ("\\data", "file:///D:/data"),
        ("D:data", "file:///D:/stuff/data"),
        ("\\\\host\\share", "file://host/share"),
        ("\\\\host\\share\\a b\\", "file://host/share/a%20b"),
        ("//host/share/a/../..", "file://host/share"),
        ("\\\\wsl$\\Ubuntu\\home", "file://wsl$/Ubuntu/home"),
        ("\\\\?\\C:\\x", "file:///C:/x"),
        ("\\\\?\\UNC\\host\\share", "file://host/share"),
        ("file:///C:/x/", "file:///C:/x"),
        ("file:///C:", "file:///C:/"),
        ("file:///C%3A/x", "file:///C:/x"),
        ("file://localhost/C:/x", "file:///C:/x"),
        ("file://host/share/x", "file://host/share/x"),
        ("file:///home/me", "file:///home/me"),
    ],
)
def test_a_windows_path_becomes_a_uri(text: str, uri: str) -> None:
    assert root_of(text, platform="nt", cwd="D:\\stuff").uri == uri


@pytest.mark.parametrize("platform", ["posix", "nt"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs a path"),
        ("  ", "needs a path"),
        ("http://example.com/x", "must be a file:// URI, not http:"),
        ("http:", "must be a file:// URI, not http:"),
        ("mailto:me", "written as ./name"),
        ("file:", "must start with file:// and a full path"),
        ("file:srv", "must start with file:// and a full path"),
        ("file:/srv", "must start with file:// and a full path"),
        ("file://", "needs a full path"),
        ("file://srv", "needs a full path"),
        ("file:///srv?x=1", "cannot have a query or fragment"),
        ("file:///srv#x", "cannot have a query or fragment"),
        ("file:///srv%00", "null character"),
        ("/srv\0", "null character"),
        ("file:///srv/%2e%2e/etc", "encoded dots"),
        ("file:///srv/.%2E/etc", "encoded dots"),
        ("file:///srv/%2e/etc", "encoded dots"),
        ("file:///srv/..%2Fetc", "encoded slash"),
        ("file:///srv/%zz", "%25"),
        ("file:///srv/%", "%25"),
        ("file://a b/srv", "not a valid host name"),
        ("file://me@host/srv", "not a valid host name"),
    ],
)
def test_what_is_no_folder_is_refused_in_plain_words(text: str, reason: str, platform: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("?", "\\?")):
        root_of(text, platform=platform, cwd="C:\\" if platform == "nt" else "/")


@pytest.mark.parametrize(
    ("text", "platform", "cwd", "reason"),
    [
        ("file://host/srv", "posix", "/", "another machine"),
        ("C:\\x", "posix", "/", "a Windows path"),
        ("\\\\host\\share", "posix", "/", "a Windows path"),
        ("data", "posix", "here", "needs a folder to start from"),
        ("/srv/\ud800", "posix", "/", "half a character"),
        ("data", "nt", "here", "needs a folder to start from"),
        ("C:data", "nt", "D:\\", "needs a folder to start from"),
        ("\\\\host", "nt", "D:\\", "its name and a share"),
        ("\\\\host\\..", "nt", "D:\\", "its name and a share"),
        ("\\\\.\\COM1", "nt", "D:\\", "a device"),
        ("file:///srv/..%5Cetc", "nt", "D:\\", "encoded slash"),
        ("file://host/", "nt", "D:\\", "its name and a share"),
    ],
)
def test_each_platform_refuses_what_is_not_its_own(
    text: str, platform: str, cwd: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        root_of(text, platform=platform, cwd=cwd)


@pytest.mark.parametrize(
    ("uri", "platform", "path"),
    [
        ("file:///srv/my%20data/%C3%9C", "posix", "/srv/my data/Ü"),
        ("file:///srv/%FF", "posix", "/srv/\udcff"),
        ("file:///", "posix", "/"),
        ("file:///C:/My%20Files", "nt", "C:\\My Files"),
        ("file:///C:/", "nt", "C:\\"),
        ("file://host/share/a%20b", "nt", "\\\\host\\share\\a b"),
    ],
)
def test_a_uri_becomes_a_path_again(uri: str, platform: str, path: str) -> None:
    assert path_of(uri, platform) == path


def test_a_path_is_no_uri() -> None:
    with pytest.raises(ValueError, match="must start with file://"):
        path_of("/srv", "posix")


def test_a_name_is_sent_only_if_there_is_one() -> None:
    named = root_of("/srv", name="Data", platform="posix", cwd="/")
    assert named == Root("file:///srv", "Data")
    assert to_wire(named) == {"uri": "file:///srv", "name": "Data"}
    assert to_wire(Root("file:///srv")) == {"uri": "file:///srv"}


@given(st.text(), st.sampled_from(["posix", "nt"]), st.sampled_from(["", "/", "file:///", "C:\\"]))
def test_any_text_is_a_root_or_refused(text: str, platform: str, start: str) -> None:
    cwd = "C:\\stuff" if platform == "nt" else "/stuff"
    try:
        root = root_of(start + text, platform=platform, cwd=cwd)
    except ValueError:
        return
    parts = urlsplit(root.uri)
    assert root.uri.isascii()
    assert (parts.scheme, parts.query, parts.fragment) == ("file", "", "")
    assert ".." not in unquote(parts.path).split("/")
    # What came out is what would come out again.
    assert root_of(root.uri, platform=platform, cwd=cwd) == root


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_a_folder_of_any_name_comes_back(name: str) -> None:
    if name in (".", ".."):
        return
    root: Any = root_of(f"/srv/{name}", platform="posix", cwd="/")
    assert path_of(root.uri, "posix") == f"/srv/{name}"
