"""Nath & Bhattacharyya: the largest margin under a bound on the error of each class (sections 3 and 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mmc.methods._sklearn import Interval
from mmc.methods.base import Fitted, Training
from mmc.methods.from_moments import FromMoments
from mmc.methods.numerics.kernel_moments import KernelMoments
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.problems.ellipsoid_geometry import Coordinates, Geometry, KernelGeometry
from mmc.methods.problems.ellipsoid_pair import ClosestPoints, EllipsoidPair, certify, infeasible


class ErrorRateClassifier(FromMoments):
    """The hyperplane of largest margin whose worst-case errors are at most ``eta_pos`` and ``eta_neg``.

    (3.12): the errors are bounded for every distribution that has the means and covariances of the training set. With
    κ_i = √((1 - η_i)/η_i) the Chebyshev-Cantelli inequality turns that into (3.15), min ½‖w‖² s.t.
    w'μ1 - b ≥ 1 + κ1‖C1'w‖ and b - w'μ2 ≥ 1 + κ2‖C2'w‖, for a kernel into (3.29).

    Parameters
    ----------
    eta_pos, eta_neg : float in (0, 1] or None, default None
        The bounds of the positive and of the negative class. None stands half-way between the smallest feasible value
        and 1: of both, kept equal, if both are None. Bounds that are given are never changed: if they are infeasible,
        ``fit`` raises InfeasibleProblem.
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine", "precomputed"} or callable, default "linear"
        A callable takes two matrices of points and returns the matrix of kernel values; with "precomputed", X is that
        matrix. "sigmoid" and "precomputed" must be positive semi-definite on the training points.
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    ridge : float, default 0.0
        Added to both covariances (the paper's ε): Σ_i + ridge·I in feature space.
    solver : {"secular", "socp", "ellipsoid", "cvxpy"}, default "secular"
        The algorithm: the secular equations, a cone program, the iteration of Lin & Han, or (3.15) written in cvxpy.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class. None takes the larger label, as numbers if all labels are numbers. With more than two
        classes it must be None, and the larger label of each pair is positive.
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        With more than two classes, what ``decision_function`` returns: one column for each class, or one for each pair.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    pos_label_ : label
        The positive class, of two.
    estimators_ : list
        With more than two classes: the fitted classifiers of all pairs, (0, 1), (0, 2), …, (1, 2), … of ``classes_``. They
        have the attributes below; of these, ``coef_``, ``intercept_``, ``worst_case_error_`` and ``solution_`` are also
        given for all pairs together, with a row for each.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X had names.
    gamma_ : float
        The width that was used, for a kernel that has one.
    coef_ : ndarray of shape (1, n_features_in_)
        w, for the linear kernel only.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    support_ : ndarray of shape (n_support,)
        For other kernels: the training points that the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients.
    worst_case_error_ : ndarray of shape (2,)
        The bound of each class at the hyperplane found, in the order of ``classes_``.
    angle_ : float
        With solver "ellipsoid": the angle, in radians, at which the iteration stopped.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective ½‖w‖², duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import ErrorRateClassifier
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = ErrorRateClassifier(eta_pos=0.3, eta_neg=0.3).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    >>> bool((model.worst_case_error_ <= 0.3 + 1e-9).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **FromMoments._parameter_constraints,
        "eta_pos": [Interval(Real, 0, 1, closed="right"), None],
        "eta_neg": [Interval(Real, 0, 1, closed="right"), None],
    }

    def __init__(
        self,
        eta_pos: float | None = None,
        eta_neg: float | None = None,
        *,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float = 0.0,
        solver: str = "secular",
        solver_options: dict[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
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
        self.decision_function_shape = decision_function_shape

    def feasible_eta_neg(self, X: ArrayLike, y: ArrayLike, eta_pos: ArrayLike) -> Array:
        """Return, for each ``eta_pos``, the edge below which no ``eta_neg`` is feasible; nan where none is."""
        edge = self._geometry(self._training(X, y).seen_by(self._kernel)).edge
        return np.array([_eta(edge.largest(_kappa(eta))) for eta in np.ravel(eta_pos)])

    def _expected_failed_checks(self) -> dict[str, str]:
        """Return the checks of scikit-learn that cannot pass, and why."""
        why = "few points leave the covariances in a kernel's space singular: the gap is certified to 1e-6, w is not to 1e-7"
        return {} if self._linear else {"check_sample_weight_equivalence_on_dense_data": why}

    # -- the problem ----------------------------------------------------------------------------------------
    def _fit(self, train: Training) -> Fitted:
        problem = self._problem(train)
        return self._read(train, problem, self._solve(problem))

    def _geometry(self, train: Training) -> Geometry:
        make = self._linear_geometry if self._linear else self._kernel_geometry
        return train.work.once(("ellipsoids", self._kernel, self.ridge), lambda: make(train))

    def _linear_geometry(self, train: Training) -> Geometry:
        m = train.moments()
        geometry = Coordinates(m.member, self.ridge, m.difference, m.rows)
        return geometry if geometry.definite else geometry.compressed

    def _kernel_geometry(self, train: Training) -> Geometry:
        m = self._kernel_moments(train)
        return KernelGeometry(m.member, self.ridge, m.G, m.g, m.dd, m.noise)

    def _kernel_moments(self, train: Training) -> KernelMoments:
        spec = self._kernel

        def make() -> KernelMoments:  # a callable kernel may own its result
            K, owned = spec(train.X, train.X), not callable(spec.kernel)
            return KernelMoments.of(K, train.sign > 0, train.weight, in_place=owned)

        return train.work.once(("kernel moments", spec), make)

    def _problem(self, train: Training) -> EllipsoidPair:
        geometry, pos, neg = self._geometry(train), self.eta_pos, self.eta_neg
        if pos is None or neg is None:
            pos, neg = _half_way(geometry, pos, neg)
        return EllipsoidPair(geometry, (_kappa(pos), _kappa(neg)))

    def _fit_ahead(self, train: Training, variants: Sequence[Self]) -> None:
        """Let a solver that can take all sizes together: one step then costs little more than for one."""
        groups: dict[str, list[Self]] = {}
        for variant in variants:
            if variant._can.together and None not in (variant.eta_pos, variant.eta_neg):
                groups.setdefault(f"{variant.solver} {variant.solver_options}", []).append(variant)
        for same in groups.values():
            same[0]._prepare([variant._problem(train) for variant in same])

    # -- the answer -----------------------------------------------------------------------------------------
    def _read(self, train: Training, problem: EllipsoidPair, found: ClosestPoints) -> Fitted:
        """Turn r = z1 - z2 into w, b (3.24, 3.27) and the bounds that hold there."""
        whole, kappa = problem.geometry, problem.kappa
        proof = found.certificate
        if proof is None:
            geometry = whole.coordinates if found.in_coordinates else whole
            proof = certify(EllipsoidPair(geometry, kappa), found.primal, found.dual)
        if found.middle is None:
            scale, middle = proof.scale, (kappa[1] * proof.spread[1] - kappa[0] * proof.spread[0]) / 2
        else:
            scale, middle = 2 / proof.norm2, found.middle
        b = scale * middle  # relative to the midpoint of the means
        sides = scale * proof.along / 2 - b, scale * proof.along / 2 + b
        errors = [_cantelli(side, scale * s) for side, s in zip(sides, proof.spread, strict=True)]
        attributes = {} if found.angle is None else {"angle_": found.angle}
        w = scale * (whole.from_coordinates(found.primal) if found.in_coordinates else found.primal)
        coef = dual = None
        if self._linear:
            coef, m = w, train.moments()
            midpoint = w @ (m.mean_pos + m.mean_neg) / 2
        else:
            inner = self._kernel_moments(train)
            dual = inner.on_points(float(w[0]), w[1:])
            midpoint = dual @ inner.means @ [0.5, 0.5]
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
    edge = geometry.edge
    if eta_pos is None and eta_neg is None:
        p = edge.demand((1.0, 1.0))[1]
        if np.isinf(p):
            raise infeasible(EllipsoidPair(geometry, (1.0, 1.0)), p)
        eta = (1 + p * p / (1 + p * p)) / 2
        return eta, eta
    given = eta_pos if eta_pos is not None else eta_neg
    assert given is not None
    kappa = _kappa(given)
    asked = (kappa, 0.0) if eta_pos is not None else (0.0, kappa)
    p = edge.demand(asked)[1]
    if p >= 1:
        raise infeasible(EllipsoidPair(geometry, asked), p)
    other = (1 + _eta((edge if eta_pos is not None else edge.mirrored).largest(kappa))) / 2
    return (given, other) if eta_pos is not None else (other, given)
