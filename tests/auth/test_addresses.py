"""Addresses that a server names in a sign-in, and those that it must not name."""

from __future__ import annotations

import json

import pytest

from mcplens.auth.addresses import check_address
from mcplens.auth.metadata import read_authorization_server
from mcplens.auth.problems import SignInProblem


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:6280/api/session",
        "http://localhost:9200/",
        "http://[::1]:1/",
        "https://a.localhost/",
    ],
)
def test_a_server_elsewhere_cannot_make_us_ask_programs_of_this_machine(url: str) -> None:
    with pytest.raises(SignInProblem, match="an address of this machine"):
        check_address(url, "resource_metadata", named_by="https://evil.example/mcp")
    metadata = {"issuer": "https://evil.example", "token_endpoint": url}
    with pytest.raises(SignInProblem, match="an address of this machine"):
        read_authorization_server(json.dumps(metadata).encode(), "https://evil.example")
    # One that is developed on this machine can, and so can who configures it.
    assert check_address(url, "resource_metadata", named_by="http://127.0.0.1:3000/mcp") == url
    assert check_address(url, "the authorization server") == url
