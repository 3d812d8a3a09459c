"""Makes wrong messages out of right ones, always the same for the same seed.

Fast rather than clever: a million frames are to go through a session in minutes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

# `%ID` is the id of a request, most often one that waits.
_TEMPLATES = [
    b'{"jsonrpc":"2.0","id":%ID,"result":{"content":[{"type":"text","text":"ok"}]}}',
    b'{"jsonrpc":"2.0","id":%ID,"result":{}}',
    b'{"jsonrpc":"2.0","id":%ID,"result":{"tools":[{"name":"a","inputSchema":{}}]}}',
    b'{"jsonrpc":"2.0","id":%ID,"error":{"code":-32601,"message":"no","data":{"a":[1]}}}',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress",'
    b'"params":{"progressToken":%ID,"progress":1,"total":2}}',
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
    b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%ID}}',
    b'{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",'
    b'"params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":%ID}}}',
    b'{"jsonrpc":"2.0","id":%ID,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"q%ID","method":"elicitation/create","params":{"message":"?"}}',
    b'{"jsonrpc":"2.0","id":%ID,"method":"sampling/createMessage","params":{}}',
    b'[{"jsonrpc":"2.0","id":%ID,"result":{}},{"jsonrpc":"2.0","method":"notifications/x"}]',
    b"Traceback (most recent call last):",
    b'{"level":"info","msg":"listening"}',
]
_PIECES = [
    b"null", b"true", b"-0", b"1e999", b"1.5", b"9" * 30, b'""', b'"\\ud800"', b'"\\u0000"',
    b"\xff", b"\xc3\x28", b"\xef\xbb\xbf", b"\0", b"{", b"}", b"[", b"]", b",", b":", b'"',
    b"\\", b"\n", b"\r\n", b'"id":', b'"method":"x",', b'"result":', b'"error":{},',
    b'"jsonrpc":"1.0",', b"NaN", b"  ", b'"%ID"', b"%ID",
]  # fmt: skip
# Rare, since each costs as much as fifty others.
_BIG_PIECES = [b"9" * 5_000, b"[" * 300, b"[" * 1_200, b'{"a":' * 400, b"]" * 300, b'\\"' * 400]


class Mutator:
    """An endless supply of frames, right and wrong."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __repr__(self) -> str:
        return f"<Mutator {self._random!r}>"

    def frames(self, count: int, ids: list[int]) -> Iterator[bytes]:
        """So many frames, most of them about these ids."""
        chance = self._random
        for _ in range(count):
            frame = chance.choice(_TEMPLATES)
            for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 6))):
                frame = self._mutate(frame)
            identity = chance.choice(ids) if chance.random() < 0.8 else chance.randrange(-5, 10_000)
            yield frame.replace(b"%ID", b"%d" % identity)

    def _mutate(self, frame: bytes) -> bytes:
        chance = self._random
        at = chance.randrange(len(frame) + 1)
        to = min(len(frame), at + chance.choice((1, 1, 2, 5, 20)))
        match chance.randrange(8):
            case 0:  # a bit
                if at == len(frame):
                    return frame
                return (
                    frame[:at] + bytes([frame[at] ^ (1 << chance.randrange(8))]) + frame[at + 1 :]
                )
            case 1:  # gone
                return frame[:at] + frame[to:]
            case 2:  # cut off
                return frame[:at]
            case 3:  # twice
                return frame[:to] + frame[at:]
            case 4:  # something in its place
                return frame[:at] + self._piece() + frame[to:]
            case 5:  # something in between
                return frame[:at] + self._piece() + frame[at:]
            case 6:  # another one's end
                other = chance.choice(_TEMPLATES)
                return frame[:at] + other[chance.randrange(len(other)) :]
            case _:  # in place of a value
                head, colon, tail = frame.partition(b":")
                return head + colon + self._piece() + tail[tail.find(b",") :]

    def _piece(self) -> bytes:
        chance = self._random
        return chance.choice(_BIG_PIECES if chance.random() < 0.02 else _PIECES)
