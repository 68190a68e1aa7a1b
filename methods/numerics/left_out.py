"""What the moments of left-out points say of a rule: the bound that Chebyshev's inequality gives for them.

The rules here are w = M⁻¹d with M = c0 I + c1 Σ1 + c2 Σ2 and a threshold at a share λ of the way between the means. Without
the point x of a class of n, u = x - μ, both M and d change by u alone if the c_i are held:

    M_x = M - γ uu',   γ = c_i/(n - 1),     d_x = d - u/(n - 1),

so the rule w_x = M_x⁻¹ d_x of the others, and its value at x, follow from e = u'w and q = u'M⁻¹u (Sherman & Morrison). The mean and
the spread of these values are held-out moments along w: no point had a part in the rule that judges it.

Chebyshev's inequality turns them into a bound, 1/(1 + κ²) for a mean κ spreads on the right side. A bound that was made from other
moments is refuted by less: a Gaussian class has the error Φ(-κ), which every valid bound exceeds. κ is an estimate itself, with the
standard error √((1 + κ²/2)/n) for Gaussian points.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.cholesky import Shifted
from mmc.methods.numerics.kernels import Array

_SURE = 1.96  # standard errors: one-sided 97.5 % confidence


@dataclass(frozen=True)
class Held:
    """The mean of n left-out points of a class lies ``kappa`` of their spreads on the right side; nan for a single point."""

    kappa: float
    n: int

    @property
    def bound(self) -> float:
        """The bound on the error of every class with these moments."""
        return 1.0 if self.kappa < 0 else 1 / (1 + self.kappa**2)

    @property
    def refuted_below(self) -> float:
        """The error of a Gaussian class whose κ is as large as it may be, at 97.5 % confidence: smaller bounds are wrong.

        Points on the wrong side tell no more than κ = 0: a point that is left out moves its class's mean away from itself.
        """
        kappa = 0.0 if self.kappa < 0 else self.kappa
        most = kappa + _SURE * sqrt((1 + kappa**2 / 2) / self.n)
        return erfc(most / sqrt(2)) / 2


@dataclass(frozen=True)
class LeftOut:
    """All points, the first ``split`` of the positive class: ``e`` = u'w, ``q`` = u'M⁻¹u; ``along`` = d'w, ``weights`` are the c_i."""

    e: Array
    q: Array
    split: int
    along: float
    weights: tuple[float, float]

    @classmethod
    def in_coordinates(cls, rows: Array, split: int, M: Array, d: Array, weights: tuple[float, float]) -> LeftOut:
        """Return them where M, which is overwritten, and the rows are known."""
        from mmc.methods.numerics.row_passes import leverages  # compiled: not every method needs it

        e, q, along = leverages(rows, split, M, d)
        return cls(e, q, split, along, weights)

    @classmethod
    def of_gram(
        cls,
        gram: Shifted,
        g: Array,
        dd: float,
        positive: NDArray[np.bool_],
        c0: float,
        weights: tuple[float, float],
        share: tuple[float, float] = (1.0, 1.0),
    ) -> LeftOut:
        """Return them where the rows u/√n, times √share_i, have the inner products G = ``gram`` with each other and g with d; c0 > 0.

        With T = c0/c_i on the diagonal, M⁻¹d = (d - Bx)/c0, (T + G) x = g, and B'M⁻¹B = (I - T (T + G)⁻¹) c_i⁻¹; here the
        c_i are those of B, the ``weights`` over the shares.
        """
        from mmc.methods.numerics.row_passes import within_reach  # compiled: not every method needs it
        from mmc.methods.numerics.triangles import solve_each

        diagonal, counts = gram.A.diagonal(), (np.count_nonzero(positive), np.count_nonzero(~positive))
        trace = float(diagonal @ positive) / share[0], float(diagonal @ ~positive) / share[1]
        first, second = within_reach(weights, trace, c0)
        T = np.where(positive, c0 * share[0] / first, c0 * share[1] / second)
        L, made = gram.factored(T)
        x = g.copy() if made else np.full(len(T), nan)
        if made:
            solve_each(L, x[None])
        inverse = gram.inverse_diagonal(T)
        scale = np.where(positive, counts[0] / share[0], counts[1] / share[1])  # of the squared length of a row
        e = T / c0 * x * np.sqrt(scale)
        q = T / c0 * (1 - T * inverse) * scale
        order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
        return cls(e[order], q[order], int(counts[0]), float(dd - g @ x) / c0, (first, second))

    def held(self, shares: tuple[float, float]) -> tuple[Held, Held]:
        """Return the held-out moments of both classes.

        ``shares`` say how far the threshold is from each mean, as a share of d'w.
        """
        from mmc.methods.numerics.row_passes import spreads_away  # compiled: not every method needs it

        pos, neg = spreads_away(self.e, self.q, self.split, self.along, self.weights, shares)
        return _held(pos, self.split), _held(neg, len(self.e) - self.split)


def _held(kappa: float, n: int) -> Held:
    if n > 1 and isnan(kappa):  # rounding left nothing to judge by
        kappa = 0.0
    return Held(kappa, n)


def held_by_covariances(
    rows: Array,
    split: int,
    S: Array,
    d: Array,
    c0: float,
    weights: tuple[float, float],
    shares: tuple[float, float],
) -> tuple[Held, Held]:
    """Return what `LeftOut.held` does where the covariances S_i and the rows u/√n are known: of the positive class before the ``split``."""
    from mmc.methods.numerics.row_passes import left_out  # compiled: not every method needs it

    pos, neg = left_out(rows, split, S, d, c0, weights, shares)
    return _held(pos, split), _held(neg, len(rows) - split)
