"""Equal JSON has equal bytes, and what RFC 8785 cannot hold enters as text."""

import pytest

from mcplens.contracts.canonical import canonical, decode, digest


def test_keys_are_sorted_by_utf16_and_numbers_are_written_as_the_rfc_says() -> None:
    # The example of RFC 8785, section 3.2.2, without its largest number, and that of 3.2.3.
    value = decode(
        '{"numbers": [1E30, 4.50, 2e-3, 1e-27, 1.0, -0],'
        '"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",'
        '"literals": [null, true, false]}'
    )
    assert canonical(value).decode() == (
        '{"literals":[null,true,false],"numbers":[1e+30,4.5,0.002,1e-27,1,0],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    keys = decode('{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6}')
    assert list(decode(canonical(keys)).values()) == [2, 4, 6, 1, 5, 3]


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("9007199254740991", "9007199254740991"),
        ("9007199254740993", '"9007199254740993"'),
        ("-18446744073709551616", '"-18446744073709551616"'),
        ("1e400", '"1e400"'),
        ("9" * 5_000, f'"{"9" * 5_000}"'),
        ('"\\ud800x"', '"\\\\ud800x"'),
        ("NaN", '"NaN"'),
    ],
    ids=lambda text: text[:24],
)
def test_what_the_rfc_cannot_hold_enters_as_text(given: str, form: str) -> None:
    assert canonical(decode(given)).decode() == form


def test_the_digest_depends_on_the_value_and_not_on_how_it_is_written() -> None:
    one, other = decode('{"a": 1.0, "b": [2]}'), decode(b'{"b":[2],"a":1}')
    assert digest(one) == digest(other) != digest({"a": 2, "b": [2]})


def test_a_value_that_is_nested_too_deeply_is_refused() -> None:
    canonical(decode("[" * 140 + "]" * 140))
    for levels in (160, 900, 200_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            decode("[" * levels + "]" * levels)
