"""The `telemetry` key of the `gateway` block, as values: where OpenTelemetry data is sent.

Reads and validates; called by views.py. All else is said by the standard `OTEL_*` variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from mcplens.config.keys import InvalidValue, filled, seconds, text_mapping

Reader = Callable[[Any, str], Any]


class TelemetrySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The `telemetry` of the gateway; None where the variables of OpenTelemetry count."""

    endpoint: str | None = None
    headers: dict[str, str] = {}
    service_name: str | None = None
    metrics_interval_s: float | None = None

    def __repr__(self) -> str:  # the headers are secrets
        return f"<TelemetrySettings {urlsplit(self.endpoint or '').hostname or 'by variables'}>"


def collector(value: Any, key: str) -> str:
    """The base address of a collector."""
    found = filled(value, key).rstrip("/")
    try:
        parts = urlsplit(found)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_right = is_right and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        is_right = False
    if not is_right:
        text = "must be the address of a collector for OTLP over HTTP, such as http://HOST:4318"
        raise InvalidValue(key, text)
    return found


def interval(value: Any, key: str) -> float:
    found = seconds(value, key)
    if found < 1:
        raise InvalidValue(key, "must be 1 or more")
    return found


TELEMETRY_KEYS: Final[Mapping[str, tuple[str, Reader]]] = {
    "endpoint": ("endpoint", collector),
    "headers": ("headers", text_mapping),
    "serviceName": ("service_name", filled),
    "metricsIntervalSeconds": ("metrics_interval_s", interval),
}
