"""From an entry to `mcplens.connect`: every option is one that it takes; servers are reached."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

import mcplens
from mcplens.config.configuration import load_configuration
from mcplens.config.connect_options import to_connect_options
from mcplens.errors import InspectorError
from tests.config.machine import Machine
from tests.servers.run import serve


def options(machine: Machine, raw: Any, **top: Any) -> tuple[Any, dict[str, Any]]:
    machine.write_project({"mcpServers": {"s": raw}} | top)
    configuration = load_configuration(here=machine.here())
    return to_connect_options(configuration.servers[0], configuration.settings)


def test_a_command(machine: Machine) -> None:
    machine.environ["TOKEN"] = "${HOME} $${x} {y}"
    raw = {
        "command": "x",
        "args": ["-v", "${TOKEN}"],
        "env": {"T": "${TOKEN}"},
        "maxConcurrency": 3,
    }
    assert options(machine, raw) == (
        ["x", "-v", "${HOME} $${x} {y}"],
        {
            "server_id": "s",
            "server_name": "s",
            "protocol_version": "auto",
            "connection_timeout_s": 30.0,
            "request_timeout_s": 60.0,
            "default_log_level": "info",
            "concurrency": 3,
            # The transport resolves once more, and gets the value back.
            "env": {"T": "$${HOME} $$${x} {y}"},
            "inherit_env": False,
            "cwd": str(machine.project),
        },
    )


def test_the_log_level_of_the_settings_is_the_default_and_can_be_off(machine: Machine) -> None:
    assert options(machine, {"command": "x"}, logLevel="error")[1]["default_log_level"] == "error"
    assert options(machine, {"command": "x"}, logLevel="off")[1]["default_log_level"] is None


def test_a_url(machine: Machine) -> None:
    raw = {
        "type": "sse",
        "url": "https://h/sse",
        "headers": {"A": "b"},
        "caFile": "ca.pem",
        "insecure": True,
        "maxMessageBytes": 10,
        "capabilities": {"roots": {}},
        "protocolVersion": "2025-06-18",
    }
    assert options(machine, raw) == (
        "https://h/sse",
        {
            "server_id": "s",
            "server_name": "s",
            "protocol_version": "2025-06-18",
            "connection_timeout_s": 30.0,
            "request_timeout_s": 60.0,
            "default_log_level": "info",
            "transport": "sse",
            "headers": {"A": "b"},
            "sign_in_timeout_s": 120.0,
            "ca_file": str(machine.project / "ca.pem"),
            "insecure": True,
            "max_message_bytes": 10,
            "capabilities": {"roots": {}},
        },
    )


def test_a_servers_own_times_win_over_the_files_and_nothing_means_no_limit(
    machine: Machine,
) -> None:
    top = {"requestTimeoutSeconds": 5, "capabilitiesTimeoutSeconds": 7}
    _, found = options(machine, {"command": "x"}, **top)
    assert (found["request_timeout_s"], found["connection_timeout_s"]) == (5.0, 7.0)
    raw = {
        "command": "x",
        "requestTimeout": 1500,
        "connectionTimeout": 0,
        "maxTotalTimeout": 0,
        "pingInterval": 0,
        "progressResetsTimeout": False,
        "maxRetries": 2,
        "retryBackoff": [10],
    }
    _, found = options(machine, raw, **top)
    assert found["request_timeout_s"] == 1.5
    assert found["connection_timeout_s"] is None
    assert found["max_total_timeout_s"] is None
    assert (found["ping_interval_s"], found["progress_resets_timeout"]) == (0.0, False)
    assert (found["max_retries"], found["retry_backoff_s"]) == (2, (0.01,))


def test_meta_and_retries_reach_the_connection(machine: Machine) -> None:
    _, found = options(machine, {"command": "x", "meta": {"tenant": "blue"}, "maxRetries": 2})
    assert (found["meta"], found["max_retries"]) == ({"tenant": "blue"}, 2)


def test_an_entry_with_a_problem_is_refused_with_it(machine: Machine) -> None:
    with pytest.raises(InspectorError, match="a command or a url is required"):
        options(machine, {})


@pytest.mark.parametrize(
    "raw",
    [{"command": "x"}, {"url": "https://h"}, {"url": "ws://h"}, {"type": "sse", "url": "http://h"}],
)
def test_connect_takes_every_option(machine: Machine, raw: dict[str, Any]) -> None:
    shared: dict[str, Any] = {"maxMessageBytes": 10, "maxConcurrency": 2, "retryBackoff": [1]}
    command = {"env": {"A": "b"}, "inheritEnv": True, "cwd": "/"}
    url = {"headers": {"A": "b"}, "caFile": "x", "insecure": True}
    own: dict[str, Any] = command if "command" in raw else url
    target, found = options(machine, raw | shared | own)
    mcplens.connect(target, **found)


PROGRAM = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        about = {"name": os.environ["ODD"], "version": os.getcwd()}
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": about}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


async def test_a_configured_command_gets_its_environment_as_it_was_written(
    machine: Machine,
) -> None:
    machine.environ["ODD"] = "${HOME} $${x} {y} ${"
    raw = {"command": sys.executable, "args": ["-c", "${PROGRAM}"], "env": {"ODD": "${ODD}"}}
    machine.environ["PROGRAM"] = PROGRAM
    target, found = options(machine, raw | {"protocolVersion": "2025-06-18"})
    async with mcplens.connect(target, **found) as client:
        assert client.server_info["name"] == machine.environ["ODD"]
        assert client.server_info["version"] == str(machine.project)


async def test_a_configured_url_is_reached(machine: Machine) -> None:
    async with serve("good", "--transport", "http") as server:
        machine.environ["PORT"] = str(server.port)
        target, found = options(machine, {"url": "http://127.0.0.1:${PORT}/mcp"})
        async with mcplens.connect(target, **found) as client:
            assert json.dumps(client.server_info)
