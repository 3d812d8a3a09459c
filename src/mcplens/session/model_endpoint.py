"""A profile that hands over to a real model, through any endpoint that speaks OpenAI's chat API.

    {"kind": "model", "url": "http://127.0.0.1:11434/v1", "model": "llama3", "apiKey": "${KEY}"}

Nothing is sent anywhere unless the user configured such a profile and chose it. The key is sent to
that endpoint alone, and is in no event and no message.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.errors import ServerError
from mcplens.known_secrets import known_secrets
from mcplens.protocol.openai_chat import answer_from_chat, chat_request
from mcplens.protocol.secret_masking import mask_url
from mcplens.session.question_handler import INTERNAL_ERROR, ServerRequest

if TYPE_CHECKING:
    from mcplens.session.profiles import ProfileSettings

# A long answer is a few hundred kilobytes; more than this is not an answer.
_LARGEST_ANSWER: Final = 16 * 1024 * 1024
_SHOWN_CHARACTERS: Final = 500


def ask_model(settings: ProfileSettings) -> Callable[[ServerRequest], Awaitable[Any]]:
    """A way to answer: the endpoint's model does it.

    Raises:
        ConfigurationError: the settings lack something.
    """
    model, key = settings.text("model"), settings.text("apiKey", "").strip()
    if not key.isprintable():
        raise settings.problem("apiKey has characters that no header can carry")
    timeout_s = settings.number("timeoutSeconds", 120)
    endpoint = _Endpoint(_completions(settings), key, timeout_s or None)

    async def answer(request: ServerRequest) -> Any:
        body = msgspec.json.encode(chat_request(request.params, model))
        reply = await endpoint.post(body)
        try:
            return answer_from_chat(reply, request.params, model)
        except ValueError as problem:
            raise endpoint.failed(f"its answer cannot be used: {problem}") from None

    return answer


def _completions(settings: ProfileSettings) -> str:
    """The URL that is asked: the configured one is the base of the API."""
    from urllib.parse import urlsplit

    wrong = settings.problem("url has to be http:// or https://, with a host")
    try:
        parts = urlsplit(settings.text("url"))
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise wrong
    if parts.username is not None:
        raise settings.problem("url has no place for a user; the key is apiKey")
    path = parts.path.rstrip("/") + "/chat/completions"
    return parts._replace(path=path, fragment="").geturl()


class _Endpoint:
    """Where the model is."""

    def __init__(self, url: str, key: str, timeout_s: float | None) -> None:
        self._url = url
        self._key = key
        known_secrets.learn(key)
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        return f"<_Endpoint {mask_url(self._url)}>"

    async def post(self, body: bytes) -> Any:
        """The JSON that it answers with. Raises ServerError."""
        import aiohttp

        try:
            status, data = await self._exchange(body)
        except TimeoutError:
            raise self.failed(f"no answer within {self._timeout_s:g} s") from None
        except (aiohttp.InvalidURL, ValueError) as problem:  # their words quote the URL
            raise self.failed(type(problem).__name__) from None
        except (aiohttp.ClientError, OSError) as problem:
            raise self.failed(str(problem) or type(problem).__name__) from None
        if len(data) > _LARGEST_ANSWER:
            raise self.failed(f"its answer is larger than {_LARGEST_ANSWER:,} bytes")
        if status != 200:
            raise self.failed(f"HTTP {status}{_reason(status)}: {data.decode('utf-8', 'replace')}")
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as problem:
            raise self.failed(f"its answer is not JSON: {problem}") from None

    async def _exchange(self, body: bytes) -> tuple[int, bytearray]:
        """Status and body, of which no more is read than may be."""
        from urllib.parse import urlsplit

        import aiohttp

        from mcplens.transports.network import USER_AGENT, proxy_for

        headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        timeout = aiohttp.ClientTimeout(total=self._timeout_s)
        # No cookies and no .netrc; a redirect might lead the key elsewhere.
        async with aiohttp.ClientSession(
            timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            parts = urlsplit(self._url)
            proxy = proxy_for(parts.scheme, parts.hostname or "", parts.port)
            async with session.post(
                self._url, data=body, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                data = bytearray()
                async for chunk in response.content.iter_any():
                    data += chunk
                    if len(data) > _LARGEST_ANSWER:
                        break
                return response.status, data

    def failed(self, why: str) -> ServerError:
        """The error that the server gets; an endpoint may quote a key that it rejects."""
        shown = why.replace(self._key, "***") if self._key else why
        text = f"the model at {mask_url(self._url)} did not answer: {shown[:_SHOWN_CHARACTERS]}"
        return ServerError(INTERNAL_ERROR, text)


def _reason(status: int) -> str:
    return ", a redirect, which is not followed" if 300 <= status < 400 else ""
