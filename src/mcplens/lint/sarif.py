"""Findings as SARIF 2.1.0, for code scanning. Called by the command `lint`.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
"""

from __future__ import annotations

import hashlib
from typing import Any, Final
from urllib.parse import quote

from mcplens.lint.locations import Locate
from mcplens.lint.registry import RULES, LintResult
from mcplens.lint.rule import Finding, Rule
from mcplens.version import VERSION

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
# Section 3.27.10: our severities are levels of SARIF's.
_HOME: Final = "https://pypi.org/project/mcplens/"
# GitHub takes so many results of one run.
_MOST_RESULTS: Final = 25_000


def as_sarif(result: LintResult, locate: Locate) -> dict[str, Any]:
    """One run with the rules and the findings."""
    findings = result.findings[:_MOST_RESULTS]
    used = list(dict.fromkeys(one.rule for one in findings))
    index = {rule: at for at, rule in enumerate(used)}
    driver = {
        "name": "mcplens lint",
        "version": VERSION,
        "informationUri": _HOME,
        "rules": [_rule(RULES[rule]) for rule in used],
    }
    results = [_result(one, index[one.rule], locate) for one in findings]
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.reason},
        "helpUri": rule.source,
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.group], "sourceDate": rule.date},
    }


def _result(one: Finding, index: int, locate: Locate) -> dict[str, Any]:
    # Section 3.28.5: a location has a physical part, a logical part, or both.
    place: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": one.server + one.pointer, "kind": "member"}]
    }
    location = locate(one.server, one.pointer)
    if location is not None:
        place["physicalLocation"] = {
            "artifactLocation": {"uri": quote(location.path)},
            "region": {"startLine": location.line},
        }
    identity = f"{one.rule} {one.server} {one.pointer}".encode("utf-8", "backslashreplace")
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.severity,
        "message": {"text": one.message},
        "locations": [place],
        "partialFingerprints": {"mcplensFinding/v1": hashlib.sha256(identity).hexdigest()},
    }
