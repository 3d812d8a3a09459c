"""Why an app may stay blank, told from its tool, its resource and its HTML."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mcplens.protocol.app_checks import (
    AppFinding,
    check_document,
    check_result,
    check_tool,
    covers,
)
from mcplens.protocol.app_policy import app_policy
from mcplens.protocol.apps import APP_MIME_TYPE, app_document, app_link

HELLO = "<script>parent.postMessage({method:'ui/initialize'},'*')</script>"


def checked(html: str, mime_type: str = APP_MIME_TYPE, **csp: Any) -> dict[str, AppFinding]:
    item = {"uri": "ui://a", "mimeType": mime_type, "text": html, "_meta": {"ui": {"csp": csp}}}
    document = app_document([item], "ui://a")
    return {one.code: one for one in check_document(document, app_policy(document.meta))}


def test_an_app_that_can_start_has_no_findings() -> None:
    html = f'<link rel="stylesheet" href="https://cdn.example/a.css">{HELLO}'
    assert checked(html, resourceDomains=["https://cdn.example"]) == {}


@pytest.mark.parametrize(
    ("html", "key", "directive", "severity"),
    [
        ('<script src="https://x.example/a"></script>', "resourceDomains", "script-src", "error"),
        ('<script src="//x.example/a.js"></script>', "resourceDomains", "script-src", "error"),
        ('<img src="https://x.example/a.png">', "resourceDomains", "img-src", "warning"),
        ("<style>a{background:url(https://x.example/)}</style>",
         "resourceDomains", "style-src", "warning"),
        ('<iframe src="https://x.example/"></iframe>', "frameDomains", "frame-src", "warning"),
        ('<script>fetch("https://x.example/v1")</script>',
         "connectDomains", "connect-src", "warning"),
    ],
)  # fmt: skip
def test_an_origin_that_is_not_declared_is_named_with_the_line_and_the_list(
    html: str, key: str, directive: str, severity: str
) -> None:
    found = checked(f"<p>\n{html}{HELLO}")["undeclared-origin"]
    assert (found.line, found.severity) == (2, severity)
    assert f"blocked by {directive}: declare https://x.example in csp.{key}" in found.text
    domains: Any = {key: ["https://x.example"]}
    assert "undeclared-origin" not in checked(f"{html}{HELLO}", **domains)


def test_each_reason_to_stay_blank_has_its_sentence() -> None:
    assert "hosts show only" in checked(HELLO, "text/html")["wrong-type"].text
    assert "no script that sends ui/initialize" in checked("<p>Hi")["no-hello"].text
    assert "none of its scripts sends" in checked("<script>1</script>")["no-hello"].text
    assert checked(" \n")["empty"].severity == "error"
    stored = checked(f"<script>localStorage.a</script>{HELLO}")["storage"]
    assert "localStorage, which throws" in stored.text
    assert "inline it" in checked(f'<script src="app.js"></script>{HELLO}')["relative-address"].text
    assert "2.0 MiB" in checked(HELLO + " " * 2 * 1024 * 1024)["large"].text
    refused = checked(HELLO, connectDomains=["http://localhost:1"])["refused-domain"]
    assert "http://localhost:1 in csp.connectDomains is left out" in refused.text


def test_a_misplaced_policy_and_nulls_in_a_tool_are_found() -> None:
    tool = {
        "name": "t", "icons": None, "inputSchema": {"default": None},
        "_meta": {"ui": {"resourceUri": "ui://a", "csp": {}}},
    }  # fmt: skip
    found = {one.code: one.text for one in check_tool(tool, app_link(tool))}
    assert found.keys() == {"policy-on-tool", "null-field"}
    assert found["null-field"].startswith("icons is null")


def test_a_result_without_text_has_nothing_for_hosts_without_apps() -> None:
    assert check_result([{"type": "text", "text": "x"}]) == []
    for content in ([], [{"type": "image"}], [{"type": "text", "text": " "}], None):
        assert check_result(content)[0].code == "no-text-fallback"


@pytest.mark.parametrize(
    ("source", "url", "is_covered"),
    [
        ("https://a.example", "https://a.example/x", True),
        ("https://a.example", "https://b.example/", False),
        ("https://a.example", "http://a.example/", False),
        ("http://a.example", "https://a.example/", True),
        ("https://*.a.example", "https://b.a.example/", True),
        ("https://*.a.example", "https://a.example/", False),
        ("https://a.example:8443", "https://a.example:8443/", True),
        ("https://a.example", "https://a.example:8443/", False),
        ("https://a.example:*", "https://a.example:9/", True),
        ("https://a.example/lib/", "https://a.example/lib/x.js", True),
        ("https://a.example/lib/", "https://a.example/other.js", False),
        ("a.example", "https://a.example/", True),
        ("data:", "data:text/plain,x", True),
        ("'unsafe-inline'", "https://a.example/", False),
    ],
)
def test_an_entry_lets_through_what_a_browser_would(
    source: str, url: str, is_covered: bool
) -> None:
    assert covers(source, url) is is_covered


def test_hostile_html_is_checked_soon() -> None:
    lines = 'fetch("https://x.example/")\n' * 400_000
    started = time.perf_counter()
    found = checked(f"<script>{lines}</script>", connectDomains=["https://y.example"] * 90_000)
    assert checked("<!--" * 500_000).keys() == {"large", "no-hello"}
    assert time.perf_counter() - started < 5
    assert found["undeclared-origin"].line == 1
    assert found["partly-checked"].severity == "note"
    # What is not read is not said to be missing.
    assert "no-hello" not in found


def test_a_reference_far_down_has_its_line() -> None:
    html = '<script>\nfetch("https://y.example/")\n\nfetch("https://x.example/")\n</script>'
    assert checked(html, connectDomains=["https://y.example"])["undeclared-origin"].line == 4
    (long,) = checked(f'<img src="{"a" * 10_000}">{HELLO}').values()
    assert len(long.text) < 1_000
