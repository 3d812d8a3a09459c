"""`mcplens auth`, and commands that meet a server which wants a sign-in."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from aiohttp import web

from mcplens.cli import exit_codes
from tests.auth.protected import Protected, protected_beside
from tests.cli.shell import Shell, serving
from tests.cli.terminal import terminal as on_terminal

pytestmark = pytest.mark.slow

PASTE = "or paste the address that the browser was sent to: "


@pytest.fixture(scope="module")
def protected() -> Iterator[str]:
    with serving("sdk_oauth", "--transport", "http") as url:
        yield url


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def sent_back_to(url: str) -> str:
    """Where the authorization server sends the browser."""
    try:
        urllib.request.build_opener(_Stay).open(url, timeout=30)
    except urllib.error.HTTPError as answer:
        return str(answer.headers["Location"])
    raise AssertionError("it was no redirect")


def sign_in(shell: Shell, url: str, *words: str) -> str:
    """Sign in on a terminal without a browser, by pasting; gives all that was shown."""
    with on_terminal(shell, *words, columns=500) as terminal:
        if words[0] != "auth":
            terminal.answer("Sign in now? [Y/n] ", "y")
        shown = terminal.until_line("/authorize?").strip()
        terminal.until(PASTE)
        terminal.type(sent_back_to(shown) + "\n")
        assert terminal.end() == exit_codes.DONE
        return terminal.text


def test_a_command_offers_to_sign_in_and_goes_on_with_what_was_asked(
    shell: Shell, protected: str
) -> None:
    assert "again" in sign_in(shell, protected, "call", protected, "echo", "text=again")
    # From now on nobody is asked, on a terminal or not.
    assert shell.run("call", protected, "echo", "text=third").text == "third\n"


def test_the_browser_comes_back_by_itself(shell: Shell, protected: str) -> None:
    with on_terminal(shell, "auth", "login", protected, columns=500) as terminal:
        shown = terminal.until_line("/authorize?").strip()
        with urllib.request.urlopen(shown, timeout=30) as page:  # follows the redirect to us
            assert b"You can close this page" in page.read()
        assert terminal.end() == exit_codes.DONE
        assert "renewed by itself" in terminal.text


def test_without_a_terminal_the_command_to_run_is_named(shell: Shell, protected: str) -> None:
    done = shell.run("tools", protected)
    assert done.code == exit_codes.SIGN_IN
    assert f"mcplens auth login {protected}" in done.err


def test_status_shows_no_token_unless_asked_and_logout_revokes_it(
    shell: Shell, protected: str
) -> None:
    assert shell.run("auth", "status", protected).code == exit_codes.SIGN_IN
    sign_in(shell, protected, "auth", "login", protected)
    (row,) = json.loads(shell.run("auth", "status", "--json").text)["signIns"]
    assert (row["server"], row["grantedScopes"]) == (protected, ["notes"])
    shown = json.loads(shell.run("auth", "status", "--json", "--show-token").text)
    token = shown["signIns"][0]["accessToken"]
    assert token not in shell.run("auth", "status", protected).text
    done = shell.run("auth", "logout", protected)
    assert "signed out, and the token is revoked" in done.err
    assert shell.run("tools", protected).code == exit_codes.SIGN_IN
    # What was recorded meanwhile has none of it.
    assert token not in shell.run("history", "export", "--all").text


def test_a_login_is_complete_before_the_first_mcp_request(shell: Shell) -> None:
    with protected_beside() as server:
        sign_in(shell, server.url, "auth", "login", server.url)
        assert "well-known" in server.asked[0]
        assert server.asked.index("/token") < server.asked.index("/mcp")
        assert "" not in server.authorizations


def test_a_command_without_a_terminal_names_the_login_of_a_configured_server_too(
    shell: Shell,
) -> None:
    with protected_beside() as server:
        entry = {"url": server.url, "auth": {"clientName": "me"}}
        shell.config.parent.mkdir(parents=True, exist_ok=True)
        shell.config.write_text(json.dumps({"mcpServers": {"notes": entry}}))
        done = shell.run("tools", "notes")
        assert done.code == exit_codes.SIGN_IN
        assert f"mcplens auth login {server.url}" in done.err
        assert set(server.asked) == {"/mcp"}


@pytest.fixture
def unregistering() -> Iterator[Protected]:
    """A server whose authorization server registers nobody."""
    with protected_beside() as server:
        whole = server.metadata_of_issuer
        server.metadata_of_issuer = lambda: (
            {name: value for name, value in whole().items() if name != "registration_endpoint"}
            | {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        )
        yield server


def test_where_nobody_is_registered_a_client_id_is_asked_for_and_kept(
    shell: Shell, unregistering: Protected
) -> None:
    url = unregistering.url
    with on_terminal(shell, "tools", url, columns=500) as terminal:
        terminal.answer("Sign in now? [Y/n] ", "y")
        terminal.until_line("does not register mcplens by itself")
        terminal.until_line("http://127.0.0.1:")
        terminal.answer("Client ID: ", "made-by-hand")
        terminal.until("Client secret, if there is one: ")
        terminal.type("its-secret-value\n")
        shown = terminal.until_line("/authorize?").strip()
        terminal.until(PASTE)
        terminal.type(sent_back_to(shown) + "\n")
        assert terminal.end() == exit_codes.DONE
        assert "echo" in terminal.text
        assert "its-secret-value" not in terminal.drawn
    assert "client_id=made-by-hand" in shown
    assert unregistering.forms[0]["client_secret"] == "its-secret-value"
    # The next sign-in needs neither, until it is forgotten.
    assert shell.run("auth", "logout", url).code == exit_codes.DONE
    assert "made-by-hand, entered earlier" in sign_in(shell, url, "auth", "debug", url)
    assert shell.run("auth", "logout", url, "--forget-client").code == exit_codes.DONE
    with on_terminal(shell, "auth", "login", url, columns=500) as terminal:
        terminal.answer("Client ID: ", "")
        assert terminal.end() == exit_codes.SIGN_IN


def test_without_a_terminal_the_key_of_the_auth_block_is_named(
    shell: Shell, unregistering: Protected
) -> None:
    done = shell.run("auth", "login", unregistering.url)
    assert done.code == exit_codes.SIGN_IN
    assert "the auth block has no clientId" in done.err
    assert "set clientId (and clientSecret, if there is one)" in done.err


def test_a_client_id_that_was_mistyped_is_not_kept(shell: Shell, unregistering: Protected) -> None:
    def refuse(form: dict[str, str]) -> web.Response:
        return web.json_response({"error": "invalid_client"}, status=401)

    unregistering.token_answer = refuse
    for _ in range(2):
        with on_terminal(shell, "auth", "login", unregistering.url, columns=500) as terminal:
            terminal.answer("Client ID: ", "mistyped")
            terminal.until("Client secret, if there is one: ")
            terminal.type("\n")
            shown = terminal.until_line("/authorize?").strip()
            terminal.until(PASTE)
            terminal.type(sent_back_to(shown) + "\n")
            assert terminal.end() == exit_codes.SIGN_IN


def test_of_several_authorization_servers_the_person_at_the_terminal_chooses(
    shell: Shell,
) -> None:
    with protected_beside() as server, protected_beside() as other:
        whole = server.metadata_of_resource
        named = {"authorization_servers": [server.base, other.base]}
        server.metadata_of_resource = lambda: whole() | named
        server.valid = other.valid
        with on_terminal(shell, "tools", server.url, columns=500) as terminal:
            terminal.answer("Sign in now? [Y/n] ", "y")
            terminal.until_line(f"2  {other.base}")
            terminal.answer("Where to sign in? [1] ", "3")
            terminal.answer("Where to sign in? [1] ", "2")
            shown = terminal.until_line("/authorize?").strip()
            assert shown.startswith(other.base)
            terminal.until(PASTE)
            terminal.type(sent_back_to(shown) + "\n")
            assert terminal.end() == exit_codes.DONE
        assert "/token" not in server.asked


def test_debug_prints_each_step_with_secrets_masked(shell: Shell, protected: str) -> None:
    shown = sign_in(shell, protected, "auth", "debug", protected)
    for part in ("Find out who protects the server", "-> POST", "✓", "registered just now"):
        assert part in shown
    assert re.search(r'"access_token":"‹masked, \d+ characters›"', shown)


def test_debug_ends_with_the_code_of_the_step_that_failed(shell: Shell) -> None:
    with serving("good", "--transport", "http", "--require-header", "X-Key: 1") as url:
        done = shell.run("auth", "debug", url)
    assert done.code == exit_codes.SIGN_IN
    assert "✗" in done.err


def test_a_token_that_is_pasted_is_kept(shell: Shell, protected: str) -> None:
    sign_in(shell, protected, "auth", "login", protected)
    rows = json.loads(shell.run("auth", "status", "--json", "--show-token").text)["signIns"]
    token = rows[0]["accessToken"]
    other = Shell(shell.home / "other")
    other.home.mkdir()
    done = other.run("auth", "login", protected, "--token", stdin=token.encode())
    assert done.code == exit_codes.DONE
    assert other.run("call", protected, "echo", "text=hi").text == "hi\n"
