"""The files in deploy/ are not stale: what they name exists, and their parts fit together."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from ruamel.yaml import YAML

from mcplens.cli.gateway import command as gateway_command
from mcplens.clock import SystemClock
from mcplens.config.configuration import load_configuration
from mcplens.config.environment import Environment
from mcplens.config.views import GatewaySettings, parse_address, read_gateway
from mcplens.inbound.uvicorn_server import make_server
from mcplens.replicas.redis_store import RedisStore
from mcplens.replicas.request_proofs import PROOF_HEADER
from tests.docs.markdown import DOCS, ROOT
from tests.gateway.harness import STDIO_DEMO, running_gateway
from tests.node_tools import node
from tests.ports import held_port
from tests.replicas.processes import until
from tests.replicas.redis_server import redis_server

DEPLOY = ROOT / "deploy"
PAGE = DOCS / "howto" / "replicas.md"
CONTAINER = (DEPLOY / "Containerfile").read_text()
UNIT = (DEPLOY / "mcplens-gateway.service").read_text()
HAPROXY = (DEPLOY / "haproxy.cfg").read_text()


def yaml_of(name: str) -> list[Any]:
    return list(YAML(typ="safe").load_all((DEPLOY / name).read_text()))


COMPOSE = yaml_of("compose.yaml")[0]
MANIFESTS = {one["kind"]: one for one in yaml_of("kubernetes.yaml")}
POD = MANIFESTS["Deployment"]["spec"]["template"]["spec"]
(POD_CONTAINER,) = POD["containers"]
GATEWAYS = {name: one for name, one in COMPOSE["services"].items() if name.startswith("gateway-")}
CONFIGURATIONS = {
    "compose": (DEPLOY / "configuration" / "mcp.json").read_text(),
    "kubernetes": MANIFESTS["ConfigMap"]["data"]["mcp.json"],
}
VARIABLES: dict[str, dict[str, str]] = {
    # What differs between replicas is a name or an address, the rest a secret.
    "compose": {**GATEWAYS["gateway-1"]["environment"]},
    "kubernetes": {one["name"]: "0123456789abcdef" * 2 for one in POD_CONTAINER["env"]},
}
NOT_SECRET = {"compose": {}, "kubernetes": {"POD_IP": "10.0.0.7"}}


def environment(kind: str) -> dict[str, str]:
    """The variables of a replica, with values in place of secrets."""
    given = {
        name: "0123456789abcdef" * 2 if value.startswith("${") else value
        for name, value in VARIABLES[kind].items()
    }
    return given | NOT_SECRET[kind]


def settings_of(kind: str, folder: Path) -> GatewaySettings:
    """The `gateway` block of an example, as a replica reads it."""
    (folder / "mcp.json").write_text(CONFIGURATIONS[kind])
    here = Environment(
        cwd=str(folder), home=str(folder), environ=environment(kind), platform="posix"
    )
    found = load_configuration(str(folder), here=here)
    assert not found.problems
    assert not found.remarks
    assert not [entry.problem for entry in found.servers if entry.problem]
    assert found.settings.gateway
    return read_gateway(found.settings.gateway, "gateway")


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_configuration_has_only_keys_that_exist_and_variables_that_are_set(
    kind: str, tmp_path: Path
) -> None:
    settings = settings_of(kind, tmp_path)
    assert settings.drain_s > settings.notice_s > 0
    used = set(re.findall(r"\$\{(\w+)\}", CONFIGURATIONS[kind]))
    assert used == VARIABLES[kind].keys()


def test_all_replicas_of_the_compose_file_have_the_same_variables() -> None:
    one, other = (set(each["environment"]) for each in GATEWAYS.values())
    assert one == other
    for name, each in GATEWAYS.items():
        assert each["environment"]["REPLICA_NAME"] == name


def argvs() -> Iterator[list[str]]:
    """How the files start a gateway."""
    yield from (each["command"] for each in GATEWAYS.values())
    yield POD_CONTAINER["args"]
    (words,) = re.findall(r"^CMD (\[.*\])$", CONTAINER, re.MULTILINE)
    yield json.loads(words)
    (line,) = re.findall(r"^ExecStart=\S+ (.*)$", UNIT, re.MULTILINE)
    yield shlex.split(line)


def test_every_flag_exists() -> None:
    known = {option for one in gateway_command.params for option in one.opts}
    for name, *words in argvs():
        assert name == "gateway"
        flags = [word for word in words if word.startswith("-")]
        assert set(flags) <= known, words
        assert words[words.index("--config") + 1] == "/etc/mcplens"


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_every_port_is_the_one_that_the_gateway_listens_on(kind: str, tmp_path: Path) -> None:
    host, port = parse_address(settings_of(kind, tmp_path).listen, "listen")
    assert host == "0.0.0.0"
    found = {
        *re.findall(r"^EXPOSE (\d+)$", CONTAINER, re.MULTILINE),
        *re.findall(r"127\.0\.0\.1:(\d+)/", CONTAINER),
        *re.findall(r"^ +server gateway-\d gateway-\d:(\d+)$", HAPROXY, re.MULTILINE),
        *(each["environment"]["REPLICA_ADDRESS"].rpartition(":")[2] for each in GATEWAYS.values()),
        *(str(each["containerPort"]) for each in POD_CONTAINER["ports"]),
    }
    assert found == {str(port)}


def test_the_load_balancer_has_every_replica_of_the_compose_file() -> None:
    named = re.findall(r"^ +server (gateway-\d) (gateway-\d):", HAPROXY, re.MULTILINE)
    assert named == [(name, name) for name in GATEWAYS]


async def test_every_path_and_every_metric_is_served() -> None:
    async with running_gateway({"demo": STDIO_DEMO}) as gateway, gateway.connect() as client:
        await client.call_tool("add", {"a": 1, "b": 2})
        paths = {
            *re.findall(r" uri (\S+)", HAPROXY),
            *re.findall(r"127\.0\.0\.1:\d+(/\w+)", CONTAINER),
            *(
                POD_CONTAINER[name]["httpGet"]["path"]
                for name in ("readinessProbe", "livenessProbe")
            ),
        }
        assert paths == {"/readyz", "/healthz"} == gateway.app.public_pages.keys() & paths
        async with aiohttp.ClientSession() as session:
            metrics = await (await session.get(gateway.url("/metrics"))).text()
    series = re.findall(r"^(\w+)(\{.*\})? ", metrics, re.MULTILINE)
    names = {name for name, _ in series}
    labels = {label for _, labels in series for label in re.findall(r"(\w+)=", labels)}
    for text in (expressions(), PAGE.read_text()):
        used = set(re.findall(r"\b(?:mcplens_gateway|process)_[a-z_]+", text))
        assert used <= names, used - names
    by = {
        label
        for group in re.findall(r"\bby \(([^)]*)\)", expressions())
        for label in group.split(", ")
    }
    assert by <= labels | {"instance"}, by - labels
    selected = set(re.findall(r"(\w+)=~?\"", expressions()))
    assert selected <= labels | {"instance"}, selected - labels


def expressions() -> str:
    """What the panels of the dashboard show, and its variables."""
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    found += [one["query"] for one in board["templating"]["list"]]
    return "\n".join(found)


def test_every_variable_of_ours_is_documented() -> None:
    reference = (DOCS / "reference" / "config-file.md").read_text()
    for text in (CONTAINER, UNIT, json.dumps(COMPOSE), json.dumps(MANIFESTS)):
        for name in re.findall(r"MCPLENS_\w+", text):
            assert f"`{name}`" in reference or name == "MCPLENS_SKIP_WEB_BUILD"


def test_a_replica_that_ends_has_enough_time(tmp_path: Path) -> None:
    """For load balancers to notice, and then for calls to finish."""
    compose = settings_of("compose", tmp_path)
    cluster = settings_of("kubernetes", tmp_path)
    needed = compose.notice_s + compose.drain_s
    for each in GATEWAYS.values():
        assert float(each["stop_grace_period"].removesuffix("s")) > needed
    (stop,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
    assert float(stop) > needed
    assert POD["terminationGracePeriodSeconds"] > cluster.notice_s + cluster.drain_s
    ((inter, fall),) = re.findall(r"inter (\d+)s fall (\d+)", HAPROXY)
    assert float(inter) * float(fall) < compose.notice_s
    probe = POD_CONTAINER["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] < cluster.notice_s


def test_the_load_balancer_gives_up_idle_connections_before_the_gateway_does() -> None:
    (kept,) = re.findall(r"timeout http-keep-alive (\d+)s", HAPROXY)
    server = make_server(object(), 1, None, None)  # type: ignore[arg-type]
    assert float(kept) < server.config.timeout_keep_alive


def test_what_is_mounted_exists_and_every_service_is_there() -> None:
    services, volumes = COMPOSE["services"], COMPOSE["volumes"]
    for each in services.values():
        for mount in each.get("volumes", []):
            source = mount.partition(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in volumes
        assert set(each.get("depends_on", {})) <= services.keys()
    assert (DEPLOY / GATEWAYS["gateway-1"]["build"]["context"]).resolve() == ROOT
    for source in re.findall(r"^COPY (?!--)(.*) \S+$", CONTAINER, re.MULTILINE):
        assert all((ROOT / one).exists() for one in source.split())
    mounts = {one["name"]: one["mountPath"] for one in POD_CONTAINER["volumeMounts"]}
    assert mounts.keys() == {one["name"] for one in POD["volumes"]}
    assert mounts["state"] in CONTAINER
    assert mounts["state"] in UNIT


def test_what_the_container_copies_is_not_ignored() -> None:
    lines = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", CONTAINER, re.MULTILINE)
    wanted = {source for sources in copied for source in sources.split()}
    assert wanted == {line.removeprefix("!") for line in lines if line.startswith("!")}


def test_the_load_balancer_drops_what_only_replicas_send() -> None:
    dropped = set(re.findall(r"del-header (\S+)", HAPROXY))
    assert PROOF_HEADER in dropped


def test_prometheus_reaches_each_replica_by_a_name_that_it_accepts() -> None:
    """A `Host` that a replica does not know is refused."""
    (targets,) = re.findall(r"targets: (\[.*\])", PAGE.read_text())
    addresses = [each["environment"]["REPLICA_ADDRESS"] for each in GATEWAYS.values()]
    assert [f"http://{target}" for target in json.loads(targets)] == addresses


async def test_the_store_starts_with_its_options_and_asks_for_the_password(tmp_path: Path) -> None:
    (line,) = [word for word in COMPOSE["services"]["valkey"]["command"] if "valkey-server" in word]
    password = "0123456789abcdef" * 2
    _exec, _program, *options = shlex.split(line.replace("$$VALKEY_PASSWORD", password))
    async with redis_server(tmp_path, *options) as server:
        assert b"NOAUTH" in await server.command("CONFIG", "GET", "maxmemory-policy")
        store = RedisStore(server.settings(password=password), SystemClock())
        await store.open()
        try:
            await store.put("key", b"value", 60)
            assert (await store.get("key"), store.state.status) == (b"value", "up")
        finally:
            await store.close()
    assert options[options.index("--maxmemory-policy") + 1] == "noeviction"


def test_the_manifests_fit_together() -> None:
    labels = MANIFESTS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        MANIFESTS["Deployment"]["spec"]["selector"]["matchLabels"],
        MANIFESTS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        MANIFESTS["Service"]["spec"]["selector"],
    ):
        assert selector == labels
    assert MANIFESTS["Service"]["spec"]["ports"][0]["targetPort"] == "http"


def test_the_page_names_every_file() -> None:
    page = PAGE.read_text()
    for path in DEPLOY.rglob("*"):
        if path.is_file() and path.parent == DEPLOY:
            assert f"deploy/{path.name})" in page, path


def test_haproxy_accepts_its_configuration(tmp_path: Path) -> None:
    program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("needs haproxy and openssl")
    subprocess.run(["sh", str(DEPLOY / "certificates.sh"), str(tmp_path)], check=True, timeout=60)
    file = tmp_path / "haproxy.cfg"
    file.write_text(HAPROXY.replace("/certificates/", f"{tmp_path}/"))
    done = subprocess.run(
        [program, "-c", "-f", str(file)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert all("could not resolve address" in line for line in warnings), warnings
    verifying = "openssl verify -CAfile ca.pem -verify_hostname id.localhost haproxy.pem"
    verified = subprocess.run(
        verifying.split(), cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert verified.returncode == 0, verified.stderr


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze")
    file = tmp_path / "mcplens-gateway.service"
    installed = str(Path(sys.executable).with_name("mcplens"))
    file.write_text(UNIT.replace("/opt/mcplens/bin/mcplens", installed))
    done = subprocess.run(
        [program, "verify", "--man=no", str(file)], capture_output=True, text=True, timeout=60
    )
    complaints = [line for line in done.stderr.splitlines() if file.name in line]
    assert (done.returncode, complaints) == (0, [])


@pytest.mark.slow
async def test_the_identity_provider_starts_and_names_its_issuer(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(ROOT / "tests" / "node" / "node_modules")
    shutil.copy(DEPLOY / "oidc" / "provider.mjs", tmp_path)
    given = COMPOSE["services"]["oidc"]["environment"]
    with held_port() as port:
        process = await asyncio.create_subprocess_exec(
            node(), "provider.mjs", cwd=tmp_path, env=os.environ | given | {"PORT": str(port)}
        )
        url = f"http://127.0.0.1:{port}/.well-known/openid-configuration"
        host = given["ISSUER"].removeprefix("https://")
        headers = {"Host": host, "X-Forwarded-Proto": "https"}

        async def metadata() -> bool:
            try:
                async with (
                    aiohttp.ClientSession() as session,
                    session.get(url, headers=headers) as response,
                ):
                    found = await response.json()
            except aiohttp.ClientConnectionError:
                return False  # it has not started yet
            assert found["issuer"] == given["ISSUER"]
            assert found["jwks_uri"].startswith(given["ISSUER"])
            return True

        try:
            async with asyncio.timeout(60):
                await until(metadata)
        finally:
            process.kill()
            await process.wait()
    assert given["ISSUER"] in CONFIGURATIONS["compose"]
    assert given["RESOURCE"] in CONFIGURATIONS["compose"]
