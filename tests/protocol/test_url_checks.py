"""URLs that a server wants opened: the host is the one a browser visits, and oddities are named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcplens.protocol.url_checks import host_of, is_openable, url_warnings


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.com/a?b#c", "example.com"),
        ("https://example.com:8443/", "example.com"),
        ("https://bank.example@evil.example/", "evil.example"),
        ("https://a@b@evil.example", "evil.example"),
        ("https://good.example\\@evil.example/", "good.example"),
        ("https:/example.com", "example.com"),
        ("https:example.com", "example.com"),
        ("https:\\\\example.com\\x", "example.com"),
        (" https://exam\nple.com ", "example.com"),
        ("http://[::1]:3000/x", "[::1]"),
        ("https://example.com?@evil.example", "example.com"),
        ("https://example.com#@evil.example", "example.com"),
        ("file:///etc/passwd", ""),
        ("ftp://example.com/x", "example.com"),
        ("javascript:alert(1)", ""),
        ("example.com/x", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_host_is_the_one_that_a_browser_visits(url: Any, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/auth?state=1",
        "https://example.com:443/",
        "http://localhost:3000/x",
        "http://app.localhost/x",
        "http://127.0.0.1:8080/",
        "http://[::1]:8080/",
        "https://localhost:8443/",
        "https://sub.domain.example/%C3%9C?q=%20",
    ],
)
def test_an_ordinary_url_needs_no_warning(url: str) -> None:
    assert url_warnings(url) == ()
    assert is_openable(url)


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("http://example.com/", "It is http"),
        ("https://xn--pple-43d.com/", "punycode"),
        ("https://www.xn--pple-43d.com/", "punycode"),
        ("https://\u0430pple.com/", "non-ASCII"),
        ("https://intranet/", "no dot"),
        ("https://192.0.2.1/", "an IP address"),
        ("https://[2001:db8::1]/", "an IP address"),
        ("https://3221225985/", "an IP address"),
        ("https://0xC0.0.2.1/", "an IP address"),
        ("https://[nonsense]/", "an IP address"),
        ("https://bank.example@evil.example/", "the real host is evil.example"),
        ("https://example.com:8443/", "unusual: 8443"),
        ("https://good.example\\x", "backslash"),
        ("https://ex%61mple.com/", "percent-encoded"),
        ("https://example.com/a" + "a" * 3_000, "very long"),
    ],
)
def test_what_is_odd_is_said_and_can_be_opened(url: str, warning: str) -> None:
    (found,) = url_warnings(url)
    assert warning in found
    assert is_openable(url)


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("javascript:alert(1)", "Its scheme is javascript,"),
        ("JavaScript:alert(1)", "Its scheme is javascript,"),
        ("file:///etc/passwd", "Its scheme is file,"),
        ("data:text/html,x", "Its scheme is data,"),
        ("vscode://x", "Its scheme is vscode,"),
        ("example.com", "It is not a valid URL."),
        ("-flag", "It is not a valid URL."),
        ("https://", "It has no host."),
        ("https://exa\nmple.com/", "control characters"),
        ("https://example.com/a b", "spaces"),
        ("https://example.com/\u202egpj.exe", "invisible"),
        ("https://example.com/\x00", "control characters"),
        (None, "It is not a valid URL."),
        ("", "It is not a valid URL."),
        (5, "It is not a valid URL."),
        (["https://example.com"], "It is not a valid URL."),
    ],
)
def test_what_no_browser_should_get_is_not_openable(url: Any, warning: str) -> None:
    (found,) = url_warnings(url)
    assert warning in found
    assert not is_openable(url)


@pytest.mark.parametrize(
    "host", ["127.evil.com", "127.0.0.1.evil.com", "localhost.evil.com", "notlocalhost.evil"]
)
def test_a_name_that_only_begins_like_this_computer_is_not_local(host: str) -> None:
    assert url_warnings(f"http://{host}/") == ("It is http: others can read what you type there.",)


@given(
    st.sampled_from(["", "https://", "http:", "https://[", "file:", "data:", " \thttps:\\"]),
    st.text(),
)
def test_any_text_can_be_looked_at(start: str, text: str) -> None:
    url = start + text
    assert isinstance(host_of(url), str)
    assert all(one[0].isupper() and one.endswith(".") for one in url_warnings(url))
    if is_openable(url):
        assert url.lower().startswith(("http:", "https:"))
