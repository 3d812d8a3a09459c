"""A misbehaving server on stdio."""

import asyncio
import os
import sys

from tests.servers.process import open_stdio

from .abrupt import flee
from .faults import right
from .script import Message, Script


class StdioServer:
    def __init__(self, script: Script) -> None:
        self.script = script

    async def run(self) -> None:
        if self.script.fault == "exit_at_once":
            flee(3, "cannot start: no configuration")
        reader, self.writer = await open_stdio()
        while line := await reader.readline():
            message = self.script.parse(line)
            if message and self.script.fault != "silent_start":
                self.script.take(message, self._send, self._misbehave)
        os._exit(0)  # a thread may still be stuck on stderr

    async def _send(self, frame: bytes) -> None:
        self.writer.write(frame + b"\n")
        await self.writer.drain()

    async def _misbehave(self, message: Message) -> None:
        answer = right(message["id"])
        match self.script.fault_of(message):
            case "half_line_exit":
                os.set_blocking(1, True)
                os.write(1, answer[: len(answer) // 2])
                flee(7, "fatal: half of the answer is all you get")
            case "stderr_50mb":
                await asyncio.to_thread(self._fill_stderr)
                await self._send(answer)
            case "stray_stdout":
                await self._send(b"DEBUG: about to do the work")
                await asyncio.sleep(self.script.delay_s)
                await self._send(answer)
                await self._send(b"DEBUG: the work is done")

    def _fill_stderr(self) -> None:
        line = b"x" * 999 + b"\n"
        for _ in range(50):
            sys.stderr.buffer.write(line * 1000)
        sys.stderr.buffer.flush()
