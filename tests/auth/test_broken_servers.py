"""Servers and authorization servers that are broken: what is told, and what is not done."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

import mcplens
from mcplens.auth.steps import Authorize
from mcplens.bus import Bus
from mcplens.clock import ManualClock, SystemClock
from mcplens.events import Event, HttpRequestSent, SignInStepChanged
from tests.auth.protected import Protected, connect, consent, failure, protected
from tests.ports import held_port


def issuer(**values: Any) -> Callable[[Protected], None]:
    return lambda server: server.issuer_says(**values)


def resource(**values: Any) -> Callable[[Protected], None]:
    return lambda server: server.resource_says(**values)


def html(server: Protected) -> None:
    server.metadata_of_issuer = lambda: web.Response(text="<html>", content_type="text/html")


def huge(server: Protected) -> None:
    server.metadata_of_issuer = lambda: web.Response(body=b" " * (100 << 20))


def elsewhere(server: Protected) -> None:
    moved = {"Location": "https://evil.example/metadata"}
    server.metadata_of_issuer = lambda: web.Response(status=302, headers=moved)


@pytest.mark.parametrize(
    ("break_it", "step", "part"),
    [
        pytest.param(issuer(code_challenge_methods_supported=None), "authorization_server",
                     "code_challenge_methods_supported lists nothing", id="no PKCE"),
        pytest.param(issuer(code_challenge_methods_supported=["plain"]),
                     "authorization_server", "lists plain", id="only plain PKCE"),
        pytest.param(issuer(issuer="https://evil.example"), "authorization_server",
                     "'https://evil.example'", id="another issuer"),
        pytest.param(issuer(token_endpoint="http://evil.example/token"),
                     "authorization_server", "http://evil.example/token", id="token over http"),
        pytest.param(issuer(authorization_endpoint="javascript:alert(1)"),
                     "authorization_server", "javascript:alert(1)", id="a script to open"),
        pytest.param(resource(resource="https://evil.example/mcp"), "protected_resource",
                     "evil.example", id="another resource"),
        pytest.param(resource(authorization_servers=[]), "protected_resource",
                     "no authorization server", id="nobody to sign in with"),
        pytest.param(resource(authorization_servers=["file:///etc/passwd"]),
                     "protected_resource", "file:///etc/passwd", id="a file"),
        pytest.param(issuer(registration_endpoint=None), "client", "has no clientId",
                     id="no registration"),
        pytest.param(html, "authorization_server", "not answered with JSON", id="HTML"),
        pytest.param(huge, "authorization_server", "limit of 1048576 bytes", id="100 MB"),
        pytest.param(elsewhere, "authorization_server", "another origin", id="redirected"),
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
    ("answer", "part"),
    [
        pytest.param(web.Response(status=503, text="<h1>down</h1>"), "HTTP 503", id="down"),
        pytest.param(
            web.json_response({"token_type": "bearer"}), "no usable access_token", id="no"
        ),
        pytest.param(
            web.json_response({"access_token": "x", "token_type": "mac"}), "'mac'", id="t"
        ),
        pytest.param(web.Response(text="<html>Hello</html>"), "not a JSON object", id="HTML"),
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


async def test_a_request_without_an_answer_is_linked_to_its_step(server: Protected) -> None:
    """Neither one that nobody listens for, nor one that is never answered."""
    bus = Bus(SystemClock())
    with held_port() as port:
        server.issuer_says(registration_endpoint=f"http://127.0.0.1:{port}/register")
        await failure(server, bus=bus)
    _linked(bus.kept(), "client", "refused the connection")
    server.issuer_says(registration_endpoint=f"{server.base}/hang")
    clock = ManualClock()
    bus = Bus(clock)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(failure(server, bus=bus, clock=clock, connection_timeout_s=None))
        await server.until_hanging()
        await clock.advance(31)
    assert task.result().details["cause"] == "REQUEST_TIMEOUT"
    _linked(bus.kept(), "client", "no answer within 30 s")


def _linked(events: list[Event], step: str, part: str) -> None:
    """The step failed, and is linked to the request that it sent last."""
    last = [event for event in events if isinstance(event, HttpRequestSent)][-1]
    told = [event for event in events if isinstance(event, SignInStepChanged)][-1]
    assert (told.step, told.state, told.exchange_id) == (step, "failed", last.exchange_id)
    assert part in told.text


@pytest.mark.parametrize("path", ["register", "token"])
async def test_secrets_do_not_follow_a_redirect_to_another_origin(
    server: Protected, path: str
) -> None:
    async with protected() as other:

        def moved(form: dict[str, str]) -> web.Response:
            to = f"{other.base}/{path}"
            return web.Response(status=307, headers={"Location": to})

        if path == "token":
            server.token_answer = moved
        else:
            server.registration_answer = lambda: moved({})
        auth = {"clientId": "mine", "clientSecret": "a-secret-of-mine"} if path == "token" else {}
        error = await failure(server, auth=auth)
        assert other.asked == []
    assert "another origin" in error.message


async def test_a_slow_token_endpoint_is_given_up(server: Protected) -> None:
    server.issuer_says(token_endpoint=f"{server.base}/hang")
    clock = ManualClock()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(failure(server, clock=clock, connection_timeout_s=None))
        await server.until_hanging()
        await clock.advance(31)
    error = task.result()
    assert error.details["sign_in_step"] == "token"
    assert "no answer within 30 s" in error.message


async def test_a_server_that_wants_another_scope_each_time_is_given_up(server: Protected) -> None:
    asked: list[tuple[str, ...]] = []

    async def look(request: Authorize) -> str:
        asked.append(request.scopes)
        return await consent(request)

    def want_more(message: dict[str, Any]) -> web.Response | None:
        if message["method"] != "tools/call":
            return None
        header = f'Bearer error="insufficient_scope", scope="scope-{len(asked)}"'
        return web.json_response({}, status=403, headers={"WWW-Authenticate": header})

    server.mcp_answer = want_more
    async with asyncio.timeout(20), connect(server, sign_in=look) as client:
        with pytest.raises(mcplens.InspectorError) as caught:
            await client.call_tool("echo")
    assert caught.value.code == "AUTHENTICATION_FAILED"
    assert len(asked) <= 4  # the sign-in, and few more
