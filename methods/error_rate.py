"""Nath & Bhattacharyya: the largest margin under a bound on the error of each class (sections 3 and 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm

from mmc.methods._sklearn import Interval
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.ellipsoid_pair import Closest, Coordinates, EllipsoidPair, Geometry, Gram, certify, infeasible
from mmc.methods.moments import moments
from mmc.methods.numerics.kernels import Array, KernelSpec

_EPS = float(np.finfo(float).eps)


class ErrorRateClassifier(BinaryMethod):
    """The hyperplane of largest margin whose worst-case errors are at most ``eta_pos`` and ``eta_neg``.

    (3.12): the errors are bounded for every distribution that has the means and covariances of the training set. With
    κ_i = √((1 - η_i)/η_i) the Chebyshev-Cantelli inequality turns that into (3.15), min ½‖w‖² s.t.
    w'μ1 - b ≥ 1 + κ1‖C1'w‖ and b - w'μ2 ≥ 1 + κ2‖C2'w‖, for a kernel into (3.29).

    Parameters
    ----------
    eta_pos, eta_neg : float in (0, 1], or None
        The bounds. None stands half-way between the smallest feasible value and 1: of both, kept equal, if both are
        None. Bounds that are given are never changed; where they are infeasible, fit raises InfeasibleProblem.
    kernel, gamma, degree, coef0 :
        "linear", "rbf", "poly" or a callable, with scikit-learn's parameters.
    ridge : float
        Added to both covariances (the paper's ε): Σ_i + ridge·I in feature space.
    solver : {"secular", "socp", "ellipsoid"}
    solver_options : dict or None
        Options of that solver's ``solve``.
    pos_label :
        The positive class; the larger label by default.

    Attributes
    ----------
    worst_case_error_ : the bound of each class at the hyperplane found, in the order of ``classes_``
    angle_ : the angle at which the ellipsoid solver stopped
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryMethod._parameter_constraints,
        "eta_pos": [Interval(Real, 0, 1, closed="right"), None],
        "eta_neg": [Interval(Real, 0, 1, closed="right"), None],
    }

    def __init__(
        self,
        eta_pos: float | None = None,
        eta_neg: float | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float = 0.0,
        solver: str = "secular",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
    ):
        self.eta_pos = eta_pos
        self.eta_neg = eta_neg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def feasible_eta_neg(self, X: Any, y: Any, eta_pos: Any) -> Array:
        """Return, for each ``eta_pos``, the edge below which no ``eta_neg`` is feasible; nan where none is."""
        frontier = self._geometry(self._training(X, y)).frontier
        return np.array([_eta(frontier.largest(_kappa(eta))) for eta in np.ravel(eta_pos)])

    # -- the problem ----------------------------------------------------------------------------------------
    def _fit(self, train: Training) -> Fitted:
        problem = self._problem(train)
        found: Closest = self._solve(problem)
        return self._read(train, problem, found)

    def _geometry(self, train: Training) -> Geometry:
        make, spec = _linear_geometry if self._linear else _kernel_geometry, self._kernel
        return train.work.once(("ellipsoids", spec, self.ridge), lambda: make(train, spec, self.ridge))

    def _problem(self, train: Training) -> EllipsoidPair:
        geometry, pos, neg = self._geometry(train), self.eta_pos, self.eta_neg
        if pos is None or neg is None:
            pos, neg = _half_way(geometry, pos, neg)
        return EllipsoidPair(geometry, (_kappa(pos), _kappa(neg)))

    def _fit_ahead(self, train: Training, variants: Sequence[Any]) -> None:
        """Let the ellipsoid iteration take all sizes together: one step then costs little more than for one."""
        if self.solver == "ellipsoid":
            from mmc.methods.solvers.ellipsoid import prepare

            groups: dict[Any, list[Any]] = {}
            for variant in variants:
                if variant.solver == "ellipsoid" and None not in (variant.eta_pos, variant.eta_neg):
                    options = variant.solver_options or {}
                    key = id(variant._geometry(train)), options.get("tol"), options.get("max_iter")
                    groups.setdefault(key, []).append(variant)
            for same in groups.values():
                options = {k: v for k, v in (same[0].solver_options or {}).items() if k in ("tol", "max_iter")}
                prepare([variant._problem(train) for variant in same], **options)

    # -- the answer -----------------------------------------------------------------------------------------
    def _read(self, train: Training, problem: EllipsoidPair, found: Closest) -> Fitted:
        """Turn r = z1 - z2 into w, b (3.24, 3.27) and the bounds that hold there."""
        whole, kappa = problem.geometry, problem.kappa
        proof = found.proof
        if proof is None:
            geometry = whole.coordinates if found.in_coordinates else whole
            proof = certify(EllipsoidPair(geometry, kappa), found.r, found.u)
        if found.middle is None:
            scale, middle = proof.scale, (kappa[1] * proof.spread[1] - kappa[0] * proof.spread[0]) / 2
        else:
            scale, middle = 2 / proof.norm2, found.middle
        b = scale * middle  # relative to the midpoint of the means
        sides = scale * proof.along / 2 - b, scale * proof.along / 2 + b
        errors = [_cantelli(side, scale * s) for side, s in zip(sides, proof.spread, strict=True)]
        attributes = {} if found.angle is None else {"angle_": found.angle}
        w = scale * (whole.from_coordinates(found.r) if found.in_coordinates else found.r)
        coef = dual = None
        if self._linear:
            coef, m = w, moments(train)
            midpoint = w @ (m.mean_pos + m.mean_neg) / 2
        else:
            dual = _on_points(_averages(train), w)
            midpoint = dual @ _inner_products(train, self._kernel).means @ [0.5, 0.5]
        return Fitted(
            objective=scale**2 * proof.norm2 / 2,
            gap=proof.gap,
            iterations=found.iterations,
            version=found.version,
            intercept=float(-(b + midpoint)),
            coef=coef,
            dual=dual,
            errors=(errors[0], errors[1]),
            status=found.status,
            attributes=attributes,
        )


def _kappa(eta: float) -> float:
    return sqrt((1 - eta) / eta)


def _eta(kappa: float) -> float:
    return 1 / (1 + kappa * kappa)


def _cantelli(side: float, spread: float) -> float:
    """Return the largest probability (3.13) of the wrong side for a mean that lies ``side`` on the right one."""
    if side <= 0:
        return 1.0
    return spread**2 / (spread**2 + side**2)


def _half_way(geometry: Geometry, eta_pos: float | None, eta_neg: float | None) -> tuple[float, float]:
    """Fill in the rates that are not given: half-way between the smallest feasible one and 1."""
    frontier = geometry.frontier
    if eta_pos is None and eta_neg is None:
        p = frontier.demand((1.0, 1.0))[1]
        if np.isinf(p):
            raise infeasible(EllipsoidPair(geometry, (1.0, 1.0)), p)
        eta = (1 + p * p / (1 + p * p)) / 2
        return eta, eta
    given = eta_pos if eta_pos is not None else eta_neg
    assert given is not None
    kappa = _kappa(given)
    asked = (kappa, 0.0) if eta_pos is not None else (0.0, kappa)
    p = frontier.demand(asked)[1]
    if p >= 1:
        raise infeasible(EllipsoidPair(geometry, asked), p)
    other = (1 + _eta((frontier if eta_pos is not None else frontier.mirrored).largest(kappa))) / 2
    return (given, other) if eta_pos is not None else (other, given)


def _linear_geometry(train: Training, spec: KernelSpec, ridge: float) -> Geometry:
    m = moments(train)
    geometry = Coordinates(m.member, ridge, m.mean_pos - m.mean_neg, m.rows)
    return geometry if geometry.definite else geometry.compressed


def _averages(train: Training) -> Array:
    """Return the m × 2 weights that average over the positive and over the negative class."""

    def make() -> Array:
        member = np.column_stack([train.sign > 0, train.sign < 0]).astype(float)
        return member / member.sum(axis=0)

    return train.work.once("averages", make)


def _kernel_geometry(train: Training, spec: KernelSpec, ridge: float) -> Geometry:
    average, inner = _averages(train), _inner_products(train, spec)
    return Gram((average > 0).astype(float), ridge, inner.G, inner.g, inner.dd, inner.noise)


class _InnerProducts(NamedTuple):
    """k(x_j, mean of class i) as an m × 2 array, the positive class first, and what a `Gram` has."""

    means: Array
    G: Array
    g: Array
    dd: float
    noise: float


def _inner_products(train: Training, spec: KernelSpec) -> _InnerProducts:
    return train.work.once(("inner products", spec), lambda: _centred(spec(train.X, train.X), spec, _averages(train)))


def _centred(K: Array, spec: KernelSpec, average: Array) -> _InnerProducts:
    """Return B'B = v_i v_j (k_ij - <φ_i, μ(j)> - <μ(i), φ_j> + <μ(i), μ(j)>), v_i = 1/√m(i), in the place of K.

    The place is new memory, which takes as long as the arithmetic; but a kernel of the caller may own what it returned.
    """
    means, top = K @ average, float(K.diagonal().max())
    member = (average > 0).astype(float)
    v = np.sqrt(average @ [1.0, 1.0])
    between = average.T @ means
    centred = v[:, None] * (means - member @ (between / 2))
    scaled = v[:, None] * member
    G = np.multiply(K, v, out=None if callable(spec.kernel) else K)
    G *= v[:, None]
    dgemm(-1.0, np.hstack([centred, scaled]), np.hstack([scaled, centred]), 1.0, G.T, trans_b=1, overwrite_c=1)
    toward = means[:, 0] - means[:, 1]
    g = v * (toward - member @ (average.T @ toward))
    dd = float(between[0, 0] - between[0, 1] - between[1, 0] + between[1, 1])
    noise = 2 * _EPS * top * sqrt(len(K)) * float(v.max()) ** 2
    return _InnerProducts(means, G, g, dd, noise)


def _on_points(average: Array, w: Array) -> Array:
    """Return the coefficients of the training points in αd + Bc."""
    c = w[1:] * np.sqrt(average @ [1.0, 1.0])
    return average @ ([w[0], -w[0]] - c @ (average > 0)) + c
