"""Secrets are recognised by their values, however they are written."""

from __future__ import annotations

import base64
import json
import logging

import pytest

from mcplens.errors import HttpError, InspectorError, ServerError
from mcplens.known_secrets import KnownSecrets, known_secrets
from mcplens.logs import get_logger
from mcplens.store.recorded_secrets import KeyMasker

TOKEN = "tok/3n+of-Ada"  # nobody's
BASIC = "Basic " + base64.b64encode(b"ada:open sesame").decode()


@pytest.fixture
def known() -> KnownSecrets:
    return KnownSecrets()


@pytest.mark.parametrize(
    ("headers", "secret"),
    [
        ({"Authorization": f"Bearer {TOKEN}"}, TOKEN),
        ({"X-Api-Key": TOKEN}, TOKEN),
        ({"Cookie": f"theme=dark; session={TOKEN}"}, TOKEN),
        ({"Authorization": BASIC}, "open sesame"),
        ({"Authorization": BASIC}, BASIC.removeprefix("Basic ")),
    ],
)
def test_the_values_of_secret_headers_are_known(
    known: KnownSecrets, headers: dict[str, str], secret: str
) -> None:
    known.learn_headers(headers)
    shown = known.mask_text(f"no such user: {secret}!")
    assert shown == f"no such user: ‹masked, {len(secret)} characters›!"


@pytest.mark.parametrize(
    "url",
    [
        "https://h/mcp?api_key=tok%2F3n%2Bof-Ada",
        "https://h/mcp?lang=en&key=tok%2F3n%2Bof-Ada",
        "https://ada:tok%2F3n%2Bof-Ada@h/mcp",
        "https://tok%2F3n%2Bof-Ada@h/mcp",
    ],
)
def test_secrets_of_a_url_are_known(known: KnownSecrets, url: str) -> None:
    known.learn_url(url)
    assert TOKEN not in known.mask_text(f"refused: {TOKEN}")
    assert "en" in known.mask_text("en")


@pytest.mark.parametrize(
    "argv",
    [
        ["server", "--token", TOKEN],
        ["server", f"--api-key={TOKEN}"],
        ["docker", "run", "-e", f"GITHUB_TOKEN={TOKEN}", "image"],
        ["npx", "remote", "--header", f"Authorization: Bearer {TOKEN}"],
        ["npx", "remote", "https://h/?access_token=tok%2F3n%2Bof-Ada"],
    ],
)
def test_the_values_of_options_that_are_named_like_secrets_are_known(
    known: KnownSecrets, argv: list[str]
) -> None:
    known.learn_command(argv)
    assert TOKEN not in known.mask_text(f"bad {TOKEN}")


def test_what_only_sounds_like_a_secret_is_left_readable(known: KnownSecrets) -> None:
    known.learn_command(
        ["server", "--max-tokens", "100000000", "--no-auth", "/home/ada", "--token-file=/run/x/y"]
    )
    known.learn_command(["token-server-of-ada", "--verbose", "arguments"])
    known.learn_headers({"Authorization": "Bearer short", "Accept": "application/json"})
    known.learn_url("https://example.org/a?lang=english-uk")
    known.learn_members(
        {
            "authorizationServer": "https://sign-in.example",
            "tokenEndpointAuthMethod": "client_secret_basic",
            "SECRET": "${FROM_ELSEWHERE}",
        }
    )
    assert not known


def test_a_secret_is_found_in_json_in_a_url_and_as_text(known: KnownSecrets) -> None:
    secret = 'a "b"/ü\\c'
    known.learn(secret)
    for text in (
        secret,
        json.dumps({"x": secret}),
        json.dumps({"x": secret}, ensure_ascii=False),
        json.dumps({"x": json.dumps({"y": secret})}),
        "https://h/?q=a%20%22b%22%2f%c3%bc%5cc",
    ):
        spans = known.find(text.encode())
        assert len(spans) == 1, text
        assert "b" not in known.mask_text(text), text


def test_the_lines_of_a_private_key_are_known_one_by_one(known: KnownSecrets) -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQ"
    known.learn(f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----")
    assert line not in known.mask_text(f"cannot parse {line}")


def test_a_secret_that_is_split_between_two_pieces_of_a_stream_is_masked_in_both() -> None:
    known_secrets.learn(TOKEN)
    whole = f'data: {{"text":"you sent {TOKEN}, which is wrong"}}\n\n'.encode()
    for at in range(len(whole)):
        masker = KeyMasker(())
        first, _ = masker.mask_piece("stream", whole[:at])
        second, _ = masker.mask_piece("stream", whole[at:])
        shown = first + second
        assert len(shown) == len(whole)
        # Three characters at the end of a piece could be anything.
        assert shown.replace(b"*", b"").count(TOKEN[3:].encode()) == 0
        assert TOKEN[4:].encode() not in shown
        assert b"which is wrong" in shown


def test_a_secret_of_digits_leaves_numbers_behind() -> None:
    known_secrets.learn("4711082947")
    shown, marks = KeyMasker(()).mask(b'{"id":4711082947,"text":"pin 4711082947"}')
    assert json.loads(shown) == {"id": 9999999999, "text": "pin 9999999999"}
    assert marks == [(6, 16, None), (29, 39, None)]


def test_the_value_of_a_secret_key_is_masked_where_it_comes_back_under_no_key() -> None:
    masker = KeyMasker(["pin"])
    masker.mask(b'{"method":"tools/call","params":{"arguments":{"pin":"open sesame"}}}')
    shown, _ = masker.mask(b'{"error":{"message":"the pin open sesame is wrong"}}')
    assert shown == b'{"error":{"message":"the pin *********** is wrong"}}'


def test_an_error_never_repeats_a_secret() -> None:
    known_secrets.learn(TOKEN)
    body = f"unknown token {TOKEN}".encode()
    errors: list[InspectorError] = [
        HttpError("HTTP_ERROR", f"the server said: {TOKEN}", status=401, body=body),
        ServerError(-32000, f"bad {TOKEN}", {"deep": [TOKEN]}),
    ]
    for error in errors:
        assert TOKEN not in str(error)
        assert TOKEN not in repr(error)
        assert TOKEN not in json.dumps(error.to_dict())
    assert isinstance(errors[0], HttpError)
    assert errors[0].body == body  # for the program; what is shown comes from to_dict


def test_a_log_record_never_repeats_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    known_secrets.learn(TOKEN)
    with caplog.at_level(logging.DEBUG, "mcplens"):
        get_logger("mcplens.test").debug("not connected: %s", f"the server said {TOKEN}")
    assert "the server said ‹masked" in caplog.text
    assert TOKEN not in caplog.text


def test_only_the_newest_secrets_of_traffic_are_kept_and_all_that_were_given() -> None:
    known_secrets.learn(TOKEN)
    for number in range(200):
        known_secrets.learn_from_traffic(f"secret number {number}")
    assert known_secrets.mask_text("secret number 1 ") == "secret number 1 "
    assert "199" not in known_secrets.mask_text("secret number 199")
    assert TOKEN not in known_secrets.mask_text(TOKEN)


def test_tokens_that_are_renewed_for_weeks_do_not_push_out_what_the_configuration_has() -> None:
    secrets = KnownSecrets()
    secrets.learn("the-password-of-the-store")
    for number in range(1_000):
        secrets.learn_issued(f"an-access-token-{number}")
    assert "password" not in secrets.mask_text("no entry with the-password-of-the-store")
    assert "token-999" not in secrets.mask_text("refused: an-access-token-999")
