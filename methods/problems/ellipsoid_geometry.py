"""The span of two ellipsoids: all that the distance between them depends on.

The ellipsoids have centres μ1, μ2 and shapes Σ_i = C_i C_i' (+ ridge_i·I). The closest points depend on d = μ1 - μ2 and on
B = [C1 C2] only, and their difference lies in the span of d and B. A `Geometry` is that span, in one of two languages:

* `Coordinates`: vectors are vectors of feature space; the rows of B' are the centred points divided by √m_i;
* `KernelGeometry`: a vector (α, c) stands for αd + Bc, and only B'B, B'd and d'd are known, as with a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.linalg import eigh, qr, svd

from mmc.methods.numerics.cholesky import Shifted
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.workspace import Workspace
from mmc.methods.problems.feasible_edge import FeasibleEdge

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Geometry:
    """The span of d and B. Column i of ``member`` marks the rows of B' that belong to class i, ``ridge`` is that of each."""

    member: Array
    ridge: tuple[float, float]
    memory: Workspace = field(default_factory=Workspace, init=False)  # what solvers keep for the next problem

    def pull(self, v: Array) -> Array:
        """Return B'v, for a vector or for the columns of a matrix."""
        raise NotImplementedError

    def push(self, c: Array) -> Array:
        """Return Bc, for a vector or for the columns of a matrix."""
        raise NotImplementedError

    @property
    def d(self) -> Array:
        """Return the difference of the means."""
        raise NotImplementedError

    def along(self, v: Array) -> Array:
        """Return d'v, for a vector or for the columns of a matrix."""
        raise NotImplementedError

    def products(self, V: Array, v: Array, h: Array) -> Array:
        """Return V'v for vectors or matrices, where h = B'v is known."""
        raise NotImplementedError

    def norm2(self, v: Array) -> float:
        """Return v'v."""
        raise NotImplementedError

    @cached_property
    def coordinates(self) -> Coordinates:
        """Return the same geometry in orthonormal coordinates."""
        raise NotImplementedError

    def from_coordinates(self, v: Array) -> Array:
        """Return a vector of ``coordinates`` in the language of this geometry."""
        raise NotImplementedError

    @cached_property
    def edge(self) -> FeasibleEdge:
        """Return the exact edge of feasibility; costs an eigendecomposition the first time."""
        return self.coordinates.edge


@dataclass(frozen=True, eq=False)
class Coordinates(Geometry):
    """Feature space itself: ``rows`` is B', the rows of the positive class first.

    ``plain`` are these rows before the covariances were shrunk to a ``share``. ``known`` are Σ1 and Σ2, ridge included, as one
    array, if they are.
    """

    mean_difference: Array
    plain: Array
    known: Array | None = None
    share: tuple[float, float] = (1.0, 1.0)

    @cached_property
    def rows(self) -> Array:
        """B', made only if it is asked for: where the covariances are definite, they and the plain rows do."""
        return self.plain if self.share == (1.0, 1.0) else self.plain * np.sqrt(self.member @ self.share)[:, None]

    def pull(self, v: Array) -> Array:
        return self.rows @ v

    def push(self, c: Array) -> Array:
        return self.rows.T @ c

    @property
    def d(self) -> Array:
        return self.mean_difference

    def along(self, v: Array) -> Array:
        return self.mean_difference @ v

    def products(self, V: Array, v: Array, h: Array) -> Array:
        return V.T @ v

    def norm2(self, v: Array) -> float:
        return float(v @ v)

    @cached_property
    def coordinates(self) -> Coordinates:
        return self

    def from_coordinates(self, v: Array) -> Array:
        return v

    @cached_property
    def split(self) -> int:
        """How many rows the positive class has."""
        return int(np.count_nonzero(self.member[:, 0]))

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """The rows of each class."""
        return self.rows[: self.split], self.rows[self.split :]

    @cached_property
    def covariances(self) -> Array:
        """Σ1 and Σ2, ridge included, as one 2 × n × n array."""
        if self.known is not None:
            return self.known
        n = len(self.d)
        S = np.empty((2, n, n))
        for part, out in zip(self.parts, S, strict=True):
            np.matmul(part.T, part, out=out)
        if any(self.ridge):
            S.reshape(2, -1)[:, :: n + 1] += np.array(self.ridge)[:, None]
        return S

    @cached_property
    def definite(self) -> bool:
        """Whether both covariances are safely positive definite: then no ball can collapse."""
        n, m, split, (first, second) = len(self.d), len(self.plain), self.split, self.ridge
        if m <= n or (split <= n and first == 0) or (m - split <= n and second == 0):
            return False
        from mmc.methods.numerics.triangles import safely_definite  # compiled: not every geometry needs it

        return safely_definite(self.covariances, self.ridge, 1e-8)

    @cached_property
    def axes(self) -> Array:
        """Orthonormal axes, as columns, of the part of feature space that the data span."""
        _, sizes, rows = svd(np.vstack([self.compressed.rows, self.mean_difference]), full_matrices=False)
        axes: Array = rows[sizes > max(rows.shape) * _EPS * sizes[0]].T
        return axes

    @cached_property
    def spanned(self) -> Coordinates:
        """The same geometry in ``axes``: what is constant, or a combination of other features, is gone."""
        return Coordinates(self.member, self.ridge, self.mean_difference @ self.axes, self.rows @ self.axes)

    @cached_property
    def compressed(self) -> Coordinates:
        """The same geometry with at most n rows in each class."""
        parts = [_compress(part) for part in self.parts]
        member = np.repeat(np.eye(2), [len(part) for part in parts], axis=0)
        return Coordinates(member, self.ridge, self.mean_difference, np.concatenate(parts))

    @cached_property
    def without_ridge(self) -> Coordinates:
        """The same geometry with the ridges among the rows, for which a dual point then has multipliers too."""
        parts = [
            qr(np.vstack([part, sqrt(ridge) * np.eye(part.shape[1])]), mode="economic")[1] if ridge else part
            for part, ridge in zip(self.parts, self.ridge, strict=True)
        ]
        member = np.repeat(np.eye(2), [len(part) for part in parts], axis=0)
        return Coordinates(member, (0.0, 0.0), self.mean_difference, np.concatenate(parts))

    @cached_property
    def edge(self) -> FeasibleEdge:
        small = self if len(self.plain) > len(self.d) else self.spanned
        return FeasibleEdge.of(small.d, *small.covariances)


@dataclass(frozen=True, eq=False)
class KernelGeometry(Geometry):
    """Inner products: ``G`` = B'B, ``g`` = B'd, ``dd`` = d'd; ``noise`` is the rounding error of G's eigenvalues."""

    G: Array
    g: Array
    dd: float
    noise: float

    def pull(self, v: Array) -> Array:
        h: Array = (self.g if v.ndim == 1 else self.g[:, None]) * v[0] + self.G @ v[1:]
        return h

    def push(self, c: Array) -> Array:
        return np.concatenate([np.zeros_like(c[:1]), c])

    @cached_property
    def d(self) -> Array:
        return np.eye(1, len(self.g) + 1).ravel()

    def along(self, v: Array) -> Array:
        products: Array = v[0] * self.dd + self.g @ v[1:]
        return products

    def products(self, V: Array, v: Array, h: Array) -> Array:
        along = self.along(v)
        products: Array = V[:1].T @ along[None] + V[1:].T @ h if V.ndim == 2 else V[0] * along + V[1:] @ h
        return products

    def norm2(self, v: Array) -> float:
        return float(self.products(v, v, self.pull(v)))

    @property
    def rounding(self) -> float:
        """The rounding error of the square of Bc for a c of length 1."""
        return _EPS * float(self.diagonal.sum()) + self.noise

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of G, side by side in memory."""
        return self.G.diagonal().copy()

    @cached_property
    def shifted(self) -> Shifted:
        """G, for factorisations with one diagonal after another."""
        return Shifted(self.G)

    @cached_property
    def _axes(self) -> tuple[Array, Array, float]:
        """Eigenvalues and vectors of B'B that are not rounding errors, and the length of d outside of B's range."""
        values, vectors = eigh(self.G)
        keep = values > len(values) * _EPS * values[-1] + 16 * self.noise
        values, vectors = values[keep], vectors[:, keep]
        inside = (self.g @ vectors) ** 2 / values
        outside = self.dd - float(inside.sum())
        limit = 1e-13 * self.dd + sqrt(len(self.g)) * self.noise
        return values, vectors, sqrt(outside) if outside > limit else 0.0

    @cached_property
    def coordinates(self) -> Coordinates:
        values, vectors, outside = self._axes
        order = np.argsort(-self.member[:, 0], kind="stable")
        d = np.append(self.g @ vectors / np.sqrt(values), outside)
        rows = np.append(vectors * np.sqrt(values), np.zeros((len(vectors), 1)), axis=1)[order]
        if not outside:
            d, rows = d[:-1], rows[:, :-1]
        return Coordinates(self.member[order], self.ridge, d, rows)

    def from_coordinates(self, v: Array) -> Array:
        values, vectors, outside = self._axes
        alpha = v[-1] / outside if outside else 0.0
        inside = v[: len(values)] / np.sqrt(values) - alpha * (self.g @ vectors) / values
        return np.concatenate([[alpha], vectors @ inside])


def _compress(rows: Array) -> Array:
    """Return at most n rows with the same rows'rows."""
    return qr(rows, mode="r")[0][: rows.shape[1]] if len(rows) > rows.shape[1] else rows
