"""The edge of feasibility: the sizes at which two ellipsoids touch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import expit

from mmc.methods.numerics.kernels import Array

_EPS = float(np.finfo(float).eps)
_END = 36.0  # log-odds beyond which 1 - t is below rounding


@dataclass(frozen=True)
class FeasibleEdge:
    """The sizes (κ1, κ2) at which the ellipsoids touch, from one decomposition of (Σ1, Σ1 + Σ2).

    With V'(Σ1 + Σ2)V = I, V'Σ1V = diag(l), c = V'd and a = t·l + (1 - t)(1 - l), the ellipsoids of the sizes
    κ1 = t·√Σ(c²l/a²), κ2 = (1 - t)·√Σ(c²(1 - l)/a²) touch, for every 0 ≤ t ≤ 1. ``free`` says that some direction
    separates the means and has no spread at all: then every size is feasible. ``share`` is l, ``axes`` is V.
    """

    share: Array
    c: Array
    axes: Array
    free: bool = False

    @classmethod
    def of(cls, d: Array, S1: Array, S2: Array) -> FeasibleEdge:
        """Decompose; features are scaled to unit spread first, which changes nothing but the rounding."""
        S = S1 + S2
        spread = np.sqrt(np.diag(S))
        if np.any(d[spread == 0] != 0):
            return cls(np.ones(1), np.ones(1), np.where(spread == 0, d, 0.0)[:, None], free=True)
        D = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        S, S1, d = D[:, None] * S * D, D[:, None] * S1 * D, D * d
        values, vectors = eigh(S)
        null = values < 100 * len(values) * _EPS
        outside = vectors[:, null] @ (d @ vectors[:, null])
        if outside @ d > 1e-16 * (d @ d) and sqrt(max(outside @ S @ outside, 0.0)) < 1e-6 * (outside @ d):
            return cls(np.ones(1), np.ones(1), (D * outside)[:, None], free=True)
        V = vectors[:, ~null] / np.sqrt(values[~null])
        share, Q = eigh(V.T @ S1 @ V) if V.size else (np.empty(0), np.empty((0, 0)))
        return cls(np.clip(share, 0, 1), (d @ V) @ Q, D[:, None] * (V @ Q))

    @property
    def mirrored(self) -> FeasibleEdge:
        """The same edge with the classes exchanged."""
        return FeasibleEdge(1 - self.share, self.c, self.axes, self.free)

    def direction(self, z: float) -> Array:
        """Return the w that separates the ellipsoids which touch at log-odds z."""
        w: Array = self.axes @ (self.c / (expit(z) * self.share + expit(-z) * (1 - self.share)))
        return w

    def touching(self, z: float) -> tuple[float, float, float, float]:
        """Return κ1, κ2 at log-odds z of t, and the two spreads √Σ(c²l/a²), √Σ(c²(1-l)/a²)."""
        t, rest = float(expit(z)), float(expit(-z))
        y2 = (self.c / (t * self.share + rest * (1 - self.share))) ** 2
        s1, s2 = sqrt(y2 @ self.share), sqrt(y2 @ (1 - self.share))
        return t * s1, rest * s2, s1, s2

    def demand(self, kappa: tuple[float, float]) -> tuple[float, float, float]:
        """Return bounds of p = min κ1 s1(w) + κ2 s2(w) s.t. d'w = 1, and the log-odds z that prove them.

        p ≥ 1 means infeasible; sizes κ/p would just touch. The lower bound is a dual, the upper a primal point.
        """
        if self.free:
            return 0.0, 0.0, 0.0
        if not np.any(self.c != 0):
            return inf, inf, 0.0
        if max(kappa) == 0:
            return 0.0, 0.0, 0.0

        def excess(z: float) -> float:
            k1, k2, *_ = self.touching(z)
            return k1 * kappa[1] - k2 * kappa[0]

        z = self._root(excess)
        k1, k2, s1, s2 = self.touching(z)
        upper = (kappa[0] * s1 + kappa[1] * s2) / (k1 * s1 + k2 * s2)
        lower = min(k / edge if edge > 0 else inf for k, edge in zip(kappa, (k1, k2), strict=True) if k > 0)
        return min(lower, upper), upper, z

    def reach(self, base: tuple[float, float], step: tuple[float, float]) -> float:
        """Return the largest t for which ellipsoids of the sizes base + t·step do not overlap; 0 where base alone does."""
        once = self.demand(step)[1]
        longest = inf if once == 0 else 1 / once
        if max(base) == 0 or self.free:
            return longest
        if self.demand(base)[1] >= 1:
            return 0.0

        def excess(t: float) -> float:
            return self.demand((base[0] + t * step[0], base[1] + t * step[1]))[1] - 1

        return float(brentq(excess, 0.0, longest, xtol=1e-15, rtol=4 * _EPS))

    def largest(self, kappa1: float) -> float:
        """Return the size κ2 at which the ellipsoids touch for a given κ1; nan where they overlap for every κ2."""
        if self.demand((kappa1, 0.0))[1] >= 1:
            return nan
        if self.free or 0 < kappa1 <= self.touching(-_END)[0]:
            return inf
        if kappa1 == 0:
            return 1 / self.demand((0.0, 1.0))[1]
        return self.touching(self._root(lambda z: self.touching(z)[0] - kappa1))[1]

    @staticmethod
    def _root(increasing: Callable[[float], float]) -> float:
        """Return the root of an increasing function of the log-odds, or the end beyond which it lies."""
        if increasing(_END) <= 0:
            return _END
        if increasing(-_END) >= 0:
            return -_END
        return float(brentq(increasing, -_END, _END, xtol=1e-13, rtol=4 * _EPS))
