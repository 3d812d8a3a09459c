"""What tools and resources say about apps."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from mcplens.protocol.apps import AppProblem, app_document, app_link, app_meta, without_nulls

URI = "ui://a/b"


def tool(**ui: Any) -> dict[str, Any]:
    return {"name": "t", "_meta": {"ui": ui}}


def test_a_tool_names_its_app_in_either_form() -> None:
    assert app_link(tool(resourceUri=URI)).resource_uri == URI
    assert app_link({"_meta": {"ui/resourceUri": URI}}).resource_uri == URI
    nothing = app_link({"name": "t"})
    assert (nothing.resource_uri, nothing.is_for_apps, nothing.findings) == (None, True, ())


def test_a_tool_for_the_model_alone_is_not_for_apps() -> None:
    assert not app_link(tool(visibility=["model"])).is_for_apps
    assert app_link(tool(visibility=["app"])).is_for_apps
    assert app_link(tool(visibility=["model", "app"])).is_for_apps


def test_what_hosts_ignore_on_a_tool_and_what_is_of_the_wrong_type_is_found() -> None:
    found = app_link(tool(resourceUri="https://a/b", csp={}, permissions={}, visibility="app"))
    assert [finding.split()[0] for finding in found.findings] == [
        "resourceUri", "csp", "permissions", "visibility",
    ]  # fmt: skip
    assert app_link({"_meta": {"ui": 3}}).findings == ("_meta.ui must be an object",)


def test_a_resource_is_taken_byte_for_byte_from_text_or_blob() -> None:
    html = "<p>ü</p>\r\n"
    as_text = app_document([{"uri": URI, "mimeType": "text/html", "text": html}], URI)
    blob = base64.b64encode(html.encode()).decode()
    as_blob = app_document([{"uri": "ui://other", "text": ""}, {"uri": URI, "blob": blob}], URI)
    assert as_text.data == as_blob.data == html.encode()
    assert (as_text.is_blob, as_blob.is_blob, as_blob.mime_type) == (False, True, None)


@pytest.mark.parametrize("contents", [[], [{"uri": URI}], [{"uri": URI, "blob": "?"}]])
def test_a_resource_without_usable_bytes_is_refused_with_the_reason(contents: list[Any]) -> None:
    with pytest.raises(AppProblem, match=URI):
        app_document(contents, URI)


def test_what_a_resource_declares_comes_from_the_read_item_else_from_the_list() -> None:
    ui = {"csp": {"connectDomains": ["https://a"]}, "permissions": {"camera": {}}}
    listed = {"_meta": {"ui": {"prefersBorder": False, "domain": "x"}}}
    own = app_document([{"uri": URI, "text": "", "_meta": {"ui": ui}}], URI, listed).meta
    assert own.domains == {"connectDomains": ("https://a",)}
    assert (own.permissions, own.prefers_border) == (("camera",), None)
    other = app_document([{"uri": URI, "text": ""}], URI, listed).meta
    assert (other.domain, other.prefers_border) == ("x", False)


def test_a_broken_declaration_is_found_and_the_rest_is_kept() -> None:
    csp = {"connectDomains": "https://a", "resourceDomains": ["https://b", 3], "imgDomains": []}
    found = app_meta({"csp": csp, "permissions": []})
    assert found.domains == {"resourceDomains": ("https://b",)}
    assert len(found.findings) == 4


def test_nulls_are_dropped_at_every_depth() -> None:
    assert without_nulls({"icons": None, "a": [{"b": None, "c": 0}]}) == {"a": [{"c": 0}]}


def test_of_very_many_domains_the_first_hundred_are_used_and_the_rest_is_said() -> None:
    given = [f"https://a{index}.example" for index in range(50_000)]
    meta = app_meta({"csp": {"connectDomains": given}})
    assert meta.domains["connectDomains"] == tuple(given[:100])
    assert meta.findings == ("csp.connectDomains has 50,000 entries; only the first 100 are used",)
