"""The Python API as a script sees it: what importing costs, what is exported, what a target is."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens.session import options
from mcplens.targets import SIGN_IN_OPTIONS, transport_for
from mcplens.transports.sse import SseTransport
from mcplens.transports.stdio import StdioTransport
from mcplens.transports.streamable_http import StreamableHttpTransport
from mcplens.transports.websocket import WebSocketTransport
from tests.servers.run import serve

# LOGIC's exports in Python spelling; the handlers come with the surfaces that answer.
LOGIC_EXPORTS = (
    "create_mcp_client",
    "connect_client",
    "disconnect_client",
    "create_http_transport",
    "create_proxy_transport",
    "create_request_queue",
    "ConnectionState",
    "ConnectionConfig",
    "QueueEntry",
    "QueueStatus",
    "InspectorError",
    "RetryConfig",
)


def loaded_by(statement: str) -> set[str]:
    program = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_mcplens_loads_no_http_library() -> None:
    modules = loaded_by("import mcplens")
    assert not modules & {"aiohttp", "websockets", "ssl", "http", "asyncio", "msgspec"}


def test_a_stdio_client_loads_no_http_library() -> None:
    modules = loaded_by("import mcplens; mcplens.connect(['x'])")
    assert not modules & {"aiohttp", "websockets", "jsonschema_rs", "click", "json"}


def test_what_a_server_may_ask_costs_nothing_until_it_asks() -> None:
    modules = loaded_by("import mcplens; mcplens.connect(['x'], sampling=True, elicitation=True)")
    late = ("elicitation", "form_fields", "roots", "sampling", "schema_examples", "url_checks")
    assert not modules & {f"mcplens.protocol.{name}" for name in late}
    assert not modules & {"mcplens.session.profiles", "secrets", "fractions", "ipaddress"}


@pytest.mark.parametrize("name", LOGIC_EXPORTS)
def test_everything_that_logic_exports_is_there(name: str) -> None:
    assert name in mcplens.__all__
    assert getattr(mcplens, name)


def test_every_public_name_can_be_loaded() -> None:
    for name in mcplens.__all__:
        assert getattr(mcplens, name) is not None
    assert set(dir(mcplens)) == set(mcplens.__all__)


def keywords_of(function: Any) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}


def test_type_checkers_and_the_signatures_know_the_same_keywords() -> None:
    transports = (StdioTransport, StreamableHttpTransport, SseTransport, WebSocketTransport)
    # An authorizer is made of the options of a sign-in.
    of_transports = set().union(*map(keywords_of, transports)) - {"authorizer"}
    of_transports |= set(SIGN_IN_OPTIONS)
    assert options.TransportKeywords.__annotations__.keys() == of_transports
    typed = options.ConnectKeywords.__annotations__.keys() | {"transport"}
    assert typed == keywords_of(mcplens.connect) | of_transports
    assert options.ClientKeywords.__annotations__.keys() == keywords_of(mcplens.create_mcp_client)


def test_a_keyword_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError, match="concurency"):
        mcplens.create_mcp_client(concurency=2)  # type: ignore[call-arg]
    with pytest.raises(mcplens.InspectorError, match="config: not supported"):
        mcplens.connect("server", config=mcplens.ConnectionConfig())  # type: ignore[call-arg]


def test_max_concurrency_is_answered_with_the_name_of_the_option() -> None:
    with pytest.raises(mcplens.InspectorError, match="is called `concurrency`"):
        mcplens.connect("server", max_concurrency=2)  # type: ignore[call-arg]


def test_one_call_that_hangs_does_not_hold_up_others_unless_serial_was_asked_for() -> None:
    assert mcplens.connect("server").client.queue.concurrency == 8
    assert mcplens.connect("server", concurrency=1).client.queue.concurrency == 1
    assert mcplens.create_mcp_client().queue.concurrency == 1


def test_logics_defaults_are_kept() -> None:
    config = mcplens.ConnectionConfig()
    assert (config.connection_timeout_s, config.request_timeout_s) == (30, 60)
    assert (config.progress_resets_timeout, config.max_total_timeout_s) == (True, 300)
    assert (config.ping_interval_s, config.max_retries) == (30, 3)
    assert config.retry_backoff_s == (1.0, 2.0, 4.0)
    retry = mcplens.RetryConfig()
    assert (retry.max_attempts, retry.backoff_s) == (3, (1, 2, 4))
    assert retry.retryable_errors is None


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (["some-command", "--flag"], StdioTransport),
        ("some-command --flag 'one argument'", StdioTransport),
        ("http://localhost:1/mcp", StreamableHttpTransport),
        ("https://example.invalid/mcp", StreamableHttpTransport),
        ("ws://localhost:1/", WebSocketTransport),
    ],
)
def test_a_target_is_a_command_or_a_url(target: Any, kind: type) -> None:
    make, name = transport_for(target)
    assert isinstance(make(), kind)
    assert name


def test_a_target_may_be_a_script(tmp_path: Path) -> None:
    script = tmp_path / "my server.py"
    script.write_text("")
    make, name = transport_for(str(script))
    assert make()._command == (sys.executable, str(script))  # type: ignore[attr-defined]
    assert name == "my server.py"


@pytest.mark.parametrize("target", ["", [], "ftp://example.invalid/x"])
def test_a_target_that_is_none_is_refused_with_a_reason(target: Any) -> None:
    with pytest.raises(mcplens.ConfigurationError):
        mcplens.connect(target)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (["x"], {"headers": {"A": "b"}}),
        (["x"], {"transport": "sse"}),
        (["x"], {"nonsense": 1}),
        ("x 'unclosed", {}),
        ("http://localhost:1/mcp", {"env": {"A": "b"}}),
        ("http://localhost:1/mcp", {"transport": "stdio"}),
        ("http://localhost:1/mcp", {"transport": "carrier-pigeon"}),
        ("ws://localhost:1/", {"sse_fallback": True}),
    ],
)
def test_an_option_without_meaning_is_refused_at_once(target: Any, options: Any) -> None:
    with pytest.raises(mcplens.ConfigurationError) as caught:
        mcplens.connect(target, **options)
    assert caught.value.code == "CONFIGURATION_INVALID"


@pytest.mark.parametrize("option", ["ca_file", "insecure", "connect_timeout_s", "headers"])
def test_every_documented_network_option_is_taken(option: str) -> None:
    value: Any = {"headers": {}, "connect_timeout_s": 1.0, "ca_file": "x"}.get(option, True)
    for url in ("http://localhost:1/", "ws://localhost:1/"):
        mcplens.connect(url, **{option: value})


async def test_a_proxy_transport_connects_to_the_servers_path_on_the_proxys_origin() -> None:
    path = "/servers/my server/mcp"
    async with serve("good", "--transport", "http", "--path", path) as server:
        proxy = mcplens.create_proxy_transport(f"http://127.0.0.1:{server.port}/mcp", "my server")
        client = mcplens.create_mcp_client(proxy, client_info={"name": "me", "version": "9"})
        await mcplens.connect_client(client)
        assert (await client.call_tool("echo", {"text": "hi"})).content[0].text == "hi"
        await mcplens.disconnect_client(client)


async def test_a_client_without_a_transport_says_so() -> None:
    with pytest.raises(mcplens.ConfigurationError, match="connect_client"):
        await mcplens.connect_client(mcplens.create_mcp_client())


async def test_the_users_own_retryable_codes_are_tried_again() -> None:
    retry = mcplens.RetryConfig(
        max_attempts=2, backoff_s=(0.0,), retryable_errors=("COMMAND_NOT_FOUND",)
    )
    with pytest.raises(mcplens.InspectorError) as caught:
        async with mcplens.connect(["no-such-command"], env={"PATH": ""}, retry=retry):
            pass
    assert caught.value.details["attempts"] == 3


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["my-server", "--token", "s3cret"], "my-server"),
        (["/usr/bin/python3.11", "-m", "package.server", "s3cret"], "package.server"),
        ([sys.executable, "/srv/server.py", "--token", "s3cret"], "server.py"),
        (["npx", "-y", "@scope/server-name", "s3cret"], "server-name"),
        (["npx", "-y", "@scope/server-name@1.2.3"], "server-name"),
        (["npx", "-y", "@scope/mcp-server@latest", "--host", "h"], "scope"),
        (["npx", "plain@latest"], "plain"),
        (["uvx", "name==1.2"], "name"),
        (["uvx", "--from", "git+https://h/x", "name[extra]@1"], "name"),
        (["docker", "run", "-i", "--rm", "-e", "API_KEY", "ghcr.io/a/name:1.2"], "name"),
        (["uv", "run", "server.py", "s3cret"], "server.py"),
        (["python", "-c", "print('s3cret')"], "python"),
        (["env", "TOKEN=s3cret", "my-server"], "my-server"),
    ],
)
def test_a_command_is_named_by_what_it_runs_never_by_an_argument(
    command: list[str], name: str
) -> None:
    assert transport_for(command)[1] == name
