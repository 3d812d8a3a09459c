"""Sign-ins in the operating system's keyring, whatever that is up to."""

import threading
from pathlib import Path

import pytest

from mcplens.auth.clients import Client
from mcplens.auth.keyring_vault import KeyringVault, find_vault
from mcplens.auth.storage import SignInStore

SERVER = "https://server.example/mcp"
CLIENT = Client(issuer="https://example.com", client_id="me", client_secret="a-secret-of-mine")


class Ring:
    """A keyring in memory, with its three ways to fail."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = self.is_forgetful = False
        self.hangs_until: threading.Event | None = None

    def set_password(self, service: str, name: str, password: str) -> None:
        if self.is_locked:
            raise RuntimeError("the keyring is locked")
        if self.hangs_until is not None:
            self.hangs_until.wait(30)
        if not self.is_forgetful:
            self.kept[service, name] = password

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def store_with(ring: Ring, folder: Path, timeout_s: float = 5.0) -> SignInStore:
    return SignInStore(str(folder), lambda: KeyringVault(lambda: ring, timeout_s))


def texts_in(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.iterdir())


async def test_a_secret_is_in_the_keyring_and_not_in_the_file(tmp_path: Path) -> None:
    ring = Ring()
    store = store_with(ring, tmp_path)
    await store.keep_client(CLIENT, SERVER)
    assert "a-secret-of-mine" not in texts_in(tmp_path)
    assert await store_with(ring, tmp_path).client_of(CLIENT.issuer) == CLIENT
    await store.forget_client(CLIENT.issuer)
    assert ring.kept == {}


@pytest.mark.parametrize("way", ["is_locked", "is_forgetful"])
async def test_a_keyring_that_keeps_nothing_is_replaced_by_the_file(
    tmp_path: Path, way: str
) -> None:
    ring = Ring()
    setattr(ring, way, True)
    await store_with(ring, tmp_path).keep_client(CLIENT, SERVER)
    assert await store_with(ring, tmp_path).client_of(CLIENT.issuer) == CLIENT


async def test_a_keyring_that_hangs_is_given_up(tmp_path: Path) -> None:
    ring = Ring()
    ring.hangs_until = threading.Event()
    store = store_with(ring, tmp_path, timeout_s=0.01)
    await store.keep_client(CLIENT, SERVER)
    assert await store.client_of(CLIENT.issuer) == CLIENT
    ring.hangs_until.set()


async def test_what_only_a_keyring_has_is_no_sign_in_without_it(tmp_path: Path) -> None:
    await store_with(Ring(), tmp_path).keep_client(CLIENT, SERVER)
    assert await SignInStore(str(tmp_path), lambda: None).client_of(CLIENT.issuer) is None


def test_the_keyring_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPLENS_KEYRING", "OFF")
    assert find_vault() is None
