"""Signed requests between replicas: what is forged, changed, old or repeated is refused."""

from __future__ import annotations

import pytest

from mcplens.clock import ManualClock
from mcplens.replicas.request_signing import (
    ALLOWED_S,
    InvalidSignature,
    RequestSigner,
    RequestVerifier,
)

OLD_KEY, KEY, OTHER = ("a" * 32, "b" * 32, "c" * 32)
HERE = "http://10.0.0.1:8808"
REQUEST = (HERE, "POST", "/servers/db/mcp", b"{}")


def test_a_signed_request_is_admitted_once_with_the_name_of_its_replica() -> None:
    clock = ManualClock()
    value = RequestSigner([KEY], "gateway eins", clock).sign(*REQUEST)
    verifier = RequestVerifier([KEY], clock)
    assert verifier.verify(value, *REQUEST) == "gateway eins"
    with pytest.raises(InvalidSignature, match="the request came before"):
        verifier.verify(value, *REQUEST)


@pytest.mark.parametrize(
    "changed",
    [
        ("http://10.0.0.2:8808", *REQUEST[1:]),
        (HERE, "DELETE", *REQUEST[2:]),
        (HERE, "POST", "/servers/other/mcp", b"{}"),
        (HERE, "POST", "/servers/db/mcp", b'{"method":"tools/call"}'),
    ],
    ids=["another receiver", "another method", "another path", "another body"],
)
def test_a_signature_is_of_one_request(changed: tuple[str, str, str, bytes]) -> None:
    clock = ManualClock()
    value = RequestSigner([KEY], "one", clock).sign(*REQUEST)
    with pytest.raises(InvalidSignature, match="not that of a replica"):
        RequestVerifier([KEY], clock).verify(value, *changed)


def test_a_key_is_rotated_in_two_steps() -> None:
    clock = ManualClock()
    old, new = (RequestSigner([key], "one", clock) for key in (OLD_KEY, KEY))
    verifier = RequestVerifier([KEY, OLD_KEY], clock)
    assert verifier.verify(old.sign(*REQUEST), *REQUEST)
    assert verifier.verify(new.sign(*REQUEST), *REQUEST)
    with pytest.raises(InvalidSignature):
        verifier.verify(RequestSigner([OTHER], "one", clock).sign(*REQUEST), *REQUEST)


async def test_clocks_may_differ_by_a_minute_and_old_requests_are_refused() -> None:
    here, there = ManualClock(1000.0), ManualClock(1060.0)
    verifier = RequestVerifier([KEY], here)
    assert verifier.verify(RequestSigner([KEY], "one", there).sign(*REQUEST), *REQUEST)
    value = RequestSigner([KEY], "one", here).sign(*REQUEST)
    await here.advance(ALLOWED_S + 1)
    with pytest.raises(InvalidSignature, match="look at the clocks"):
        verifier.verify(value, *REQUEST)


@pytest.mark.parametrize("value", ["", "v1", "v1 a b c d", "v2 b25l 1000 n 00", "v1 b25l nan n 00"])
def test_what_is_no_signature_is_refused(value: str) -> None:
    with pytest.raises(InvalidSignature):
        RequestVerifier([KEY], ManualClock()).verify(value, *REQUEST)
