"""The span of two ellipsoids of a kernel whose Gram matrix K is too large to be held.

A vector is Φβ, a sum of the training points with coefficients β; with it go its values y = Kβ on these points. Means and
covariances of the classes act on values alone, so K is needed only for its products with a few vectors, which make it block by block.

Landmarks are some of the points: of a sum of landmarks the values are known without any product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from mmc.methods.numerics.cholesky import PivotedFactor
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.left_out import Held, held_by_covariances
from mmc.methods.problems.ellipsoid_geometry import Geometry
from mmc.methods.problems.feasible_edge import FeasibleEdge

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class LargeGeometry(Geometry):
    """The columns of ``average`` average over each class, ``means`` = K·average; both ridges are positive.

    ``share`` is what is left of each covariance: 1 - shrinkage. ``factor`` are the landmarks.
    """

    K: LazyGram
    average: Array
    means: Array
    share: tuple[float, float]
    factor: PivotedFactor

    @cached_property
    def towards(self) -> Array:
        """The coefficients of d."""
        return self.average @ [1.0, -1.0]

    @cached_property
    def values_of_d(self) -> Array:
        """The values of d."""
        return self.means @ [1.0, -1.0]

    @cached_property
    def dd(self) -> float:
        """d'd."""
        return float(self.towards @ self.values_of_d)

    @property
    def same_means(self) -> bool:
        """Whether the means of the two classes differ by rounding only."""
        return self.dd <= len(self.average) * _EPS * float(np.abs(self.means).max())

    def scatter(self, y: Array) -> tuple[Array, Array]:
        """Return the coefficients of Σ1 w and Σ2 w, without ridges, for the w with the values y."""
        middles = y @ self.average
        first, second = (
            share * average * (y - middle)
            for share, average, middle in zip(self.share, self.average.T, middles, strict=True)
        )
        return first, second

    def covariance(self, Y: Array) -> Array:
        """Return Σ1 and Σ2, ridges included, between orthonormal vectors with the values Y."""
        return self._regular(np.stack([rows.T @ rows for rows in self._rows(Y)]))

    # -- landmarks ------------------------------------------------------------------------------------------
    @cached_property
    def plain(self) -> Array:
        """Both covariances in orthonormal coordinates of the landmarks, neither shrunk nor with ridges."""
        return np.stack([rows.T @ rows for rows in self.landmark_rows()])

    @cached_property
    def inner(self) -> tuple[Array, Array]:
        """d, Σ1 and Σ2 in these coordinates."""
        return self.towards @ self.factor.rows, self._regular(self.plain.copy())

    @cached_property
    def edge(self) -> FeasibleEdge:
        """The edge of feasibility for sums of landmarks: what is feasible for them is feasible."""
        d, S = self.inner
        return FeasibleEdge.of(d, S[0], S[1])

    def on_landmarks(self, Z: Array) -> Array:
        """Return the coefficients of the vectors that are the columns of Z in those coordinates."""
        coefficients = np.zeros((len(self.average), Z.shape[1]))
        coefficients[self.factor.pivots] = solve_triangular(self.factor.triangle, Z, lower=True, trans=1)
        return coefficients

    def preconditioned(self, beta: Array, factor: tuple[Array, bool], outside: float) -> Array:
        """Return M⁻¹Φβ for an M that among landmarks has this Cholesky factor, and else is a multiple of I."""
        inner = beta @ self.factor.rows
        change = cho_solve(factor, inner) - inner / outside
        return beta / outside + self.on_landmarks(change[:, None])[:, 0]

    def landmark_rows(self) -> Iterator[Array]:
        """Yield the rows (x - μ)/√m of each class in those coordinates."""
        return self._rows(self.factor.rows)

    def held_out(self, c0: float, weights: tuple[float, float], shares: tuple[float, float]) -> tuple[Held, Held]:
        """Return the moments of the points left out of the rule w = (c0 I + c1 Σ1 + c2 Σ2)⁻¹ d among landmarks (`LeftOut.held`)."""
        first, second = self.landmark_rows()
        rows = np.concatenate([first, second])
        return held_by_covariances(rows, len(first), self.plain, self.inner[0], c0, weights, shares)

    def on_points(self, alpha: float, beta: Array) -> Array:
        """Return the coefficients of the points in αd + Φβ."""
        return alpha * self.towards + beta

    def _rows(self, Y: Array) -> Iterator[Array]:
        for average in self.average.T:
            members = np.flatnonzero(average)
            weight = average[members]
            rows: Array = Y[members]
            rows -= weight @ rows
            rows *= np.sqrt(weight)[:, None]
            yield rows

    def _regular(self, S: Array) -> Array:
        for part, share, ridge in zip(S, self.share, self.ridge, strict=True):
            part *= share
            part.ravel()[:: len(part) + 1] += ridge
        return S


@dataclass
class Span:
    """Vectors Φβ, orthonormal: the columns of ``C`` are their β, those of ``Y`` their values."""

    C: Array
    Y: Array

    def extend(self, C: Array, Y: Array) -> None:
        """Add vectors, as far as the span does not hold them already."""
        size = np.sqrt(np.maximum(np.einsum("ij,ij->j", C, Y), 0.0))
        some = size > 0
        C, Y = C[:, some] / size[some], Y[:, some] / size[some]
        for least in (1e-12, 0.5):  # a second time, because the first leaves rounding errors
            share = self.C.T @ Y
            C, Y = C - self.C @ share, Y - self.Y @ share
            values, vectors = np.linalg.eigh(C.T @ Y)
            kept = values > least
            turn = vectors[:, kept] / np.sqrt(values[kept])
            C, Y = C @ turn, Y @ turn
        self.C, self.Y = np.hstack([self.C, C]), np.hstack([self.Y, Y])
