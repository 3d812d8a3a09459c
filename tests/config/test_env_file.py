"""Files of NAME=value lines, as dotenv and shells read them."""

import pytest

from mcplens.config.env_file import parse
from mcplens.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1", {"A": "1"}),
        ("export A=1\n\n# no\n  B = two words  \n", {"A": "1", "B": "two words"}),
        ("A=1 # one\nB=#2\nC=a#b\n", {"A": "1", "B": "#2", "C": "a#b"}),
        ("A=\"x # y\" # z\nB='$x \\n'\n", {"A": "x # y", "B": "$x \\n"}),
        ('A="one\\ntwo \\"q\\" \\$"\r\nB=2\r\n', {"A": 'one\ntwo "q" $', "B": "2"}),
        ('KEY="-----BEGIN\nabc\n-----END"\nB=2\n', {"KEY": "-----BEGIN\nabc\n-----END", "B": "2"}),
        ("A=\nB=''\n", {"A": "", "B": ""}),
        ("A=1\nA=2\n", {"A": "2"}),
        ("A=it's\n", {"A": "it's"}),
        ('A="open\nB="closed"\n', {"A": '"open', "B": "closed"}),
        ("", {}),
    ],
)
def test_lines_become_variables(text: str, expected: dict[str, str]) -> None:
    assert parse(text, ".env") == expected


@pytest.mark.parametrize("text", ["A=1\nnonsense\n", "A=1\n1B=2\n", "A=1\n=x"])
def test_a_line_that_assigns_nothing_is_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"\.env, line 2: expected NAME=value"):
        parse(text, ".env")
