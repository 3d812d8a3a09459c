"""The web UI in a browser beside the Inspector's: how much it loads, how soon it can be used, in
what memory, with thousands of tools and with a hundred thousand frames.

Both are real processes and real pages in headless Chromium. What a person would click is clicked by
a script in the page as soon as it is there, so that no figure holds a person's or a driver's time.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench import in_page
from bench.command_line import inspector_version
from bench.measure import Effort
from bench.programs import PROGRAMS, Running, running_program
from bench.servers.many import LOGS_PER_SECOND

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HEADINGS: Final = ["", "mcplens", "Inspector", "", "aim"]
_BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Long enough for whoever draws every frame at once.
_PATIENCE_MS: Final = 60_000
_TOOLS: Final = 5_000
_FRAMES: Final = 100_000
_QUICK_TOOLS: Final = 100
_QUICK_FRAMES: Final = 50
_MOST_ROUNDS: Final = 3

METHOD: Final = """\
`mcplens web` and the Inspector's web UI run as processes of their own on the same stdio server
(`bench/servers/many.py`), each with a new home, in headless Chromium with an empty cache. Seconds
are the browser's own clock, from navigation on: the server is connected, then its tools (or the
traffic) are opened, each as soon as the page offers it, until the rows are painted and the page
draws again within 100 ms. The {tools:,} tools come in pages of 500. The {frames:,} frames are log
messages that the server sends at once after the handshake; the time runs until the view has been
still for 1.5 s, less that time, and what it then says that it holds is the row "frames shown".
Memory is what the page's JavaScript holds after a garbage collection (`Runtime.getHeapUsage`).
JavaScript is what was loaded up to the first painted list of tools, each file compressed by gzip.
The last rows are mcplens alone: a reload while the server stays connected, the screen of the
tools opened from another one, a key in the search field until the next frame is done, results of
5 MB of JSON and of 20 MB of text from the click on Run to the paint, and the recorded frames opened
from the history, then scrolled and searched; and the screen of the logs, scrolled and searched
while the server logs {logs:,} lines a second. Median of {rounds} runs."""

PageResults = dict[str, dict[str, float]]
# Why a figure of the Inspector's is missing, from the run itself.
_gaps: dict[str, str] = {}


@dataclass(frozen=True)
class _Scale:
    rounds: int
    tools: int
    frames: int


def scale_of(effort: Effort) -> _Scale:
    """As large as the issue asks, unless only a look is wanted."""
    is_quick = effort.frames < _FRAMES
    tools, frames = (_QUICK_TOOLS, _QUICK_FRAMES) if is_quick else (_TOOLS, _FRAMES)
    return _Scale(min(_MOST_ROUNDS, effort.cold_rounds), tools, frames)


def _heap_mb(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: float = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6


# -- what is measured --------------------------------------------------------------------------


def why_not() -> str | None:
    """What is missing to measure at all; None if nothing is."""
    from mcplens.web.page import STATIC

    if not any(map(shutil.which, _BROWSERS)):
        return "there is no Chromium here"
    return None if (STATIC / "index.html").exists() else "the page is not built"


def run_page(effort: Effort) -> PageResults:
    """Medians by program and figure."""
    from playwright.sync_api import sync_playwright

    if why_not() is not None:
        return {}
    scale = scale_of(effort)
    names = [name for name in PROGRAMS if name == "ours" or inspector_version()]
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    browser_path = next(filter(None, map(shutil.which, _BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for _ in range(scale.rounds):
            for name in names:
                rounds[name].append(_measure(browser, name, scale))
        browser.close()
    return {name: _medians(found) for name, found in rounds.items()}


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    keys = {key for one in rounds for key in one}
    return {key: statistics.median(one[key] for one in rounds if key in one) for key in keys}


@contextmanager
def _page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    try:
        yield page
    finally:
        context.close()


def _measure(browser: Browser, name: str, scale: _Scale) -> dict[str, float]:
    found: dict[str, float] = {}
    for what, measure in (("tools", _measure_tools), ("frames", _measure_frames)):
        try:
            found |= measure(browser, name, scale)
        except Exception as problem:  # the Inspector's page is not ours to rely on
            if name == "ours":
                raise
            is_busy = type(problem).__name__ == "TimeoutError"
            busy = f"its page did not answer within {_PATIENCE_MS / 1000:g} s"
            _gaps[what] = busy if is_busy else str(problem).splitlines()[0]
    return found


def _measure_tools(browser: Browser, name: str, scale: _Scale) -> dict[str, float]:
    found: dict[str, float] = {}
    with running_program(name, "--tools", str(scale.tools)) as running, _page(browser) as page:
        scripts: dict[str, Any] = {}
        page.on("response", lambda answer: scripts.setdefault(answer.url, answer))
        steps = [running.program.connect, running.program.tools]
        page.goto(running.address(running.program.start), wait_until="commit")
        found["tools_s"] = _go(page, steps, "Tool number 0") / 1000
        needed = list(scripts.values())  # more comes later, ahead of its use
        found["tools_mb"] = _heap_mb(page)
        found["script_kb"] = sum(map(_compressed_kb, needed))
        if name == "ours":
            found |= _ours_alone(page, running)
    return found


def _measure_frames(browser: Browser, name: str, scale: _Scale) -> dict[str, float]:
    found: dict[str, float] = {}
    with running_program(name, "--tools", "10", "--frames", str(scale.frames)) as running:
        with _page(browser) as page:
            steps = [running.program.connect, running.program.frames]
            page.goto(running.address(running.program.start), wait_until="commit")
            _go(page, steps, "")
            still = {"still": 1500}
            _do(page, in_page.SETTLE, still)
            # A page that fell behind reads the rest from the recording when the flood is over.
            page.get_by_text("not sent to this page").wait_for(state="hidden")
            found["frames_s"] = _do(page, in_page.SETTLE, still) / 1000
            found["frames_mb"] = _heap_mb(page)
            if shown := _shown(page, running.program.shown):
                found["frames"] = shown
        if name == "ours":
            with _page(browser) as page:
                found |= _recorded(page, running)
    return found


def _go(page: Page, steps: list[str], text: str) -> float:
    return _do(page, in_page.GO, {"steps": steps, "text": text})


def _do(page: Page, script: str, given: dict[str, Any]) -> float:
    """Run a script in the page; given up even when the page is too busy to give up itself."""
    page.evaluate(in_page.BEGIN % script, {"patience": _PATIENCE_MS, **given})
    ended = page.locator("html[data-bench-ended]")
    ended.wait_for(state="attached", timeout=_PATIENCE_MS)
    answer = json.loads(ended.get_attribute("data-bench-ended") or "{}")
    if "problem" in answer:
        raise RuntimeError(answer["problem"])
    return float(answer["value"])


def _compressed_kb(answer: Any) -> float:
    if not answer.url.split("?")[0].endswith(".js") or answer.status != 200:
        return 0.0
    return len(gzip.compress(answer.body(), 6)) / 1000


def _shown(page: Page, pattern: str) -> float:
    counts = re.findall(pattern, page.locator("body").inner_text())
    return max((float(count.replace(",", "")) for count in counts), default=0.0)


def _ours_alone(page: Page, running: Running) -> dict[str, float]:
    found = {}
    page.goto(f"{running.url}/s/many/tools", wait_until="commit")
    found["reload_ms"] = _go(page, [], "Tool number 0")
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_text("Default").first.wait_for()
    found["open_ms"] = _do(
        page, in_page.OPEN, {"step": running.program.tools, "text": "Tool number 0"}
    )
    found["key_ms"] = _key_ms(page, "Search tools", "number 42")
    for tool, selector in (("json", "[role=treeitem]"), ("text", "[aria-label=Text]")):
        page.goto(f"{running.url}/s/many/tools/{tool}")
        _do(page, in_page.RUN, {"selector": selector})  # the first time the server makes it
        found[f"{tool}_ms"] = _do(page, in_page.RUN, {"selector": selector})
    return found | _logging(page, running)


def _logging(page: Page, running: Running) -> dict[str, float]:
    """The screen of the logs while a tool writes them."""
    page.goto(f"{running.url}/s/many/tools/log")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Logs").first.click()
    page.get_by_text("what a busy server").first.wait_for()
    scroll = {"selector": "[role=listbox]"}
    return {
        "log_scroll_ms": _do(page, in_page.SCROLL, scroll),
        "log_key_ms": _key_ms(page, "Filter logs", "line 42"),
    }


def _folder(page: Page) -> str:
    """The folder of the API, which the page knows once it has signed in."""
    while not (folder := page.evaluate("localStorage.getItem('mcplens.folder')")):
        page.wait_for_timeout(20)
    return str(folder)


def _recorded(page: Page, running: Running) -> dict[str, float]:
    """The frames of a run, opened from the history."""
    page.goto(running.address("/servers"))
    page.get_by_role("navigation").first.wait_for()
    answer = page.request.get(f"{running.url}{_folder(page)}/api/history")
    run = answer.json()["runs"][0]["run_id"]
    page.goto(f"{running.url}/s/many/traffic?run={run}", wait_until="commit")
    first = _go(page, [], "notifications/message")
    page.get_by_text("Reading the recording").wait_for(state="hidden")
    return {
        "recorded_ms": first,
        "recorded_all_s": page.evaluate("performance.now()") / 1000,
        "scroll_ms": _do(page, in_page.SCROLL, {"selector": "[aria-label=Traffic]"}),
        "filter_ms": _key_ms(page, "Filter traffic", "number 42"),
    }


def _key_ms(page: Page, label: str, text: str) -> float:
    """A key in a search field, until the next frame is done; the median of them."""
    page.evaluate(in_page.KEYS)
    page.get_by_label(label).click()
    for key in text:
        page.keyboard.press(key if key != " " else "Space")
        page.wait_for_timeout(100)
    taken_ms: list[float] = page.evaluate("__keys")
    return statistics.median(taken_ms)


# -- how it is shown ---------------------------------------------------------------------------


def page_rows(results: PageResults, effort: Effort) -> list[list[str]]:
    """What was measured, beside the Inspector's and the aim."""
    if not results:
        return [["the page in a browser", "–", "–", why_not() or "not measured", ""]]
    scale = scale_of(effort)
    tools, frames = f"{scale.tools:,} tools", f"{scale.frames:,} frames"
    logs = f"{LOGS_PER_SECOND:,} log lines a second"
    is_whole = scale.tools == _TOOLS
    rows = [
        ("JavaScript of the first screen", "script_kb", "kB", 350.0),
        (f"{tools}: from navigation to rows", "tools_s", "s", None),
        (f"{tools}: memory of the page", "tools_mb", "MB", None),
        (f"{frames}: from navigation to all there", "frames_s", "s", None),
        (f"{frames}: memory of the page", "frames_mb", "MB", None),
        (f"{frames}: frames shown", "frames", "", None),
        (f"{tools}: reload", "reload_ms", "ms", None),
        (f"{tools}: the screen opened", "open_ms", "ms", 300.0 if is_whole else None),
        (f"{tools}: a key in the search", "key_ms", "ms", 30.0 if is_whole else None),
        ("5 MB of JSON shown", "json_ms", "ms", 1000.0),
        ("20 MB of text shown", "text_ms", "ms", None),
        (f"{frames} recorded: first rows", "recorded_ms", "ms", None),
        (f"{frames} recorded: all rows", "recorded_all_s", "s", None),
        (f"{frames} recorded: a step of scrolling", "scroll_ms", "ms", 30.0 if is_whole else None),
        (f"{frames} recorded: a key in the filter", "filter_ms", "ms", 30.0 if is_whole else None),
        (f"{logs}: a step of scrolling", "log_scroll_ms", "ms", 30.0),
        (f"{logs}: a key in the filter", "log_key_ms", "ms", 30.0),
    ]
    return [_row(results, *row) for row in rows]


def page_method(effort: Effort) -> str:
    """How it was measured, and what could not be."""
    scale = scale_of(effort)
    text = METHOD.format(
        rounds=scale.rounds, tools=scale.tools, frames=scale.frames, logs=LOGS_PER_SECOND
    )
    gaps = (
        f"The Inspector could not be measured with {what}: {why}." for what, why in _gaps.items()
    )
    return " ".join([text, *gaps])


def _row(results: PageResults, label: str, key: str, unit: str, aim: float | None) -> list[str]:
    ours = results["ours"][key]
    theirs = results.get("inspector", {}).get(key)
    judged = "" if aim is None else f"(≤ {aim:g}: {'yes' if ours <= aim else 'NO'})"
    return [
        label,
        _figure(ours, unit),
        "–" if theirs is None else _figure(theirs, unit),
        unit,
        judged,
    ]


def _figure(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value:.2f}"
    return f"{value:,.1f}" if unit == "MB" else f"{value:,.0f}"


if __name__ == "__main__":
    from bench.measure import FULL, QUICK

    wanted = QUICK if "--quick" in sys.argv else FULL
    for cells in [HEADINGS, *page_rows(run_page(wanted), wanted)]:
        print("  ".join(cell.ljust(18) for cell in cells))
