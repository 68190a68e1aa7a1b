"""The moments of two classes in the space of a kernel: what its inner products tell of means and covariances.

With v_i = 1/√m(i), m(i) the size of the class of point i and μ(i) its mean, B has the columns v_i (φ_i - μ(i)), so that BB' is
the sum of the two covariances; a covariance that is shrunk to a share has v_i times the root of that share. d = μ1 - μ2 is the difference of the means. Everything follows from the Gram matrix K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.shrinkage import Spread

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class KernelMoments:
    """``G`` = B'B, ``g`` = B'd, ``dd`` = d'd; ``noise`` is the rounding error of G's eigenvalues.

    ``average`` has in its two columns the weights that average over the positive and over the negative class, ``means``
    = K·average the inner products of all points with the two means, and ``v`` the v_i. ``sums`` are what `Spread` asks of
    the covariances before they were shrunk, one in each row, and ``share`` is what shrinkage has left of either.
    """

    average: Array
    means: Array
    v: Array
    G: Array
    g: Array
    dd: float
    noise: float
    sums: Array
    share: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def of(
        cls, K: Array, positive: NDArray[np.bool_], weight: Array | None = None, *, in_place: bool = False
    ) -> KernelMoments:
        """Centre K.

        With positive weights w, v_i = √(w_i / Σw) over the class. ``in_place`` overwrites K, since allocating costs as much as the arithmetic.
        """
        from mmc.methods.numerics.gram_passes import centre  # compiled: not every method needs it

        weights = np.array([positive, ~positive], dtype=float)
        if weight is not None:
            weights *= weight
        weights /= weights.sum(axis=1, keepdims=True)
        G, top = K if in_place else K.copy(), float(K.diagonal().max())
        means, v, g, sums, dd = centre(G, weights)
        noise = 2 * _EPS * top * sqrt(len(K)) * float(v.max()) ** 2
        return cls(weights.T, means.T, v, G, g, dd, noise, sums)

    def shrunk(self, pos: float, neg: float) -> KernelMoments:
        """Return the moments with the covariances times 1 - ``pos`` and 1 - ``neg``; the new G takes the place of the old one.

        Only where nothing is left of a covariance does the old one stay: `product` asks for it.
        """
        if pos == neg == 0:
            return self
        share = 1 - pos, 1 - neg
        from mmc.methods.numerics.gram_passes import scale_both  # compiled: not every method needs it

        scale = np.sqrt(self.member @ share)
        G = self.G if min(share) > 0 else self.G.copy()
        scale_both(G, scale)
        return replace(self, v=scale * self.v, G=G, g=scale * self.g, share=share)

    def spreads(self, p: int, counts: tuple[float, float]) -> tuple[Spread, Spread]:
        """Return what the rule of shrinkage asks of both classes, in a span of p dimensions; ``counts`` are sums of weights."""
        pos, neg = (
            Spread(n, p, trace, trace2, fourth * n)
            for n, (trace, trace2, fourth) in zip(counts, self.sums.tolist(), strict=True)
        )
        return pos, neg

    @cached_property
    def member(self) -> Array:
        """The two columns that mark the points of the positive and of the negative class."""
        return (self.average > 0).astype(float)

    def product(self, dual: Array) -> Array:
        """Return K·dual, from the centred matrix that took the place of K; not of moments without any share of a covariance."""
        member = self.member
        sums, between = dual @ member, self.average.T @ self.means
        back = self.means @ sums + member @ (dual @ self.means - between @ sums)
        product: Array = (self.G @ (dual / self.v)) / self.v + back
        return product

    def on_points(self, alpha: float, c: Array) -> Array:
        """Return the coefficients of the points φ_i in αd + Bc."""
        c = c * self.v
        return self.average @ ([alpha, -alpha] - c @ (self.average > 0)) + c
