"""Multipliers of two classes, made to have the same sum in both."""

from __future__ import annotations

import numpy as np

from mmc.methods.numerics.kernels import Array


def balanced(weights: Array, sign: Array) -> Array:
    """Scale down the class whose nonnegative weights sum to more, until Σ sign_i weights_i = 0."""
    totals = weights[sign > 0].sum(), weights[sign < 0].sum()
    return weights * np.where(sign > 0, *(min(totals) / total if total else 1.0 for total in totals))
