"""The topic pages say what the code does."""

import re

import pytest

from mcplens.protocol.eras import HANDSHAKE_VERSIONS, STATELESS_VERSIONS
from mcplens.protocol.frames import Malformed, parse
from mcplens.protocol.schema_validation import SchemaProblem, Validator
from mcplens.session.handshake import HTTP_PROBE_TIMEOUT_S, PROBE_TIMEOUT_S
from mcplens.session.unmatched_replies import UNATTRIBUTED_GRACE_S
from tests.docs.markdown import DOCS, sections

ERAS = DOCS / "topics" / "eras.md"
MALFORMED = DOCS / "topics" / "malformed.md"


def test_the_page_on_eras_names_every_revision_and_the_bound_of_the_probe() -> None:
    text = ERAS.read_text()
    assert f"| `handshake` | {', '.join(HANDSHAKE_VERSIONS)} |" in text
    assert f"| `stateless` | {', '.join(STATELESS_VERSIONS)} |" in text
    assert f"| nothing for {PROBE_TIMEOUT_S:g} s (stdio, WebSocket) |" in text
    assert f"| nothing for {HTTP_PROBE_TIMEOUT_S:g} s (HTTP)" in text


DIALECTS = re.findall(r"^\| .+ \| `(http.+)` \|$", ERAS.read_text(), re.MULTILINE)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_on_the_page_is_accepted(dialect: str) -> None:
    assert Validator({"$schema": dialect, "type": "string"}).findings(7) != ()


def test_the_five_dialects_are_on_the_page_and_no_other_is_accepted() -> None:
    assert len(DIALECTS) == 5
    with pytest.raises(SchemaProblem):
        Validator({"$schema": "http://json-schema.org/draft-03/schema#"})


ROWS = re.findall(
    r"^\| `(.+)` \| (.+) \| (at once|after 1 s|not a reply) \|$",
    sections(MALFORMED)["Bytes that are not a message"],
    re.MULTILINE,
)


@pytest.mark.parametrize(("sample", "reason", "fails"), ROWS, ids=[row[1][:40] for row in ROWS])
def test_a_broken_message_is_judged_as_the_page_says(sample: str, reason: str, fails: str) -> None:
    data: bytes = eval(sample) if sample.startswith("b'") else sample.encode()
    message = parse(data)
    assert isinstance(message, Malformed)
    assert message.raw == data
    assert message.reason.startswith(reason)
    expected = {"at once": (7,), "after 1 s": (), "not a reply": ()}[fails]
    assert message.ids == expected
    assert message.is_reply_like is (fails != "not a reply")


def test_the_table_of_broken_messages_is_read() -> None:
    assert len(ROWS) == 17
    assert UNATTRIBUTED_GRACE_S == 1.0
