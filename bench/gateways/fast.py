"""A fastmcp proxy in front of one server.

`python -m bench.gateways.fast CONFIG` reads an mcp.json with one server and prints its address.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from pathlib import Path
from typing import Any

from fastmcp.server import create_proxy


async def main(config: dict[str, Any]) -> None:
    proxy = create_proxy(config)
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        await proxy.run_http_async(
            show_banner=False,
            sockets=[listener],
            log_level="critical",
            path="/mcp",
            uvicorn_config={"timeout_keep_alive": 75},
        )


if __name__ == "__main__":
    bytes(1 << 20)  # as bench/worker.py does, and why
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
