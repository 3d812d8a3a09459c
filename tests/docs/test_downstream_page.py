"""docs/reference/downstream.md names tests that exist."""

import re

import pytest

from tests.docs.markdown import DOCS
from tests.servers.run import ROOT

PAGE = DOCS / "reference" / "downstream.md"
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE.read_text())))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_test_that_the_page_names_exists(path: str, name: str) -> None:
    assert re.search(rf"\bdef {name}\(", (ROOT / path).read_text())


def test_each_promise_is_numbered_and_has_a_test() -> None:
    rows = re.findall(r"^\| (\d+) \|.*`tests/.*` \|$", PAGE.read_text(), re.MULTILINE)
    assert [int(number) for number in rows] == list(range(1, 49))
