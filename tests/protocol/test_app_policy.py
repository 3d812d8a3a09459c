"""The policy of an app: what was declared, nothing else, and nothing that could break out of it."""

from __future__ import annotations

import pytest

from mcplens.protocol.app_policy import app_policy, refusal_of
from mcplens.protocol.apps import AppMeta

GOOD = (
    "https://api.example.com",
    "https://*.example.com",
    "wss://live.example.com:8443",
    "https://cdn.example.com/lib/",
    "cdn.example.com",
    "http://8.8.8.8",
)
BROKEN = (
    "https://a.example; script-src *",
    "https://a.example 'unsafe-eval'",
    "'unsafe-eval'",
    '"',
    "https://a.example,https://b.example",
    "https://a.example\nx",
    "*",
    "https:",
    "data:",
    "blob:",
    "javascript:alert(1)",
    "ftp://a.example",
    "",
    "https://user@a.example",
    "https://a.example/?q",
)
PRIVATE = (
    "http://localhost:6280",
    "http://x.localhost",
    "http://127.0.0.1",
    "http://127.1",
    "http://0x7f000001",
    "http://2130706433",
    "http://10.0.0.1:*",
    "https://192.168.1.1",
    "https://169.254.169.254",
    "http://printer",
    "http://nas.local",
    "http://*.internal",
    "localhost.",
)


def directives(header: str) -> dict[str, str]:
    return {part.split(" ", 1)[0]: part.partition(" ")[2] for part in header.split("; ")}


def test_what_declares_nothing_may_run_inline_and_reach_nothing() -> None:
    header = app_policy(AppMeta()).header(ancestors=("http://a", "http://b"), report_uri="/r")
    assert directives(header) == {
        "default-src": "'none'",
        "script-src": "'unsafe-inline'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "font-src": "'none'",
        "media-src": "data:",
        "connect-src": "'none'",
        "frame-src": "'none'",
        "base-uri": "'self'",
        "worker-src": "'none'",
        "object-src": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "http://a http://b",
        "sandbox": "allow-scripts allow-forms",
        "report-uri": "/r",
    }


def test_each_list_opens_its_own_directives() -> None:
    domains = {
        "connectDomains": ("https://c.example",),
        "resourceDomains": ("https://r.example",),
        "frameDomains": ("https://f.example",),
        "baseUriDomains": ("https://b.example",),
    }
    found = directives(app_policy(AppMeta(domains=domains)).header())
    assert found["connect-src"] == "https://c.example"
    assert found["frame-src"] == "https://f.example"
    assert found["base-uri"] == "https://b.example"
    assert found["font-src"] == "https://r.example"
    for name in ("script-src", "style-src", "img-src", "media-src"):
        assert found[name].endswith(" https://r.example")


def test_the_reference_host_adds_eval_and_blobs_and_never_the_same_origin() -> None:
    header = app_policy(AppMeta(), "reference").header()
    found = directives(header)
    assert "'unsafe-eval'" in found["script-src"]
    assert found["worker-src"] == "blob:"
    assert "allow-same-origin" not in header


@pytest.mark.parametrize("entry", GOOD)
def test_an_origin_is_taken_as_it_is(entry: str) -> None:
    assert refusal_of(entry) is None


@pytest.mark.parametrize("entry", BROKEN)
def test_what_is_not_an_origin_is_left_out_with_the_reason(entry: str) -> None:
    assert refusal_of(entry, allows_private=True)
    policy = app_policy(AppMeta(domains={"connectDomains": (entry,)}), allows_private=True)
    assert policy.directives["connect-src"] == ()
    assert policy.entries[0].refusal


@pytest.mark.parametrize("entry", PRIVATE)
def test_a_private_address_is_left_out_unless_it_is_allowed(entry: str) -> None:
    assert "private network" in (refusal_of(entry) or "")
    assert refusal_of(entry, allows_private=True) is None


def test_a_domain_that_is_too_long_is_left_out_and_cut() -> None:
    meta = AppMeta(domains={"connectDomains": (f"https://{'a' * 10_000}.example",)})
    policy = app_policy(meta)
    (entry,) = policy.entries
    assert entry.refusal == "it is longer than 200 characters"
    assert len(entry.value) == 200
    assert policy.directives["connect-src"] == ()
