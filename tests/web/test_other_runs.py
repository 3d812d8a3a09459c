"""Runs that another mcplens records: the page is told within a moment, until the writer is gone."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from mcplens.store.live_runs import LiveMark, is_live, live_run_ids

from .harness import Page, site

TAP = [sys.executable, "-m", "mcplens", "tap", "--name", "files", "--"]
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"clientInfo":{"name":"claude","version":"9"},"capabilities":{"roots":{}}}}\n'
)
# Answers the first request, asks a question, and then says nothing more.
SERVER = """
import sys
sys.stdin.readline()
print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":'
      '{"tools":{}},"serverInfo":{"name":"fs","version":"2"}}}', flush=True)
print('{"jsonrpc":"2.0","id":"q","method":"roots/list"}', flush=True)
print('this is not JSON', flush=True)
sys.stdin.read()
"""


async def start(recording: Path) -> asyncio.subprocess.Process:
    environment = {**os.environ, "MCPLENS_STATE_DIR": str(recording.parent)}
    return await asyncio.create_subprocess_exec(
        *TAP,
        *(sys.executable, "-c", SERVER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )


async def say(process: asyncio.subprocess.Process, line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line)
    await process.stdin.drain()


def known(page: Page) -> dict[str, Any] | None:
    runs = [value for (what, _), value in page.things.items() if what == "runs" and value]
    return runs[0] if runs else None


async def test_a_tapped_session_is_followed_until_its_writer_is_killed(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page, asyncio.timeout(60):
        recording = Path(web.workspace.recording_path)
        tap = await start(recording)
        try:
            await say(tap, INITIALIZE)

            def has_question() -> dict[str, Any] | None:
                info = known(page)
                is_there = info is not None and info["message_count"] == 4
                return info if is_there else None

            info = await page.until(has_question)
            assert info["run"]["is_live"]
            assert (info["run"]["servers"], info["run"]["client"]) == (["files"], "claude")
            assert info["client"]["info"] == {"name": "claude", "version": "9"}
            assert info["client"]["capabilities"] == {"roots": {}}
            assert info["server"]["capabilities"] == {"tools": {}}
            assert (info["protocol_version"], info["era"]) == ("2025-11-25", "handshake")
            assert info["problem_count"] == 1
            # The message itself says what is wrong with it, as one of our own session does.
            run_id = info["run"]["run_id"]
            rows = (await web.get_json("/api/history/events", run=run_id, limit="100"))["events"]
            (wrong,) = [row for row in rows if row["malformed"]]
            assert wrong["malformed"] == "not a JSON object"
            (question,) = info["waiting"]
            assert (question["method"], question["is_question"]) == ("roots/list", True)
            await say(tap, b'{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}\n')
            await say(tap, b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n')

            def waits() -> bool:
                info = known(page)
                return info is not None and [
                    (one["method"], one["is_question"]) for one in info["waiting"]
                ] == [("tools/list", False)]

            await page.until(waits)
            tap.send_signal(signal.SIGKILL)
            await tap.wait()
            ended = await page.until(
                lambda: info if (info := known(page)) and not info["run"]["is_live"] else None
            )
            assert ended["run"]["ended"] is None  # nobody could write it
            # What it did is still there, and without an answer.
            asked = await page.ask("RunInfo", run_id=ended["run"]["run_id"])
            assert [one["method"] for one in asked["waiting"]] == ["tools/list"]
        finally:
            if tap.returncode is None:
                tap.kill()
                await tap.wait()


def test_a_mark_holds_however_often_somebody_looks(tmp_path: Path) -> None:
    recording = str(tmp_path / "recording.sqlite3")
    Path(f"{recording}-live-dead").touch()
    mark = LiveMark(recording, "mine")
    assert live_run_ids(recording) == ["mine"]
    assert not Path(f"{recording}-live-dead").exists()
    mark.release()
    assert not is_live(recording, "mine")
