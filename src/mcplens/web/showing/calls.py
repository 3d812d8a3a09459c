"""Calls as they stand; what is large of them stays behind until somebody looks at it."""

from __future__ import annotations

from typing import Final

from mcplens.errors import short_text
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.store.masks import plain as plain_name
from mcplens.store.names import short_id
from mcplens.web import views
from mcplens.web.plain import NULL, raw_json
from mcplens.web.showing.errors import error_view
from mcplens.web.showing.questions import awaited_links
from mcplens.workspace.calls import Call
from mcplens.workspace.workspace import Workspace

# A larger result is fetched over HTTP when somebody looks at it.
LARGEST_RESULT: Final = 256 * 1024
# In the snapshot, which has many of them.
LARGEST_IN_SNAPSHOT: Final = 16 * 1024


def call_view(workspace: Workspace, call: Call, largest: int = LARGEST_RESULT) -> views.CallView:
    """A call as it stands now; a result that is larger than this stays behind."""
    outcome, progress = call.outcome, call.progress
    raw = outcome.raw if outcome is not None else None
    is_small = raw is not None and len(raw) <= largest
    is_large = len(call.request) > largest
    return views.CallView(
        call_id=call.call_id,
        server_id=call.server_id,
        kind=call.kind,
        method=call.method,
        name=call.name,
        listed_as=getattr(call.asked, "listed_as", ""),
        request=NULL if is_large else raw_json(call.request),
        headers=_given_headers(workspace, call),
        timeout_s=getattr(call.asked, "timeout_s", None),
        request_id=short_id(call.request_ids[-1]) if call.request_ids else None,
        request_ids=[short_id(one) for one in call.request_ids],
        status=call.status,
        started=call.started,
        elapsed_s=call.elapsed_s,
        progress=None
        if progress is None
        else views.ProgressView(
            progress.progress,
            progress.total,
            None if progress.message is None else short_text(progress.message),
            call.progress_at,
        ),
        is_waiting_on_user=call.is_waiting_on_user,
        awaiting=awaited_links(workspace, call),
        result=raw_json(raw) if is_small else None,
        result_size_bytes=call.size_bytes,
        is_error=outcome is not None and outcome.is_error,
        findings=list(outcome.findings) if outcome is not None else [],
        error=error_view(call.error.to_dict() if call.error is not None else None),
        task_id=call.task_id,
    )


def _given_headers(workspace: Workspace, call: Call) -> dict[str, str]:
    """The headers that a call was given, those that are secret without their values."""
    given: dict[str, str] = getattr(call.asked, "headers", {})
    keys = {plain_name(key) for key in workspace.secret_keys.of(call.server_id)} if given else ()
    return {
        name: "" if is_secret_name(name) or plain_name(name) in keys else value
        for name, value in given.items()
    }
