"""Values of secret keys are starred out wherever they stand; nothing else changes."""

from __future__ import annotations

import json
import re

import pytest

from mcplens.store.recorded_secrets import KeyMasker, mask_argv

MASKER = KeyMasker(["password", "api_key", "", "password"])


def masked(text: str) -> str:
    data, secrets = MASKER.mask(text.encode())
    assert len(data) == len(text.encode())
    assert MASKER.mask(data) == (data, secrets)  # what is masked once stays as it is
    return data.decode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"password":"hunter2"}', '{"password":"*******"}'),
        ('{"a":{"password" : "x","b":["y"]}}', '{"a":{"password" : "*","b":["y"]}}'),
        ('{"password":\n\t"hunter2","api_key":"k"}', '{"password":\n\t"*******","api_key":"*"}'),
        (r'{"password":"a\"b\\"}', r'{"password":"******"}'),
        (r'{"password":"a\\","b":"c"}', r'{"password":"***","b":"c"}'),
        ('{"password":"é"}', '{"password":"**"}'),
        ('{"password":""}', '{"password":""}'),
        ('{"password":-1.5e3,"x":12}', '{"password":-99999,"x":12}'),
        ('{"password":null,"x":null}', '{"password":null,"x":null}'),
        ('{"password":{"a":"k","n":[1,"}"]},"b":2}', '{"password":{"*":"*","*":[9,"*"]},"b":2}'),
        ('{"password":["cut", "o', '{"password":["***", "*'),
        ('{"passwords":"no","my_password":"no"}', '{"passwords":"no","my_password":"no"}'),
        ('{"text":"the password is \\"x\\""}', '{"text":"the password is \\"x\\""}'),
        ('{"name":"password","value":"seen"}', '{"name":"password","value":"seen"}'),
        ('{"password":"cut off', '{"password":"*******'),
        ('log: {"password":"x"} and "password":"y"', 'log: {"password":"*"} and "password":"*"'),
    ],
)
def test_only_the_value_of_a_secret_key_is_masked(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("secret", ["hunter2", 'qu"ote', "back\\", '\\"', "é☃", "a\nb"])
def test_json_inside_a_string_is_looked_into(levels: int, secret: str) -> None:
    text = json.dumps({"user": "me", "password": secret, "after": "here"})
    for _ in range(levels):
        text = json.dumps({"text": text, "more": 1})
    shown = masked(text)
    value = json.loads(shown)
    for _ in range(levels):
        value = json.loads(value["text"])
    assert set(value["password"]) == {"*"}
    assert (value["user"], value["after"]) == ("me", "here")


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_numbers_arrays_and_objects_are_masked_and_stay_json(levels: int) -> None:
    secret = {"pin": 1234, "more": ["a", {"b": 'x"y', "c": [True, None]}], "empty": {}}
    text = json.dumps({"password": secret, "api_key": 77, "after": [1, "here"]})
    for _ in range(levels):
        text = json.dumps({"text": text})
    value = json.loads(masked(text))
    for _ in range(levels):
        value = json.loads(value["text"])
    assert value["api_key"] == 99
    assert value["after"] == [1, "here"]
    assert not {"1234", "pin", "more", "x"} & set(re.findall(r"\w+", json.dumps(value["password"])))
    assert value["password"]["*****"] == {}


def test_a_secret_is_told_by_its_key_and_one_inside_another_is_not_told_twice() -> None:
    data = b'{"password":{"api_key":"k"},"api_key":"abc"}'
    _, secrets = MASKER.mask(data)
    assert [(data[start:end], key) for start, end, key in secrets] == [
        (b'{"api_key":"k"}', "password"),
        (b"abc", "api_key"),
    ]


def test_a_string_that_was_cut_inside_another_ends_with_it() -> None:
    text = json.dumps({"message": '{"password":"hunt… (900 bytes)', "code": "X"})
    shown = json.loads(masked(text))
    assert "hunt" not in shown["message"]
    assert shown["code"] == "X"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 1000])
def test_a_secret_cut_by_the_end_of_a_piece_is_masked_in_both(size: int) -> None:
    masker = KeyMasker(["password", "api_key"])
    nested = json.dumps({"password": 'a"b\\c', "n": 1})
    whole_secret = {"a": ["x" * 30, 'q"}', 123456789], "b": {"c": "d"}}
    text = json.dumps({"password": "hunter2" * 40, "text": nested, "api_key": "k" * 9, "e": "end"})
    text += json.dumps({"api_key": whole_secret, "password": 123456789, "e": "end"})
    text += json.dumps({"text": json.dumps({"password": whole_secret, "n": "end"})})
    data = f"data: {text}\n\n".encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    shown = b"".join(masker.mask_piece("stream", piece)[0] for piece in pieces)
    whole, _ = masker.mask(data)
    # Where it is cut between backslashes, these may stay: they tell nothing.
    assert shown.replace(b"\\", b"*") == whole.replace(b"\\", b"*")
    assert not {b"hunter2", b"123456789", b"xxx"} & set(re.findall(rb"\w+", shown))
    assert shown.count(b"end") == 3


def test_streams_do_not_mix() -> None:
    masker = KeyMasker(["password"])
    assert masker.mask_piece("a", b'{"password":"sec')[0] == b'{"password":"***'
    assert masker.mask_piece("b", b'ret"}')[0] == b'ret"}'
    assert masker.mask_piece("a", b'ret","x":"y"}')[0] == b'***","x":"y"}'


def test_a_long_value_full_of_quotes_takes_no_longer_than_it_must() -> None:
    data = json.dumps({"password": '"' * 2_000_000}).encode()
    shown, secrets = MASKER.mask(data)
    assert secrets == [(14, len(data) - 2, "password")]
    assert len(shown) == len(data)


def test_options_that_are_secret_keys_are_masked_in_a_command() -> None:
    names = KeyMasker(["api_key"]).names
    argv = ["server", "--api-key", "abc", "--api-key=abc", "--other", "abc", "-e", "API_KEY=abc"]
    shown = mask_argv(argv, names)
    assert shown == [
        "server", "--api-key", "‹masked, 3 characters›", "--api-key=‹masked, 3 characters›",
        "--other", "abc", "-e", "API_KEY=‹masked, 3 characters›",
    ]  # fmt: skip
    assert mask_argv(shown, names) == shown


def test_an_ordinary_command_stays_as_it_is() -> None:
    argv = ["python", "-c", "import x: y", "C:\\dir", "http://localhost:8000/mcp", "key: value"]
    assert mask_argv(argv) == argv


def test_the_names_of_members_in_a_secret_object_are_not_secrets_elsewhere() -> None:
    schema = b'{"pin":{"description":"a hidden text"},"description":"a hidden text, shown"}'
    masked, _ = KeyMasker(["pin"]).mask(schema)
    assert masked == b'{"pin":{"***********":"*************"},"description":"*************, shown"}'
