"""Sign-ins without a person: client credentials, workload identity."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.jwk import ECKey

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from tests.auth.protected import Protected, connect, failure


async def test_a_machine_signs_in_with_its_secret(server: Protected) -> None:
    auth = {"grant": "client_credentials", "clientId": "robot", "clientSecret": "robots-secret"}
    server.issuer_says(token_endpoint_auth_methods_supported=["client_secret_post"])
    async with connect(server, auth=auth) as client:
        await client.call_tool("echo")
    (form,) = server.forms
    assert form["grant_type"] == "client_credentials"
    assert (form["client_id"], form["client_secret"]) == ("robot", "robots-secret")
    assert form["scope"] == "notes"


async def test_a_machine_signs_in_with_its_key(server: Protected, folder: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    form_of_key = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(private.private_bytes(*form_of_key))
    path = str(folder / "key.pem")
    auth = {"grant": "client_credentials", "clientId": "robot", "privateKeyFile": path}
    async with connect(server, auth=auth) as client:
        await client.call_tool("echo")
    (form,) = server.forms
    token = jwt.decode(form["client_assertion"], ECKey.import_key(private.public_key()))
    assert (token.header["alg"], token.claims["sub"]) == ("ES256", "robot")
    assert token.claims["aud"] == server.base
    assert "client_secret" not in form


async def test_a_key_that_cannot_be_used_is_named(server: Protected, folder: Path) -> None:
    (folder / "key.pem").write_text("not a key")
    path = str(folder / "key.pem")
    auth = {"grant": "client_credentials", "clientId": "robot", "privateKeyFile": path}
    error = await failure(server, auth=auth)
    assert f"{path} is not a key to sign with" in error.message


async def test_a_workload_signs_in_with_the_token_of_its_platform(
    server: Protected, folder: Path
) -> None:
    (folder / "token").write_text("platforms-token-for-us\n")
    path = str(folder / "token")
    auth = {"grant": "workload_identity", "clientId": "job", "subjectTokenFile": path}
    bus = Bus(SystemClock())
    async with connect(server, auth=auth, bus=bus) as client:
        await client.call_tool("echo")
    (form,) = server.forms
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert (form["assertion"], form["client_id"]) == ("platforms-token-for-us", "job")
    assert "platforms-token-for-us" not in repr(bus.kept())
