"""Result values: what an operation gave, or the error that it failed with."""

from __future__ import annotations

from typing import Generic, NoReturn, TypeVar

from mcplens.errors import InspectorError

T = TypeVar("T")


class Success(Generic[T]):
    """An operation succeeded."""

    __match_args__ = ("value",)
    is_success = True

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"<Success {self.value!r}>"

    def unwrap(self) -> T:
        return self.value


class Failure:
    """An operation failed."""

    __match_args__ = ("error",)
    is_success = False

    def __init__(self, error: InspectorError) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"<Failure {self.error!r}>"

    def unwrap(self) -> NoReturn:
        """Raises the error."""
        raise self.error


Result = Success[T] | Failure
