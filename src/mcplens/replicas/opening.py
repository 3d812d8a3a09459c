"""Chooses the driver of the shared store, by the configuration. Called by gateway/service.py."""

from __future__ import annotations

from mcplens.clock import Clock
from mcplens.config.replica_settings import StoreSettings
from mcplens.errors import ConfigurationError
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.state_store import StateStore


def make_store(settings: StoreSettings | None, clock: Clock) -> StateStore:
    """The store of a gateway, not yet open; without settings, one in memory.

    Raises:
        ConfigurationError: the package that it needs is not installed.
    """
    if settings is None or settings.url == "memory":
        return MemoryStore(clock)
    try:
        from mcplens.replicas.redis_store import RedisStore
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] != "redis":
            raise
        text = "gateway.store needs the package redis: install mcplens[redis]"
        raise ConfigurationError("CONFIGURATION_INVALID", text) from None
    return RedisStore(settings, clock)
