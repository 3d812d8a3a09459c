"""What a message must carry: the envelope of 2026-07-28 and the headers that repeat the body."""

import base64
import json
from typing import Any

import pytest

from mcplens.inbound.refusal import Refusal, status_of
from mcplens.inbound.request_validation import check_envelope, decode_header, era_of_message
from mcplens.protocol.eras import Era
from mcplens.protocol.frames import Frame, parse

from .harness import ENVELOPE, STATELESS, request, stateless

VERSION_KEY, CAPABILITIES_KEY = ENVELOPE
PARAMETERS = {"Region": ("region",), "Shard": ("where", "shard"), "Urgent": ("urgent",)}


def frame(message: dict[str, Any]) -> Frame:
    parsed = parse(json.dumps(message).encode())
    assert isinstance(parsed, Frame)
    return parsed


def headers(**more: str | None) -> dict[str, str]:
    given: dict[str, str | None] = {"mcp-protocol-version": STATELESS}
    given |= {"mcp-method": "tools/call", "mcp-name": "t"}
    given |= {name.replace("_", "-"): value for name, value in more.items()}
    return {name: value for name, value in given.items() if value is not None}


def refusal(
    message: dict[str, Any], given: dict[str, str] | None, parameters: Any = None
) -> Refusal:
    with pytest.raises(Refusal) as caught:
        check_envelope(frame(message), given, parameters or {})
    return caught.value


CALL = stateless("tools/call", name="t", arguments={})


def test_a_whole_envelope_with_its_headers_passes() -> None:
    check_envelope(frame(CALL), headers(), {})
    check_envelope(frame(CALL), None, {})


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {VERSION_KEY: STATELESS},
        {CAPABILITIES_KEY: {}},
        {VERSION_KEY: STATELESS, CAPABILITIES_KEY: "all"},
        {VERSION_KEY: 7, CAPABILITIES_KEY: {}},
        "none",
    ],
)
def test_an_envelope_that_is_not_whole_is_invalid_params(meta: Any) -> None:
    found = refusal(request("tools/list", _meta=meta), None)
    assert (found.status, found.code, found.request_id) == (400, -32602, 1)


def test_params_that_are_a_list_have_no_envelope() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}
    assert refusal(message, None).code == -32602


def test_an_unknown_revision_is_refused_with_those_that_are_spoken() -> None:
    meta = {**ENVELOPE, VERSION_KEY: "2099-01-01"}
    found = refusal(request("tools/list", _meta=meta), None)
    assert (found.status, found.code) == (400, -32022)
    assert found.data["requested"] == "2099-01-01"
    assert {STATELESS, "2025-11-25"} <= set(found.data["supported"])


@pytest.mark.parametrize(
    "given",
    [
        headers(mcp_protocol_version=None),
        headers(mcp_protocol_version="2025-11-25"),
        headers(mcp_method=None),
        headers(mcp_method="tools/CALL"),
        headers(mcp_method="tools/call, tools/call"),
        headers(mcp_name=None),
        headers(mcp_name="other"),
        headers(mcp_name="=?base64?***?="),
        headers(mcp_name="\xe9"),
    ],
)
def test_headers_at_odds_with_the_body_are_a_mismatch(given: dict[str, str]) -> None:
    found = refusal(CALL, given)
    assert (found.status, found.code, found.request_id) == (400, -32020, 1)


def test_a_client_at_odds_with_itself_hears_that_before_its_version_is_judged() -> None:
    meta = {**ENVELOPE, VERSION_KEY: "2099-01-01"}
    assert refusal(request("tools/list", _meta=meta), headers()).code == -32020


@pytest.mark.parametrize(
    "name", ["plain", "smörgåsbord", " edges ", "=?base64?eA==?=", "new\nline"]
)
def test_a_name_may_come_as_base64(name: str) -> None:
    encoded = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
    check_envelope(frame(stateless("tools/call", name=name)), headers(mcp_name=encoded), {})


@pytest.mark.parametrize("value", ["=?base64?eB==?=", "=?base64?/w==?=", "é", "=?base64?e?="])
def test_a_header_that_cannot_be_read_is_nothing(value: str) -> None:
    assert decode_header(value) is None


def test_a_task_is_named_by_its_id() -> None:
    message = stateless("tasks/get", taskId="abc")
    check_envelope(frame(message), headers(mcp_method="tasks/get", mcp_name="abc"), {})
    assert refusal(message, headers(mcp_method="tasks/get", mcp_name="abd")).code == -32020


ARGUMENTS = {"region": "eu", "where": {"shard": 42}, "urgent": True, "free": 1}
MIRRORED = {"mcp_param_region": "eu", "mcp_param_shard": "42", "mcp_param_urgent": "true"}


def test_arguments_that_headers_repeat_agree_with_them() -> None:
    call = frame(stateless("tools/call", name="t", arguments=ARGUMENTS))
    check_envelope(call, headers(**MIRRORED), PARAMETERS)
    check_envelope(call, headers(**{**MIRRORED, "mcp_param_shard": "42.0"}), PARAMETERS)
    check_envelope(call, headers(**MIRRORED, mcp_param_unknown="x"), PARAMETERS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mcp_param_region", None),
        ("mcp_param_region", "us"),
        ("mcp_param_region", "=?base64?*?="),
        ("mcp_param_shard", "43"),
        ("mcp_param_shard", "42.5"),
        ("mcp_param_urgent", "True"),
    ],
)
def test_arguments_that_headers_contradict_are_a_mismatch(name: str, value: str | None) -> None:
    call = stateless("tools/call", name="t", arguments=ARGUMENTS)
    assert refusal(call, headers(**{**MIRRORED, name: value}), PARAMETERS).code == -32020


@pytest.mark.parametrize("arguments", [{}, {"region": None}, None])
def test_an_argument_that_is_not_there_has_no_header(arguments: Any) -> None:
    call = stateless("tools/call", name="t", arguments=arguments)
    check_envelope(frame(call), headers(), PARAMETERS)
    assert refusal(call, headers(mcp_param_region="eu"), PARAMETERS).code == -32020


@pytest.mark.parametrize(
    ("message", "given", "era"),
    [
        (request("initialize"), {"mcp-protocol-version": STATELESS}, Era.HANDSHAKE),
        (request("server/discover"), {}, Era.STATELESS),
        (request("tools/list"), {}, Era.HANDSHAKE),
        (request("tools/list"), {"mcp-protocol-version": STATELESS}, Era.STATELESS),
        (stateless("tools/list"), {}, Era.STATELESS),
        (request("tools/call", arguments={VERSION_KEY: "in the wrong place"}), {}, Era.HANDSHAKE),
    ],
)
def test_a_message_tells_its_era(message: dict[str, Any], given: dict[str, str], era: Era) -> None:
    assert era_of_message(frame(message), given) is era


def test_an_error_of_2026_07_28_has_its_status() -> None:
    codes = (None, -32700, -32600, -32602, -32020, -32021, -32022, -32601, -32603, -32000)
    assert [status_of(code) for code in codes] == [200, 400, 400, 400, 400, 400, 400, 404, 200, 200]
