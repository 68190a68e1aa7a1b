"""Shrinkage of a covariance towards a multiple of the identity (Ledoit & Wolf, 2004).

The covariance S of n points in p dimensions is replaced by (1 - δ) S + δ (tr S / p) I. The δ that minimises the expected
squared error, estimated from the points x_k with mean μ, is

    δ = min(b², d²) / d²,   b² = Σ_k ‖(x_k - μ)(x_k - μ)' - S‖² / n² = (Σ_k ‖x_k - μ‖⁴ / n - tr S²) / n,   d² = tr S² - (tr S)² / p.

Three sums decide it, so a Gram matrix will do, and so will moments that were added up from parts.

The rule depends on the units of the features: I has none. Standardised features would free it, but their Σ_k ‖x_k - μ‖⁴ is known only
once all rows are: sums that add up from parts would be all Σ x_i² x_j² and Σ x_i² x_j, two more matrices of p × p. With 30
features a scan then takes 2.5 times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mmc.methods.numerics.kernels import Array

_EPS = float(np.finfo(float).eps)
_NONE = 1e-12  # of a sum or of the other class's spread: rounding leaves that much of none


class Spread(NamedTuple):
    """What the rule asks of one class: S = Σ_k (x_k - μ)(x_k - μ)' / n in p dimensions.

    ``trace`` is tr S, ``trace2`` is tr S², ``fourth`` is Σ_k ‖x_k - μ‖⁴.
    """

    n: float
    p: int
    trace: float
    trace2: float
    fourth: float

    @classmethod
    def of(cls, rows: Array) -> Spread:
        """Return it for the rows (x_k - μ)/√n in p coordinates."""
        n, p = rows.shape
        product = rows.T @ rows if p <= n else rows @ rows.T
        return cls.of_products(p, product, np.einsum("ij,ij->i", rows, rows))

    @classmethod
    def of_products(cls, p: int, product: Array, norm2: Array) -> Spread:
        """Return it for rows'rows or for rows rows', in a span of p dimensions, and the squared lengths of the rows."""
        n = len(norm2)
        return cls(n, p, float(norm2.sum()), float(np.vdot(product, product)), n * n * float(norm2 @ norm2))


class Shrunk(NamedTuple):
    """(1 - ``shrinkage``) S + ``ridge`` I."""

    shrinkage: float
    ridge: float


def ledoit_wolf(spread: Spread) -> Shrunk:
    """Return the shrinkage δ and the ridge δ tr S / p of one class; a class without spread has neither."""
    n, p, trace = spread.n, spread.p, spread.trace
    distance = spread.trace2 - trace * trace / p
    if distance <= 16 * p * _EPS * spread.trace2:  # S is a multiple of I already
        return Shrunk(0.0, 0.0)
    noise = (spread.fourth / n - spread.trace2) / n
    # b is 0 for points at two places only, whatever these are: then S is no estimate
    shrinkage = min(noise / distance, 1.0) if noise > _NONE * spread.trace2 else 1.0
    return Shrunk(shrinkage, shrinkage * trace / p)


def ledoit_wolf_pair(pos: Spread, neg: Spread) -> tuple[Shrunk, Shrunk]:
    """Apply the rule to both classes. One point, or equal points, show no spread: such a class takes the other's mean one."""
    first, second = ledoit_wolf(pos), ledoit_wolf(neg)
    if pos.trace <= _NONE * neg.trace:
        first = Shrunk(0.0, neg.trace / neg.p)
    if neg.trace <= _NONE * pos.trace:
        second = Shrunk(0.0, pos.trace / pos.p)
    return first, second
