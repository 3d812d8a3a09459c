"""A server on the official SDK whose tool takes pydantic models, over stdio.

python -m tests.servers.sdk_models
"""

import json
from enum import Enum
from typing import Literal

from mcp.server import MCPServer
from pydantic import BaseModel

server = MCPServer("sdk-models", version="1.0.0", log_level="WARNING")


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Address(BaseModel):
    street: str
    number: int | None = None


class Person(BaseModel):
    name: str
    home: Address


@server.tool()
def meet(
    person: Person,
    numbers: list[int],
    limit: int | None = None,
    colours: list[Colour] | None = None,
    mode: Literal["fast", "slow"] | int = "fast",
    counts: dict[str, int] | None = None,
    is_sure: bool | None = None,
) -> str:
    """Says what it was given."""
    return json.dumps(
        {
            "person": person.model_dump(),
            "numbers": numbers,
            "limit": limit,
            "colours": [colour.value for colour in colours or ()],
            "mode": mode,
            "counts": counts,
            "is_sure": is_sure,
        }
    )


if __name__ == "__main__":
    server.run()
