"""References inside a JSON Schema: which part of it a JSON pointer means.

Nothing outside the schema is ever fetched. Called by `schema_examples.py` and `form_fields.py`.
"""

from __future__ import annotations

import re
from typing import Any


def resolve(root: Any, reference: Any) -> Any:
    """Resolves a local reference (`#`, `#/$defs/name`, any JSON pointer); KeyError if dangling."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise KeyError(reference)
    found = root
    for part in reference.split("/")[1:]:
        key = _percent_decoded(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = found[key]
        elif isinstance(found, list) and re.fullmatch("[0-9]{1,6}", key) and int(key) < len(found):
            found = found[int(key)]
        else:
            raise KeyError(reference)
    return found


def _percent_decoded(text: str) -> str:
    return re.sub(
        "(?:%[0-9A-Fa-f]{2})+",
        lambda match: bytes.fromhex(match.group().replace("%", "")).decode(errors="replace"),
        text,
    )
