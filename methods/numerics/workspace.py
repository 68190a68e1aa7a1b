"""What is made once and found again: work that several fits, or several problems, share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")


class Workspace:
    """Gram matrices, moments, factorisations, starting points, each under a key of its maker's choice."""

    def __init__(self) -> None:
        self._made: dict[Hashable, object] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` made the first time that ``key`` was asked for."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    def known(self, key: Hashable) -> T | None:
        """Return what was made for ``key``, None if nothing was."""
        return cast("T | None", self._made.get(key))
