"""Well-known hosts: the reference has each fact of them with its sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mcplens.protocol.eras import VERSIONS
from mcplens.pytest_plugin.identities import HOSTS, Fact, Identity

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "pytest.md"


def seconds(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,g} s"


def named(info: dict[str, str]) -> str:
    title = f" ({info['title']})" if "title" in info else ""
    return f"`{info['name']}` {info['version']}{title}"


def declared(capabilities: dict[str, Any]) -> str:
    """Each capability, and what is switched on below it."""
    texts = []
    for name, value in capabilities.items():
        parts = ", ".join(key for key, below in value.items() if below is not False)
        texts.append(f"`{name}`" + (f" ({parts})" if parts else ""))
    return ", ".join(texts)


def cell(fact: Fact[Any], value: str) -> str:
    links = ", ".join(f"[{source.date}]({source.url})" for source in fact.sources)
    return f"{value}<br>{links or 'assumed'}"


def row(name: str, host: Identity) -> str:
    connects, answers = host.connection_timeout_s, host.request_timeout_s
    cells = [
        f"`{name}`",
        cell(host.client_info, named(host.client_info.value)),
        cell(host.protocol_version, host.protocol_version.value),
        cell(host.capabilities, declared(host.capabilities.value)),
        cell(connects, seconds(connects.value)),
        cell(answers, seconds(answers.value)),
    ]
    return f"| {' | '.join(cells)} |"


def test_the_reference_has_every_fact_with_its_sources() -> None:
    text = REFERENCE.read_text()
    assert [line for name, host in HOSTS.items() if (line := row(name, host)) not in text] == []
    assert {host.protocol_version.value for host in HOSTS.values()} <= set(VERSIONS)


def test_every_source_is_a_page_with_a_date_or_a_file_with_its_commit() -> None:
    facts = [getattr(host, name) for host in HOSTS.values() for name in host.__struct_fields__]
    for source in [source for fact in facts for source in fact.sources]:
        assert source.url.startswith("https://")
        is_dated = re.fullmatch(r"20\d\d-\d\d-\d\d", source.date) is not None
        assert is_dated or f"/blob/{source.date}" in source.url


def test_a_test_that_answers_questions_itself_keeps_its_answers() -> None:
    own = object()
    options = HOSTS["vscode"].options({"elicitation": own})
    assert "elicitation" not in options
    assert options["sampling"].name == "refuse"
    assert HOSTS["claude-desktop"].options({})["capabilities"]["roots"] is None
