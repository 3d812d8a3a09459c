"""Traces as text, for tests of what reads them."""

import json
from pathlib import Path
from typing import Any


class Trace:
    """A trace that is written message by message; `version` 1 has no links."""

    def __init__(self, version: int = 2, run_id: str = "8c2b4f0e9d1a7c35") -> None:
        self.run_id = run_id
        self.server_id = "s"
        self.links = version > 1
        self.lines: list[str] = [json.dumps({"format": "mcplens-trace", "version": version})]
        self._seq = 0
        self._mono = 10.0
        self._seqs: dict[Any, int] = {}
        self.begin(run_id)

    def begin(self, run_id: str) -> None:
        self.run_id = run_id
        run = {"type": "Run", "run_id": run_id, "started": 1.0, "title": "t", "version": "0"}
        self.lines.append(json.dumps(run))

    def event(self, kind: str, **fields: Any) -> int:
        self._seq += 1
        place = {"run_id": self.run_id, "seq": self._seq, "wall": 1.0, "mono": self._mono}
        self.lines.append(
            json.dumps({"type": kind, **place, "server_id": self.server_id, **fields})
        )
        return self._seq

    def introduce(self, version: str = "2025-11-25", **capabilities: Any) -> None:
        info = {"name": "recorded", "version": "1"}
        self.event(
            "ServerIntroduced", protocol_version=version, server_info=info,
            capabilities={"tools": {}, **capabilities}, instructions=None,
        )  # fmt: skip

    def frame(
        self, kind: str, message: dict[str, Any], *, after_s: float = 0.0, **more: Any
    ) -> int:
        self._mono += after_s
        raw = json.dumps({"jsonrpc": "2.0", **message})
        about = {"kind": _kind(message), "raw": raw}
        about |= {name: message[name] for name in ("id", "method") if name in message}
        if not self.links:
            more = {name: item for name, item in more.items() if name == "masked"}
        return self.event(kind, message=about, size_bytes=len(raw), **more)

    def request(self, identity: Any, method: str, params: Any = None, **more: Any) -> int:
        message = {"id": identity, "method": method, "params": params or {}}
        seq = self._seqs[identity] = self.frame("FrameSent", message, **more)
        return seq

    def reply(self, identity: Any, result: Any, *, after_s: float = 0.0) -> None:
        message = {"id": identity, "result": result}
        seq = self._seqs[identity]
        self.frame("FrameReceived", message, after_s=after_s, request_seq=seq)

    def call(self, identity: Any, name: str, arguments: Any, text: str, **more: Any) -> None:
        self.request(identity, "tools/call", {"name": name, "arguments": arguments}, **more)
        self.reply(identity, {"content": [{"type": "text", "text": text}]})

    def write(self, folder: Path, *, cut: bool = False) -> Path:
        path = folder / f"{len(self.lines)}-{self._seq}.jsonl"
        text = "\n".join(self.lines) + "\n"
        path.write_text(text[:-20] if cut else text)
        return path


def mask(message: dict[str, Any], text: str, key: str | None) -> list[dict[str, Any]]:
    """The mark of a masked text in a message that `Trace.frame` writes."""
    raw = json.dumps({"jsonrpc": "2.0", **message}).encode()
    start = raw.index(text.encode())
    mark = {"field": "message", "start": start, "end": start + len(text)}
    return [mark | ({"key": key} if key else {})]


def _kind(message: dict[str, Any]) -> str:
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "error" if "error" in message else "result"
