"""npm's server-everything in the browser, on stdio and on Streamable HTTP."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.node_tools import everything_argv
from tests.ports import held_port

from .browser import Watched, flip, watched
from .site import START_S, configure, site


@contextmanager
def serving() -> Iterator[str]:
    """The URL of a server-everything that listens."""
    with held_port() as port, _listening(port):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def _listening(port: int) -> Iterator[None]:
    process = subprocess.Popen(
        everything_argv("streamableHttp"), env={**os.environ, "PORT": str(port)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    # It logs every message there; a pipe that nobody reads would stop it.
    reading = threading.Thread(target=process.stderr.read, daemon=True)
    timer = threading.Timer(START_S, process.kill)
    timer.start()
    try:
        for line in process.stderr:
            if "on port" in line:
                break
        else:
            raise AssertionError("server-everything ended before it listened")
        timer.cancel()
        reading.start()
        yield
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        if reading.ident is not None:
            reading.join()
        process.stderr.close()


@pytest.fixture(scope="module")
def window(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home: Path = tmp_path_factory.mktemp("home")
    command, *args = everything_argv()
    with serving() as url:
        configure(home, {"stdio": {"command": command, "args": args}, "http": {"url": url}})
        with site(home) as running, watched(browser, running) as opened:
            opened.enter("/servers")
            yield opened


@pytest.mark.parametrize("server", ["stdio", pytest.param("http", marks=pytest.mark.soak)])
def test_server_everything_is_called_and_answered(window: Watched, server: str) -> None:
    page = window.switch("/servers")
    flip(page.get_by_role("switch", name=f"Connection to {server}", checked=False))
    expect(page.get_by_role("article", name=server)).to_contain_text("Connected")

    window.switch(f"/s/{server}/tools/echo")
    expect(page.get_by_role("listbox", name="Tools")).to_contain_text("trigger-sampling-request")
    page.get_by_label("message").fill("from a browser")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Call of echo")).to_contain_text("Echo: from a browser")

    window.switch(f"/s/{server}/tools/trigger-sampling-request")
    page.get_by_label("prompt").fill("What is a lens?")
    page.get_by_role("button", name="Run", exact=True).click()
    question = page.get_by_label("Question: sampling/createMessage")
    expect(question).to_contain_text("What is a lens?")
    question.get_by_label("Response", exact=False).last.fill("Glass that bends light.")
    question.get_by_role("button", name="Edit & Send").click()
    call = page.get_by_label("Call of trigger-sampling-request")
    expect(call).to_contain_text("Glass that bends light.")

    window.switch(f"/s/{server}/tools/trigger-elicitation-request")
    page.get_by_role("button", name="Run", exact=True).click()
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_label(re.compile(r"^String\b")).first.fill("Ada")
    form.get_by_role("button", name="Submit").click()
    expect(form).to_be_hidden()
    expect(page.get_by_label("Call of trigger-elicitation-request")).to_contain_text("Ada")
    assert window.axe() == []
    window.shoot(f"everything-{server}")
    window.assert_clean()
