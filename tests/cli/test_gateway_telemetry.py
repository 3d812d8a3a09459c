"""`mcplens gateway --telemetry`: a process that sends its spans, and one without the packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mcplens
from mcplens.cli import exit_codes
from mcplens.config.configuration import load_configuration
from mcplens.config.environment import current_environment
from tests.cli.shell import Shell
from tests.cli.test_gateway import configure, started
from tests.gateway.collector import collector

WITHOUT = "import sys; sys.modules['opentelemetry'] = None; "
MAIN = "from mcplens.cli.main import main; main()"


async def test_a_gateway_sends_its_spans_where_the_standard_variables_say(shell: Shell) -> None:
    configure(shell)
    async with collector() as seen:
        shell.variables |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": seen.url,
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=team-gateway,deployment=test",
        }
        options = ("--telemetry", "--no-auth", "--no-web", "--no-record")
        async with started(shell, *options) as gateway:
            async with mcplens.connect(gateway.url, sse_fallback=False) as client:
                await client.call_tool("demo__echo", {"text": "hi"})
            await gateway.stop()
            assert gateway.process.returncode == exit_codes.DONE
        served = seen.of("team-gateway", "tools/call demo__echo")
        sent = seen.of("team-gateway", "tools/call echo")
        assert sent.parent_id == served.span_id
        assert seen.counts.keys() >= {
            "mcp.server.operation.duration", "mcp.client.operation.duration",
        }  # fmt: skip


def test_without_the_packages_one_sentence_says_what_to_install(shell: Shell) -> None:
    configure(shell)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + MAIN, "gateway", "--telemetry", "--no-web"],
        env=shell.environment, cwd=shell.home, capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode not in (exit_codes.DONE, exit_codes.FAILED)
    assert b"pip install 'mcplens[otel]'" in done.stderr
    assert b"Traceback" not in done.stderr


def test_without_telemetry_nothing_of_it_is_imported() -> None:
    code = (
        "import sys, mcplens.gateway.service, mcplens.gateway.plain_calls; "
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"gateway": {"telemetry": {"endpoint": "http://evil.example.com"}}},
            "gateway.telemetry: a project's file may not name a collector",
        ),
        ({"views": {"v": {"approval": "off"}}}, "views.v.approval: a project's file may only"),
    ],
)
def test_a_project_may_neither_name_a_collector_nor_switch_approval_off(
    tmp_path: Path, content: dict[str, Any], problem: str
) -> None:
    (tmp_path / "mcp.json").write_text(json.dumps(content))
    (tmp_path / ".git").mkdir()
    here = current_environment(cwd=str(tmp_path), environ={"HOME": str(tmp_path / "home")})
    found = load_configuration(here=here)
    assert [one.message for one in found.problems if problem in one.message] != []
    assert found.settings.gateway == {}
    assert found.settings.views == {}
