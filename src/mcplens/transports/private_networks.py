"""Keeps HTTP requests out of private networks, for addresses that somebody else names.

A client with a PublicNetworkGuard checks the address of every connection after DNS resolution, so
that a public name cannot lead to a private address. Used by the sign-in when mcplens serves people
on other machines: metadata of a server must not make us send requests within our own network.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

from mcplens.transports.network import is_loopback

# RFC 6052: an IPv4 address in the last 32 bits, reached through a translator.
_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address, with all that is embedded in it, is one of the public internet."""
    found = ip_address(address.partition("%")[0])
    return all(each.is_global and not each.is_multicast for each in (found, *_embedded(found)))


def _embedded(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def sign_in_networks(host: str, *, allows_private: bool) -> str:
    """The networks that sign-ins may reach, for a process that listens on this host."""
    return "any" if allows_private or is_loopback(host) else "public"


class PublicNetworkGuard:
    """Makes the sockets of a client, for public addresses only; keeps the one that it refused."""

    def __init__(self) -> None:
        self.refused: str | None = None

    def __repr__(self) -> str:
        return f"<PublicNetworkGuard {self.refused or 'refused nothing'}>"

    def admits(self, host: str) -> bool:
        """Whether a host may be asked for; a name that must be resolved first is checked later."""
        try:
            is_admitted = is_public(host)
        except ValueError:  # a name
            is_admitted = not is_loopback(host)
        if not is_admitted:
            self.refused = host
        return is_admitted

    def make_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The socket for one resolved address, as `getaddrinfo` gives it.

        Raises:
            OSError: the address is private.
        """
        family, kind, protocol, _, place = info
        if not is_public(place[0]):
            self.refused = place[0]
            raise OSError("a private address")
        return socket.socket(family=family, type=kind, proto=protocol)
