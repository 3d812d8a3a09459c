"""Well-known hosts: the reference has each of them as it is."""

from __future__ import annotations

from pathlib import Path

from mcplens.protocol.eras import VERSIONS
from mcplens.pytest_plugin.identities import HOSTS, Identity

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "pytest.md"


def seconds(value: float | None) -> str:
    return "for ever" if value is None else f"{value:g} s"


def row(name: str, host: Identity) -> str:
    declared = ", ".join(f"`{one}`" for one in host.capabilities) or "none"
    times = f"{seconds(host.connection_timeout_s)} | {seconds(host.request_timeout_s)}"
    who = f"`{host.name}` {host.version} | {host.protocol_version}"
    return f"| `{name}` | {who} | {declared} | {times} | [{host.date}]({host.source}) |"


def test_the_reference_has_every_host_as_it_is() -> None:
    text = REFERENCE.read_text()
    assert [name for name, host in HOSTS.items() if row(name, host) not in text] == []
    assert {host.protocol_version for host in HOSTS.values()} <= set(VERSIONS)


def test_a_test_that_answers_questions_itself_keeps_its_answers() -> None:
    own = object()
    options = HOSTS["vscode"].options({"elicitation": own})
    assert "elicitation" not in options
    assert options["sampling"].name == "refuse"
    assert HOSTS["claude-desktop"].options({})["capabilities"]["roots"] is None
