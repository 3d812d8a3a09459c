"""Each way to sign in, chosen by the `auth` block of an entry in mcp.json."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.jwk import ECKey

from mcplens.cli import exit_codes
from tests.auth.protected import Protected, protected_beside
from tests.cli.shell import Shell
from tests.cli.terminal import terminal as on_terminal
from tests.cli.test_auth import PASTE, sent_back_to
from tests.ports import held_port

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@pytest.fixture
def server() -> Iterator[Protected]:
    with protected_beside() as found:
        yield found


def configure(shell: Shell, server: Protected, **auth: Any) -> None:
    """Write mcp.json with the server as `closed`; without `auth`, it has no block."""
    entry: dict[str, Any] = {"url": server.url, "protocolVersion": "2025-11-25"}
    if auth:
        entry["auth"] = auth
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    shell.config.write_text(json.dumps({"mcpServers": {"closed": entry}}))


def metadata(server: Protected, **values: Any) -> None:
    whole = server.metadata_of_issuer
    server.metadata_of_issuer = lambda: whole() | values


def calls(shell: Shell) -> None:
    """A tool is called, by a command that has no terminal."""
    done = shell.run("call", "closed", "echo")
    assert (done.code, done.text) == (exit_codes.DONE, "done\n"), done.err


def log_in(shell: Shell, change: Callable[[str], None] = lambda _: None) -> None:
    """A person signs in by pasting; `change` sees the address that they open."""
    with on_terminal(shell, "auth", "login", "closed", columns=1000) as terminal:
        shown = terminal.until_line("/authorize?").strip()
        change(shown)
        terminal.until(PASTE)
        terminal.type(sent_back_to(shown) + "\n")
        assert terminal.end() == exit_codes.DONE


def private_key(folder: Path) -> tuple[ec.EllipticCurvePrivateKey, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    path = folder / "key.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return key, str(path)


def test_authorization_code_with_a_registered_client(shell: Shell, server: Protected) -> None:
    shell.variables["SECRET"] = "secret-of-the-client"
    with held_port() as port:
        returns_to = f"http://127.0.0.1:{port}/back"
        configure(
            shell,
            server,
            clientId="registered-before",
            clientSecret="${SECRET}",
            redirectUri=returns_to,
            tokenEndpointAuthMethod="client_secret_post",
            authorizationServer=server.base,
            scopes=["notes", "files"],
        )

        def look(url: str) -> None:
            query = parse_qs(urlsplit(url).query)
            assert query["client_id"] == ["registered-before"]
            assert query["redirect_uri"] == [returns_to]
            assert query["scope"] == ["notes files"]

        log_in(shell, look)
    calls(shell)
    assert server.registrations == []
    (form,) = server.forms
    assert form["client_secret"] == "secret-of-the-client"
    assert form["redirect_uri"] == returns_to


def test_authorization_code_with_a_metadata_document(shell: Shell, server: Protected) -> None:
    metadata(server, client_id_metadata_document_supported=True)
    document = "https://example.com/mcplens.json"
    configure(shell, server, clientIdMetadataUrl=document)
    log_in(shell)
    calls(shell)
    assert server.registrations == []
    assert server.forms[0]["client_id"] == document


def test_authorization_code_with_a_client_that_registers_itself(
    shell: Shell, server: Protected
) -> None:
    configure(shell, server, clientName="Our inspector")
    log_in(shell)
    calls(shell)
    assert server.registrations[0]["client_name"] == "Our inspector"


def test_registration_can_be_switched_off(shell: Shell, server: Protected) -> None:
    configure(shell, server, allowDynamicRegistration=False)
    done = shell.run("auth", "login", "closed")
    assert done.code == exit_codes.SIGN_IN
    assert "set clientId" in done.err
    assert server.registrations == []


def test_client_credentials_with_a_secret(shell: Shell, server: Protected) -> None:
    metadata(server, token_endpoint_auth_methods_supported=["client_secret_basic"])
    configure(shell, server, grant="client_credentials", clientId="robot", clientSecret="its-own")
    calls(shell)
    (form,) = server.forms
    assert (form["grant_type"], form["resource"]) == ("client_credentials", server.url)
    assert "client_secret" not in form  # it is in a header


def test_client_credentials_with_a_private_key(
    shell: Shell, server: Protected, tmp_path: Path
) -> None:
    key, path = private_key(tmp_path)
    configure(
        shell,
        server,
        grant="client_credentials",
        clientId="robot",
        privateKeyFile=path,
        signingAlgorithm="ES256",
    )
    calls(shell)
    (form,) = server.forms
    token = jwt.decode(form["client_assertion"], ECKey.import_key(key.public_key()))
    assert (token.claims["sub"], token.claims["aud"]) == ("robot", server.base)


def test_workload_identity(shell: Shell, server: Protected, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("the-platforms-token\n")
    path = str(tmp_path / "token")
    configure(shell, server, grant="workload_identity", clientId="job", subjectTokenFile=path)
    calls(shell)
    (form,) = server.forms
    assert (form["grant_type"], form["assertion"]) == (JWT_BEARER, "the-platforms-token")


def test_enterprise(shell: Shell, server: Protected, tmp_path: Path) -> None:
    (tmp_path / "id-token").write_text("id-token-of-the-company")
    grant = "id-jag-of-the-company"

    def vouch(form: dict[str, str]) -> web.Response:
        kind = "urn:ietf:params:oauth:token-type:id-jag"
        return web.json_response(
            {"access_token": grant, "issued_token_type": kind, "token_type": "N_A"}
        )

    with protected_beside() as provider:
        provider.token_answer = vouch
        configure(
            shell,
            server,
            grant="enterprise",
            clientId="mcplens-here",
            clientSecret="secret-here",
            idp={"issuer": provider.base, "clientId": "there", "clientSecret": "secret-there"},
            subjectTokenFile=str(tmp_path / "id-token"),
        )
        calls(shell)
    (asked,) = provider.forms
    assert (asked["subject_token"], asked["audience"]) == ("id-token-of-the-company", server.base)
    (form,) = server.forms
    assert (form["grant_type"], form["assertion"]) == (JWT_BEARER, grant)
    assert "secret-there" not in str(form)


def test_dpop(shell: Shell, server: Protected) -> None:
    metadata(server, dpop_signing_alg_values_supported=["ES256"])
    server.token_type = "DPoP"
    configure(shell, server, dpop=True)
    log_in(shell)
    server.proofs.clear()
    server.authorizations.clear()
    calls(shell)
    assert all(header.startswith("DPoP access-") for header in server.authorizations)
    proofs = [proof for proof in server.proofs if proof]
    assert len(set(proofs)) == len(server.authorizations)  # one for each request, used once
    for proof in proofs:
        key = jwt_header(proof)["jwk"]
        claims = jwt.decode(proof, ECKey.import_key(key)).claims
        assert (claims["htu"], claims["htm"] in ("POST", "GET", "DELETE")) == (server.url, True)


def jwt_header(token: str) -> dict[str, Any]:
    from joserfc.util import urlsafe_b64decode

    found: dict[str, Any] = json.loads(urlsafe_b64decode(token.partition(".")[0].encode()))
    return found


def test_a_pasted_token_is_kept_and_removed(shell: Shell, server: Protected) -> None:
    server.valid.add("token-of-mine")
    configure(shell, server)
    done = shell.run("auth", "login", "closed", "--token", stdin=b"token-of-mine\n")
    assert done.code == exit_codes.DONE, done.err
    calls(shell)
    assert set(server.asked) == {"/mcp"}  # without any flow
    assert shell.run("auth", "logout", "closed").code == exit_codes.DONE
    assert shell.run("call", "closed", "echo").code == exit_codes.SIGN_IN
