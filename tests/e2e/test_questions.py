"""The panels of what servers ask, in each mode: what they show, and exactly what they answer.

The questions are put into the stream between backend and page, so that each panel is met with all
that the protocol allows; what a real server asks is in test_answers.py.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from mcplens.protocol import url_checks

from .browser import PATIENCE_S, Watched, watched
from .site import Site

CALL: dict[str, Any] = {
    "call_id": "asked", "server_id": "demo", "kind": "tool", "method": "tools/call",
    "name": "echo", "request": {}, "request_id": 99, "request_ids": [99], "request_seqs": [],
    "status": "in_progress", "started": 0.0, "elapsed_s": None, "progress": None,
    "is_waiting_on_user": True, "result": None, "result_size_bytes": 0, "is_error": False,
    "findings": [], "error": None, "task_id": None, "awaiting": [],
}  # fmt: skip
SAMPLING = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "What is 2+2?"}}],
    "systemPrompt": "Be short.",
    "modelPreferences": {"hints": [{"name": "some-model"}], "costPriority": 0.3},
    "maxTokens": 1000, "temperature": 0.7, "stopSequences": ["END"],
    "includeContext": "thisServer",
    "tools": [{"name": "add", "description": "Adds two numbers", "inputSchema": {}}],
    "toolChoice": {"mode": "required"},
}  # fmt: skip
FORM = {
    "mode": "form",
    "message": "Please say where the database is.",
    "requestedSchema": {
        "type": "object",
        "required": ["host"],
        "properties": {
            "host": {"type": "string", "title": "Host", "description": "Name or address"},
            "port": {"type": "integer", "title": "Port", "default": 5432},
            "modes": {
                "type": "array",
                "title": "Modes",
                "items": {
                    "anyOf": [{"const": "r", "title": "Read"}, {"const": "w", "title": "Write"}]
                },
            },
        },
    },
}
URL = {
    "mode": "url",
    "message": "Please sign in.",
    "url": "https://bank.example@xn--pple-43d.example/login",
    "elicitationId": "abc-1",
}


def link_to(params: dict[str, Any]) -> dict[str, Any] | None:
    """The URL of a question, judged as the backend does."""
    if params.get("mode") != "url":
        return None
    url = params.get("url")
    shown = {"url": url if isinstance(url, str) else "", "host": url_checks.host_of(url)}
    facts = {**shown, "warnings": list(url_checks.url_warnings(url))}
    return {**facts, "is_openable": url_checks.is_openable(url)}


class Asked:
    """A page whose stream carries questions, and the commands that answered them."""

    def __init__(self, window: Watched) -> None:
        self.window = window
        self.page: Page = window.page
        self.answers: list[dict[str, Any]] = []
        self._route: WebSocketRoute | None = None
        self.page.route_web_socket("**/api/socket", self._between)

    def __repr__(self) -> str:
        return f"<Asked {len(self.answers)} answers>"

    def _between(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        self._route = route

        def from_page(text: str | bytes) -> None:
            command = json.loads(text)
            if command.get("question_id") or command.get("call_id"):
                self.answers.append(command)
                route.send(json.dumps({"type": "CommandReply", "id": command["id"], "value": None}))
            else:
                server.send(text)

        route.on_message(from_page)

    def ask(self, *questions: tuple[str, dict[str, Any]], **fields: Any) -> Page:
        page = self.window.enter("/s/demo/tools/echo")
        page.get_by_role("button", name="Run", exact=True).wait_for()
        self._changed("calls", "asked", CALL)
        for number, (method, params) in enumerate(questions):
            question = {
                "question_id": f"q{number}", "server_id": "demo", "method": method,
                "params": params, "request_id": number, "caused_by": 99, "call_id": "asked",
                "origin": "request", "task_id": None, "opened": 0.0, "deadline": 4_000_000_000.0,
                "profile": None, "is_done": False, "outcome": None, "server_name": "demo",
                "mode": params.get("mode"), "number": number + 1, "count": len(questions),
                "round": None, "most_rounds": None, "link": link_to(params), "answering_by": None,
                "answered_by": None, **fields,
            }  # fmt: skip
            self._changed("questions", f"q{number}", question)
        return page

    def _changed(self, what: str, key: str, value: dict[str, Any]) -> None:
        assert self._route is not None
        message = {"type": "Changed", "what": what, "key": key, "server_id": "demo", "value": value}
        self._route.send(json.dumps(message))

    def answer(self) -> dict[str, Any]:
        """The newest answer, without its number."""
        for _ in range(PATIENCE_S * 20):
            if self.answers:
                return {key: value for key, value in self.answers[-1].items() if key != "id"}
            self.page.wait_for_timeout(50)
        raise AssertionError("nothing was answered")


@pytest.fixture
def asked(browser: Browser, demo: Site, request: pytest.FixtureRequest) -> Iterator[Asked]:
    with watched(browser, demo) as window:
        yield Asked(window)
        assert window.axe_in_each_theme(request.node.originalname) == []
        window.assert_clean()


def test_sampling_shows_the_whole_request_and_sends_what_was_typed(asked: Asked) -> None:
    page = asked.ask(("sampling/createMessage", SAMPLING))
    panel = page.get_by_label("Question: sampling/createMessage")
    for words in ("What is 2+2?", "some-model", "1000", "0.7", "thisServer", "Adds two numbers"):
        expect(panel).to_contain_text(words)
    expect(panel.get_by_role("combobox", name="Tool choice")).to_have_value("required")
    panel.get_by_label("Response", exact=False).last.fill("4")
    panel.get_by_role("button", name="Edit & Send").click()
    content = {"type": "text", "text": "4"}
    assert asked.answer() == {
        "type": "AnswerSampling",
        "question_id": "q0",
        "force": False,
        "result": {
            "role": "assistant", "model": "mock-model-1.0", "stopReason": "endTurn",
            "content": content,
        },
    }  # fmt: skip


def test_sampling_answers_with_tool_calls(asked: Asked) -> None:
    page = asked.ask(("sampling/createMessage", SAMPLING))
    page.get_by_role("combobox", name="Stop reason").fill("toolUse")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("Input of call 1").fill('{"a": 2}')
    page.get_by_role("button", name="Edit & Send").click()
    content = [{"type": "tool_use", "id": "call_1", "name": "add", "input": {"a": 2}}]
    assert asked.answer()["result"]["content"] == content


@pytest.mark.parametrize(("method", "params"), [
    ("sampling/createMessage", SAMPLING | {"metadata": {"id": 1}}),
    pytest.param("elicitation/create", FORM, marks=pytest.mark.soak),
    pytest.param("elicitation/create", URL, marks=pytest.mark.soak),
])  # fmt: skip
def test_a_question_fits_a_phone(
    browser: Browser, demo: Site, method: str, params: dict[str, Any]
) -> None:
    with watched(browser, demo, viewport={"width": 360, "height": 740}) as window:
        asked = Asked(window)
        page = asked.ask((method, params), answering_by="echo")
        panel = page.get_by_label(f"Question: {method}")
        expect(panel.get_by_role("status").filter(has_text="echo is answering")).to_be_visible()
        expect(panel).to_contain_text("if unanswered")
        panel.get_by_text("Whole request").click()
        expect(panel.get_by_role("tree", name="Request")).to_be_visible()
        if method == "sampling/createMessage":
            page.get_by_role("combobox", name="Stop reason").fill("toolUse")
            page.keyboard.press("Escape")
            page.get_by_role("button", name="Add", exact=True).click()
        window.settle()
        # A tree scrolls by itself.
        for one in panel.locator("textarea, button:not([role=tree] button)").all():
            box = one.bounding_box()
            assert box, one
            assert box["x"] >= 0, one
            assert box["x"] + box["width"] <= 360, one
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        # At its end the bar of buttons, which stays in view, covers nothing by half.
        panel.evaluate("(one) => one.scrollIntoView({ block: 'end' })")
        assert window.axe() == []
        window.shoot(f"question on a phone {method} {params.get('mode')}")
        window.assert_clean()


def test_the_countdown_runs_and_stops_at_nothing(browser: Browser, demo: Site) -> None:
    with watched(browser, demo) as window:
        asked = Asked(window)
        page = asked.ask(("elicitation/create", FORM), deadline=time.time() + 100)
        panel = page.get_by_label("Question: elicitation/create")
        first = panel.get_by_text("if unanswered").inner_text()
        assert re.fullmatch(
            r"an error is sent in (1 min )?\d+(\.\d+)? ?\w+ if unanswered", first
        ), first
        expect(panel.get_by_text("if unanswered")).not_to_have_text(first)
        window.assert_clean()


def test_a_form_is_filled_in_and_submitted(asked: Asked) -> None:
    page = asked.ask(("elicitation/create", FORM))
    panel = page.get_by_label("Question: elicitation/create")
    expect(panel).to_contain_text("Please say where the database is.")
    expect(panel).to_contain_text("Server “demo” asks for this data")
    panel.get_by_role("button", name="Submit").click()
    expect(panel).to_contain_text("This is required.")
    panel.get_by_label("Host").fill("localhost")
    panel.get_by_role("button", name="Submit").click()
    content = asked.answer()
    assert content == {
        "type": "AnswerElicitation", "question_id": "q0", "action": "accept", "force": False,
        "content": {"host": "localhost", "port": 5432},
    }  # fmt: skip


def test_an_odd_address_is_shown_with_warnings(asked: Asked) -> None:
    page = asked.ask(("elicitation/create", URL))
    panel = page.get_by_label("Question: elicitation/create")
    for words in ("abc-1", "xn--pple-43d.example", "punycode", "hides a user name", "Copy"):
        expect(panel).to_contain_text(words)
    panel.get_by_role("button", name="Decline").click()
    assert asked.answer() == {
        "type": "AnswerElicitation", "question_id": "q0", "action": "decline", "force": False,
    }  # fmt: skip


def test_several_questions_wait_side_by_side_and_in_the_bell(asked: Asked) -> None:
    page = asked.ask(("elicitation/create", FORM), ("sampling/createMessage", SAMPLING))
    expect(page.get_by_text("2 questions are waiting", exact=False).first).to_be_visible()
    expect(page.get_by_text("2 of 2")).to_be_visible()
    page.get_by_role("button", name="2 questions are waiting for an answer").click()
    page.get_by_role("menuitem", name="sampling/createMessage").click()
    expect(page.get_by_role("heading", name="A question from demo")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Cancel tool execution").click()
    assert asked.answer() == {"type": "CancelCall", "call_id": "asked"}
