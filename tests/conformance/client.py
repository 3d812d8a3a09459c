"""The client under test: `python -m tests.conformance.client [--auto] SERVER_URL`.

The suite names the scenario, its context and the revision in MCP_CONFORMANCE_* variables; with
--auto the revision is for mcplens to find out. What a scenario wants done is here; everything that
it judges is mcplens. An unknown scenario is an error: the suite itself may print a tick for it.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

import mcplens
from mcplens.auth.steps import Authorize

# Far more than a scenario takes; the suite's own limit comes later.
TIMEOUT_S = 20

Scenario = Callable[[str, str], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    def register(function: Scenario) -> Scenario:
        SCENARIOS[name] = function
        return function

    return register


@scenario("initialize")
async def list_tools(url: str, version: str) -> None:
    # Some of these servers declare no capability and expect to be asked all the same.
    async with mcplens.connect(url, protocol_version=version, enforce_capabilities=False) as client:
        await client.list_tools()


@scenario("tools_call")
async def add_numbers(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


@scenario("sse-retry")
async def resume_a_closed_stream(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        await client.list_tools()
        await client.call_tool("test_reconnection")


@scenario("request-metadata")
async def declare_everything(url: str, version: str) -> None:
    handlers = {
        "roots/list": lambda _: {"roots": []},
        "sampling/createMessage": _refuse,
        "elicitation/create": lambda _: {"action": "decline"},
    }
    async with mcplens.connect(
        url, protocol_version=version, request_handlers=handlers, enforce_capabilities=False
    ) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


@scenario("http-standard-headers")
async def use_every_named_method(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        for tool in await client.list_tools():
            await client.call_tool(tool.name)
        for resource in await client.list_resources():
            await client.read_resource(resource.uri)
        for prompt in await client.list_prompts():
            await client.get_prompt(prompt.name)


@scenario("http-custom-headers")
async def replay_the_given_calls(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        await client.list_tools()
        for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
            await client.call_tool(call["name"], call["arguments"])


@scenario("http-invalid-tool-headers")
async def call_every_listed_tool(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        for tool in await client.list_tools():
            required = tool.input_schema.get("required", ())
            await client.call_tool(tool.name, dict.fromkeys(required, "test"))


@scenario("json-schema-ref-no-deref")
async def list_a_tool_with_a_network_reference(url: str, version: str) -> None:
    await list_tools(url, version)


@scenario("json-schema-2020-12-preservation")
async def echo_a_schema(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        schema = tools["json_schema_2020_12_tool"].input_schema
        await client.call_tool("json_schema_echo", {"schema": schema})


@scenario("elicitation-sep1034-client-defaults")
async def accept_a_form_as_it_is(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version, elicitation=_accept) as client:
        await client.list_tools()
        await client.call_tool("test_client_elicitation_defaults")


@scenario("sep-2322-client-request-state")
async def answer_before_there_is_a_result(url: str, version: str) -> None:
    async with (
        mcplens.connect(url, protocol_version=version, elicitation=_accept) as client,
        asyncio.TaskGroup() as group,
    ):
        for tool in await client.list_tools():
            group.create_task(client.call_tool(tool.name))


@scenario("sep-2640-client-no-prefetch")
async def list_skills(url: str, version: str) -> None:
    async with mcplens.connect(url, protocol_version=version) as client:
        await client.list_skills()


async def load_every_skill(url: str, version: str) -> None:
    """SKILL.md first; the other files only of a skill that was verified."""
    async with mcplens.connect(url, protocol_version=version) as client:
        for skill in await client.list_skills():
            try:
                await client.read_skill_file(skill)
            except mcplens.SkillMismatch as mismatch:
                print(f"{skill.name} is not loaded: {mismatch}", file=sys.stderr)
                continue
            for file in skill.files:
                await client.read_skill_file(skill, file.uri)


for _name in ("digest", "frontmatter", "size"):
    scenario(f"sep-2640-client-verify-{_name}")(load_every_skill)


CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json"


async def use_a_protected_server(url: str, version: str) -> None:
    async with connect_signed_in(url, version) as client:
        await client.list_tools()
        await client.call_tool("test-tool")


async def use_a_server_that_is_not_configured(url: str, version: str) -> None:
    """About the scopes of the first refusal: with an auth block we sign in before it."""
    async with connect_signed_in(url, version, is_configured=False) as client:
        await client.list_tools()
        await client.call_tool("test-tool")


for _name in ("scope-from-www-authenticate", "scope-step-up"):
    scenario(f"auth/{_name}")(use_a_server_that_is_not_configured)

for _name in (
    "metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd",
    "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-retry-limit",
    "token-endpoint-auth-basic", "token-endpoint-auth-post",
    "token-endpoint-auth-none", "resource-mismatch", "offline-access-scope",
    "offline-access-not-supported", "authorization-server-migration", "iss-supported",
    "iss-not-advertised", "iss-supported-missing", "iss-wrong-issuer", "iss-unexpected",
    "iss-normalized", "metadata-issuer-mismatch", "2025-03-26-oauth-metadata-backcompat",
    "2025-03-26-oauth-endpoint-fallback",
):  # fmt: skip
    scenario(f"auth/{_name}")(use_a_protected_server)


@scenario("auth/pre-registration")
async def use_a_client_that_is_registered(url: str, version: str) -> None:
    context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
    auth = {
        "clientId": context["client_id"],
        "clientSecret": context["client_secret"],
        "authorizationServer": context["issuer"],
    }
    async with connect_signed_in(url, version, auth) as client:
        await client.list_tools()


@scenario("auth/client-credentials-basic")
async def sign_in_with_a_secret(url: str, version: str) -> None:
    context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
    auth = {
        "grant": "client_credentials",
        "clientId": context["client_id"],
        "clientSecret": context["client_secret"],
    }
    async with connect_signed_in(url, version, auth) as client:
        await client.list_tools()


@scenario("auth/client-credentials-jwt")
async def sign_in_with_a_key(url: str, version: str) -> None:
    context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
    auth = {
        "grant": "client_credentials",
        "clientId": context["client_id"],
        "privateKeyFile": in_file("key.pem", context["private_key_pem"]),
        "signingAlgorithm": context["signing_algorithm"],
    }
    async with connect_signed_in(url, version, auth) as client:
        await client.list_tools()


@scenario("auth/dpop")
async def bind_tokens_to_a_key(url: str, version: str) -> None:
    async with connect_signed_in(url, version, {"dpop": True}) as client:
        await client.list_tools()
        await client.call_tool("test-tool")


@scenario("auth/dpop-nonce")
async def prove_the_key_with_a_nonce(url: str, version: str) -> None:
    await bind_tokens_to_a_key(url, version)


@scenario("auth/wif-jwt-bearer")
async def sign_in_as_a_workload(url: str, version: str) -> None:
    context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
    auth = {
        "grant": "workload_identity",
        "clientId": context["client_id"],
        "subjectTokenFile": in_file("workload.jwt", context["valid_jwt"]),
    }
    async with connect_signed_in(url, version, auth) as client:
        await client.list_tools()


@scenario("auth/enterprise-managed-authorization")
async def sign_in_by_the_company(url: str, version: str) -> None:
    context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
    auth = {
        "grant": "enterprise",
        "clientId": context["client_id"],
        "clientSecret": context["client_secret"],
        "idp": {"issuer": context["idp_issuer"], "clientId": context["idp_client_id"]},
        "subjectTokenFile": in_file("id_token.jwt", context["idp_id_token"]),
    }
    async with connect_signed_in(url, version, auth) as client:
        await client.list_tools()


def in_file(name: str, text: str) -> str:
    path = Path(os.environ["MCPLENS_STATE_DIR"]) / name
    path.write_text(text)
    return str(path)


def connect_signed_in(
    url: str,
    version: str,
    auth: Mapping[str, Any] | None = None,
    *,
    is_configured: bool = True,
) -> mcplens.connect:
    block = {"clientIdMetadataUrl": CLIENT_METADATA_URL, **(auth or {})} if is_configured else None
    return mcplens.connect(
        url, protocol_version=version, auth=block, sign_in=consent, enforce_capabilities=False
    )


async def consent(request: Authorize) -> str:
    """The suite's authorization server sends everybody back at once."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(request.url, allow_redirects=False) as answer,
    ):
        return answer.headers["Location"]


def _accept(_: Any) -> Any:
    return {"action": "accept", "content": {}}


def _refuse(_: Any) -> Any:
    raise mcplens.ServerError(-1, "the user rejected it")


async def main(arguments: list[str]) -> None:
    name = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    run = SCENARIOS.get(name)
    if run is None:
        known = ", ".join(SCENARIOS)
        sys.exit(f"unknown conformance scenario {name!r}; this client knows {known}")
    is_auto = "--auto" in arguments
    version = "auto" if is_auto else os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
    with tempfile.TemporaryDirectory() as folder:
        # Sign-ins are kept there, and not in the developer's keyring.
        os.environ |= {"MCPLENS_STATE_DIR": folder, "MCPLENS_KEYRING": "off"}
        async with asyncio.timeout(TIMEOUT_S):
            await run(arguments[-1], version)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
