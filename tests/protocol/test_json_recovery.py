"""The scan reads ids out of broken JSON, and costs linear time whatever it is given."""

from __future__ import annotations

import pytest

from mcplens.protocol.json_recovery import SCAN_LIMIT_BYTES, readable_ids, top_level_spans


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (b'{"id":7,"result":', (7,)),
        (b'{"id" : "7" ,"result":{', ("7",)),
        (b'{"id":-3,', (-3,)),
        (b'{"result":{"id":1},"id":2', (2,)),
        (b'{"result":{"id":1}', ()),
        (b'{"result":"text with \\"id\\":9 in it"', ()),
        (b'{"result":"{\\"id\\":9}","id":4', (4,)),
        (b'{"id":7,"method":"x"', ()),
        (b'{"id":1.5,"result"', ()),
        (b'{"id":1e3,"result"', ()),
        (b'{"id":true,"result"', ()),
        (b'{"id":null,"result"', ()),
        (b'{"id":"cut off', ()),
        (b'{"\\u0069d":7,"result":', (7,)),
        (b'\xef\xbb\xbf \0{"id":7', (7,)),
        (b'[{"id":1,"result":{}},{"id":"b","error":{}},{"id":3,"method":"m"},{"id":4', (1, "b")),
        (b"no brackets at all", ()),
        (b"", ()),
        (b"}}}}]]]", ()),
    ],
)
def test_the_ids_that_are_answered_are_found(data: bytes, ids: tuple[int | str, ...]) -> None:
    assert readable_ids(data) == ids


def test_an_id_of_absurd_length_is_no_id() -> None:
    assert readable_ids(b'{"id":' + b"9" * 5_000 + b',"result":{') == ()


def test_the_id_behind_a_long_result_is_found_at_the_end() -> None:
    body = b'"' + b"x" * (2 * SCAN_LIMIT_BYTES) + b'"'
    assert readable_ids(b'{"jsonrpc":"2.0","result":{"t":' + body + b'],"id":41}') == (41,)


@pytest.mark.parametrize(
    "data",
    [
        b'{"id":7,"result":"' + b'\\"' * 400_000 + b"\\",
        b'{"id":7,"result":"' + b"\\\\" * 400_000 + b"\\",
        b'{"id":7,"result":' + b"[" * 900_000,
        b'{"id":7,"result":' + b'{"' * 400_000,
        b'{"id":7,"result":' + b'":' * 400_000,
    ],
    ids=["escaped quotes", "backslashes", "brackets", "keys", "strings"],
)
def test_a_megabyte_of_anything_is_scanned_once(data: bytes) -> None:
    """Quadratic time would be hours here: the run's own time limit is the assertion."""
    assert readable_ids(data) == (7,)


def test_spans_show_where_each_value_of_the_outermost_object_lies() -> None:
    data = b'{"a": [1, {"b": 2}], "c":"x,y:}"}'
    spans = top_level_spans(data)
    assert {key: data[slice(*span)].strip() for key, span in spans.items()} == {
        "a": b'[1, {"b": 2}]',
        "c": b'"x,y:}"',
    }


def test_the_span_of_a_value_that_is_cut_off_goes_to_the_end() -> None:
    data = b'{"a":1,"b":{"c":"unfini'
    assert top_level_spans(data) == {"a": (5, 6), "b": (11, len(data))}
