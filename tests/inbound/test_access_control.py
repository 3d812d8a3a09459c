"""Host, Origin and token: who may come in."""

import pytest

from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.refusal import Refusal

from .harness import INITIALIZE, served


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "a.localhost", "LOCALHOST"]
)
def test_a_name_of_this_machine_is_let_in(host: str) -> None:
    assert AccessControl().admit({"host": host}) == ""


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "127.0.0.1.evil", "[::1"]
)
def test_any_other_host_is_421(host: str) -> None:
    with pytest.raises(Refusal) as caught:
        AccessControl().admit({"host": host})
    assert caught.value.status == 421


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173"]
)
def test_a_page_of_this_machine_may_call(origin: str) -> None:
    assert AccessControl().admit({"host": "localhost", "origin": origin}) == ""


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "file://", "http://localhost.evil.example", "http://["],
)
def test_a_page_from_elsewhere_is_403(origin: str) -> None:
    with pytest.raises(Refusal) as caught:
        AccessControl().admit({"host": "localhost", "origin": origin})
    assert caught.value.status == 403


def test_a_host_and_an_origin_can_be_allowed() -> None:
    access = AccessControl(
        allowed_hosts=["Gateway.example"], allowed_origins=["https://app.example/"]
    )
    assert access.admit({"host": "gateway.example:443"}) == ""
    assert access.admit({"host": "localhost", "origin": "https://app.example"}) == ""
    assert access.admit({"host": "localhost", "origin": "https://gateway.example"}) == ""
    with pytest.raises(Refusal):
        access.admit({"host": "localhost", "origin": "https://other.example"})


@pytest.mark.parametrize("given", ["", "Bearer wrong", "Basic right", "Bearer", "Bearer rightt"])
def test_without_its_token_it_is_401(given: str) -> None:
    with pytest.raises(Refusal) as caught:
        AccessControl(token="right").admit({"host": "localhost", "authorization": given})
    assert caught.value.status == 401
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}


def test_callers_are_told_apart_by_their_tokens_and_the_token_is_not_shown() -> None:
    one, two = AccessControl(token="one"), AccessControl(token="two")
    callers = [
        access.admit({"host": "localhost", "authorization": f"bearer {token}"})
        for access, token in ((one, "one"), (two, "two"))
    ]
    assert len({*callers, ""}) == 3
    assert "one" not in callers[0] + repr(one)


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages", "/nowhere"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403), ({}, 401)],
)
async def test_the_gate_stands_before_every_path(
    path: str, headers: dict[str, str], status: int
) -> None:
    async with served(access=AccessControl(token="secret")) as http:
        done = await http.open("POST", path, INITIALIZE, **headers).ended()
        assert done.status == status
        assert done.json["error"]["message"]
        assert http.script.received_from == []


async def test_a_path_that_is_not_served_is_404() -> None:
    async with served() as http:
        done = await http.open("POST", "/elsewhere", INITIALIZE).ended()
        assert (done.status, "/mcp" in done.json["error"]["message"]) == (404, True)
