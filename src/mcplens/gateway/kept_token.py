"""The gateway's bearer token: made once, kept in a file that only its owner can read.

It survives restarts, so that clients need not be configured again. Called by the command that
starts the gateway, and by those that write it into a client's configuration.
"""

from __future__ import annotations

import os
import secrets
import stat
from typing import Final

from mcplens.errors import ConfigurationError
from mcplens.known_secrets import known_secrets

TOKEN_FILE: Final = "gateway-token"
# 256 random bits: as long as a session id.
_TOKEN_BYTES: Final = 32
_LEAST_LENGTH: Final = 16


def kept_token(folder: str) -> str:
    """The token in this folder, made if there is none.

    Raises:
        ConfigurationError: the file cannot be read or written, or others can read it.
    """
    path = os.path.join(folder, TOKEN_FILE)
    try:
        token = read_kept_token(folder) or _make(folder, path)
    except OSError as problem:
        text = f"the gateway's token cannot be kept in {path}: {problem.strerror}"
        raise ConfigurationError("CONFIGURATION_INVALID", text) from None
    known_secrets.learn(token)
    return token


def read_kept_token(folder: str) -> str | None:
    """The token in this folder; None if none was made yet; raises as `kept_token`."""
    path = os.path.join(folder, TOKEN_FILE)
    try:
        token = _read(path)
    except OSError as problem:
        text = f"the gateway's token in {path} cannot be read: {problem.strerror}"
        raise ConfigurationError("CONFIGURATION_INVALID", text) from None
    if token is not None:
        known_secrets.learn(token)
    return token


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="ascii") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            token = file.read().strip()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        token, mode = "", 0
    if os.name == "posix" and mode & 0o077:
        text = f"others can read {path}: delete it, and the gateway makes a new token"
        raise ConfigurationError("CONFIGURATION_INVALID", text)
    if len(token) < _LEAST_LENGTH:
        text = f"{path} holds no token: delete it, and the gateway makes a new one"
        raise ConfigurationError("CONFIGURATION_INVALID", text)
    return token


def _make(folder: str, path: str) -> str:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    fresh = f"{path}.{secrets.token_hex(4)}"
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token)
    try:
        os.link(fresh, path)  # fails if another process was first, whose token counts
    except FileExistsError:
        token = _read(path) or token
    finally:
        os.unlink(fresh)
    return token
