"""Sign-ins of a mcplens that serves other machines: private addresses that a server names."""

import socket
from typing import Any

import pytest

import mcplens
from mcplens.auth.storage import SignInStore
from mcplens.transports.private_networks import PublicNetworkGuard, is_public
from tests.auth.protected import Protected, consent, protected


async def failure(server: Protected, **options: Any) -> mcplens.InspectorError:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect(
            server.url, sign_in=consent, sign_in_networks="public", **options
        ):
            pass
    return caught.value


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00::1",
        "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "ff02::1",
    ],
)  # fmt: skip
def test_an_address_that_the_internet_does_not_reach_is_private(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07::1", "64:ff9b::808:808"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_a_resolved_address_is_checked_before_a_socket_is_made() -> None:
    guard = PublicNetworkGuard()
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("192.168.1.1", 443))
    with pytest.raises(OSError, match="private"):
        guard.make_socket(info)
    assert guard.refused == "192.168.1.1"


async def test_the_server_that_the_user_chose_may_be_private_itself(server: Protected) -> None:
    async with mcplens.connect(server.url, sign_in=consent, sign_in_networks="public") as client:
        await client.call_tool("echo")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_an_authorization_server_in_a_private_network_is_not_asked(
    server: Protected, host: str
) -> None:
    async with protected() as other:
        elsewhere = other.base.replace("127.0.0.1", host)
        whole = server.metadata_of_resource
        server.metadata_of_resource = lambda: whole() | {"authorization_servers": [elsewhere]}
        error = await failure(server)
        assert other.asked == []
    assert error.code == "SIGN_IN_FAILED"
    assert error.details["sign_in_step"] == "authorization_server"
    assert "an address of a private network" in error.message
    assert "--allow-private-networks" in error.details["hint"]


async def test_a_public_name_that_resolves_to_a_private_address_is_not_asked(
    server: Protected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in DNS rebinding: what counts is the address that is connected to."""
    async with protected() as other:
        port = int(other.base.rpartition(":")[2])

        def resolve(*_: object, **__: object) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        whole = server.metadata_of_resource
        named = [f"https://login.example:{port}"]
        server.metadata_of_resource = lambda: whole() | {"authorization_servers": named}
        error = await failure(server)
        assert other.asked == []
    assert "is at 127.0.0.1, an address of a private network" in error.message


async def test_endpoints_and_challenges_that_lead_into_a_private_network_are_not_asked(
    server: Protected,
) -> None:
    async with protected() as other:
        whole = server.metadata_of_issuer
        named = {"registration_endpoint": f"{other.base}/register"}
        server.metadata_of_issuer = lambda: whole() | named
        registering = await failure(server)
        named = {"token_endpoint": f"{other.base}/token"}
        exchanging = await failure(server)
        await SignInStore().forget_client(server.base)  # else it is looked for before the challenge
        server.challenge = f'Bearer resource_metadata="{other.base}/metadata"'
        challenged = await failure(server)
        assert other.asked == []
    steps = [e.details["sign_in_step"] for e in (registering, exchanging, challenged)]
    assert steps == ["client", "token", "protected_resource"]


async def test_an_authorization_server_that_the_user_configured_may_be_private(
    server: Protected,
) -> None:
    async with protected() as other:
        whole = server.metadata_of_resource
        server.metadata_of_resource = lambda: whole() | {"authorization_servers": [other.base]}
        server.valid = other.valid
        async with mcplens.connect(
            server.url,
            sign_in=consent,
            sign_in_networks="public",
            auth={"authorizationServer": other.base},
        ) as client:
            await client.call_tool("echo")


async def test_another_word_for_the_networks_is_refused(server: Protected) -> None:
    with pytest.raises(mcplens.InspectorError, match="use 'any' or 'public'"):
        async with mcplens.connect(server.url, sign_in_networks="private"):  # type: ignore[arg-type]
            pass
