"""Elicitation: the server asks a person for input (`elicitation/create`), by a form or at a URL.

A URL is never fetched or opened from here: the surface that shows it does, if the person agrees.
What judges forms and answers is loaded with the first question: most servers never ask.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, ClassVar, Final

from mcplens.errors import InspectorError, ServerError
from mcplens.events import ElicitationCompleted, Remark
from mcplens.session.question_handler import (
    INVALID_PARAMS,
    PendingRequest,
    QuestionHandler,
    ServerRequest,
)

# Ids of URL elicitations that are remembered, answered ones included.
_MAX_KNOWN: Final = 1_000
_SCHEMA: Final = "requestedSchema"


class ElicitationHandler(QuestionHandler):
    """The input that the server waits for."""

    method: ClassVar[str] = "elicitation/create"
    capability: ClassVar[str] = "elicitation"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._known: OrderedDict[str, asyncio.Future[None]] = OrderedDict()

    # -- three different answers ---------------------------------------------------------------

    def accept(
        self, request_id: str, content: dict[str, Any] | None = None, *, force: bool = False
    ) -> None:
        """Give the input; or, for a URL, agree to open it."""
        from mcplens.protocol import elicitation

        result: dict[str, Any] = {"action": "accept"}
        if content is not None or elicitation.mode_of(self.get(request_id).params) == "form":
            result["content"] = content or {}
        self.resolve(request_id, result, force=force)

    def decline(self, request_id: str) -> None:
        """Say no."""
        self.resolve(request_id, {"action": "decline"})

    def cancel(self, request_id: str) -> None:
        """Say neither yes nor no: the question was dismissed."""
        self.resolve(request_id, {"action": "cancel"})

    # -- URLs ----------------------------------------------------------------------------------

    def completed(self, elicitation_id: Any) -> None:
        """The server says that what a person did at a URL is done."""
        known = self._known.get(elicitation_id) if isinstance(elicitation_id, str) else None
        publish = self._connection.publish
        is_known = known is not None and not known.done()
        publish(ElicitationCompleted(elicitation_id=str(elicitation_id), is_known=is_known))
        if known is None:
            return
        if not known.done():
            known.set_result(None)
        for pending in self.get_pending():
            if pending.params.get("elicitationId") == elicitation_id:
                self._settle(pending, {"action": "accept"}, "person")

    def is_completed(self, elicitation_id: str) -> bool:
        known = self._known.get(elicitation_id)
        return known is not None and known.done()

    async def wait_completed(self, elicitation_id: str) -> None:
        """Wait until the server says that it is done.

        Raises:
            InspectorError: QUESTION_GONE; no such elicitation was seen. Or the connection ended.
        """
        known = self._known.get(elicitation_id)
        if known is None:
            raise InspectorError("QUESTION_GONE", f"there is no elicitation {elicitation_id!r}")
        await asyncio.shield(known)

    def end(self, error: InspectorError) -> None:
        """The connection is over: no completion will be reported any more."""
        while self._known:
            self._forget_oldest(error)

    def _forget_oldest(self, error: InspectorError) -> None:
        _, known = self._known.popitem(last=False)
        if not known.done():
            known.set_exception(error.copy())
            known.exception()  # marks it as retrieved: perhaps no caller waits

    # -- what the kinds differ in --------------------------------------------------------------

    def _dismiss(self, pending: PendingRequest) -> None:
        self._settle(pending, {"action": "cancel"}, "")

    def _check(self, request: ServerRequest) -> None:
        from mcplens.protocol import elicitation

        params = request.params
        if not isinstance(params, dict):
            raise ServerError(INVALID_PARAMS, "params have to be an object")
        mode = elicitation.mode_of(params)
        if mode not in (self._declared() or {"form": {}}):
            raise ServerError(INVALID_PARAMS, f"this client did not declare the mode {mode!r}")
        if mode == "form" and (findings := elicitation.schema_findings(params.get(_SCHEMA))):
            # The form can still be answered, but the author of the server wants to know.
            self._connection.publish(Remark(message=f"{self.method}: {'; '.join(findings)}"))
        identity = params.get("elicitationId")
        if mode == "url" and isinstance(identity, str) and identity not in self._known:
            self._known[identity] = asyncio.get_running_loop().create_future()
            if len(self._known) > _MAX_KNOWN:
                self._forget_oldest(InspectorError("QUESTION_GONE", "too many others came since"))

    def _completed(self, pending: PendingRequest, result: Any) -> Any:
        """Defaults stand for what an accepted form leaves out."""
        from mcplens.protocol import elicitation

        params = pending.params
        if (
            elicitation.mode_of(params) != "form"
            or not isinstance(result, dict)
            or result.get("action") != "accept"
            or not isinstance(result.get("content", {}), dict)
        ):
            return result
        content = elicitation.with_defaults(params.get(_SCHEMA), result.get("content", {}))
        return {**result, "content": content}

    def _findings(self, pending: PendingRequest, result: Any) -> tuple[str, ...]:
        from mcplens.protocol import elicitation

        return elicitation.answer_findings(pending.params, result)
