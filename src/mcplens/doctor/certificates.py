"""The certificates of a TLS connection as evidence: subject, names, issuer, and until when.

Called by network_checks.py.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

_DAY_S: Final = 86_400
# As many names of a certificate as one reads.
_MOST_NAMES: Final = 3


def presented_chain(connection: Any) -> list[dict[str, Any]]:
    """What the server sent, the server's own certificate first; empty where Python has no way.

    Python offers this publicly from 3.13 on, and only as bytes; its TLS object has it since 3.10.
    """
    own = getattr(connection, "_sslobj", None)
    fetch = getattr(own, "get_unverified_chain", None)
    return [one.get_info() for one in (fetch() if fetch is not None else None) or ()]


def described(certificate: dict[str, Any]) -> str:
    """The names that a certificate is for, and who issued it."""
    return f"{', '.join(_names(certificate)) or 'no names'} by {_issuer(certificate)}"


def days_left(certificate: dict[str, Any], wall: float) -> float:
    """Days until a certificate ends, at this time."""
    return (ssl.cert_time_to_seconds(certificate["notAfter"]) - wall) / _DAY_S


def chain_lines(chain: list[dict[str, Any]], wall: float) -> Iterator[str]:
    """One line for each certificate of a chain."""
    for number, certificate in enumerate(chain, 1):
        names = _names(certificate)
        subject = _common_name(certificate, "subject")
        others = ", ".join(name for name in names if name != subject)
        until = datetime.fromtimestamp(
            ssl.cert_time_to_seconds(certificate["notAfter"]), UTC
        ).strftime("%Y-%m-%d")
        ends = "ended" if days_left(certificate, wall) < 0 else "until"
        issuer = _issuer(certificate)
        by = "itself" if certificate.get("issuer") == certificate.get("subject") else issuer
        yield f"{number}. {subject}{f' ({others})' if others else ''}, by {by}, {ends} {until}"


def _names(certificate: dict[str, Any]) -> list[str]:
    names = [str(value) for kind, value in certificate.get("subjectAltName", ()) if kind != "URI"]
    return names[:_MOST_NAMES]


def _issuer(certificate: dict[str, Any]) -> str:
    return _common_name(certificate, "issuer")


def _common_name(certificate: dict[str, Any], field: str) -> str:
    """A name as people know it: of a person or a machine, else of the organisation."""
    parts = dict(pair for part in certificate.get(field, ()) for pair in part)
    found = parts.get("commonName") or parts.get("organizationName")
    return str(found or f"an unnamed {field}")
