"""The changes between two JSON Schemas of a tool: what it takes, or what it gives back.

Both sides are taken apart first (schema_types.py), so that it does not matter how a schema is
written: references, `allOf` and unions. A list of types and an `anyOf` are the same. What cannot be
decided is risky. Called by changes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from mcplens.contracts.canonical import canonical
from mcplens.contracts.contract import is_masked
from mcplens.contracts.pointers import join
from mcplens.contracts.schema_parts import (
    LOWER,
    UPPER,
    allowed_types,
    as_object,
    by_form,
    covers,
    describe_shift,
    is_open,
    is_partner,
    is_same,
    is_tighter,
    kind_of,
    prefixes,
    properties_of,
    required_of,
    without_words,
)
from mcplens.protocol.schema_types import alternatives, options_of, shown_value, types

# Two schemas that refer to themselves are compared this far.
_MOST_LEVELS: Final = 24
# Of a hostile schema, as much as a person would ever read.
_MOST_NODES: Final = 20_000

# Limits that can only be there, be another, or not be there.
_OTHER_LIMITS: Final = ("pattern", "multipleOf", "uniqueItems")
_CONDITIONS: Final = (
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
    "propertyNames", "patternProperties", "contains", "minContains", "maxContains",
    "unevaluatedProperties", "unevaluatedItems", "additionalItems",
)  # fmt: skip
# Compared by a function of their own, or without a meaning of their own.
_COMPARED: Final = frozenset(
    (
        *LOWER, *UPPER, *_OTHER_LIMITS, *_CONDITIONS, "type", "enum", "const", "properties",
        "required", "additionalProperties", "items", "prefixItems", "default", "description",
        "title", "examples", "example", "format", "deprecated", "anyOf", "oneOf", "allOf", "$ref",
        "$defs", "definitions", "$schema", "$id", "$comment", "$anchor", "$vocabulary",
        "$dynamicRef", "$dynamicAnchor", "readOnly", "writeOnly", "contentEncoding",
        "contentMediaType", "contentSchema",
    )
)  # fmt: skip

# Reports one change: the rule's id, the pointer, and what changed in words.
Report = Callable[[str, str, str], None]


class _Pair(NamedTuple):
    """A place in both schemas."""

    before: Any
    after: Any
    pointer: str
    level: int = 0
    # References that were followed on the way here.
    trail: frozenset[tuple[str, str]] = frozenset()

    def below(self, before: Any, after: Any, *parts: object) -> _Pair:
        return _Pair(before, after, join(self.pointer, *parts), self.level + 1, self.trail)

    @property
    def references(self) -> tuple[str, str] | None:
        """The references of both sides, if each is one."""
        if not (isinstance(self.before, dict) and isinstance(self.after, dict)):
            return None
        old, new = self.before.get("$ref"), self.after.get("$ref")
        return (old, new) if isinstance(old, str) and isinstance(new, str) else None


def compare_schemas(
    before: Any, after: Any, pointer: str, report: Report, *, is_output: bool
) -> None:
    """Report each change between two schemas."""
    comparison = _Comparison(before, after, report, is_output)
    comparison.compare(_Pair(before, after, pointer))
    if comparison.is_cut:
        report("comparison-cut", pointer, "too deep or too large to be compared whole")


class _Comparison:
    """Two schemas; references are looked up in them."""

    def __init__(self, before: Any, after: Any, report: Report, is_output: bool) -> None:
        self._before = before
        self._after = after
        self._report = report
        self._is_output = is_output
        self._side = "output" if is_output else "input"
        self._left = _MOST_NODES
        self.is_cut = False

    def __repr__(self) -> str:
        return f"<_Comparison of {self._side}, {self._left} nodes left>"

    def compare(self, pair: _Pair) -> None:
        self._left -= 1
        if is_masked(pair.before) or is_masked(pair.after):
            return
        if is_same(pair.before, pair.after) and not _refers(pair.before):
            return
        if pair.level > _MOST_LEVELS or self._left < 0:
            self.is_cut = True
            return
        references = pair.references
        if references in pair.trail:
            return
        if references is not None:
            pair = pair._replace(trail=pair.trail | {references})
        self._words(pair)
        before = alternatives(as_object(pair.before), self._before)
        after = alternatives(as_object(pair.after), self._after)
        if len(before) == 1 and len(after) == 1:
            self._compare_flat(pair._replace(before=before[0], after=after[0]))
        else:
            self._compare_unions(pair, before, after)

    # -- words that models and people read ------------------------------------------------------

    def _words(self, pair: _Pair) -> None:
        """What is written at this place itself; references are followed."""
        before, after = self._own(pair.before, self._before), self._own(pair.after, self._after)
        for keyword, rule in (
            ("description", "description-changed"), ("default", "default-changed"),
            ("title", "title-changed"), ("examples", "examples-changed"),
            ("example", "examples-changed"),
        ):  # fmt: skip
            old, new = before.get(keyword), after.get(keyword)
            if is_masked(old) or is_masked(new):
                continue
            if (keyword in before) != (keyword in after) or not is_same(old, new):
                words = describe_shift(keyword, keyword in before, old, keyword in after, new)
                self._report(rule, join(pair.pointer, keyword), words)
        if after.get("deprecated") is True and before.get("deprecated") is not True:
            self._report("deprecated", join(pair.pointer, "deprecated"), "is deprecated")

    def _own(self, schema: Any, root: Any) -> dict[str, Any]:
        """A schema's own keywords, over those that it refers to."""
        if not isinstance(schema, dict):
            return {}
        if "$ref" not in schema:
            return schema
        found = alternatives({"$ref": schema["$ref"]}, root)
        return {**(found[0] if len(found) == 1 else {}), **schema}

    # -- unions ---------------------------------------------------------------------------------

    def _compare_unions(
        self, pair: _Pair, before: list[dict[str, Any]], after: list[dict[str, Any]]
    ) -> None:
        """Pairs equal alternatives, then those of the same type; the others came or went."""
        old = {canonical(without_words(flat)): flat for flat in before or [{}]}
        new = {canonical(without_words(flat)): flat for flat in after or [{}]}
        gone = [flat for form, flat in old.items() if form not in new]
        come = [flat for form, flat in new.items() if form not in old]
        removed = []
        for flat in gone:
            partner = next((one for one in come if is_partner(flat, one)), None)
            if partner is None:
                removed.append(flat)
                continue
            come.remove(partner)
            self._compare_flat(pair._replace(before=flat, after=partner))
        kept = [flat for form, flat in new.items() if form in old]
        self._types(pair, "narrowed", removed, (*kept, *come))
        self._types(pair, "widened", come, before)

    def _types(
        self,
        pair: _Pair,
        step: str,
        flats: list[dict[str, Any]],
        others: Sequence[dict[str, Any]],
    ) -> None:
        """Reports alternatives of one side that no alternative of the other side covers."""
        flats = [flat for flat in flats if not any(covers(one, flat) for one in others)]
        if not flats:
            return
        names = ", ".join(dict.fromkeys(kind_of(flat) for flat in flats))
        sign = "no longer" if step == "narrowed" else "also"
        verb = "gives" if self._is_output else "accepts"
        self._report(f"{self._side}-type-{step}", pair.pointer, f"{sign} {verb} {names}")

    # -- plain schemas --------------------------------------------------------------------------

    def _compare_flat(self, pair: _Pair) -> None:
        if is_same(pair.before, pair.after):
            # Equal at this level; what their references mean may still differ.
            if not _refers(pair.before):
                return
        elif self._is_other_type(pair):
            return
        self._enums(pair)
        self._limits(pair)
        self._conditions(pair)
        self._members(pair)
        self._closing(pair)
        self._list_items(pair)

    def _is_other_type(self, pair: _Pair) -> bool:
        """Reports a changed type; nothing below it can then be compared."""
        old, new = types(pair.before.get("type")), types(pair.after.get("type"))
        if old == new:
            return False
        names = f"{kind_of(pair.before)} → {kind_of(pair.after)}"
        is_wider = not new or (old == ["integer"] and new == ["number"])
        is_narrower = not old or (old == ["number"] and new == ["integer"])
        if is_wider and not is_narrower:
            self._report(f"{self._side}-type-widened", pair.pointer, names)
        elif is_narrower or not self._is_output:
            if not (not old and allowed_types(pair.before) == new):  # its enum said so already
                self._report(f"{self._side}-type-narrowed", pair.pointer, names)
        else:
            self._report("output-type-widened", pair.pointer, names)
        return not (is_wider or is_narrower)

    def _enums(self, pair: _Pair) -> None:
        old, new = options_of(pair.before), options_of(pair.after)
        pointer = join(pair.pointer, "const" if "const" in pair.after else "enum")
        before, after = by_form(old), by_form(new)
        if not old and not new:
            return
        lost = [shown_value(value) for form, value in before.items() if form not in after]
        won = [shown_value(value) for form, value in after.items() if form not in before]
        if not old:
            self._report(f"{self._side}-enum-narrowed", pointer, f"only {', '.join(won)}")
        elif not new:
            self._report(f"{self._side}-enum-widened", pointer, "any value")
        else:
            if lost:
                words = f"without {', '.join(lost)}"
                self._report(f"{self._side}-enum-narrowed", pointer, words)
            if won:
                self._report(f"{self._side}-enum-widened", pointer, f"also {', '.join(won)}")

    def _limits(self, pair: _Pair) -> None:
        for keyword in (*LOWER, *UPPER, *_OTHER_LIMITS):
            old, new = pair.before.get(keyword), pair.after.get(keyword)
            if is_same(old, new) or is_masked(old) or is_masked(new):
                continue
            step = "tightened" if is_tighter(keyword, old, new) else "loosened"
            words = describe_shift(keyword, old is not None, old, new is not None, new)
            self._report(f"{self._side}-limit-{step}", join(pair.pointer, keyword), words)

    def _conditions(self, pair: _Pair) -> None:
        before, after = pair.before, pair.after
        for keyword in _CONDITIONS:
            if is_same(before.get(keyword), after.get(keyword)):
                continue
            pointer = join(pair.pointer, keyword)
            if self._is_output:
                self._report("output-condition-changed", pointer, f"{keyword} changed")
            elif keyword not in before:
                self._report("input-condition-added", pointer, f"{keyword} added")
            elif keyword not in after:
                self._report("input-condition-removed", pointer, f"{keyword} removed")
            else:
                self._report("condition-changed", pointer, f"{keyword} changed")
        if not is_same(before.get("format"), after.get("format")):
            old, new = before.get("format"), after.get("format")
            words = describe_shift("format", old is not None, old, new is not None, new)
            self._report("format-changed", join(pair.pointer, "format"), words)
        for keyword in sorted({*before, *after} - _COMPARED):
            if not is_same(before.get(keyword), after.get(keyword)):
                self._report("keyword-changed", join(pair.pointer, keyword), f"{keyword} changed")

    # -- objects and lists ----------------------------------------------------------------------

    def _members(self, pair: _Pair) -> None:
        old, new = properties_of(pair.before), properties_of(pair.after)
        was_required, is_required = required_of(pair.before), required_of(pair.after)
        side = self._side
        for name in old:
            if name not in new:
                pointer = join(pair.pointer, "properties", name)
                self._report(f"{side}-property-removed", pointer, "removed")
        for name in new:
            pointer = join(pair.pointer, "properties", name)
            if name not in old:
                is_new_duty = not self._is_output and name in is_required
                rule = f"{side}-required-added" if is_new_duty else f"{side}-property-added"
                self._report(rule, pointer, "required, new" if is_new_duty else "new")
                continue
            if (name in was_required) != (name in is_required):
                step = "added" if name in is_required else "removed"
                words = "now required" if name in is_required else "no longer required"
                self._report(f"{side}-required-{step}", pointer, words)
            self.compare(pair.below(old[name], new[name], "properties", name))
        self._undescribed(pair, was_required, is_required, {*old, *new})

    def _undescribed(self, pair: _Pair, old: set[str], new: set[str], described: set[str]) -> None:
        """Required members that have no schema of their own."""
        for name in sorted((old ^ new) - described):
            step = "added" if name in new else "removed"
            pointer = join(pair.pointer, "required")
            self._report(f"{self._side}-required-{step}", pointer, f"{name}: {step}")

    def _closing(self, pair: _Pair) -> None:
        old = pair.before.get("additionalProperties", True)
        new = pair.after.get("additionalProperties", True)
        if is_same(old, new) or (is_open(old) and is_open(new)):
            return
        pointer = join(pair.pointer, "additionalProperties")
        if isinstance(old, dict) and isinstance(new, dict) and old and new:
            self.compare(pair.below(old, new, "additionalProperties"))
        elif self._is_output:
            self._report(
                "output-closed-changed", pointer, f"{shown_value(old)} → {shown_value(new)}"
            )
        elif new is False or is_open(old):
            self._report("input-closed", pointer, f"{shown_value(old)} → {shown_value(new)}")
        else:
            self._report("input-opened", pointer, f"{shown_value(old)} → {shown_value(new)}")

    def _list_items(self, pair: _Pair) -> None:
        old, new = pair.before.get("items"), pair.after.get("items")
        if isinstance(old, list) or isinstance(new, list):  # of older drafts
            if not is_same(old, new):
                self._report("condition-changed", join(pair.pointer, "items"), "items changed")
        elif old is not None or new is not None:
            self.compare(pair.below(old, new, "items"))
        for at, (one, other) in enumerate(prefixes(pair.before, pair.after)):
            self.compare(pair.below(one, other, "prefixItems", at))


def _refers(schema: Any) -> bool:
    """Whether a schema has references, whose targets may differ where it does not."""
    return b'"$ref"' in canonical(schema)
