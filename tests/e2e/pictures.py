"""The pictures of the web UI in the docs, drawn by the bundled server.

`python -m tests.e2e.pictures [NAME]...` (`make pictures`) writes docs/pictures/web-*.png.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, expect

import mcplens

from . import wheel
from .browser import ROOT, Watched, chromium, watched
from .palette import with_palette
from .site import configure, site
from .tapped import tapped_client

FOLDER = ROOT / "docs" / "pictures"
# What a page may cost a reader.
MOST_BYTES = 150_000
SIZE = {"width": 1440, "height": 810}
SERVERS = {
    "demo": {"command": "python", "args": ["-m", "mcplens.demo"]},
    "weather": {"command": "python", "args": ["-m", "mcplens.demo"], "env": {"WEATHER_KEY": "x"}},
    "calendar": {"url": "http://localhost:9/mcp", "maxRetries": 0},
}
CLAUDES = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"]}


@dataclass(frozen=True)
class Stage:
    """What a picture may need beside the page: the site's home, and what ends with the picture."""

    home: Path
    cleanups: contextlib.ExitStack


_REPLACE = """([from, to]) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    walker.currentNode.data = walker.currentNode.data.replace(from, to);
}"""


def _run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def _servers(window: Watched, stage: Stage) -> None:
    page = window.goto("/servers")
    for name, ends in (("demo", "Connected"), ("weather", "Connected"), ("calendar", "Failed")):
        card = page.get_by_role("article", name=name)
        card.get_by_role("switch").click(force=True)
        expect(card).to_contain_text(ends)
    # Some notifications go by themselves; the one of the failure stays.
    closing = page.locator(".mantine-Notification-closeButton")
    closing.first.wait_for()
    while closing.count():
        with contextlib.suppress(TimeoutError):  # it went while it was pressed
            closing.last.click(timeout=1_000)


def _call(window: Watched, stage: Stage) -> None:
    page = window.goto("/s/weather/tools/structured-weather")
    _run(page)
    expect(page.get_by_label("Call of structured-weather")).to_contain_text("Done")
    page.keyboard.press("m")
    expect(page.get_by_label("Traffic in the monitor")).to_contain_text("tools/call")


def _form(window: Watched, stage: Stage) -> None:
    page = window.goto("/s/demo/tools/form-nested")
    page.get_by_label("street").fill("5 Lens Lane")
    page.get_by_label("city").fill("Jena")
    page.get_by_role("button", name="Add an item").first.click()
    page.get_by_label(re.compile("tags-2")).fill("glass")


def _question(window: Watched, stage: Stage) -> None:
    page = window.goto("/s/weather/tools/elicit-form")
    _run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_label("name").fill("Ada")


def _traffic(window: Watched, stage: Stage) -> None:
    page = window.goto("/s/weather/tools/broken-json")
    _run(page)
    page.get_by_label("Call of broken-json").wait_for()
    window.goto("/s/weather/traffic")
    page.get_by_text("stray output").last.click()
    page.get_by_role("tab", name="Hex").click()
    page.get_by_label("Bytes in hexadecimal").wait_for()


def _tap_offered(window: Watched, stage: Stage) -> None:
    page = window.goto("/servers?add")
    page.get_by_role("tab", name="From other tools").click()
    page.get_by_role("button", name="See what this client sends").first.click()
    page.get_by_role("dialog", name="See what Claude Desktop sends").wait_for()
    # As on a reader's machine: the picture must not depend on where it was drawn.
    for place, shown in (
        (wheel.COMMAND, "~/.local/bin/mcplens"),
        (stage.home / "config", "~/.config"),
    ):
        page.evaluate(_REPLACE, [str(place), shown])


def _tap_followed(window: Watched, stage: Stage) -> None:
    page = window.goto("/traffic")
    client = stage.cleanups.enter_context(tapped_client(stage.home, "files"))
    client.introduce("claude-ai")
    client.ask("tools/list")
    client.ask("tools/call", name="add", arguments={"a": 2, "b": 3})
    client.start("tools/call", name="wait", arguments={"seconds": 600})
    page.get_by_role("button", name="Follow it").click()
    expect(page.get_by_text("1 without an answer")).to_be_visible()
    page.get_by_text("tools/call").first.click()
    page.get_by_role("tab", name="Message").wait_for()


def _resource(window: Watched, stage: Stage) -> None:
    page = window.goto("/s/demo/resources/demo%3A%2F%2Fimage")
    page.get_by_role("img", name=re.compile("Content of type image")).wait_for()


def _gateway(window: Watched, stage: Stage) -> None:
    page = window.goto("/gateway")
    page.get_by_role("button", name="Turn on").click()
    access = page.get_by_role("region", name="Access")
    url = access.get_by_text("http://127.0.0.1").first.inner_text()
    expect(page.get_by_role("row", name="weather")).to_contain_text("Connected")
    token = (stage.home / "state" / "mcplens" / "gateway-token").read_text()
    for name, version in (("claude-code", "2025-11-25"), ("cursor", "2026-07-28")):
        client = mcplens.connect_sync(
            url,
            headers={"Authorization": f"Bearer {token}"},
            protocol_version=version,
            client_info={"name": name, "version": "2.1"},
        )
        connected = stage.cleanups.enter_context(client)
        connected.call_tool("weather__echo", {"text": "hi"})
    page.get_by_role("row", name="claude-code").first.wait_for()
    access.get_by_role("button", name="Give it to a client").click()


PICTURES: dict[str, tuple[str, Callable[[Watched, Stage], None]]] = {
    "web-servers": ("light", _servers),
    "web-call": ("light", _call),
    "web-form": ("light", _form),
    "web-question": ("light", _question),
    "web-traffic": ("dark", _traffic),
    "web-resource": ("dark", _resource),
    "web-tap-offered": ("light", _tap_offered),
    "web-tap-followed": ("light", _tap_followed),
    "web-gateway": ("light", _gateway),
}


def draw(home: Path, names: Sequence[str] = ()) -> None:
    """Draw these pictures, or all of them."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    configure(home, SERVERS)
    theirs = home / "config" / "Claude" / "claude_desktop_config.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(json.dumps({"mcpServers": {"files": CLAUDES}}))
    FOLDER.mkdir(exist_ok=True)
    with chromium(home) as browser, site(home) as running:
        for name in names or PICTURES:
            theme, show = PICTURES[name]
            options = {"viewport": SIZE, "color_scheme": theme, "reduced_motion": "reduce"}
            cleanups = contextlib.ExitStack()
            with cleanups, watched(browser, running, **options) as window:
                window.enter("/servers")
                show(window, Stage(home, cleanups))
                window.page.mouse.move(0, SIZE["height"] - 1)
                window.page.wait_for_timeout(500)
                picture = with_palette(window.page.screenshot())
            assert len(picture) <= MOST_BYTES, f"{name} has {len(picture)} bytes"
            (FOLDER / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder), sys.argv[1:])
