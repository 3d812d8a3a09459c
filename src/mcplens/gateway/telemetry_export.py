"""Where telemetry is sent, in whose name, and what the SDK says when that fails.

Used by telemetry.py alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import SERVICE_NAME, Resource

from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.config.telemetry_settings import TelemetrySettings


class ExportProblems(logging.Handler):
    """What the SDK logs, which would else go to stderr with a traceback."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._logger = logging.getLogger("opentelemetry")
        self._did_propagate = self._logger.propagate

    def __repr__(self) -> str:
        return "<ExportProblems>"

    def attach(self) -> None:
        self._logger.addHandler(self)
        self._logger.propagate = False

    def detach(self) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._did_propagate

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())


def resource_of(settings: TelemetrySettings, instance: str) -> Resource:
    """What the data says of this process."""
    given = Resource.create()  # with those of the environment
    named = {"service.version": VERSION, "service.instance.id": instance}
    name = settings.service_name
    if name is None and str(given.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        name = "mcplens-gateway"
    if name is not None:
        named[SERVICE_NAME] = name
    return given.merge(Resource(named))


def address_of(settings: TelemetrySettings, path: str) -> str | None:
    """Where one kind of data goes; None leaves it to the variables of OpenTelemetry."""
    return None if settings.endpoint is None else f"{settings.endpoint}{path}"
