"""Characters that nobody sees are told of wherever somebody reads before deciding."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, expect

from .browser import watched
from .site import configure, site

SERVER = Path(__file__).with_name("hidden_server.py")
HIDING = "hi⟦U+200B⟧ding"


def test_what_a_server_hides_in_its_words_is_shown(browser: Browser, tmp_path: Path) -> None:
    configure(tmp_path, {"hidden": {"command": sys.executable, "args": [str(SERVER)]}})
    with (
        site(tmp_path, "hidden") as running,
        watched(browser, running, permissions=["clipboard-read", "clipboard-write"]) as window,
    ):
        page = window.enter("/s/hidden/tools/ask")
        expect(page.get_by_role("heading", name=f"title {HIDING}")).to_be_visible()
        row = page.get_by_role("option", name=f"title {HIDING}")
        expect(row).to_contain_text(f"plain {HIDING}⟦U+E0041⟧")
        field = page.get_by_label(f"field {HIDING}")
        expect(field).to_be_visible()
        expect(page.get_by_text(f"about {HIDING}", exact=True)).to_be_visible()
        window.shoot("hidden in a tool")
        page.get_by_role("button", name="Run", exact=True).click()
        question = page.get_by_text("Delete ⟦U+202E⟧gnp.exe?", exact=True)
        expect(question.first).to_be_visible()
        window.shoot("hidden in a question")
        page.get_by_role("button", name="Decline").click()
        called = page.get_by_label("Call of ask")
        expect(called).to_contain_text(f"said {HIDING}")
        expect(called).to_contain_text("Invisible characters are shown")
        called.get_by_role("button", name="Copy this text").click()
        expect(page.get_by_text("Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == "said hi\u200bding"
        window.switch("/s/hidden/tools/marked")
        expect(page.locator("strong", has_text=f"bold {HIDING}").first).to_be_visible()
        expect(page.locator("code", has_text=f"code {HIDING}").first).to_be_visible()
        window.shoot("hidden in markdown")
        window.assert_clean()
