"""Answers to questions from servers: given by a person, or by a testing profile on request.

An invalid answer is not sent, and the question stays open. A profile keeps working when the page
that asked for it is closed. Called by the web UI.
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
    """Sends answers to the questions of all servers."""

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
        return f"<Answers {len(self._work)} profiles answering>"

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
        """Answer a question; `is_whole` means that no defaults are filled in.

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

    async def auto_respond(self, question_id: str, profile: str, options: ProfileOptions) -> None:
        """Have a testing profile answer; it continues even if the caller stops waiting.

        Raises:
            InspectorError: QUESTION_GONE, INVALID_ANSWER, or what the profile failed with.
        """
        question, handler = self._found(question_id)
        if question.answering_by is not None:
            text = f"{question.answering_by} is already answering this question"
            raise InspectorError("INVALID_REQUEST", text)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        question.answering_by = profile
        self._questions.notify(question)

        async def work() -> None:
            try:
                await self._answer_by(question, handler, profile, options)
            except Exception as problem:  # a profile is foreign code
                _fail(done, classify(problem, f"the profile {profile}"))
            else:
                if not done.done():
                    done.set_result(None)
            finally:
                question.answering_by = None
                self._questions.notify(question)
                done.cancel()

        self._work.start(work(), f"{profile} answers {question_id}")
        await done

    async def _answer_by(
        self, question: Question, handler: QuestionHandler, name: str, options: ProfileOptions
    ) -> None:
        profiles = self._profiles()
        profile = find_profile(name, profiles)
        request = handler.get(question.local_id).request
        try:
            result = await answer_with_tool_choice(profile, request, options, profiles)
        except ServerError as refusal:
            if refusal.rpc_code != REJECTED:  # the profile failed: show that to the person
                raise InspectorError("INVALID_ANSWER", refusal.rpc_message) from None
            self.reject(question.question_id, refusal.rpc_message, answered_by=name)
            return
        if result is None:
            text = f"the profile {name} leaves this question to a person"
            raise InspectorError("INVALID_REQUEST", text)
        force = options.force or profile.is_forced
        if isinstance(result, Forced):
            result, force = result.result, True
        self.resolve(question.question_id, result, force=force, answered_by=name)

    def withdraw(self, call_id: str) -> None:
        """Reject the open questions of a call that was cancelled."""
        for question in self._questions.waiting():
            if question.call_id == call_id:
                # The server may have withdrawn it meanwhile.
                with contextlib.suppress(InspectorError):
                    self.reject(question.question_id, "the call was cancelled")

    def _found(self, question_id: str) -> tuple[Question, QuestionHandler]:
        question = self._questions.find(question_id)
        return question, handler_of(self._client_of(question.server_id), question.method)


def _fail(future: asyncio.Future[None], error: InspectorError) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # marks it as seen: the caller may have stopped waiting
