"""The context cost of servers: what a model is told of them, estimated in tokens.

Tools and instructions are in every prompt; other definitions only where a client lists them. Of
results, a trace tells how long they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from mcplens.contracts.contract import Contract
from mcplens.contracts.pointers import LISTS, join
from mcplens.protocol.context_cost import json_characters, token_count, tool_characters


class SizesOfResults(Protocol):
    """How many results of a tool were seen, and how long they were."""

    count: int
    characters: int
    largest: int


class Cost(msgspec.Struct, frozen=True):
    """One definition, or the results of one tool, in tokens."""

    server: str
    pointer: str
    tokens: int
    characters: int
    is_in_every_prompt: bool


class ResultCost(msgspec.Struct, frozen=True):
    """The results of one tool that were seen, in tokens."""

    tool: str
    count: int
    mean_tokens: int
    largest_tokens: int


class ContextCost(msgspec.Struct, frozen=True):
    """All costs, heaviest first; `tokens` is what is in every prompt."""

    tokens: int
    definitions: tuple[Cost, ...]
    results: tuple[ResultCost, ...] = ()


def context_cost(
    contracts: Sequence[Contract], results: Mapping[str, SizesOfResults] | None = None
) -> ContextCost:
    """What these servers cost together."""
    costs = [cost for contract in contracts for cost in _costs(contract)]
    costs.sort(key=lambda one: (-one.tokens, one.server, one.pointer))
    seen = [
        ResultCost(
            name,
            sizes.count,
            token_count(sizes.characters // max(sizes.count, 1)),
            token_count(sizes.largest),
        )
        for name, sizes in (results or {}).items()
    ]
    seen.sort(key=lambda one: (-one.largest_tokens, one.tool))
    total = sum(cost.tokens for cost in costs if cost.is_in_every_prompt)
    return ContextCost(total, tuple(costs), tuple(seen))


def _costs(contract: Contract) -> list[Cost]:
    found = []
    if contract.instructions:
        found.append(_cost(contract, "/instructions", len(contract.instructions), True))
    for kind in LISTS:
        for name, item in contract.items(kind).items():
            is_tool = kind == "tools" and isinstance(item, dict)
            size = tool_characters(item) if is_tool else json_characters(_listed(item))
            found.append(_cost(contract, join("", kind, name), size, is_tool))
    return found


def _listed(item: Any) -> Any:
    """What a client shows a model of a resource or prompt: icons and metadata are not."""
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key not in ("icons", "_meta")}


def _cost(contract: Contract, pointer: str, characters: int, is_in_every_prompt: bool) -> Cost:
    tokens = token_count(characters)
    return Cost(contract.name, pointer, tokens, characters, is_in_every_prompt)
