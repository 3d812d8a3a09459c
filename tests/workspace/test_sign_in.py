"""What the page shows of a sign-in while two commands change it at once."""

from __future__ import annotations

import asyncio

import pytest

from mcplens.auth.clients import Client
from mcplens.auth.storage import SignInStore
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.events import SignInStarted, SignInStepChanged
from mcplens.workspace.sign_in import ServerSignIn

ISSUER = "https://issuer.example"


async def test_a_registration_forgotten_while_it_is_read_is_not_shown_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time that a read takes is ours to choose: a disk cannot be asked to be slow once."""
    kept: Client | None = Client(issuer=ISSUER, client_id="c1")
    read, go_on = asyncio.Event(), asyncio.Event()

    async def client_of(_: SignInStore, __: str) -> Client | None:
        found = kept
        if not read.is_set():
            read.set()
            await go_on.wait()
        return found

    async def forget_client(_: SignInStore, __: str) -> None:
        nonlocal kept
        kept = None
        go_on.set()

    monkeypatch.setattr(SignInStore, "client_of", client_of)
    monkeypatch.setattr(SignInStore, "forget_client", forget_client)
    bus = Bus(SystemClock())
    sign_in = ServerSignIn("closed", bus=bus, clock=SystemClock(), changed=lambda: None)
    sign_in.follow("https://server.example/mcp", {})
    sign_in.handle_event(SignInStarted(sign_in_id="s1", resource="", reason="", exchange_id=None))
    step = SignInStepChanged(
        sign_in_id="s1", step="issuer", state="done", facts={"issuer": ISSUER}, exchange_id=None
    )
    sign_in.handle_event(step)

    async with asyncio.TaskGroup() as group:
        group.create_task(sign_in.look())
        await read.wait()
        group.create_task(sign_in.forget_registration())
    assert sign_in.registration is None
