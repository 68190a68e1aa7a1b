"""The distance between two ellipsoids: the problem that the solvers of `ErrorRateClassifier` share.

(3.15)  min ½‖w‖²   s.t.  w'μ1 - b ≥ 1 + κ1‖C1'w‖,   b - w'μ2 ≥ 1 + κ2‖C2'w‖,   Σ_i = C_i C_i' (+ ridge·I)
(3.23)  its dual: min ‖z1 - z2‖,  z1 = μ1 - C1 u1,  z2 = μ2 + C2 u2,  ‖u_i‖ ≤ κ_i;   w = 2r/‖r‖²,  r = z1 - z2

Without b the primal asks for d'w ≥ 2 + κ1 s1(w) + κ2 s2(w) with d = μ1 - μ2 and s_i(w)² = w'Σ_i w, so that only d and
B = [C1 C2] matter. The answer lies in the span of d and B. A `Geometry` is that span, in one of two languages:

* `Coordinates`: vectors are vectors of feature space; the rows of B' are the centred points divided by √m_i;
* `Gram`: a vector (α, c) stands for αd + Bc, and only B'B, B'd and d'd are known, as with a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor, inf, log10, nan, sqrt
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.linalg.lapack import dpotrf

from mmc.methods.frontier import Frontier
from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import InfeasibleProblem, Status

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Geometry:
    """The span of d and B. Column i of ``member`` marks the rows of B' that belong to class i."""

    member: Array
    ridge: float
    memory: dict[str, Any] = field(default_factory=dict, init=False)  # what solvers keep for the next problem

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

    def along(self, v: Array) -> Any:
        """Return d'v, for a vector or for the columns of a matrix."""
        raise NotImplementedError

    def products(self, V: Array, v: Array, h: Array) -> Any:
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
    def frontier(self) -> Frontier:
        """Return the exact edge of feasibility; costs an eigendecomposition the first time."""
        return Frontier.of(self.coordinates)


@dataclass(frozen=True, eq=False)
class Coordinates(Geometry):
    """Feature space itself: ``rows`` is B', the rows of the positive class first."""

    mean_difference: Array
    rows: Array

    def pull(self, v: Array) -> Array:
        return self.rows @ v

    def push(self, c: Array) -> Array:
        return self.rows.T @ c

    @property
    def d(self) -> Array:
        return self.mean_difference

    def along(self, v: Array) -> Any:
        return self.mean_difference @ v

    def products(self, V: Array, v: Array, h: Array) -> Any:
        return V.T @ v

    def norm2(self, v: Array) -> float:
        return float(v @ v)

    @cached_property
    def coordinates(self) -> Coordinates:
        return self

    def from_coordinates(self, v: Array) -> Array:
        return v

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """The rows of each class."""
        split = np.count_nonzero(self.member[:, 0])
        return self.rows[:split], self.rows[split:]

    @cached_property
    def covariances(self) -> Array:
        """Σ1 and Σ2, ridge included, as one 2 × n × n array."""
        n = len(self.d)
        S = np.empty((2, n, n))
        for part, out in zip(self.parts, S, strict=True):
            np.matmul(part.T, part, out=out)
        if self.ridge:
            S.reshape(2, -1)[:, :: n + 1] += self.ridge
        return S

    @cached_property
    def definite(self) -> bool:
        """Whether both covariances are safely positive definite: then no ball can collapse."""
        n = len(self.d)
        if len(self.rows) <= n or (self.ridge == 0 and min(map(len, self.parts)) <= n):
            return False
        spread = np.sqrt(self.covariances.diagonal(axis1=1, axis2=2))
        for S, least in zip(self.covariances, 1e-4 * spread, strict=True):
            factor, failed = dpotrf(S.T, lower=1, clean=0)
            if failed or (factor.diagonal() < least).any():
                return False
        return True

    @cached_property
    def axes(self) -> Array:
        """Orthonormal axes, as columns, of the part of feature space that the data span."""
        _, sizes, axes = svd(np.vstack([self.compressed.rows, self.mean_difference]), full_matrices=False)
        return axes[sizes > max(axes.shape) * _EPS * sizes[0]].T

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
    def frontier(self) -> Frontier:
        return Frontier.of(self if len(self.rows) > len(self.d) else self.spanned)


@dataclass(frozen=True, eq=False)
class Gram(Geometry):
    """Inner products: ``G`` = B'B, ``g`` = B'd, ``dd`` = d'd; ``noise`` is the rounding error of G's eigenvalues."""

    G: Array
    g: Array
    dd: float
    noise: float

    def pull(self, v: Array) -> Array:
        return (self.g if v.ndim == 1 else self.g[:, None]) * v[0] + self.G @ v[1:]

    def push(self, c: Array) -> Array:
        return np.concatenate([np.zeros_like(c[:1]), c])

    @cached_property
    def d(self) -> Array:
        return np.eye(1, len(self.g) + 1)[0]

    def along(self, v: Array) -> Any:
        return v[0] * self.dd + self.g @ v[1:]

    def products(self, V: Array, v: Array, h: Array) -> Any:
        return V[:1].T @ self.along(v)[None] + V[1:].T @ h if V.ndim == 2 else V[0] * self.along(v) + V[1:] @ h

    def norm2(self, v: Array) -> float:
        return float(self.products(v, v, self.pull(v)))

    def rounding(self, V: Array) -> Any:
        """Return the rounding error of the squared norm of each column."""
        return (_EPS * float(self.diagonal.sum()) + self.noise) * np.einsum("ij,ij->j", V[1:], V[1:])

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of G, side by side in memory."""
        return self.G.diagonal().copy()

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


@dataclass(frozen=True)
class EllipsoidPair:
    """One problem: the shape of the ellipsoids and their sizes κ_i = √((1 - η_i)/η_i)."""

    geometry: Geometry
    kappa: tuple[float, float]


@dataclass(frozen=True)
class Closest:
    """A solver's answer: r = z1 - z2, and row multipliers u where r alone does not determine them.

    ``in_coordinates`` says that r and u belong to ``geometry.coordinates``. ``middle`` is r'(z1 + z2 - μ1 - μ2)/2 of an iterate that is not optimal (3.27), ``angle`` its distance from it.
    ``proof`` is what `certify` says of r and u, if the solver has asked already.
    """

    r: Array
    iterations: int
    version: str
    u: Array | None = None
    in_coordinates: bool = False
    status: Status = Status.SOLVED
    middle: float | None = None
    angle: float | None = None
    proof: Certificate | None = None


@dataclass(frozen=True)
class Certificate:
    """The feasible primal point w = ``scale``·r, its relative distance ``gap`` from a feasible dual point, and r's measures:
    ``norm2`` = r'r, ``spread`` = s_i(r), ``along`` = d'r.
    """

    gap: float
    scale: float
    norm2: float
    spread: tuple[float, float]
    along: float


def certify(problem: EllipsoidPair, r: Array, u: Array | None = None) -> Certificate:
    """Return the duality gap of r, whatever solver it came from.

    Primal: r scaled until it satisfies (3.15). Dual: the row multipliers u, stretched within their balls, or the
    points of the ellipsoids that lie farthest in the direction of r. The gap is inf where no scaling of r is feasible.
    """
    geometry, kappa = problem.geometry, problem.kappa
    h = geometry.pull(r)
    norm2, along = float(geometry.products(r, r, h)), float(geometry.along(r))
    within = geometry.ridge * max(norm2, 0.0)
    first, second = ((h * h) @ geometry.member).tolist()
    spread = sqrt(first + within), sqrt(second + within)
    margin = along - kappa[0] * spread[0] - kappa[1] * spread[1]
    if not (margin > 0 and norm2 > 0):
        return Certificate(inf, nan, norm2, spread, along)
    if u is None:
        nu = [k / s if s > 0 else 0.0 for k, s in zip(kappa, spread, strict=True)]
        between = geometry.d - geometry.push(h * (geometry.member @ nu))
        if geometry.ridge:
            between -= geometry.ridge * sum(nu) * r
    else:
        between = geometry.d - geometry.push(u * (geometry.member @ _stretch(geometry, kappa, u)))
    distance2 = geometry.norm2(between)
    objective, bound = 2 * norm2 / margin**2, 2 / max(distance2, _EPS * norm2)
    return Certificate(max(1 - bound / objective, 0.0), 2 / margin, norm2, spread, along)


def _stretch(geometry: Geometry, kappa: tuple[float, float], u: Array) -> list[float]:
    """Return the factors of u1 and u2 that bring d - Bu closest to 0 without leaving the balls."""
    parts = [geometry.push(u * side) for side in geometry.member.T]
    limit = [k / max(sqrt((u * u) @ side), _EPS) for k, side in zip(kappa, geometry.member.T, strict=True)]
    along = [float(geometry.along(part)) for part in parts]
    pulled = [geometry.pull(part) for part in parts]
    norm2 = [float(geometry.products(part, part, h)) for part, h in zip(parts, pulled, strict=True)]
    cross = float(geometry.products(parts[0], parts[1], pulled[1]))
    factor = [min(1.0, top) for top in limit]
    for i in (0, 1, 0, 1, 0, 1):
        if norm2[i] > 0:
            factor[i] = min(max((along[i] - cross * factor[1 - i]) / norm2[i], 0.0), limit[i])
    return factor


def infeasible(problem: EllipsoidPair, p: float) -> InfeasibleProblem:
    """Return the error that says, in rates, how far the problem is from feasible (p of `Frontier.demand`)."""
    asked = [1 / (1 + k * k) for k in problem.kappa]
    if np.isinf(p):
        return InfeasibleProblem(
            "the two classes have the same mean in feature space: no linear rule can bound both errors, "
            "at any rates; use another kernel or other features",
            inf,
        )
    enough = [1 / (1 + (k / p) ** 2) for k in problem.kappa]
    return InfeasibleProblem(
        f"eta_pos={asked[0]:.4g}, eta_neg={asked[1]:.4g} ask for {p:.4g} times what the data allow; shrinking both "
        f"demands equally, eta_pos={_round_up(enough[0])}, eta_neg={_round_up(enough[1])} would be feasible",
        p - 1,
    )


def check_feasible(problem: EllipsoidPair) -> float:
    """Raise InfeasibleProblem if the ellipsoids touch or overlap; return the log-odds of `Frontier.demand` if not."""
    lower, upper, z = problem.geometry.frontier.demand(problem.kappa)
    if upper >= 1:
        raise infeasible(problem, max(lower, 1.0))
    return z


def _round_up(eta: float) -> str:
    """Print a rate with three digits, never below it and never above 1: a printed rate must be feasible too."""
    digits = 2 - floor(log10(eta))
    return f"{min(ceil(eta * 10**digits + 1e-6) / 10**digits, 1.0):.3g}"


def _compress(rows: Array) -> Array:
    """Return at most n rows with the same rows'rows."""
    return qr(rows, mode="r")[0][: rows.shape[1]] if len(rows) > rows.shape[1] else rows
