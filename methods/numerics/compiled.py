"""Loops that numba compiles on first use.

The compiled code is kept beside the module, or in the user's cache folder if that is read-only. Where neither can be written,
every process compiles it anew. Only modules that need it import this one: numba takes some tenths of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])
VERSION = f"numba {numba.__version__}"
_SUMS = {"nsz", "contract", "arcp", "reassoc"}  # lets sums over floats be vectorised; inf and nan keep their meaning
_FAST = _SUMS | {"nnan"}  # and comparisons, where nothing can be nan


def compiled(function: F) -> F:
    """Return the function, compiled when it is first called. It must not meet nan."""
    return _compiled(function, _FAST)


def compiled_safely(function: F) -> F:
    """Return the function, compiled when it is first called. What is computed from nan is nan, and no comparison with it is true."""
    return _compiled(function, _SUMS)


def _compiled(function: F, fastmath: set[str]) -> F:
    try:
        return cast(F, numba.njit(cache=True, fastmath=fastmath, error_model="numpy")(function))
    except RuntimeError:  # no folder that numba could keep the code in
        return cast(F, numba.njit(fastmath=fastmath, error_model="numpy")(function))
