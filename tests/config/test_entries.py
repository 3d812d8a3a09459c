"""One server: every key, what follows from them together, and what is said when it is wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mcplens.config.entries import build_entry
from mcplens.config.model import ServerEntry, Source
from tests.config.machine import linux, windows


def entry(raw: Any, scope: Any = "user", folder: str = "/etc/conf", **environ: str) -> ServerEntry:
    return build_entry("s", raw, Source("mcplens", f"{folder}/mcp.json", scope), linux(**environ))


def told(raw: Any, **environ: str) -> str:
    problem = entry(raw, **environ).problem
    assert problem is not None
    return problem.message.removeprefix("/etc/conf/mcp.json: server 's': ")


class TestTransport:
    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ({"command": "x"}, "stdio"),
            ({"url": "https://h/mcp"}, "http"),
            ({"url": "http://h/sse"}, "http"),
            ({"url": "ws://h"}, "websocket"),
            ({"url": "WSS://h"}, "websocket"),
            ({"url": "${BASE}/mcp"}, "websocket"),
            ({"command": "x", "url": "https://h"}, "stdio"),
            ({"transport": "sse", "url": "https://h"}, "sse"),
            ({"type": "sse", "url": "https://h"}, "sse"),
            ({"type": "streamable-http", "url": "https://h"}, "http"),
            ({"type": "streamable_http", "url": "https://h"}, "http"),
            ({"type": "streamableHttp", "url": "https://h"}, "http"),
            ({"transport": "http", "url": "https://h"}, "http"),
            ({"transport": "ws", "url": "ws://h"}, "websocket"),
            ({"transport": "websocket", "url": "wss://h"}, "websocket"),
            ({"transport": "stdio", "command": "x"}, "stdio"),
            ({"transport": "sse", "type": "http", "url": "https://h"}, "sse"),
            ({"serverUrl": "https://h"}, "http"),
            ({"httpUrl": "https://h"}, "http"),
        ],
    )
    def test_it_is_said_or_inferred(self, raw: dict[str, Any], expected: str) -> None:
        found = entry(raw, BASE="wss://h")
        assert found.problem is None
        assert found.transport == expected

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ({}, "command: a command or a url is required"),
            ({"args": ["x"]}, "command: a command or a url is required"),
            ("npx server", "must be an object with a command or a url"),
            ({"transport": "stdio", "url": "https://h"}, "command: is missing; stdio requires it"),
            ({"transport": "http", "command": "x"}, "url: is missing; http requires it"),
            (
                {"transport": "carrier-pigeon", "command": "x"},
                "transport: 'carrier-pigeon' is not a transport: use stdio, http, sse or websocket",
            ),
            ({"url": "localhost:3000/mcp"}, "url: must begin with http:// or https:// for http"),
            ({"url": "ftp://h"}, "url: must begin with http:// or https:// for http"),
            (
                {"transport": "websocket", "url": "https://h"},
                "url: must begin with ws:// or wss:// for websocket",
            ),
            ({"url": "https://"}, "url: must begin with http:// or https:// for http"),
            ({"command": " "}, "command: must not be empty"),
        ],
    )
    def test_an_entry_that_leads_nowhere_is_disabled(self, raw: Any, expected: str) -> None:
        assert told(raw) == expected

    def test_keys_without_meaning_for_the_transport_are_told_and_left_out(self) -> None:
        command = entry({"command": "x", "headers": {"A": "b"}, "url": "https://h"})
        assert command.remarks == ("ignored for a command: url, headers",)
        assert (command.url, command.headers) == (None, {})
        remote = entry({"url": "https://h", "args": ["x"], "env": {"A": "b"}, "cwd": "."})
        assert remote.remarks == ("ignored for a URL: args, env, cwd",)
        assert (remote.args, remote.env, remote.cwd) == ((), {}, None)


class TestKeys:
    def test_every_key_of_a_command(self) -> None:
        found = entry(
            {
                "name": "Weather",
                "enabled": False,
                "transport": "stdio",
                "command": "{TOOL}",
                "args": ["--user", "${WHO}", 5],
                "env": {"TOKEN": "${env:WHO}", "DEBUG": True, "PORT": 8080, "GONE": None},
                "inheritEnv": True,
                "cwd": "~/servers",
                "protocolVersion": "2025-06-18",
                "capabilities": {"roots": {}},
                "profile": "always-accept",
                "roots": ["src", "file:///data", {"uri": "/a b", "name": "A"}],
                "meta": {"tenant": "${WHO}"},
                "sessionMode": "per-call",
                "maxConcurrency": 4,
                "maxMessageBytes": 1024,
                "connectionTimeout": 1500,
                "requestTimeout": 0,
                "progressResetsTimeout": False,
                "maxTotalTimeout": 60000,
                "pingInterval": 0,
                "maxRetries": 2,
                "retryBackoff": [100, 250.5],
            },
            WHO="ada",
            TOOL="weather",
        )
        assert found.problem is None
        assert found.remarks == ()
        assert (found.name, found.title, found.enabled) == ("s", "Weather", False)
        assert (found.command, found.args) == ("weather", ("--user", "ada", "5"))
        assert found.env == {"TOKEN": "ada", "DEBUG": "true", "PORT": "8080"}
        assert (found.inherit_env, found.cwd) == (True, "/home/ada/servers")
        assert found.protocol_version == "2025-06-18"
        assert (found.capabilities, found.profile) == ({"roots": {}}, "always-accept")
        assert found.roots == (
            {"uri": "file:///etc/conf/src"},
            {"uri": "file:///data"},
            {"uri": "file:///a%20b", "name": "A"},
        )
        assert (found.meta, found.session_mode) == ({"tenant": "ada"}, "per-call")
        assert (found.max_concurrency, found.max_message_bytes) == (4, 1024)
        assert (found.connection_timeout_s, found.request_timeout_s) == (1.5, 0.0)
        assert (found.progress_resets_timeout, found.max_total_timeout_s) == (False, 60.0)
        assert (found.ping_interval_s, found.max_retries) == (0.0, 2)
        assert found.retry_backoff_s == (0.1, 0.2505)
        assert not found.is_usable

    def test_every_key_of_a_url(self) -> None:
        auth = {
            "clientId": "me",
            "clientSecret": "${SECRET}",
            "clientIdMetadataUrl": "https://me/client",
            "redirectUri": "http://127.0.0.1/cb",
            "clientName": "Me",
            "tokenEndpointAuthMethod": "none",
            "authorizationServer": "https://as",
            "scopes": "read write",
            "allowDynamicRegistration": False,
        }
        found = entry(
            {
                "url": "https://${HOST:-example.com}/mcp",
                "headers": {"Authorization": "Bearer ${SECRET}"},
                "auth": auth,
                "caFile": "ca.pem",
                "insecure": True,
            },
            SECRET="s3cret",
        )
        assert found.problem is None
        assert found.url == "https://example.com/mcp"
        assert found.headers == {"Authorization": "Bearer s3cret"}
        assert found.auth == {**auth, "clientSecret": "s3cret", "scopes": ["read", "write"]}
        assert (found.ca_file, found.insecure) == ("/etc/conf/ca.pem", True)

    def test_what_the_file_says_is_kept_unresolved(self) -> None:
        raw = {"command": "x", "env": {"A": "${A}"}, "extra": "${B}"}
        found = entry(raw, A="1")
        assert found.raw == raw
        assert found.env == {"A": "1"}

    def test_unknown_keys_are_kept_and_told_and_disable_nothing(self) -> None:
        found = entry({"command": "x", "autoApprove": ["${UNSET}"], "auth": None})
        assert found.is_usable
        assert found.unknown == {"autoApprove": ["${UNSET}"]}
        assert found.remarks == ("unknown keys: autoApprove",)
        oauth = entry({"url": "https://h", "auth": {"clientID": "x"}})
        assert oauth.remarks == ("auth: unknown keys: clientID",)

    def test_another_tools_word_for_switched_off_is_understood(self) -> None:
        assert not entry({"command": "x", "disabled": True}).enabled
        assert entry({"command": "x", "disabled": False}).enabled
        assert entry({"command": "x", "disabled": True, "enabled": True}).enabled

    def test_a_number_or_a_flag_may_come_from_a_placeholder(self) -> None:
        found = entry(
            {"command": "x", "requestTimeout": "${T}", "inheritEnv": "${I:-true}"}, T="50"
        )
        assert (found.request_timeout_s, found.inherit_env) == (0.05, True)

    @pytest.mark.parametrize(
        ("key", "value", "said"),
        [
            ("args", "x", "args: must be an array, not a string"),
            ("args", [{}], "args[0]: must be a string, not an object"),
            ("env", ["A=b"], "env: must be an object, not an array"),
            ("env", {"A": ["b"]}, "env.A: must be a string, not an array"),
            ("enabled", "yes", "enabled: must be true or false, not a string"),
            ("requestTimeout", -1, "requestTimeout: must not be negative"),
            ("requestTimeout", True, "requestTimeout: must be a number, not true or false"),
            ("requestTimeout", "1e999", "requestTimeout: must be a finite number"),
            ("requestTimeout", 10**400, "requestTimeout: must be a finite number"),
            ("maxRetries", 1.5, "maxRetries: must be a whole number"),
            ("maxConcurrency", 0, "maxConcurrency: must be 1 or more"),
            ("retryBackoff", [1, None], "retryBackoff[1]: must be a number, not null"),
            (
                "sessionMode",
                "sometimes",
                "sessionMode: must be one of persistent, per-call, per-client",
            ),
            ("roots", [{"name": "x"}], "roots[0]: must have a uri"),
            ("command", 5.5, ""),
        ],
    )
    def test_a_wrong_value_names_its_key(self, key: str, value: Any, said: str) -> None:
        raw = {"command": "x", key: value}
        if said:
            assert told(raw) == said
        else:
            assert entry(raw).command == "5.5"

    def test_all_that_is_wrong_is_told_at_once(self) -> None:
        assert told({"command": "x", "args": 1, "env": {"A": "${UNSET}"}}) == (
            "args: must be an array, not a number; env.A: the environment variable 'UNSET' is not "
            "set; set it, or give a default: ${UNSET:-default}"
        )

    def test_no_secret_is_shown_where_an_entry_is_shown(self) -> None:
        found = entry({"command": "x", "env": {"A": "${A}"}}, A="s3cret")
        assert "s3cret" not in repr(found)


class TestPaths:
    def test_what_a_projects_file_starts_runs_in_its_folder(self) -> None:
        assert entry({"command": "./s.py"}, "project", "/repo").cwd == "/repo"
        assert entry({"command": "x", "cwd": "sub"}, "project", "/repo").cwd == "/repo/sub"
        assert entry({"command": "x"}, "user").cwd is None
        assert entry({"command": "x", "cwd": "../y"}, "user").cwd == "/etc/y"

    def test_paths_of_windows_are_joined_by_its_rules(self) -> None:
        source = Source("mcplens", r"C:\repo\mcp.json", "project")
        raw = {"command": "x", "cwd": "sub/dir", "roots": [r"~\data"]}
        found = build_entry("s", raw, source, windows())
        assert found.cwd == r"C:\repo\sub\dir"
        assert found.roots == ({"uri": "file:///C:/Users/ada/data"},)

    def test_a_variable_of_windows_is_found_in_any_case(self) -> None:
        source = Source("mcplens", r"C:\repo\mcp.json", "user")
        found = build_entry("s", {"command": "${APPDATA}\\x"}, source, windows())
        assert found.command == r"C:\Users\ada\AppData\Roaming\x"


class TestEnvFile:
    def test_its_variables_go_beneath_those_of_env(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("A=file\nB=${NOT_RESOLVED}\n")
        raw = {"command": "x", "envFile": ".env", "env": {"A": "entry"}}
        found = entry(raw, "user", str(tmp_path))
        assert found.env == {"A": "entry", "B": "${NOT_RESOLVED}"}
        assert found.env_file == str(tmp_path / ".env")

    def test_one_that_is_not_there_disables_the_server(self) -> None:
        raw = {"command": "x", "envFile": "no.env"}
        assert told(raw) == ("envFile: /etc/conf/no.env cannot be read: No such file or directory")

    @pytest.mark.skipif(os.name != "posix", reason="there are no named pipes")
    def test_a_pipe_or_a_terminal_is_refused_and_holds_up_nobody(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", Path("/dev/tty")):
            reason = f"envFile: {path} cannot be read: it is a pipe or a device, not a file"
            assert told({"command": "x", "envFile": str(path)}) == reason
