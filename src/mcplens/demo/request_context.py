"""One request being handled, as the features see it; the same in both eras where possible.

The differences are here and in client_questions.py: where log levels and capabilities come from,
and how the client is asked (by a request, or by a result that lists the missing input).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcplens.demo.registry import Json
from mcplens.inbound.request_validation import CAPABILITIES_KEY
from mcplens.protocol.eras import LOG_LEVEL, LOG_LEVELS, Era
from mcplens.protocol.frames import RequestId

if TYPE_CHECKING:
    from mcplens.clock import Clock
    from mcplens.demo.client import DemoClient
    from mcplens.demo.server import Demo
    from mcplens.demo.tasks import DemoTask

RELATED_TASK: Final = "io.modelcontextprotocol/related-task"


class RequestContext:
    """A request of a client's."""

    def __init__(
        self,
        demo: Demo,
        client: DemoClient,
        identity: RequestId,
        method: str,
        params: Json,
        era: Era,
    ) -> None:
        self.demo = demo
        self.client = client
        self.id = identity
        self.method = method
        self.params = params
        self.era = era
        self.task: DemoTask | None = None  # the task that it became, if it did

    def __repr__(self) -> str:
        return f"<RequestContext {self.id!r} {self.method}, {self.era.value}>"

    @property
    def clock(self) -> Clock:
        return self.demo.clock

    @property
    def is_stateless(self) -> bool:
        return self.era is Era.STATELESS

    @property
    def meta(self) -> Json:
        return _object(self.params.get("_meta"))

    @property
    def arguments(self) -> Json:
        return _object(self.params.get("arguments"))

    @property
    def capabilities(self) -> Json:
        """What the client declared."""
        if self.is_stateless:
            return _object(self.meta.get(CAPABILITIES_KEY))
        return self.client.capabilities

    def declares(self, *path: str) -> bool:
        """Whether the client declared a capability: `declares("sampling", "tools")`."""
        have: Any = self.capabilities
        for key in path:
            have = have.get(key) if isinstance(have, dict) else None
        return have is not None

    def notify(self, method: str, params: Json) -> None:
        """Tell the client something that belongs to this request."""
        if self.task is None:
            self.client.notify(method, params, self.id)
        elif not self.is_stateless:  # a task's own request was answered long ago
            meta = {**params.get("_meta", {}), RELATED_TASK: {"taskId": self.task.id}}
            self.client.notify(method, {**params, "_meta": meta}, self.task.awaited_by)

    def progress(self, value: float, total: float | None, message: str) -> None:
        """Report progress, if the client gave a token for it."""
        token = self.meta.get("progressToken")
        if token is None:
            return
        params = {"progressToken": token, "progress": value, "message": message}
        if total is not None:
            params["total"] = total
        self.notify("notifications/progress", params)

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        """Send a log message, if its level is one that the client wants to hear."""
        wanted = self.meta.get(LOG_LEVEL) if self.is_stateless else self.client.log_level
        if wanted in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted):
            params = {"level": level, "logger": logger, "data": data}
            self.notify("notifications/message", params)


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
