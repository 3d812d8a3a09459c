"""What a definition costs in a model's prompt, estimated: the page does the same (toolSize.ts).

Called by the command line for one tool, and by lint/ for a whole server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

# Rule of thumb for English and JSON with current tokenizers; toolSize.ts has the same.
CHARACTERS_PER_TOKEN: Final = 4
# What a model is told of a tool.
_OF_TOOL: Final = ("name", "description", "inputSchema")


def tool_characters(tool: Mapping[str, Any]) -> int:
    """Characters of what a model is told of a tool: name, description and input schema as JSON."""
    return json_characters({key: tool[key] for key in _OF_TOOL if tool.get(key) is not None})


def json_characters(value: Any) -> int:
    """Characters of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def token_count(characters: int) -> int:
    """The number of tokens that so many characters are, estimated."""
    return -(-characters // CHARACTERS_PER_TOKEN)
