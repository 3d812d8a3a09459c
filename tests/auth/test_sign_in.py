"""Signing in: what is sent, shown and kept, and how it ends when something is wrong."""

import asyncio
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.jwk import ECKey

import mcplens
from mcplens.auth.steps import Authorize
from mcplens.auth.storage import SignInStore
from mcplens.bus import Bus
from mcplens.clock import ManualClock, SystemClock
from mcplens.events import Event, SignInEnded, SignInStarted, SignInStepChanged, StateChanged
from tests.auth.protected import Protected, changed, consent

PINNED = "2025-11-25"


def connect(server: Protected, **options: Any) -> mcplens.connect:
    return mcplens.connect(server.url, protocol_version=PINNED, **options)


async def failure(server: Protected, **options: Any) -> mcplens.InspectorError:
    with pytest.raises(mcplens.InspectorError) as caught:
        async with connect(server, **{"sign_in": consent, **options}):
            pass
    return caught.value


# -- what is sent and shown --------------------------------------------------------------------


async def test_each_step_is_an_event_and_no_secret_is_in_any(server: Protected) -> None:
    bus = Bus(SystemClock())
    async with connect(server, sign_in=consent, bus=bus) as client:
        await client.call_tool("echo")
    events = bus.kept()
    (started,) = [event for event in events if isinstance(event, SignInStarted)]
    (ended,) = [event for event in events if isinstance(event, SignInEnded)]
    refused = next(event for event in events if getattr(event, "status", None) == 401)
    assert started.exchange_id == refused.exchange_id  # type: ignore[attr-defined]
    done = [e.step for e in events if isinstance(e, SignInStepChanged) and e.state == "done"]
    assert done == [
        "protected_resource",
        "authorization_server",
        "client",
        "authorization",
        "token",
    ]
    assert (ended.outcome, ended.issuer, ended.scopes) == ("signed_in", server.base, ["notes"])
    text = repr([event for event in events if not isinstance(event, StateChanged)])
    assert not re.search(r"(access|refresh)-\d+-secret|code-\d+", text)
    assert server.forms[0]["code_verifier"] not in text


async def test_resource_and_pkce_are_in_both_requests_and_the_client_is_native(
    server: Protected,
) -> None:
    asked: list[Authorize] = []

    async def look(request: Authorize) -> str:
        asked.append(request)
        return await consent(request)

    async with connect(server, sign_in=look):
        pass
    (form,) = server.forms
    assert form["resource"] == server.url == asked[0].resource
    assert "code_challenge_method=S256" in asked[0].url
    (registration,) = server.registrations
    assert registration["application_type"] == "native"
    assert registration["grant_types"] == ["authorization_code", "refresh_token"]


async def test_a_server_that_wants_no_sign_in_is_asked_nothing_more(server: Protected) -> None:
    server.valid.add("")
    async with connect(server, sign_in=consent) as client:
        await client.call_tool("echo")
    assert set(server.asked) == {"/mcp"}


async def test_an_authorization_header_of_ones_own_switches_it_off(server: Protected) -> None:
    headers = {"Authorization": "Bearer mine-and-wrong"}
    error = await failure(server, headers=headers)
    assert error.code == "AUTHENTICATION_FAILED"
    assert set(server.asked) == {"/mcp"}


async def test_nobody_is_asked_to_sign_in_for_a_goodbye(server: Protected) -> None:
    server.has_sessions = True
    async with connect(server, sign_in=consent):
        pass
    assert server.goodbyes == 1
    assert len(server.forms) == 1


# -- what is kept ------------------------------------------------------------------------------


async def test_a_restart_needs_no_sign_in_and_only_the_owner_can_read_what_is_kept(
    server: Protected, folder: Path
) -> None:
    async with connect(server, sign_in=consent):
        pass
    async with connect(server) as client:
        await client.call_tool("echo")
    assert server.asked.count("/authorize") == 1
    for path in (folder / "auth").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "auth").stat().st_mode) == 0o700


async def test_an_expired_token_is_refreshed_before_the_first_request_after_a_restart(
    server: Protected,
) -> None:
    server.expires_in = 1
    async with connect(server, sign_in=consent):
        pass
    server.expires_in = 3600
    server.valid.clear()
    server.authorizations.clear()
    async with connect(server):
        pass
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]
    assert len(set(server.authorizations)) == 1  # the old one was not sent at all


async def test_requests_that_are_refused_together_share_one_refresh(server: Protected) -> None:
    async with connect(server, sign_in=consent, concurrency=8) as client:
        server.valid.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(6):
                group.create_task(client.call_tool("echo"))
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]


async def test_two_users_of_one_sign_in_do_not_lose_it_through_ten_rotations(
    server: Protected,
) -> None:
    async with (
        connect(server, sign_in=consent) as one,
        connect(server) as two,
    ):
        for _ in range(10):
            server.valid.clear()
            async with asyncio.TaskGroup() as group:
                group.create_task(one.call_tool("echo"))
                group.create_task(two.call_tool("echo"))
    assert server.asked.count("/authorize") == 1
    assert all(form["grant_type"] == "refresh_token" for form in server.forms[1:])


async def test_a_refresh_token_that_is_spent_leads_to_a_new_sign_in(server: Protected) -> None:
    async with connect(server, sign_in=consent) as client:
        server.valid.clear()
        server.refresh_tokens.clear()
        await client.call_tool("echo")
    assert server.asked.count("/authorize") == 2
    assert len(server.registrations) == 1  # the client is kept


async def test_an_opaque_token_without_a_lifetime_is_used_until_it_is_refused(
    server: Protected,
) -> None:
    server.expires_in = None
    async with connect(server, sign_in=consent):
        pass
    kept = await SignInStore().load(server.url)
    assert kept is not None
    assert kept.tokens.expires_at is None
    async with connect(server) as client:
        await client.call_tool("echo")


async def test_a_registration_that_the_server_forgot_is_made_anew(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    await SignInStore().forget(server.url)
    first = server.forms[0]["client_id"]

    def refuse_the_first(form: dict[str, str]) -> web.Response | None:
        if form["client_id"] != first:
            return None
        return web.json_response({"error": "invalid_client"}, status=401)

    server.token_answer = refuse_the_first
    async with connect(server, sign_in=consent) as client:
        await client.call_tool("echo")
    assert len(server.registrations) == 2


async def test_a_sign_in_as_another_client_is_not_used(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    auth = {"clientId": "mine"}
    async with connect(server, sign_in=consent, auth=auth):
        pass
    assert server.forms[-1]["client_id"] == "mine"


# -- more scopes -------------------------------------------------------------------------------


async def test_a_step_up_asks_for_the_old_scopes_and_the_new_and_never_twice(
    server: Protected,
) -> None:
    asked: list[tuple[str, ...]] = []

    async def look(request: Authorize) -> str:
        asked.append(request.scopes)
        return await consent(request)

    def want_more(message: dict[str, Any]) -> web.Response | None:
        if message["method"] != "tools/call":
            return None
        header = 'Bearer error="insufficient_scope", scope="admin"'
        return web.json_response({}, status=403, headers={"WWW-Authenticate": header})

    server.mcp_answer = want_more
    async with connect(server, sign_in=look) as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("echo")
    assert caught.value.code == "AUTHENTICATION_FAILED"
    assert asked == [("notes",), ("notes", "admin")]


# -- what is wrong -----------------------------------------------------------------------------


def _without(name: str) -> Callable[[Protected], None]:
    def change(server: Protected) -> None:
        whole = server.metadata_of_issuer
        server.metadata_of_issuer = lambda: {k: v for k, v in whole().items() if k != name}

    return change


def _with_issuer(**values: Any) -> Callable[[Protected], None]:
    def change(server: Protected) -> None:
        whole = server.metadata_of_issuer
        server.metadata_of_issuer = lambda: whole() | values

    return change


def _with_resource(**values: Any) -> Callable[[Protected], None]:
    def change(server: Protected) -> None:
        whole = server.metadata_of_resource
        server.metadata_of_resource = lambda: whole() | values

    return change


def _html(server: Protected) -> None:
    server.metadata_of_issuer = lambda: web.Response(text="<html>", content_type="text/html")


def _huge(server: Protected) -> None:
    server.metadata_of_issuer = lambda: web.Response(body=b" " * (100 << 20))


def _elsewhere(server: Protected) -> None:
    moved = {"Location": "https://evil.example/metadata"}
    server.metadata_of_issuer = lambda: web.Response(status=302, headers=moved)


@pytest.mark.parametrize(
    ("break_it", "step", "part"),
    [
        pytest.param(_without("code_challenge_methods_supported"), "authorization_server",
                     "code_challenge_methods_supported lists nothing", id="no PKCE"),
        pytest.param(_with_issuer(code_challenge_methods_supported=["plain"]),
                     "authorization_server", "lists plain", id="only plain PKCE"),
        pytest.param(_with_issuer(issuer="https://evil.example"), "authorization_server",
                     "'https://evil.example'", id="another issuer"),
        pytest.param(_with_issuer(token_endpoint="http://evil.example/token"),
                     "authorization_server", "http://evil.example/token", id="token over http"),
        pytest.param(_with_issuer(authorization_endpoint="javascript:alert(1)"),
                     "authorization_server", "javascript:alert(1)", id="a script to open"),
        pytest.param(_with_resource(resource="https://evil.example/mcp"), "protected_resource",
                     "evil.example", id="another resource"),
        pytest.param(_with_resource(authorization_servers=[]), "protected_resource",
                     "no authorization server", id="nobody to sign in with"),
        pytest.param(_with_resource(authorization_servers=["file:///etc/passwd"]),
                     "protected_resource", "file:///etc/passwd", id="a file"),
        pytest.param(_without("registration_endpoint"), "client", "has no clientId",
                     id="no registration"),
        pytest.param(_html, "authorization_server", "not answered with JSON", id="HTML"),
        pytest.param(_huge, "authorization_server", "limit of 1048576 bytes", id="100 MB"),
        pytest.param(_elsewhere, "authorization_server", "another origin", id="redirected"),
    ],
)  # fmt: skip
async def test_what_is_wrong_with_the_metadata_is_told_and_nothing_is_opened(
    server: Protected, break_it: Callable[[Protected], None], step: str, part: str
) -> None:
    break_it(server)
    error = await failure(server)
    assert (error.code, error.details["sign_in_step"]) == ("SIGN_IN_FAILED", step)
    assert part in error.message
    assert "/authorize" not in server.asked
    assert "/token" not in server.asked


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param(lambda v: v.update(state="other"), "another state", id="injected code"),
        pytest.param(lambda v: v.pop("state"), "another state", id="no state"),
        pytest.param(lambda v: v.update(iss="https://evil.example"), "evil.example", id="mix-up"),
        pytest.param(lambda v: v.pop("iss"), "metadata promises iss", id="no issuer"),
        pytest.param(lambda v: v.pop("code"), "no code", id="no code"),
        pytest.param(lambda v: v.update(error="access_denied"), "was denied", id="denied"),
    ],
)
async def test_an_answer_that_is_not_for_this_sign_in_gets_no_token(
    server: Protected, change: Callable[[dict[str, str]], None], part: str
) -> None:
    error = await failure(server, sign_in=changed(change))
    assert error.details["sign_in_step"] == "authorization"
    assert part in error.message
    assert server.forms == []


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        pytest.param(web.Response(status=503, text="<h1>down</h1>"), "HTTP 503", id="down"),
        pytest.param(
            web.json_response({"token_type": "bearer"}), "no usable access_token", id="no"
        ),
        pytest.param(
            web.json_response({"access_token": "x", "token_type": "mac"}), "'mac'", id="t"
        ),
    ],
)
async def test_a_token_endpoint_that_is_broken_is_told(
    server: Protected, answer: web.Response, part: str
) -> None:
    server.token_answer = lambda _: web.Response(
        status=answer.status, body=answer.body, headers=answer.headers
    )
    error = await failure(server)
    assert error.details["sign_in_step"] == "token"
    assert part in error.message


async def test_a_configured_secret_is_not_sent_to_another_issuer(server: Protected) -> None:
    auth = {"clientId": "mine", "clientSecret": "a-secret-of-mine"}
    async with connect(server, sign_in=consent, auth=auth):
        pass
    server.valid.clear()
    server.refresh_tokens.clear()
    other = server.base.replace("127.0.0.1", "localhost")
    _with_resource(authorization_servers=[other])(server)
    _with_issuer(issuer=other)(server)
    count = len(server.forms)
    error = await failure(server, auth=auth)
    assert "was used with" in error.message
    assert all("refresh_token" in form for form in server.forms[count:])


# -- the person's time -------------------------------------------------------------------------


async def test_the_connection_waits_for_a_person_longer_than_for_a_server(
    server: Protected,
) -> None:
    clock = ManualClock()
    gate = asyncio.Event()
    asked = asyncio.Event()

    async def slow(request: Authorize) -> str:
        asked.set()
        await gate.wait()
        return await consent(request)

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        client = connect(server, sign_in=slow, clock=clock, connection_timeout_s=5).client
        task = group.create_task(client.connect())
        await asked.wait()
        await clock.advance(60)
        assert client.state.value == "CONNECTING"
        gate.set()
        await task
        await client.disconnect()


async def test_nobody_signs_in_in_time(server: Protected) -> None:
    clock = ManualClock()
    asked = asyncio.Event()

    async def never(request: Authorize) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    client = connect(server, sign_in=never, clock=clock, sign_in_timeout_s=90).client
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:

        async def be_late() -> None:
            await asked.wait()
            await clock.advance(91)

        group.create_task(be_late())
        with pytest.raises(mcplens.InspectorError, match="nobody signed in within 90 s"):
            await client.connect()


async def test_waiting_for_a_person_can_be_cancelled(server: Protected) -> None:
    asked = asyncio.Event()
    bus = Bus(SystemClock())

    async def never(request: Authorize) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    client = connect(server, sign_in=never, bus=bus).client
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(_swallow(client))
        await asked.wait()
        await client.disconnect()
        await task
    assert client.state.value == "DISCONNECTED"
    assert _outcomes(bus.kept()) == ["cancelled"]


async def test_calls_do_not_wait_for_each_other(server: Protected) -> None:
    server.calls_gate = asyncio.Barrier(4)
    async with (
        asyncio.timeout(20),
        connect(server, sign_in=consent, concurrency=4) as client,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(4):
            group.create_task(client.call_tool("echo"))


# -- without a person --------------------------------------------------------------------------


async def test_a_machine_signs_in_with_its_secret(server: Protected) -> None:
    auth = {"grant": "client_credentials", "clientId": "robot", "clientSecret": "robots-secret"}
    _with_issuer(token_endpoint_auth_methods_supported=["client_secret_post"])(server)
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
    assert f"{path} is no key that we can sign with" in error.message


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


async def test_a_sign_out_elsewhere_ends_this_sign_in_too(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    async with connect(server) as client:
        await SignInStore().forget(server.url)
        server.valid.clear()
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("echo")
    assert caught.value.code == "AUTHENTICATION_FAILED"
    assert all(form["grant_type"] != "refresh_token" for form in server.forms)


async def test_a_record_that_is_broken_is_no_sign_in(server: Protected, folder: Path) -> None:
    async with connect(server, sign_in=consent):
        pass
    for path in (folder / "auth").glob("kept-*"):
        path.write_text("{")
    async with connect(server, sign_in=consent):
        pass
    assert server.asked.count("/authorize") == 2


async def _swallow(client: mcplens.Client) -> None:
    with pytest.raises(mcplens.InspectorError):
        await client.connect()


def _outcomes(events: list[Event]) -> list[str]:
    return [event.outcome for event in events if isinstance(event, SignInEnded)]
