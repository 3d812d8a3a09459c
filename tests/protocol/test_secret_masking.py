"""Secrets of an HTTP exchange are hidden, their length stays visible."""

from __future__ import annotations

import pytest

from mcplens.protocol.secret_masking import mask, mask_headers, mask_url


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "authorization",
        "Proxy-Authorization",
        "Cookie",
        "Set-Cookie",
        "Mcp-Session-Id",
        "X-Api-Key",
        "apikey",
        "X-Auth-Token",
        "Client-Secret",
        "X-Password",
        "X_API_KEY",
        "Ocp-Apim-Subscription-Key",
        "x-functions-key",
        "X-Auth",
        "DD-Application-Key",
        "mcp_session_id",
    ],
)
def test_a_secret_header_shows_only_its_length(name: str) -> None:
    ((shown_name, shown),) = mask_headers([(name, "Bearer s3cret")])
    assert shown_name == name
    assert "s3cret" not in shown
    assert "13" in shown


def test_other_headers_stay_in_their_order_and_as_they_are() -> None:
    headers = [("B", "2"), ("A", "1"), ("B", "3"), ("Content-Type", "text/html; a=b")]
    headers += [("Sec-WebSocket-Key", "x"), ("X-Author", "me"), ("Keep-Alive", "1")]
    assert mask_headers(headers) == headers


def test_a_long_address_takes_no_longer_than_it_is_long() -> None:
    # Quadratic, each of these would take minutes, and the test its timeout.
    for text in (
        "?" * 1_000_000,
        "&" * 1_000_000,
        "?a" * 500_000,
        "://" * 300_000,
        "://a" * 300_000,
    ):
        assert mask_url(text) == text
    assert mask_url("https://h/?a?b=s3cret&c=d3ep").count("‹masked") == 2


def test_a_redirect_shows_its_target_without_its_secrets() -> None:
    ((_, shown),) = mask_headers([("Location", "https://u:p@host/cb?code=abc#x")])
    assert shown.startswith("https://‹masked")
    assert "@host/cb?code=‹masked, 3 characters›" in shown
    assert "abc" not in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://host/mcp", "http://host/mcp"),
        ("http://host/mcp?key=", "http://host/mcp?key="),
        ("http://host/mcp?key=abc", f"http://host/mcp?key={mask('abc')}"),
        ("http://host/?a=1&b=22", f"http://host/?a={mask('1')}&b={mask('22')}"),
        ("http://me:pw@host/", f"http://{mask('me:pw')}@host/"),
        ("http://host/@not-user-info", "http://host/@not-user-info"),
        ("http://host/?a=b@c", f"http://host/?a={mask('b@c')}"),
        ("not a url", "not a url"),
    ],
)
def test_a_url_shows_where_it_goes_and_hides_what_it_carries(url: str, shown: str) -> None:
    assert mask_url(url) == shown
