"""The official conformance suite in client mode: each scenario, in both revisions.

A scenario passes with at least one SUCCESS and no FAILURE in its checks.json, and a run that ended
well; the suite's own ticks are not trusted. A failure is run again, alone, before it counts:
`sse-retry` measures 500 ms and a loaded machine can miss them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.node_tools import conformance_argv
from tests.servers.run import ROOT

pytestmark = pytest.mark.slow

# Tried with a revision that is configured, too.
BASIC = ("initialize", "tools_call")
# Scenarios that must pass, by revision.
EXPECTED = {
    "2025-11-25": {
        "elicitation-sep1034-client-defaults",
        "initialize",
        "json-schema-2020-12-preservation",
        "sse-retry",
        "tools_call",
    },
    "2026-07-28": {
        "http-custom-headers",
        "http-invalid-tool-headers",
        "http-standard-headers",
        "json-schema-2020-12-preservation",
        "json-schema-ref-no-deref",
        "request-metadata",
        "sep-2322-client-request-state",
        "tools_call",
    },
}
# Signing in: those of 2025-11-25, and what 2026-07-28 adds.
_SIGN_IN = {
    "auth/basic-cimd",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/pre-registration",
    "auth/scope-from-scopes-supported",
    "auth/scope-from-www-authenticate",
    "auth/scope-omitted-when-undefined",
    "auth/scope-retry-limit",
    "auth/scope-step-up",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-none",
    "auth/token-endpoint-auth-post",
}
SIGN_IN = {
    "2025-11-25": _SIGN_IN,
    "2026-07-28": {
        *_SIGN_IN,
        "auth/authorization-server-migration",
        "auth/iss-normalized",
        "auth/iss-not-advertised",
        "auth/iss-supported",
        "auth/iss-supported-missing",
        "auth/iss-unexpected",
        "auth/iss-wrong-issuer",
        "auth/metadata-issuer-mismatch",
        "auth/offline-access-not-supported",
        "auth/offline-access-scope",
        "auth/resource-mismatch",
    },
}
# Of an extension or an old revision, which no list of a revision has, by their suite.
OTHER_SIGN_INS = {
    "extensions": {
        "auth/client-credentials-basic",
        "auth/client-credentials-jwt",
        "auth/dpop",
        "auth/dpop-nonce",
        "auth/enterprise-managed-authorization",
        "auth/wif-jwt-bearer",
    },
    "backcompat": {
        "auth/2025-03-26-oauth-endpoint-fallback",
        "auth/2025-03-26-oauth-metadata-backcompat",
    },
}
# Of the skills extension, which no list of a revision has either; each is run alone.
SKILLS = {
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-frontmatter",
    "sep-2640-client-verify-size",
}
_REVISION_OF_SUITE = {"extensions": "2025-11-25", "backcompat": "2025-03-26"}

SCENARIO_TIMEOUT_S = 30
# The suite is told to stop a client before we stop the suite.
SUITE_TIMEOUT_S = SCENARIO_TIMEOUT_S + 10

CLIENT = f"{sys.executable} -m tests.conformance.client"
RELAY = Path(__file__).with_name("relay.py")
DO_NOTHING = "true"


@dataclass
class Verdict:
    """What the suite found about one scenario, and how its run ended."""

    counts: Counter[str] = field(default_factory=Counter)
    exit_code: int = 0
    log: str = ""

    @property
    def is_pass(self) -> bool:
        return self.counts["SUCCESS"] > 0 and not self.counts["FAILURE"] and self.exit_code == 0


async def run_suite(*arguments: str, timeout_s: float = SUITE_TIMEOUT_S) -> tuple[int, str]:
    """Run the suite to its end; nothing that it started stays behind."""
    process = await asyncio.create_subprocess_exec(
        *conformance_argv(*arguments),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_s):
            output, _ = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return process.returncode or 0, output.decode(errors="replace")


async def run_scenario(name: str, version: str, folder: Path, command: str = CLIENT) -> Verdict:
    exit_code, log = await run_suite(
        *("client", "--command", command, "--scenario", name, "--spec-version", version),
        # An extension is on the timeline of no revision: it has to be forced.
        *("--timeout", str(SCENARIO_TIMEOUT_S * 1000), "-o", str(folder), "--force"),
    )
    return Verdict(read_checks(folder).get(name, Counter()), exit_code, log)


def read_checks(folder: Path) -> dict[str, Counter[str]]:
    """How often each status stands in the checks.json of each scenario below a folder."""
    found = {}
    for path in folder.rglob("checks.json"):
        folder_name = path.parent.relative_to(folder).as_posix()
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", folder_name)
        found[scenario] = Counter(check["status"] for check in json.loads(path.read_text()))
    return found


@pytest.mark.parametrize("version", EXPECTED)
async def test_every_scenario_is_expected(version: str) -> None:
    exit_code, listing = await run_suite("list", "--client", "--spec-version", version)
    assert exit_code == 0
    offered = set(re.findall(r"^  - (\S+)", listing, re.MULTILINE))
    assert offered == EXPECTED[version] | SIGN_IN[version]


# Most people let the revision be found out; one that is configured is tried with all in soak.
@pytest.mark.parametrize(
    ("version", "scenario", "revision"),
    [
        pytest.param(
            version,
            name,
            revision,
            marks=() if revision == "auto" or name in BASIC else pytest.mark.soak,
        )
        for version, names in EXPECTED.items()
        for name in sorted(names)
        for revision in ("auto", "pinned")
    ],
)
async def test_a_scenario_passes(
    version: str, scenario: str, revision: str, tmp_path: Path
) -> None:
    command = CLIENT if revision == "pinned" else f"{CLIENT} --auto"
    verdict = await run_scenario(scenario, version, tmp_path / "first", command)
    if not verdict.is_pass:
        verdict = await run_scenario(scenario, version, tmp_path / "again", command)
    assert verdict.is_pass, f"{dict(verdict.counts)}\n{verdict.log}"


@asynccontextmanager
async def warm_client() -> AsyncIterator[str]:
    """A command that runs the client without importing it anew; see warm_client.py."""
    with tempfile.TemporaryDirectory() as folder:  # the path of a socket must be short
        path = f"{folder}/client"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.conformance.warm_client", path),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(SCENARIO_TIMEOUT_S):
                assert await process.stdout.readline() == b"ready\n"
            yield f"{sys.executable} -I -S {RELAY} {path}"
        finally:
            process.kill()
            await process.wait()


async def all_pass(suite: str, version: str, names: set[str], folder: Path, *more: str) -> None:
    """All scenarios of a suite at once: one start of it, and of the client, for two dozen.

    One that fails is run again, alone and by a client that was started for it.
    """
    async with warm_client() as command:
        await run_suite(
            *("client", "--command", command, "--suite", suite, *more),
            *("--timeout", str(SCENARIO_TIMEOUT_S * 1000), "-o", str(folder / "all")),
            timeout_s=3 * SCENARIO_TIMEOUT_S,
        )
    checks = read_checks(folder / "all")
    for name in sorted(names):
        verdict = Verdict(checks.get(name, Counter()))
        if not verdict.is_pass:
            verdict = await run_scenario(name, version, folder / "again")
        assert verdict.is_pass, f"{name}: {dict(verdict.counts)}\n{verdict.log}"


@pytest.mark.timeout(300)  # two dozen clients at once take a loaded machine its time
@pytest.mark.parametrize("version", SIGN_IN)
async def test_every_way_to_sign_in_passes(version: str, tmp_path: Path) -> None:
    await all_pass("auth", version, _SIGN_IN, tmp_path, "--spec-version", version)
    if added := SIGN_IN[version] - _SIGN_IN:  # these are in a suite of their own
        await all_pass("draft", version, added, tmp_path / "draft", "--spec-version", version)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("suite", OTHER_SIGN_INS)
async def test_every_other_way_to_sign_in_passes(suite: str, tmp_path: Path) -> None:
    await all_pass(suite, _REVISION_OF_SUITE[suite], OTHER_SIGN_INS[suite], tmp_path)


@pytest.mark.parametrize("version", EXPECTED)
async def test_skills_are_verified_and_not_fetched_ahead(version: str, tmp_path: Path) -> None:
    async with warm_client() as command:
        verdicts = await asyncio.gather(
            *(run_scenario(name, version, tmp_path / name, command) for name in sorted(SKILLS))
        )
    for name, verdict in zip(sorted(SKILLS), verdicts, strict=True):
        assert verdict.is_pass, f"{name}: {dict(verdict.counts)}\n{verdict.log}"
        assert verdict.counts["SKIPPED"] == 0


@pytest.mark.parametrize("version", EXPECTED)
async def test_a_client_that_does_nothing_scores_zero(version: str, tmp_path: Path) -> None:
    await run_suite(
        *("client", "--command", DO_NOTHING, "--suite", "all", "--spec-version", version),
        *("-o", str(tmp_path)),
    )
    checks = read_checks(tmp_path)
    assert EXPECTED[version] <= checks.keys()
    assert [name for name, counts in checks.items() if Verdict(counts).is_pass] == []


async def test_a_scenario_that_the_client_does_not_know_is_an_error() -> None:
    process = await asyncio.create_subprocess_exec(
        *CLIENT.split(),
        "http://127.0.0.1:9/",
        cwd=ROOT,
        env={**os.environ, "MCP_CONFORMANCE_SCENARIO": "brand-new"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(SCENARIO_TIMEOUT_S):
        _, errors = await process.communicate()
    assert process.returncode == 1
    assert b"unknown conformance scenario 'brand-new'" in errors
