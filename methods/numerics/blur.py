"""How far rounding may move a decision value; a plain formula, which `worth` compiles."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from mmc.methods.numerics.kernels import Array

EPS = float(np.finfo(float).eps)
Length = TypeVar("Length", float, Array)


def blurred(length: float, far: Length, offset: float) -> Length:
    """Return it for a w of this ``length`` at points as ``far`` away: the terms of the value can be larger than their sum."""
    return 4 * EPS * (length * far + abs(offset))
