"""stdio: lines in, lines out, over real pipes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcplens.clock import SystemClock
from mcplens.inbound.limits import Limits
from mcplens.inbound.stdio import StdioPeer
from mcplens.protocol.frames import Malformed, encode_result

from .harness import INITIALIZE, PATIENCE_S, Script, note, request, stateless


class Pipes:
    """The client's ends of the server's standard streams."""

    def __init__(self, limits: Limits) -> None:
        self.script = Script()
        (their_in, self.stdin), (self.stdout, their_out) = os.pipe(), os.pipe()
        self.peer = StdioPeer(self.script, limits, reader=their_in, writer=their_out)
        self.run = asyncio.ensure_future(self.peer.run(SystemClock()))
        self._rest = b""

    def write(self, *messages: Any) -> None:
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            os.write(self.stdin, data)

    async def read(self) -> Any:
        """The next line."""
        while b"\n" not in self._rest:
            chunk = await asyncio.to_thread(os.read, self.stdout, 65536)
            assert chunk, "the server closed its stdout"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def leave(self) -> None:
        os.close(self.stdin)
        self.stdin = -1


@asynccontextmanager
async def started(**limits: Any) -> AsyncIterator[Pipes]:
    pipes = Pipes(Limits(**limits))
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield pipes
    finally:
        pipes.peer.close("the test is over")
        await pipes.run
        for end in (pipes.stdin, pipes.stdout):
            if end >= 0:
                os.close(end)


async def test_a_line_is_a_message_in_both_directions_and_both_eras() -> None:
    async with started() as pipes:
        pipes.write(INITIALIZE)
        assert (await pipes.read())["id"] == 0
        pipes.peer.send(note(1))
        assert (await pipes.read())["params"]["data"] == 1
        pipes.write(request("echo", 1), stateless("echo", 2))
        assert [(await pipes.read())["id"] for _ in range(2)] == [1, 2]


async def test_lines_may_come_in_pieces_and_many_at_once() -> None:
    async with started() as pipes:
        data = json.dumps(INITIALIZE).encode()
        pipes.write(data[:20])
        pipes.write(data[20:] + b"\r\n\n  \n")
        assert (await pipes.read())["id"] == 0
        many = [request("echo", number) for number in range(200)]
        pipes.write(b"".join(json.dumps(one).encode() + b"\n" for one in many))
        assert [(await pipes.read())["id"] for _ in many] == list(range(200))


async def test_what_is_no_message_is_answered_with_an_error_and_told_to_the_handler() -> None:
    async with started() as pipes:
        pipes.write(b"hello\n", b'{"jsonrpc":"2.0"}\n')
        assert [(await pipes.read())["error"]["code"] for _ in range(2)] == [-32700, -32600]
        assert all(isinstance(item.message, Malformed) for _, item in pipes.script.received_from)


async def test_a_line_over_the_limit_is_refused_and_the_next_is_read() -> None:
    async with started(max_message_bytes=1000) as pipes:
        pipes.write(b'{"x":"' + b"x" * 2000 + b'"}\n', INITIALIZE)
        assert "limit of 1000 bytes" in (await pipes.read())["error"]["message"]
        assert (await pipes.read())["id"] == 0


async def test_a_duplicate_id_is_refused() -> None:
    async with started() as pipes:
        pipes.script.answers["slow"] = lambda *_: None
        pipes.write(request("slow", 1), request("echo", 1))
        assert (await pipes.read())["error"]["code"] == -32600


async def test_the_end_of_stdin_ends_the_server() -> None:
    async with started() as pipes:
        pipes.write(INITIALIZE)
        await pipes.read()
        pipes.leave()
        await pipes.run
        assert pipes.script.gone == [(pipes.peer, "the client closed our stdin")]


async def test_what_was_asked_before_the_end_of_stdin_is_still_answered() -> None:
    async with started() as pipes:

        def soon(peer: Any, frame: Any) -> None:
            answer = encode_result(frame.id, {})
            asyncio.get_running_loop().call_later(0.01, peer.answer, frame.id, answer)

        pipes.script.answers["soon"] = soon
        pipes.write(request("soon", 5))
        pipes.leave()
        assert (await pipes.read())["id"] == 5
        await pipes.run


async def test_a_last_line_without_its_newline_counts() -> None:
    async with started() as pipes:
        pipes.write(json.dumps(INITIALIZE).encode())
        pipes.leave()
        assert (await pipes.read())["id"] == 0
        await pipes.run


async def test_work_that_never_ends_does_not_keep_the_server() -> None:
    async with started() as pipes:
        pipes.script.answers["never"] = lambda *_: None
        pipes.write(request("never"))
        pipes.leave()
        await pipes.run
        assert len(pipes.script.gone) == 1


async def test_a_client_that_does_not_read_is_disconnected() -> None:
    async with started(max_backlog_bytes=256 * 1024) as pipes:
        pipes.write(INITIALIZE)
        await pipes.read()
        big = b'"' + b"x" * 65536 + b'"'
        for _ in range(50):
            pipes.peer.send(big)
        assert pipes.script.gone == [(pipes.peer, "the client reads too slowly")]
        # The writer's thread is stuck in the full pipe: let it go.
        await asyncio.to_thread(os.read, pipes.stdout, 1 << 20)


async def test_a_client_that_closed_our_stdout_is_gone() -> None:
    async with started() as pipes:
        pipes.write(INITIALIZE)
        await pipes.read()
        os.close(pipes.stdout)
        pipes.stdout = -1
        pipes.peer.send(note(1))
        await pipes.run
        assert pipes.script.gone == [(pipes.peer, "the client closed our stdout")]


async def test_closing_the_peer_ends_the_server() -> None:
    async with started() as pipes:
        pipes.peer.close("enough")
        await pipes.run
        assert pipes.script.gone == [(pipes.peer, "enough")]
