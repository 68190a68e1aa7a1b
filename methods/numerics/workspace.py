"""What is made once and found again: work that several fits, or several problems, share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import local
from typing import TypeVar, cast
from weakref import ref

import numpy as np

from mmc.methods.numerics.kernels import Array

T = TypeVar("T")
_KEPT = 2**20  # numbers of a scratch matrix, 8 MiB, that are kept for the next one
_LINE = 8  # numbers in a cache line
_scratch = local()


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


def scratch(n: int, columns: int) -> Array:
    """Return an n × ``columns`` matrix that the next call of the same thread may return again, with whatever is in it.

    Fresh memory costs as much as a factorisation of a few hundred rows: the system hands it out page by page, and takes it back.
    The matrix begins where a cache line does.
    """
    size = n * columns + _LINE
    kept: Array | None = getattr(_scratch, "kept", None)
    if size > _KEPT:
        kept = np.empty(size)
    elif kept is None or len(kept) < size:
        kept = _scratch.kept = np.empty(size)
    first = -kept.ctypes.data // kept.itemsize % _LINE
    M = kept[first : first + n * columns].reshape(n, columns)
    _scratch.last = ref(M)
    return M


def untouched(M: Array) -> bool:
    """Whether nobody has asked for a `scratch` matrix after this one, so that it still holds what was left there."""
    last: Callable[[], Array | None] = getattr(_scratch, "last", lambda: None)
    return last() is M
