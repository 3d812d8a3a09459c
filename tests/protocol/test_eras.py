"""What each revision allows, and the headers of 2026-07-28."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from mcplens.protocol.eras import (
    HANDSHAKE_VERSIONS,
    STATELESS_VERSIONS,
    VERSIONS,
    Era,
    choose_version,
    envelope_meta,
    era_of,
    header_value,
    standard_headers,
    why_not_allowed,
)

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
# Method -> the smallest capabilities with which it may be sent (PROTOCOL LIFE-6).
NEEDED: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": {}},
    "tools/call": {"tools": {}},
    "resources/list": {"resources": {}},
    "resources/templates/list": {"resources": {}},
    "resources/read": {"resources": {}},
    "resources/subscribe": {"resources": {"subscribe": True}},
    "resources/unsubscribe": {"resources": {"subscribe": True}},
    "prompts/list": {"prompts": {}},
    "prompts/get": {"prompts": {}},
    "completion/complete": {"completions": {}},
    "logging/setLevel": {"logging": {}},
    "tasks/list": {"tasks": {"list": {}}},
    "tasks/cancel": {"tasks": {"cancel": {}}},
    "tasks/get": {"tasks": {}},
    "tasks/result": {"tasks": {}},
}


def test_five_revisions_are_spoken_in_two_eras() -> None:
    assert HANDSHAKE_VERSIONS == ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
    assert STATELESS_VERSIONS == ("2026-07-28",)
    assert {version: era_of(version) for version in VERSIONS} == {
        "2026-07-28": Era.STATELESS,
        "2025-11-25": Era.HANDSHAKE,
        "2025-06-18": Era.HANDSHAKE,
        "2025-03-26": Era.HANDSHAKE,
        "2024-11-05": Era.HANDSHAKE,
    }


@pytest.mark.parametrize("method", NEEDED)
def test_a_method_is_allowed_with_its_capability_and_refused_without(method: str) -> None:
    assert why_not_allowed(method, HANDSHAKE, NEEDED[method]) is None
    refusal = why_not_allowed(method, HANDSHAKE, {"experimental": {}})
    assert refusal is not None
    assert method in refusal
    assert next(iter(NEEDED[method])) in refusal


@pytest.mark.parametrize(
    "capabilities", [{"resources": {}}, {"resources": {"subscribe": False}}, {"resources": None}]
)
def test_a_capability_inside_a_capability_must_be_there_and_true(
    capabilities: dict[str, Any],
) -> None:
    assert why_not_allowed("resources/subscribe", HANDSHAKE, capabilities) is not None


def test_what_needs_no_capability_is_always_allowed() -> None:
    assert why_not_allowed("ping", HANDSHAKE, {}) is None
    assert why_not_allowed("my/own", HANDSHAKE, {}) is None
    assert why_not_allowed("server/discover", STATELESS, {}) is None


def test_completion_had_no_capability_in_the_first_revision() -> None:
    assert why_not_allowed("completion/complete", "2024-11-05", {}) is None
    assert why_not_allowed("completion/complete", "2025-03-26", {}) is not None


@pytest.mark.parametrize(
    ("method", "instead"),
    [
        ("initialize", "server/discover"),
        ("ping", "server/discover"),
        ("logging/setLevel", "_meta"),
        ("resources/subscribe", "subscriptions/listen"),
        ("resources/unsubscribe", "subscriptions/listen"),
        ("tasks/list", "tasks/get"),
        ("tasks/result", "tasks/get"),
    ],
)
def test_what_the_stateless_era_dropped_is_refused_with_what_to_use(
    method: str, instead: str
) -> None:
    everything = {"logging": {}, "resources": {"subscribe": True}}
    refusal = why_not_allowed(method, STATELESS, everything)
    assert refusal is not None
    assert instead in refusal


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "tasks/update"])
def test_what_only_the_stateless_era_has_is_refused_in_the_others(method: str) -> None:
    for version in HANDSHAKE_VERSIONS:
        refusal = why_not_allowed(method, version, {})
        assert refusal is not None
        assert version in refusal


@pytest.mark.parametrize(
    ("supported", "chosen"),
    [
        (["2026-07-28"], "2026-07-28"),
        (["2025-11-25", "2026-07-28", "2027-01-01"], "2026-07-28"),
        (["2025-11-25"], None),
        ([], None),
        (None, None),
        ("2026-07-28", None),
        ([1, {}], None),
    ],
)
def test_the_newest_common_stateless_revision_is_chosen(
    supported: object, chosen: str | None
) -> None:
    assert choose_version(supported) == chosen


def test_the_envelope_names_revision_capabilities_and_client() -> None:
    assert envelope_meta(STATELESS, {"roots": {}}, {"name": "x", "version": "1"}) == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    }


@pytest.mark.parametrize(
    "plain", ["add", "a b", "file:///x?y=%20", "~!@#$", "=?base64?", "=?base64?x", "=?utf-8?x?="]
)
def test_plain_ascii_stands_in_a_header_as_it_is(plain: str) -> None:
    assert header_value(plain) == plain


@pytest.mark.parametrize(
    "odd",
    [
        "é",
        "日本",
        " edge",
        "edge ",
        "\tedge",
        "in\tside",
        "line\nbreak",
        "line\r\nX-Injected: 1",
        "nul\0",
        "\x7f",
        "=?base64?QQ==?=",
        "=?base64??=",
        "",
        "😀",
    ],
)
def test_anything_else_is_wrapped_in_the_base64_sentinel(odd: str) -> None:
    value = header_value(odd)
    assert value.startswith("=?base64?")
    assert value.endswith("?=")
    assert value.isascii()
    assert base64.b64decode(value[9:-2], validate=True).decode() == odd


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "add"}, "add"),
        ("prompts/get", {"name": "p"}, "p"),
        ("resources/read", {"uri": "file:///é"}, "=?base64?ZmlsZTovLy/DqQ==?="),
        ("tasks/get", {"taskId": "t1"}, "t1"),
        ("tasks/update", {"taskId": "t1"}, "t1"),
        ("tasks/cancel", {"taskId": "t1"}, "t1"),
        ("tools/list", {"name": "not this"}, None),
        ("server/discover", None, None),
        ("tools/call", {"name": 5}, None),
        ("tools/call", {}, None),
    ],
)
def test_each_request_says_its_method_and_what_it_is_about(
    method: str, params: dict[str, Any] | None, name: str | None
) -> None:
    headers = standard_headers(method, params)
    assert headers["Mcp-Method"] == method
    assert headers.get("Mcp-Name") == name
