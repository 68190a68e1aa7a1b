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
# what lets sums over floats be vectorised, but for what assumes that nothing is infinite
_FAST = {"nnan", "nsz", "contract", "arcp", "reassoc"}


def compiled(function: F) -> F:
    """Return the function, compiled when it is first called."""
    try:
        return cast(F, numba.njit(cache=True, fastmath=_FAST, error_model="numpy")(function))
    except RuntimeError:  # no folder that numba could keep the code in
        return cast(F, numba.njit(fastmath=_FAST, error_model="numpy")(function))
