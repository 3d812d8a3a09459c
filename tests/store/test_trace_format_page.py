"""docs/reference/trace-format.md names every field that a trace can have, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.events import Event
from mcplens.store.database import Run
from mcplens.store.recorded_secrets import Mask
from mcplens.store.recorder import Recorder
from mcplens.store.trace import FORMAT, VERSION
from mcplens.store.trace_transfer import import_trace
from tests.docs.markdown import DOCS, blocks
from tests.docs.test_reference import tables
from tests.store.samples import KINDS, publish_all

PAGE = DOCS / "reference" / "trace-format.md"
DOCUMENTED = tables(PAGE)


def names(kind: type[msgspec.Struct]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind)]


def test_every_event_and_no_other_has_a_section() -> None:
    found = {title for title in DOCUMENTED if title[0].isupper() and " " not in title}
    assert found - {"Run", "Requests", "Bytes"} == {kind.__name__ for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_is_documented_with_its_fields(kind: type[Event]) -> None:
    found = [*DOCUMENTED["What every event has"], *DOCUMENTED[kind.__name__]]
    assert found == names(kind)


def test_header_run_and_masks_are_documented_with_their_fields() -> None:
    assert list(DOCUMENTED["The first line"]) == ["format", "version"]
    assert f"`{FORMAT}`" in DOCUMENTED["The first line"]["format"]
    assert f"`{VERSION}`" in DOCUMENTED["The first line"]["version"]
    assert list(DOCUMENTED["Run"]) == names(Run)
    assert list(DOCUMENTED["What is masked"]) == names(Mask)


def test_what_is_written_is_what_is_documented(tmp_path: Path) -> None:
    bus = Bus(SystemClock())
    trace = tmp_path / "trace"
    with Recorder(bus, None, trace=trace):
        publish_all(bus)
    shared = {"type", "masked", *DOCUMENTED["What every event has"]}
    _, run, *lines = (json.loads(line) for line in trace.read_bytes().splitlines())
    assert list(run) == ["type", *DOCUMENTED["Run"]]
    assert {line["type"] for line in lines} == {kind.__name__ for kind in KINDS}
    for line in lines:
        own = [name.removesuffix("_base64") for name in line if name not in shared]
        assert own == [name for name in DOCUMENTED[line["type"]] if name in own]
        if isinstance(message := line.get("message"), dict):
            inside = {name.removesuffix("_base64") for name in message}
            assert inside <= set(DOCUMENTED["A message"])


def test_the_example_can_be_imported(tmp_path: Path) -> None:
    (example,) = (block for block in blocks(PAGE) if block.language == "json")
    trace = tmp_path / "trace"
    trace.write_text(example.text)
    imported = import_trace(trace, tmp_path / "recording")
    assert (imported.event_count, imported.broken) == (1, [])
    lines: list[dict[str, Any]] = [json.loads(line) for line in example.text.splitlines()]
    assert lines[2]["size_bytes"] == len(lines[2]["message"]["raw"])
