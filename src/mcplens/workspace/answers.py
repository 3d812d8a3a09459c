"""Answers to what servers ask: by a person, or by a profile that a person calls on.

What is not valid is not sent, and the question waits on; a profile goes on working whoever looks.
Called by the surfaces.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from mcplens.background import Background
from mcplens.errors import InspectorError, ServerError, classify
from mcplens.session.client import Client
from mcplens.session.profiles import Profiles
from mcplens.session.question_handler import REJECTED, Forced, QuestionHandler
from mcplens.workspace.questions import Question, QuestionList, handler_of
from mcplens.workspace.tool_choice import ProfileOptions, answer_with_tool_choice, find_profile


class Answers:
    """How the questions of all servers get their answers."""

    def __init__(
        self,
        questions: QuestionList,
        client_of: Callable[[str], Client],
        profiles: Callable[[], Profiles],
    ) -> None:
        self._questions = questions
        self._client_of = client_of
        self._profiles = profiles
        self._work = Background()

    def __repr__(self) -> str:
        return f"<Answers {len(self._work)} profiles at work>"

    async def end(self) -> None:
        await self._work.end()

    def resolve(
        self,
        question_id: str,
        result: Any,
        *,
        force: bool = False,
        is_whole: bool = False,
        answered_by: str = "person",
    ) -> None:
        """Answer a question; nothing is added to an answer that `is_whole`.

        Raises:
            InspectorError: QUESTION_GONE, or INVALID_ANSWER with what is wrong.
        """
        question, handler = self._found(question_id)
        handler.resolve(
            question.local_id, result, force=force, is_whole=is_whole, answered_by=answered_by
        )
        question.is_accepted = isinstance(result, dict) and result.get("action") == "accept"

    def reject(self, question_id: str, reason: str = "", *, answered_by: str = "person") -> None:
        """Refuse to answer.

        Raises:
            InspectorError: QUESTION_GONE.
        """
        question, handler = self._found(question_id)
        reason = reason or "the user rejected the request"
        handler.reject(question.local_id, reason, answered_by=answered_by)

    async def auto_respond(self, question_id: str, profile: str, steering: ProfileOptions) -> None:
        """Have a profile answer; it goes on if the caller does not wait for it.

        Raises:
            InspectorError: QUESTION_GONE, INVALID_ANSWER, or what the profile failed with.
        """
        question, handler = self._found(question_id)
        if question.answering_by is not None:
            text = f"{question.answering_by} is at work on this question already"
            raise InspectorError("INVALID_REQUEST", text)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        question.answering_by = profile
        self._questions.note(question)

        async def work() -> None:
            try:
                await self._answer_by(question, handler, profile, steering)
            except Exception as problem:  # a profile is foreign code
                _fail(done, classify(problem, f"the profile {profile}"))
            else:
                if not done.done():
                    done.set_result(None)
            finally:
                question.answering_by = None
                self._questions.note(question)
                done.cancel()

        self._work.start(work(), f"{profile} answers {question_id}")
        await done

    async def _answer_by(
        self, question: Question, handler: QuestionHandler, name: str, steering: ProfileOptions
    ) -> None:
        profiles = self._profiles()
        profile = find_profile(name, profiles)
        request = handler.get(question.local_id).request
        try:
            result = await answer_with_tool_choice(profile, request, steering, profiles)
        except ServerError as refusal:
            if refusal.rpc_code != REJECTED:  # a failure of its own is for the person to see
                raise InspectorError("INVALID_ANSWER", refusal.rpc_message) from None
            self.reject(question.question_id, refusal.rpc_message, answered_by=name)
            return
        if result is None:
            text = f"the profile {name} leaves this question to a person"
            raise InspectorError("INVALID_REQUEST", text)
        force = steering.force or profile.is_forced
        if isinstance(result, Forced):
            result, force = result.result, True
        self.resolve(question.question_id, result, force=force, answered_by=name)

    def withdraw(self, call_id: str) -> None:
        """The call that caused them is called off: nobody wants these answers any more."""
        for question in self._questions.waiting():
            if question.call_id == call_id:
                # The server may have withdrawn it a moment ago.
                with contextlib.suppress(InspectorError):
                    self.reject(question.question_id, "the call was cancelled")

    def _found(self, question_id: str) -> tuple[Question, QuestionHandler]:
        question = self._questions.find(question_id)
        return question, handler_of(self._client_of(question.server_id), question.method)


def _fail(future: asyncio.Future[None], error: InspectorError) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # perhaps nobody waits
