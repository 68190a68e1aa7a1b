"""What the moments of left-out points say of a rule: the bound that Chebyshev's inequality gives for them.

The rules here are w = M⁻¹d with M = c0 I + c1 Σ1 + c2 Σ2 and a threshold at a share λ of the way between the means. Without
the point x of a class of n, u = x - μ, both M and d change by u alone if the c_i are held:

    M_x = M - γ uu',   γ = c_i/(n - 1),     d_x = d - u/(n - 1),

so the rule w_x = M_x⁻¹ d_x of the others, and its value at x, follow from e = u'w and q = u'M⁻¹u (Sherman & Morrison). The mean and
the spread of these values are held-out moments along w: no point had a part in the rule that judges it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from mmc.methods.numerics.kernels import Array

_REACH = 1e-6, 1e8  # of c_i tr Σ_i beside c0: outside, rounding decides


@dataclass(frozen=True)
class LeftOut:
    """The points of both classes: ``e`` = u'w, ``q`` = u'M⁻¹u; ``along`` = d'w, ``weights`` are the c_i."""

    e: tuple[Array, Array]
    q: tuple[Array, Array]
    along: float
    weights: tuple[float, float]

    @classmethod
    def in_coordinates(cls, rows: tuple[Array, Array], M: Array, d: Array, weights: tuple[float, float]) -> LeftOut:
        """Return them where M and the rows u/√n of each class are known."""
        factor = cho_factor(M, lower=True)
        w = cho_solve(factor, d)
        half = [solve_triangular(factor[0], sqrt_n(part).T, lower=True) for part in rows]
        q = [np.einsum("ij,ij->j", part, part) for part in half]
        e = [sqrt_n(part) @ w for part in rows]
        return cls((e[0], e[1]), (q[0], q[1]), float(d @ w), weights)

    @classmethod
    def of_gram(
        cls, G: Array, g: Array, dd: float, positive: NDArray[np.bool_], c0: float, weights: tuple[float, float]
    ) -> LeftOut:
        """Return them where the rows u/√n have the inner products G with each other and g with d; c0 > 0.

        With T = c0/c_i on the diagonal, M⁻¹d = (d - Bx)/c0, (T + G) x = g, and B'M⁻¹B = (I - T (T + G)⁻¹) c_i⁻¹.
        """
        trace = [float(G.diagonal() @ side) for side in (positive, ~positive)]
        first, second = within_reach(weights, (trace[0], trace[1]), c0)
        T = np.where(positive, c0 / first, c0 / second)
        M = np.array(G.T, order="F")
        M.T.ravel()[:: len(T) + 1] += T
        L, failed = dpotrf(M, lower=1, overwrite_a=1)
        inverse, failed = dpotri(L, lower=1, overwrite_c=1) if not failed else (L, failed)
        x = np.full(len(T), nan) if failed else (np.tril(inverse) + np.tril(inverse, -1).T) @ g
        root = np.sqrt(np.where(positive, positive.sum(), (~positive).sum()))
        e = T / c0 * x * root
        q = T / c0 * (1 - T * inverse.diagonal()) * root**2
        return cls((e[positive], e[~positive]), (q[positive], q[~positive]), float(dd - g @ x) / c0, (first, second))

    def bounds(self, shares: tuple[float, float]) -> tuple[float, float]:
        """Return the bounds on the errors of both classes that the held-out moments give; nan for a single point.

        ``shares`` say how far the threshold is from each mean, as a share of d'w.
        """
        first, second = (
            self._bound(sign * e, q, weight, share)
            for sign, e, q, weight, share in zip((1, -1), self.e, self.q, self.weights, shares, strict=True)
        )
        return first, second

    def _bound(self, e: Array, q: Array, weight: float, share: float) -> float:
        n = len(e)
        if n < 2:
            return nan
        gamma = weight / (n - 1)
        off = (e - q / (n - 1)) / (1 - gamma * q)  # u'w_x
        d_along = self.along + (gamma * off - 1 / (n - 1)) * e  # d'w_x
        values = (share * d_along + (1 + (1 - share) / (n - 1)) * off) / (d_along - off / (n - 1))
        mean, variance = float(values.mean()), float(values.var(ddof=1))
        return variance / (variance + mean * mean) if mean > 0 else 1.0


def within_reach(weights: tuple[float, float], traces: tuple[float, float], c0: float) -> tuple[float, float]:
    """Return the c_i, brought to where c_i Σ_i can be told from c0 I and c0 I from it."""
    least, most = _REACH
    first, second = (
        min(max(c * trace, least * c0), most * c0) / trace if trace > 0 else c0
        for c, trace in zip(weights, traces, strict=True)
    )
    return first, second


def sqrt_n(rows: Array) -> Array:
    """Return u of the rows u/√n."""
    scaled: Array = rows * np.sqrt(len(rows))
    return scaled
