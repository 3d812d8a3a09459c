"""Every error code has a help page that says what happened, why, and what to do."""

import re
from pathlib import Path

import pytest

from mcplens.errors import CODES, InspectorError, help_slug
from tests.docs.markdown import DOCS, ROOT, headings, sections

PAGES = DOCS / "errors"

# The table of help addresses that the specification of the inspector gives.
SPECIFIED = {
    "CONNECTION_TIMEOUT": "/docs/errors/connection-timeout",
    "CONNECTION_REFUSED": "/docs/errors/connection-refused",
    "INVALID_RESPONSE": "/docs/errors/invalid-response",
    "PROTOCOL_VERSION_MISMATCH": "/docs/errors/protocol-version",
    "AUTHENTICATION_FAILED": "/docs/errors/authentication",
    "RATE_LIMITED": "/docs/errors/rate-limited",
}


def page_of(code: str) -> Path:
    return ROOT / f"{InspectorError(code, 'x').help_url.removeprefix('/')}.md"


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {page.stem for page in PAGES.iterdir()} == {help_slug(code) for code in CODES}


@pytest.mark.parametrize(("code", "address"), SPECIFIED.items())
def test_the_specified_codes_have_the_specified_addresses(code: str, address: str) -> None:
    assert InspectorError(code, "x").help_url == address


@pytest.mark.parametrize("code", CODES)
def test_the_help_address_of_an_error_leads_to_its_page(code: str) -> None:
    assert page_of(code).is_file()
    assert page_of(code).parent == PAGES


@pytest.mark.parametrize("code", CODES)
def test_a_page_says_what_happened_why_and_what_to_do(code: str) -> None:
    title, *rest = headings(page_of(code))
    assert title.startswith("# ")
    assert rest == [
        "## What happened", "## Why", "## What to do", "## On the command line", "## Details",
    ]  # fmt: skip
    assert all(text.strip() for text in sections(page_of(code)).values())


@pytest.mark.parametrize("code", CODES)
def test_a_page_gives_the_category_and_whether_it_is_retried(code: str) -> None:
    category, is_retryable = CODES[code]
    summary = page_of(code).read_text().splitlines()[2]
    retried = (
        "retried automatically where retries are on"
        if is_retryable
        else "not retried automatically"
    )
    expected = f"`{code}`, category `{category}`, {retried}"
    assert re.fullmatch(re.escape(expected) + r"( \(.+\))?\.", summary)


@pytest.mark.parametrize("code", CODES)
def test_a_page_can_be_read_in_a_minute(code: str) -> None:
    assert 15 <= len(page_of(code).read_text().splitlines()) <= 48


@pytest.mark.parametrize("code", CODES)
def test_the_details_on_a_page_are_keys_that_the_code_sets(code: str) -> None:
    source = "".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    named = re.findall(r"`([a-z_]+)`", sections(page_of(code))["Details"])
    keys = [name for name in named if name != "create_request_queue"]
    missing = [key for key in keys if f'"{key}"' not in source and f"{key}=" not in source]
    assert missing == []


@pytest.mark.parametrize("code", CODES)
def test_a_page_links_to_other_error_pages_alone(code: str) -> None:
    # The pages are shipped without the rest of the docs.
    links = re.findall(r"\]\(([^)]+)\)", page_of(code).read_text())
    assert [link for link in links if not (PAGES / link).is_file()] == []
