"""The page's types are those of the structs."""

from typing import get_args

from mcplens.web import messages
from mcplens.web.typescript import types
from tests.docs.markdown import ROOT

FILE = ROOT / "web" / "src" / "api" / "types.ts"


def test_the_types_of_the_page_are_fresh() -> None:
    assert FILE.read_text() == types(), "run: make types"


def test_a_reply_is_what_the_function_of_the_command_returns() -> None:
    assert "  ListPins: PinView[];" in types()
    assert "  ForgetRun: null;" in types()


def test_a_field_with_a_default_may_be_left_out_of_a_command_but_not_of_a_message() -> None:
    text = types()
    assert "  refresh?: boolean;" in text
    assert "  error: ErrorView | null;" in text
    assert "error?:" not in text


def test_every_message_is_told_from_the_others_by_its_tag() -> None:
    for kind in get_args(messages.AnyMessage):
        assert f'  type: "{kind.__name__}";' in types()
