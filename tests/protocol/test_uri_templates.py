"""URI templates expand as RFC 6570 says, with its own examples."""

import pytest

from mcplens.protocol.uri_templates import Value, expand, variables_of

VALUES: dict[str, Value] = {
    "var": "value",
    "hello": "Hello World!",
    "half": "50%",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "empty": "",
    "none": [],
    "x": "1024",
    "y": "768",
    "escaped": "a%2Fb",
    "umlaut": "ü",
}


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("note://{var}", "note://value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("{umlaut}", "%C3%BC"),
        ("O{empty}X", "OX"),
        ("O{undefined}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{var:3}", "val"),
        ("{list}", "red,green,blue"),
        ("{list*}", "red,green,blue"),
        ("{+path}/here", "/foo/bar/here"),
        ("{+half}", "50%25"),
        ("{+escaped}", "a%2Fb"),
        ("{escaped}", "a%252Fb"),
        ("{#path,x}", "#/foo/bar,1024"),
        ("X{.list*}", "X.red.green.blue"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,empty}", ";x=1024;empty"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,empty,undefined,none}", "?x=1024&empty="),
        ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?list}", "?list=red,green,blue"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("no variables", "no variables"),
    ],
)
def test_a_template_expands_as_the_specification_shows(template: str, uri: str) -> None:
    assert expand(template, VALUES) == uri


def test_variables_come_in_order_and_those_of_a_query_are_optional() -> None:
    assert variables_of("demo://{a}/{b:3}{?c,a,d*}{&e}") == [
        ("a", False),
        ("b", False),
        ("c", True),
        ("d", True),
        ("e", True),
    ]
    assert variables_of("demo://plain") == []
