"""`mcplens tools -- COMMAND` by hand, with nothing but asyncio and json."""

import asyncio
import json
import sys
from typing import Any

_PREFIX = "io.modelcontextprotocol/"
_INFO = {"name": "bare", "version": "1"}


async def main() -> None:
    server = await asyncio.create_subprocess_exec(*sys.argv[1:], stdin=-1, stdout=-1)
    assert server.stdin is not None
    assert server.stdout is not None
    stdin, stdout = server.stdin, server.stdout
    last_id = 0

    def send(message: dict[str, Any]) -> None:
        stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
        nonlocal last_id
        last_id += 1
        send({"id": last_id, "method": method, "params": params})
        answer: dict[str, Any]
        while (answer := json.loads(await stdout.readline())).get("id") != last_id:
            pass
        return answer

    meta = {
        f"{_PREFIX}protocolVersion": "2026-07-28",
        f"{_PREFIX}clientInfo": _INFO,
        f"{_PREFIX}clientCapabilities": {},
    }
    found = await request("server/discover", {"_meta": meta})
    params: dict[str, Any] = {"_meta": meta}
    if "error" in found:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _INFO}
        await request("initialize", hello)
        send({"method": "notifications/initialized"})
        params = {}
    for tool in (await request("tools/list", params))["result"]["tools"]:
        print(tool["name"], tool.get("description", ""))
    stdin.close()
    await server.wait()


asyncio.run(main())
