"""Whether a step is as its `expect` says; each problem is a sentence without secrets. Pure.

Without `expect`, any answer that is not an error passes. An error fails the step unless one is
expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mcplens.collections.json_paths import is_singular, values_at
from mcplens.collections.shown_values import ValueMasker
from mcplens.errors import InspectorError, ServerError
from mcplens.protocol.schema_validation import Validator
from mcplens.testing.matching import differences, shown, text_problems
from mcplens.testing.observation import Observation, Said, text_of_log


def problems(expect: dict[str, Any] | None, seen: Observation, masker: ValueMasker) -> list[str]:
    """All that is not as expected; a snapshot is compared elsewhere."""
    expect = expect or {}
    if seen.is_cut and any(key in expect for key in _ALL_EVENTS):
        told = ", ".join(key for key in _ALL_EVENTS if key in expect)
        return [f"the server sent so much that not all of it was kept; {told} cannot be judged"]
    found = _errors(expect, seen, masker)
    if seen.error is None:
        for key, check in _CHECKS.items():
            if key in expect:
                found += check(expect[key], seen, masker)
    for key, check in _OF_EVENTS.items():
        if key in expect:
            found += check(expect[key], seen, masker)
    return found


def _errors(expect: dict[str, Any], seen: Observation, masker: ValueMasker) -> list[str]:
    wanted = expect.get("error", False)
    if seen.error is not None:
        if wanted is False:
            return [f"{seen.error.code}: {masker.text(seen.error.message)}"]
        return _error_problems(wanted, seen.error, masker)
    if wanted is not False:
        return [f"an error was expected ({shown(wanted, masker)}), but there was an answer"]
    is_expected = expect.get("is_error")
    if is_expected is True and not seen.is_error:
        return ["the tool was expected to fail (is_error), but it did not"]
    if is_expected is not True and seen.is_error:
        return [f"the tool failed: {shown(seen.text(), masker)}"]
    return []


def _error_problems(wanted: Any, error: InspectorError, masker: ValueMasker) -> list[str]:
    if wanted is True:
        return []
    asked = wanted if isinstance(wanted, dict) else {"code": wanted}
    found = []
    rpc_code = error.rpc_code if isinstance(error, ServerError) else None
    code = asked.get("code")
    if code is not None and code not in (rpc_code, error.code):
        got = error.code if rpc_code is None else rpc_code
        found.append(f"expected the error {code}, got {got}: {masker.text(error.message)}")
    if "message" in asked:
        text = error.rpc_message if isinstance(error, ServerError) else error.message
        found += [f"error: {one}" for one in text_problems(asked["message"], text, masker)]
    return found


# -- the answer ----------------------------------------------------------------------------------


def _structured(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    return _compared(wanted, seen, masker, is_exact=False)


def _structured_exact(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    return _compared(wanted, seen, masker, is_exact=True)


def _compared(wanted: Any, seen: Observation, masker: ValueMasker, *, is_exact: bool) -> list[str]:
    if "structuredContent" not in seen.value:
        return [f"structured content was expected; the result is {shown(seen.result, masker)}"]
    actual = seen.value["structuredContent"]
    found = differences(wanted, actual, ("structured",), is_exact=is_exact)
    return [one.told(masker) for one in found]


def _result(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    return [one.told(masker) for one in differences(wanted, seen.result, ("result",))]


def _text(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    return text_problems(wanted, seen.text(), masker)


def _schema(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    is_call = seen.kind == "call"
    if is_call and "structuredContent" not in seen.value:
        return [f"structured content was expected; the result is {shown(seen.result, masker)}"]
    value = seen.value["structuredContent"] if is_call else seen.result
    return [f"schema: {masker.text(one)}" for one in Validator(wanted).findings(value)]


def _jsonpath(wanted: dict[str, Any], seen: Observation, masker: ValueMasker) -> list[str]:
    found = []
    for path, expected in wanted.items():
        values = values_at(path, seen.result)
        if not is_singular(path):
            found += [one.told(masker) for one in differences(expected, values, (path,))]
        elif values:
            found += [one.told(masker) for one in differences(expected, values[0], (path,))]
        else:
            found.append(f"{path}: expected {shown(expected, masker)}, nothing is there")
    return found


def _valid(wanted: bool, seen: Observation, masker: ValueMasker) -> list[str]:
    if not wanted:
        return []
    return [f"not valid: {masker.text(one)}" for one in seen.protocol_findings()]


# -- what happened meanwhile ---------------------------------------------------------------------


def _notifications(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    came = seen.notifications()
    if isinstance(wanted, dict):
        found = []
        for method, count in wanted.items():
            actual = sum(one.method == method for one in came)
            if actual != count:
                found.append(f"expected {count} of {method}, got {actual}")
        return found
    methods = {_method(one) for one in wanted}
    return _in_order("notification", wanted, [one for one in came if one.method in methods], masker)


def _questions(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    return _in_order("question", wanted, seen.questions(), masker)


def _method(one: Any) -> str:
    return str(one["method"] if isinstance(one, dict) else one)


def _in_order(what: str, wanted: Sequence[Any], came: list[Said], masker: ValueMasker) -> list[str]:
    methods, actual = [_method(one) for one in wanted], [one.method for one in came]
    if methods != actual:
        told = ", ".join(actual) or "none"
        return [f"expected these {what}s: {', '.join(methods) or 'none'}; got: {told}"]
    found = []
    for at, (one, said) in enumerate(zip(wanted, came, strict=True)):
        if isinstance(one, dict) and "params" in one:
            place = (f"{what} {at + 1}", "params")
            found += [each.told(masker) for each in differences(one["params"], said.params, place)]
    return found


def _progress(wanted: Any, seen: Observation, masker: ValueMasker) -> list[str]:
    came = seen.progress()
    if isinstance(wanted, bool):
        return [] if wanted == bool(came) else [f"progress: expected {wanted}, got {len(came)}"]
    if not isinstance(wanted, list):
        return [] if wanted == len(came) else [f"progress: expected {wanted}, got {len(came)}"]
    as_objects = [one if isinstance(one, dict) else {"progress": one} for one in wanted]
    return [one.told(masker) for one in differences(as_objects, came, ("progress",))]


def _log(wanted: list[Any], seen: Observation, masker: ValueMasker) -> list[str]:
    """Each in order; others may come between them."""
    rest = iter(seen.logs())
    for one in wanted:
        asked = one if isinstance(one, dict) else {"text": one}
        for event in rest:
            is_other = any(
                key in asked and asked[key] != getattr(event, key) for key in ("level", "logger")
            )
            text = text_of_log(event)
            if not is_other and not text_problems(asked.get("text", []), text, masker):
                break
        else:
            came = [f"{event.level}: {masker.text(text_of_log(event))}" for event in seen.logs()]
            told = "; ".join(came[:5]) or "none"
            return [f"no log message {shown(one, masker)} in this order; there were: {told}"]
    return []


def _within(wanted: float, seen: Observation, masker: ValueMasker) -> list[str]:
    took_ms = (seen.elapsed_s or 0.0) * 1000
    return [] if took_ms <= wanted else [f"took {took_ms:.0f} ms, more than {wanted:g}"]


_Check = Callable[[Any, Observation, ValueMasker], list[str]]
_CHECKS: Final[dict[str, _Check]] = {
    "structured": _structured,
    "structured_exact": _structured_exact,
    "result": _result,
    "text": _text,
    "schema": _schema,
    "jsonpath": _jsonpath,
}
# Judged by all events of a step.
_ALL_EVENTS: Final = ("valid", "notifications", "questions", "progress", "log")
_OF_EVENTS: Final[dict[str, _Check]] = {
    "valid": _valid,
    "notifications": _notifications,
    "questions": _questions,
    "progress": _progress,
    "log": _log,
    "within_ms": _within,
}
