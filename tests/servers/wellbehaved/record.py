"""What a test server has received, in order; the tool `seen` hands it out as JSON. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .protocol import Message


@dataclass
class Record:
    methods: list[str] = field(default_factory=list)
    cancelled: list[Message] = field(
        default_factory=list
    )  # {id, reason}, by notifications/cancelled
    stopped: list[Any] = field(default_factory=list)  # ids whose work was really cut short
    closed_streams: list[Any] = field(
        default_factory=list
    )  # 2026-07-28: ids whose HTTP stream the client closed
    answers: list[Message] = field(default_factory=list)  # the client's responses to our requests
    unparsed: list[str] = field(default_factory=list)
    http: list[Message] = field(default_factory=list)  # {verb, path, method, headers}
    connections: int = 0
    sessions: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    gets: list[Message] = field(default_factory=list)  # {session, last_event_id}

    def note_http(
        self, verb: str, path: str, headers: Mapping[str, str], message: Any = None
    ) -> None:
        method = message.get("method") if isinstance(message, dict) else None
        names = {name.lower(): value for name, value in headers.items()}
        self.http.append({"verb": verb, "path": path, "method": method, "headers": names})
        if verb == "GET":
            self.gets.append(
                {
                    "session": names.get("mcp-session-id"),
                    "last_event_id": names.get("last-event-id"),
                }
            )
        if verb == "DELETE":
            self.deletes.append(names.get("mcp-session-id", ""))

    def as_dict(self) -> Message:
        return asdict(self)
