"""Values of results in the browser: trees, tables, Markdown, separated values, drawings, and the
difference of two results."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from .browser import Watched, copy_by, until, watched
from .results import ODD, gives
from .site import configure, site

USERS = [
    {"id": n, "name": f"user {n}", "joined": "2026-01-11T09:30:00Z", "address": {"city": "Bern"}}
    for n in (2, 10, 1)
]
MARKDOWN = """\
# The title

A **bold** word, <b>HTML</b> and ![a cat](https://example.com/cat.png).

- [x] done
- [ ] open

| Name | Size |
|------|-----:|
| a    | 1    |

```python
def add(a, b):
    return a + b
```
"""
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" '
    "onload=\"parent.document.title = 'taken over'\">"
    "<script>parent.document.title = 'taken over'; fetch('https://example.com/')</script>"
    '<image href="https://example.com/a.png" width="9" height="9"/>'
    '<circle cx="20" cy="20" r="18" fill="teal"/></svg>'
)


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home = tmp_path_factory.mktemp("home")
    configure(home, {"odd": ODD})
    allowed = ["clipboard-read", "clipboard-write"]
    with site(home, "odd") as running, watched(browser, running, permissions=allowed) as window:
        window.enter("/s/odd/tools/give")
        yield window


def resource(text: str, mime: str) -> str:
    block = {"type": "resource", "resource": {"uri": "x://y", "mimeType": mime, "text": text}}
    return json.dumps({"content": [block]})


def shown(window: Watched, name: str, panel: Locator) -> None:
    """A value is clean in both themes, and leaves pictures of them."""
    expect(panel).to_contain_text("Done")
    assert window.axe_in_each_theme(f"value-{name}", "main") == []
    window.assert_clean()


def test_a_tree_previews_what_is_folded_and_copies_paths(opened: Watched) -> None:
    panel = gives(opened, json.dumps({"structuredContent": {"total": 3, "users": USERS}}))
    page = opened.page
    tree = panel.get_by_role("tree", name="Structured content")
    row = tree.get_by_role("treeitem").filter(has_text="user 10").first
    first = tree.get_by_role("treeitem").nth(3)
    first.click()
    expect(first).to_contain_text('{id: 2, name: "user 2"')
    assert copy_by(page, first.get_by_role("button", name="Copy path")) == "$.users[0]"
    assert (
        json.loads(copy_by(page, first.get_by_role("button", name="Copy this value"))) == USERS[0]
    )
    first.get_by_role("button", name="Expand all below").click()
    expect(tree.get_by_role("treeitem").filter(has_text="city").first).to_be_visible()
    expect(tree.get_by_role("treeitem").filter(has_text="joined").first).to_contain_text("Jan 2026")
    tree.focus()
    page.keyboard.press("End")
    page.keyboard.press("p")
    until(page, "navigator.clipboard.readText().then((text) => text === '$.users[2].address.city')")
    expect(row).to_be_attached()
    shown(opened, "tree", panel)


def test_a_search_opens_what_it_finds(opened: Watched) -> None:
    deep = {"a": [{"b": [{"c": n}] * 3} for n in range(100)], "z": {"y": {"x": "the needle"}}}
    panel = gives(opened, json.dumps({"structuredContent": deep}))
    panel.get_by_label("Search in JSON").fill("needle")
    expect(panel.get_by_text("1 of 1")).to_be_visible()
    found = panel.get_by_role("treeitem", selected=True)
    expect(found).to_contain_text("the needle")
    expect(found.locator("mark")).to_have_text("needle")
    shown(opened, "search", panel)


def test_a_long_text_says_that_it_is_truncated_and_is_shown_whole(opened: Watched) -> None:
    page = opened.page
    text = "A first line.\n" + "Words and more words. " * 200 + "The last word."
    rows = {"id": 7, "title": "A sentence that is just too long for one row of a tree " * 2}
    panel = gives(opened, json.dumps({"structuredContent": {**rows, "deep": [[[[text]]]]}}))
    tree = panel.get_by_role("tree", name="Structured content")
    row = tree.get_by_role("treeitem").filter(has_text="A first line")
    expect(row).to_contain_text("Words and more words. Wo")
    expect(row).to_contain_text("…")
    # Nothing spills: what does not fit ends in an ellipsis.
    assert tree.evaluate("tree => tree.scrollWidth <= tree.clientWidth")
    # It stays under the pointer, beside the buttons that come with it.
    button = row.get_by_role("button", name="Show all")
    before = button.bounding_box()
    button.hover()
    copy = row.get_by_role("button", name="Copy this value")
    expect(copy).to_be_visible()
    assert button.bounding_box() == before
    beside = copy.bounding_box()
    assert before
    assert beside
    assert before["x"] + before["width"] <= beside["x"]
    opened.shoot("values long text")
    button.click()
    whole = panel.get_by_label("Whole text in Structured content")
    expect(whole).to_contain_text("The last word.")
    opened.shoot("values whole text")
    panel.get_by_role("button", name="Tree").click()
    expect(tree).to_be_focused()
    expect(row).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(whole).to_be_visible()


def test_like_objects_are_a_table_that_sorts(opened: Watched) -> None:
    panel = gives(opened, json.dumps({"structuredContent": {"total": 3, "users": USERS}}))
    panel.get_by_role("button", name="Table").click()
    table = panel.get_by_role("region", name="Structured content as a table")
    rows = table.get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("user 2")
    # The head of numbers stands above them.
    heads = table.locator("th[data-kind=number]")
    expect(heads).to_have_text(["id"])
    table.get_by_role("button", name="id").click()
    expect(rows.nth(1)).to_contain_text("user 1")
    table.get_by_role("button", name="id").press("Enter")
    expect(rows.nth(1)).to_contain_text("user 10")
    shown(opened, "table", panel)
    panel.get_by_role("button", name="Tree").click()
    expect(panel.get_by_role("tree", name="Structured content")).to_be_visible()


def test_markdown_has_tables_and_tasks_and_runs_nothing(opened: Watched) -> None:
    panel = gives(opened, resource(MARKDOWN, "text/markdown"))
    title = panel.get_by_role("heading", name="The title")
    text = panel.get_by_text("A bold word")
    size = "(one) => parseFloat(getComputedStyle(one).fontSize)"
    assert title.evaluate(size) > text.evaluate(size)
    expect(text).to_contain_text("<b>HTML</b>")
    expect(panel.get_by_role("checkbox", name="not done")).to_be_disabled()
    expect(panel.get_by_role("cell", name="1")).to_be_visible()
    expect(panel.locator("img")).to_have_count(0)
    expect(panel.locator("pre span", has_text="return")).to_be_visible()
    shown(opened, "markdown", panel)


def test_separated_values_are_a_table(opened: Watched) -> None:
    panel = gives(opened, resource('id,name\n2,"Ada, Countess"\n1,Alan\n', "text/csv"))
    expect(panel.get_by_role("cell", name="Ada, Countess")).to_be_visible()
    panel.get_by_role("button", name="id").click()
    expect(panel.get_by_role("row").nth(1)).to_contain_text("Alan")
    panel.get_by_text("Source", exact=True).click()
    expect(panel).to_contain_text('2,"Ada, Countess"')
    panel.get_by_text("Table", exact=True).click()
    shown(opened, "csv", panel)


def test_a_drawing_is_a_picture_in_which_nothing_runs(opened: Watched) -> None:
    panel = gives(opened, resource(DRAWING, "image/svg+xml"))
    picture = panel.get_by_role("img", name="Content of type image/svg+xml")
    assert until(opened.page, "document.querySelector('main img')?.naturalWidth") == 40
    expect(picture).to_be_visible()
    assert "taken over" not in opened.page.title()
    shown(opened, "svg", panel)


def test_two_results_are_compared_line_by_line(opened: Watched) -> None:
    gives(opened, json.dumps({"structuredContent": {"same": True, "n": 1}}))
    panel = gives(opened, json.dumps({"structuredContent": {"same": True, "n": 2}}))
    panel.get_by_text("Compare", exact=True).click()
    expect(panel).to_contain_text("1 line removed, 1 line added")
    difference = panel.get_by_role("region", name="Differences")
    expect(difference).to_contain_text('"n": 1')
    expect(difference).to_contain_text('"n": 2')
    shown(opened, "compare", panel)
    panel.get_by_text("Content", exact=True).click()
