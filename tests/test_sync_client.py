"""The synchronous client: the same names and errors, in a program without `async`."""

from __future__ import annotations

import inspect
import os
import select
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

import mcplens
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.client import Client
from mcplens.session.queue import Progress
from mcplens.sync_client import SyncClient

DEMO = [sys.executable, "-m", "mcplens.demo"]
# Bounds a program that hangs; each takes a second.
RUN_TIMEOUT_S = 60

# Parts with coroutine methods of their own, which only surfaces use.
LEFT_OUT = {"connection", "queue", "catalog", "raw_calls", "receiver_tasks"}


def public(kind: type) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


def test_the_client_lacks_nothing_that_the_asynchronous_one_has() -> None:
    client = mcplens.create_mcp_client()
    wanted = public(Client).keys() | {name for name in vars(client) if not name.startswith("_")}
    has = public(SyncClient).keys() | {"sampling", "elicitation"}
    assert wanted - has == LEFT_OUT


@pytest.mark.parametrize(
    "name", [name for name, value in public(Client).items() if inspect.isfunction(value)]
)
def test_each_method_is_called_like_the_asynchronous_one_and_waits(name: str) -> None:
    ours, theirs = public(SyncClient)[name], public(Client)[name]
    assert not inspect.iscoroutinefunction(ours)
    if name != "events":
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert ours.__doc__ == theirs.__doc__
    assert inspect.signature(mcplens.connect_sync) == inspect.signature(mcplens.connect)


def test_a_script_calls_tools_without_async() -> None:
    with mcplens.connect_sync(DEMO) as client:
        heard: list[Progress] = []
        assert client.call_tool("add", {"a": 2, "b": 3}).structured_content == {"sum": 5}
        assert "add" in [tool.name for tool in client.list_tools()]
        assert client.call_tool(
            "progress-steps", {"steps": 3, "seconds": 0}, on_progress=heard.append
        ).content
        assert len(heard) == 3
        assert client.state is ConnectionState.CONNECTED
        assert client.ping() > 0
        assert next(client.events()).server_id == client.server_id
        assert client.server_info["name"] == "mcplens-demo"
    assert not [thread for thread in threading.enumerate() if thread.name == "mcplens"]
    with pytest.raises(mcplens.InspectorError, match="the client was closed") as caught:
        client.list_tools()
    assert caught.value.code == "NOT_CONNECTED"


def test_errors_are_those_of_the_asynchronous_client() -> None:
    with mcplens.connect_sync(DEMO) as client:
        with pytest.raises(mcplens.InspectorError) as timed_out:
            client.call_tool("wait", {"seconds": 600}, timeout_s=0.05)
        with pytest.raises(mcplens.ServerError):
            client.request("tools/call", {})
    assert timed_out.value.code == "REQUEST_TIMEOUT"
    with pytest.raises(mcplens.InspectorError) as missing, mcplens.connect_sync("no-such-command"):
        pass
    assert missing.value.code == "COMMAND_NOT_FOUND"
    with pytest.raises(mcplens.InspectorError, match="nope: not supported"):
        mcplens.connect_sync(DEMO, nope=1)  # type: ignore[call-arg]


def test_a_function_answers_what_the_server_asks_and_another_thread_can() -> None:
    given: dict[str, Any] = {"action": "accept", "content": {"name": "Ada"}}
    with mcplens.connect_sync(DEMO, elicitation=lambda request: given) as client:
        assert "Ada" in str(client.call_tool("elicit-form").raw)
    with mcplens.connect_sync(DEMO, elicitation=True) as client:
        answered = threading.Thread(target=_decline_first, args=(client,))
        answered.start()
        assert "decline" in str(client.call_tool("elicit-form").raw)
        answered.join()


def _decline_first(client: SyncClient) -> None:
    for event in client.events():
        if isinstance(event, mcplens.events.QuestionOpened):
            client.elicitation.decline(event.question_id)
            return


def test_a_handler_that_calls_its_own_client_fails_and_does_not_hang() -> None:
    failed: list[str] = []

    def report(progress: Progress) -> None:
        try:
            client.list_tools()
        except mcplens.InspectorError as error:
            failed.append(error.code)

    with mcplens.connect_sync(DEMO) as client:
        client.call_tool("progress-steps", {"steps": 1, "seconds": 0}, on_progress=report)
    assert failed == ["INVALID_REQUEST"]


def program(text: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def has_ended(pid: int) -> bool:
    """Whether a process ends soon; the watchdog sees to a slow one."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], RUN_TIMEOUT_S)[0])
    finally:
        os.close(process)


def test_ctrl_c_cancels_the_call_and_the_client_can_be_used_on() -> None:
    ran = program(
        f"""
import mcplens
with mcplens.connect_sync({DEMO!r}) as client:
    print(client.describe()["pid"], flush=True)
    slow = {{"steps": 1000, "seconds": 0.05}}
    try:
        client.call_tool("progress-steps", slow, on_progress=lambda _: print("on", flush=True))
    except KeyboardInterrupt:
        print("interrupted")
    print(client.call_tool("add", {{"a": 2, "b": 3}}).structured_content)
    sent = [e.method for e in client.kept_events() if type(e).__name__ == "FrameSent"]
    print("notifications/cancelled" in sent)
"""
    )
    assert ran.stdout is not None
    pid = int(ran.stdout.readline())
    assert ran.stdout.readline() == "on\n"
    ran.send_signal(signal.SIGINT)
    out, err = ran.communicate(timeout=RUN_TIMEOUT_S)
    said = [line for line in out.splitlines() if line != "on"]
    assert (said, err) == (["interrupted", "{'sum': 5}", "True"], "")
    assert ran.returncode == 0
    assert has_ended(pid)


@pytest.mark.parametrize("end", ["", "raise KeyboardInterrupt", "raise SystemExit(3)"])
def test_a_client_that_was_left_open_is_closed_when_the_program_ends(end: str) -> None:
    ran = program(
        f"""
import mcplens
client = mcplens.connect_sync({DEMO!r}).open()
print(client.describe()["pid"])
{end}
"""
    )
    out, err = ran.communicate(timeout=RUN_TIMEOUT_S)
    assert has_ended(int(out))
    assert err.strip().splitlines()[-1:] in ([], ["KeyboardInterrupt"])


def test_python_dash_m_mcplens_is_the_command_line() -> None:
    command = [sys.executable, "-m", "mcplens", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S)
    assert (shown.returncode, shown.stdout.strip()) == (
        0,
        f"mcplens, version {mcplens.__version__}",
    )
