"""Sampling: the server asks for a completion by a model (`sampling/createMessage`).

What judges requests and answers is loaded with the first of them: most servers never ask.
"""

from __future__ import annotations

from typing import Any, ClassVar

from mcplens.errors import ServerError
from mcplens.events import Remark
from mcplens.session.question_handler import (
    INVALID_PARAMS,
    PendingRequest,
    QuestionHandler,
    ServerRequest,
)


class SamplingHandler(QuestionHandler):
    """The completions that the server waits for."""

    method: ClassVar[str] = "sampling/createMessage"
    capability: ClassVar[str] = "sampling"

    def _check(self, request: ServerRequest) -> None:
        from mcplens.protocol import sampling

        if not isinstance(request.params, dict):
            raise ServerError(INVALID_PARAMS, "params have to be an object")
        missing = sampling.needs(request.params) - self._declared().keys()
        # includeContext without the capability is only discouraged; tools must be refused.
        if "tools" in missing:
            raise ServerError(INVALID_PARAMS, "tools: this client did not declare sampling.tools")
        unbalanced = sampling.balance_findings(request.params)
        if unbalanced:
            raise ServerError(INVALID_PARAMS, "; ".join(unbalanced))
        # It can be answered despite other mistakes, but the author of the server wants to know.
        if findings := sampling.request_findings(request.params):
            self._connection.publish(Remark(message=f"{self.method}: {'; '.join(findings)}"))

    def _completed(self, pending: PendingRequest, result: Any) -> Any:
        from mcplens.protocol import sampling

        return sampling.text_answer(result) if isinstance(result, str) else result

    def _findings(self, pending: PendingRequest, result: Any) -> tuple[str, ...]:
        from mcplens.protocol import sampling

        return sampling.answer_findings(pending.params, result)
