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
from mcplens.protocol.chat import answer_from_chat, chat_request
from mcplens.session.handler import INTERNAL_ERROR, ServerRequest

if TYPE_CHECKING:
    from mcplens.session.profiles import Settings

_LARGEST_ANSWER: Final = 16 * 1024 * 1024
_SHOWN_CHARACTERS: Final = 500


def ask_model(settings: Settings) -> Callable[[ServerRequest], Awaitable[Any]]:
    """A way to answer: the endpoint's model does it.

    Raises:
        ConfigurationError: the settings lack something.
    """
    url = settings.text("url").rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise settings.problem("url has to start with http:// or https://")
    model, key = settings.text("model"), settings.text("apiKey", "")
    timeout_s = settings.number("timeoutSeconds", 120)

    async def answer(request: ServerRequest) -> Any:
        body = msgspec.json.encode(chat_request(request.params, model))
        reply = await _post(f"{url}/chat/completions", body, key, timeout_s)
        try:
            return answer_from_chat(reply, request.params, model)
        except ValueError as problem:
            raise _failed(url, f"its answer cannot be used: {problem}") from None

    return answer


async def _post(url: str, body: bytes, key: str, timeout_s: float) -> Any:
    import aiohttp

    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    try:
        async with (
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=timeout_s), trust_env=True
            ) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            data = await response.content.read(_LARGEST_ANSWER + 1)
            while len(data) <= _LARGEST_ANSWER and (more := await response.content.read(65_536)):
                data += more
            status = response.status
    except TimeoutError:
        raise _failed(url, f"no answer within {timeout_s:g} s") from None
    except aiohttp.ClientError as problem:
        raise _failed(url, str(problem) or type(problem).__name__) from None
    if len(data) > _LARGEST_ANSWER:
        raise _failed(url, "its answer is too large")
    if status != 200:
        shown = data[:_SHOWN_CHARACTERS].decode("utf-8", "replace")
        raise _failed(url, f"HTTP {status}: {shown.replace(key, '***') if key else shown}")
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as problem:
        raise _failed(url, f"its answer is no JSON: {problem}") from None


def _failed(url: str, why: str) -> ServerError:
    from mcplens.protocol.masking import mask_url

    return ServerError(INTERNAL_ERROR, f"the model at {mask_url(url)} did not answer: {why}")
