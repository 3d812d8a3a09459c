"""Two demo servers of one revision in one web UI; each says something on stderr as it starts,
indented and in red."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from .browser import switch
from .site import Site, configure, site

LOUD = (
    "import runpy, sys; print('  \\x1b[31mstarting up\\x1b[0m', file=sys.stderr, flush=True); "
    "runpy.run_module('mcplens.demo', run_name='__main__', alter_sys=True)"
)


@contextmanager
def pair(home: Path) -> Iterator[Site]:
    """`one` is connected from the start; `two` is not, and stays down when it dies."""
    demo = {
        "command": sys.executable, "args": ["-c", LOUD], "inheritEnv": True,
        "protocolVersion": "2025-11-25",
    }  # fmt: skip
    configure(home, {"one": demo, "two": {**demo, "maxRetries": 0}})
    with site(home, "one") as running:
        yield running


def connect(page: Page, name: str) -> None:
    """Switch a server on by its card, unless it is on."""
    off = page.get_by_role("switch", name=f"Connection to {name}", checked=False, exact=True)
    on = page.get_by_role("switch", name=f"Connection to {name}", checked=True, exact=True)
    off.or_(on).wait_for()
    if off.count():
        off.press("Space")
    expect(page.get_by_role("article", name=name)).to_contain_text("Connected")
    expect(on).to_be_visible()


def call(page: Page, tool: str, **arguments: str) -> None:
    """Call a tool of `one` by its form; a task where it may be one."""
    switch(page, f"/s/one/tools/{tool}")
    page.get_by_role("button", name="Run", exact=True).wait_for()
    for name, value in arguments.items():
        page.get_by_label(name, exact=True).fill(value)
    as_task = page.get_by_role("switch", name="Run as a task")
    if as_task.count():
        as_task.check()
    page.get_by_role("button", name="Run", exact=True).click()
    # An earlier call may be shown until then.
    expect(page).to_have_url(re.compile(r"\?call="))
    page.get_by_label(f"Call of {tool}").wait_for()
