"""Lengths of steps that stay inside a cone."""

from __future__ import annotations

import numpy as np

from mmc.methods.numerics.kernels import Array


def room(*pairs: tuple[Array, Array]) -> float:
    """Return the largest t for which every x + t d, (x, d) in ``pairs``, stays nonnegative; x > 0."""
    fastest = max(float(np.max(-d / x, initial=0.0)) for x, d in pairs)
    return 1 / fastest if fastest > 0 else np.inf
