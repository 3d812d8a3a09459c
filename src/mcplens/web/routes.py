"""HTTP routes: sign-in, history, large results, export and import of traces.

Responses are views as JSON, or bytes; errors are InspectorErrors as JSON. access_control.py has
checked every request before it arrives here.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, BinaryIO, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route

from mcplens.errors import InspectorError, classify
from mcplens.protocol.frames import decode_value
from mcplens.store.har import export_har
from mcplens.store.history import History, IsStopped
from mcplens.store.lenient_json import to_json
from mcplens.store.row_decoding import StoredEvent
from mcplens.store.trace_transfer import ImportResult, export_trace, import_trace
from mcplens.web import query_params, recording_queries
from mcplens.web.access_control import NONCE_PATH, OURS, RETURN_PATH, SESSION_PATH, AccessKeys
from mcplens.web.api.errors import error_view
from mcplens.web.api.events import EventView, ImportedView, WholeEvent
from mcplens.web.blobs import attachment, blob_response, saved_as
from mcplens.web.export_selection import MOST_BYTES, ExportSelections
from mcplens.web.help import show_help
from mcplens.web.outbox import encoded
from mcplens.web.page import Assets, show_notices, show_page
from mcplens.web.peer_user import is_by_another_user
from mcplens.web.safe_json import raw_json
from mcplens.web.session_resume import ReturnKeys
from mcplens.web.thread_pool import CancellablePool, run_in_thread
from mcplens.workspace.workspace import Workspace

# Text of an event that is shown; more has to be downloaded.
_MOST_TEXT: Final = 1024 * 1024
_MOST_SESSION_BYTES: Final = 4096
# A trace larger than this is for the command line.
_MOST_TRACE_BYTES: Final = 1024 * 1024 * 1024
_CHUNK: Final = 256 * 1024
# A page sends up to six searches at once; exports and imports must not delay them.
_SEARCHES: Final = 4
_TRANSFERS: Final = 2

Answer = Callable[[Request], Awaitable[Response]]


class Routes:
    """The HTTP routes over one workspace."""

    def __init__(
        self, workspace: Workspace, keys: AccessKeys, return_keys: ReturnKeys | None
    ) -> None:
        self._workspace = workspace
        self._keys = keys
        self._return_keys = return_keys
        self._selections = ExportSelections()
        self._searches = CancellablePool("search", _SEARCHES)
        self._transfers = CancellablePool("transfer", _TRANSFERS)

    def __repr__(self) -> str:
        return f"<Routes over {self._workspace!r}>"

    def close(self) -> None:
        """Cancel searches and transfers."""
        self._searches.close()
        self._transfers.close()

    def all(self) -> list[BaseRoute]:
        def get(path: str, answer: Answer) -> Route:
            return Route(path, _with_error_responses(answer), methods=["GET"])

        def post(path: str, answer: Answer) -> Route:
            return Route(path, _with_error_responses(answer), methods=["POST"])

        return [
            post(SESSION_PATH, self._begin_session),
            post(NONCE_PATH, self._ask_for_proof),
            post(RETURN_PATH, self._return),
            get(SESSION_PATH, self._check_session),
            get("/api/history", self._runs),
            get("/api/history/events", self._events),
            get("/api/history/matches", self._matches),
            get("/api/event/{run}/{seq}", self._event),
            get("/api/event/{run}/{seq}/bytes", self._event_bytes),
            get("/api/calls/{call_id}/result", self._result),
            get("/api/calls/{call_id}/reply", self._reply),
            get("/api/calls/{call_id}/request", self._request),
            get("/api/blob/{call_id}", self._blob),
            get("/api/questions/{question_id:path}/blob", self._question_blob),
            get("/api/questions/{question_id:path}/params", self._question_params),
            get("/api/export", self._export),
            post("/api/export/rows", self._choose_rows),
            post("/api/import", self._import),
            get("/api/{path:path}", _nothing_here),
            get("/docs/notices", show_notices),
            get("/docs/errors/{slug}", show_help),
            Mount("/assets", Assets()),
            get("/{path:path}", self._page),
        ]

    async def _page(self, request: Request) -> Response:
        return await show_page(request, self._workspace.apps.port)

    # -- the session ---------------------------------------------------------------------------

    async def _begin_session(self, request: Request) -> Response:
        """Exchange the token from the address for a cookie that scripts cannot read."""
        token = (await _fields(request)).get("token", "")
        session = self._keys.exchange(token, is_by_another_user=is_by_another_user(request))
        if session is None:
            return _problem(InspectorError("AUTHENTICATION_FAILED", "the token is not valid"), 401)
        key = self._return_keys.give(_origin(request)) if self._return_keys is not None else None
        return self._let_in({"return_key": key})

    async def _ask_for_proof(self, request: Request) -> Response:
        return _json({"nonce": self._return_keys.ask() if self._return_keys is not None else None})

    async def _return(self, request: Request) -> Response:
        """Sign in a page that was signed in before a restart, by its proof."""
        given = await _fields(request)
        nonce, proof = given.get("nonce", ""), given.get("proof", "")
        keys = self._return_keys
        if keys is None or not keys.is_proven(nonce, proof, _origin(request)):
            return _problem(InspectorError("AUTHENTICATION_FAILED", "not a valid proof"), 401)
        return self._let_in({})

    def _let_in(self, fields: dict[str, str | None]) -> Response:
        """Send the cookie, and the folder that it is for, which only our own page can read."""
        keys = self._keys
        response = _json({**fields, "folder": keys.folder})
        response.set_cookie(
            keys.cookie, keys.session, httponly=True, samesite="strict", path=keys.folder
        )
        return response

    async def _check_session(self, request: Request) -> Response:
        status = 204 if self._keys.is_known(request) else 401
        return Response(status_code=status, headers=OURS)

    # -- the recording -------------------------------------------------------------------------

    async def _runs(self, request: Request) -> Response:
        limit = query_params.limit(request.query_params, 50)
        return _json(await recording_queries.runs(self._workspace, limit))

    async def _events(self, request: Request) -> Response:
        query = request.query_params
        find = partial(
            recording_queries.events,
            self._workspace,
            query_params.wanted(query),
            after=query_params.place(query, "after"),
            before=query_params.place(query, "before"),
            newest_first=query_params.is_set(query, "newest_first"),
            limit=query_params.limit(query, 200),
        )
        return _json(await self._searches.run(request, find))

    async def _matches(self, request: Request) -> Response:
        query = request.query_params
        after = query_params.place(query, "after")
        wanted = query_params.wanted(query)
        after_seq = after[1] if after else 0
        find = partial(recording_queries.matches, self._workspace, wanted, after_seq)
        return _json(await self._searches.run(request, find))

    async def _event(self, request: Request) -> Response:
        return self._whole(*await self._recorded(request))

    async def _reply(self, request: Request) -> Response:
        """The frame that carried the result of a call, as it came."""
        call = self._workspace.calls.find(request.path_params["call_id"])
        place = await recording_queries.reply_to(self._workspace, call.request_seqs)
        return self._whole(*await recording_queries.event(self._workspace, *place))

    def _whole(self, row: EventView, stored: StoredEvent, data: bytes) -> Response:
        kept = recording_queries.kept_event(self._workspace, row.run_id, row.seq)
        return _whole_event(row, stored, data, has_exact=kept is not None)

    async def _event_bytes(self, request: Request) -> Response:
        row, _, data = await self._recorded(request)
        return attachment(data, f"{row.run_id}-{row.seq}.bin")

    async def _recorded(self, request: Request) -> Any:
        params = request.path_params
        seq = query_params.seq(params["seq"])
        return await recording_queries.event(self._workspace, params["run"], seq)

    async def _choose_rows(self, request: Request) -> Response:
        return _json({"rows": self._selections.keep(await _body(request, MOST_BYTES))})

    async def _export(self, request: Request) -> Response:
        query = request.query_params
        export = {"jsonl": export_trace, "har": export_har}.get(query.get("format", "jsonl"))
        if export is None:
            raise InspectorError("INVALID_REQUEST", "format must be jsonl or har")
        wanted = query_params.wanted(query)
        if query.get("rows"):
            if wanted.run_id is None:
                raise InspectorError("INVALID_REQUEST", "rows can only be exported with run")
            wanted = msgspec.structs.replace(wanted, seqs=self._selections.find(query["rows"]))
        file = tempfile.TemporaryFile()  # noqa: SIM115  # closed when it has been sent

        def write(is_stopped: IsStopped) -> None:
            with History(self._workspace.recording_path, is_stopped) as history:
                export(history, file, wanted, self._workspace.secret_keys.known_of)
            file.seek(0)

        try:
            await self._transfers.run(request, write)
        except BaseException:
            file.close()
            raise
        # The page names the file, as it does for files that it creates itself.
        name = query.get("name") or f"mcplens.{query.get('format', 'jsonl')}"
        return StreamingResponse(
            _chunks(file), media_type="application/octet-stream", headers=saved_as(name)
        )

    async def _import(self, request: Request) -> Response:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            size = 0
            async for chunk in request.stream():
                size += len(chunk)
                if size > _MOST_TRACE_BYTES:
                    raise InspectorError("MESSAGE_TOO_LARGE", "use `mcplens history import`")
                await run_in_thread(partial(file.write, chunk))
            file.flush()
            path = self._workspace.recording_path
            # The name that the user knows, not that of the temporary file.
            name = request.query_params.get("name") or "this file"
            work = partial(import_trace, file.name, path, name=name)
            done = await self._transfers.run(request, work)
        return _json(_imported(done))

    # -- calls ---------------------------------------------------------------------------------

    async def _result(self, request: Request) -> Response:
        return Response(bytes(raw_json(self._raw_result(request))), media_type="application/json")

    async def _request(self, request: Request) -> Response:
        call = self._workspace.calls.find(request.path_params["call_id"])
        return Response(bytes(raw_json(call.request)), media_type="application/json")

    async def _blob(self, request: Request) -> Response:
        raw = self._raw_result(request)
        value = await run_in_thread(lambda: decode_value(raw)[0])
        return blob_response(value, request.query_params.get("pointer", ""))

    async def _question_blob(self, request: Request) -> Response:
        question = self._workspace.questions.find(request.path_params["question_id"])
        return blob_response(question.params, request.query_params.get("pointer", ""))

    async def _question_params(self, request: Request) -> Response:
        question = self._workspace.questions.find(request.path_params["question_id"])
        return Response(bytes(raw_json(to_json(question.params))), media_type="application/json")

    def _raw_result(self, request: Request) -> bytes:
        call = self._workspace.calls.find(request.path_params["call_id"])
        raw = call.outcome.raw if call.outcome is not None else None
        if raw is None:
            raise InspectorError(
                "INVALID_REQUEST", "this call has no result, or it is no longer kept"
            )
        return raw


def _whole_event(row: EventView, stored: StoredEvent, data: bytes, *, has_exact: bool) -> Response:
    cut = data[:_MOST_TEXT]
    try:
        text: str | None = cut.decode() if len(cut) == len(data) else cut.decode("utf-8", "ignore")
    except UnicodeDecodeError:
        text = None
    masked = msgspec.to_builtins(stored.masked)
    return _json(WholeEvent(row, text, len(cut) < len(data), list(masked), has_exact))


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while chunk := await run_in_thread(partial(file.read, _CHUNK)):
            yield chunk


async def _body(request: Request, most: int) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise InspectorError("MESSAGE_TOO_LARGE", f"the request has more than {most:,} bytes")
    return body


async def _fields(request: Request) -> dict[str, str]:
    try:
        return msgspec.json.decode(await _body(request, _MOST_SESSION_BYTES), type=dict[str, str])
    except msgspec.DecodeError:
        return {}


def _origin(request: Request) -> str:
    return request.headers.get("origin", "").lower()


def _imported(done: ImportResult) -> ImportedView:
    broken = [f"line {one.line}: {one.reason}" for one in done.broken]
    return ImportedView(done.run_ids, done.event_count, done.known_count, broken, done.broken_count)


def _json(value: Any) -> Response:
    return Response(encoded(value), media_type="application/json")


def _problem(error: InspectorError, status: int) -> Response:
    return Response(encoded(error_view(error.to_dict())), status, media_type="application/json")


async def _nothing_here(request: Request) -> Response:
    return _problem(InspectorError("INVALID_REQUEST", "this address does not exist"), 404)


_STATUSES: Final = {"CONFIGURATION_INVALID": 409, "MESSAGE_TOO_LARGE": 413, "INTERNAL_ERROR": 500}


def _with_error_responses(answer: Answer) -> Answer:
    """Turn errors into JSON responses with a matching status."""

    async def respond(request: Request) -> Response:
        try:
            return await answer(request)
        except InspectorError as error:
            return _problem(error, _STATUSES.get(error.code, 400))
        except Exception as problem:  # a bug of ours is shown like any other error
            return _problem(classify(problem, request.url.path), 500)

    return respond
