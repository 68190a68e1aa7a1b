"""Nath & Bhattacharyya: the largest margin under a bound on the error of each class (sections 3 and 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf, nan, sqrt
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mmc.methods._sklearn import Interval
from mmc.methods.base import COPIES, FEWER, Fitted, Training
from mmc.methods.estimated_moments import MomentMethod, Pair, PerClass, Regular
from mmc.methods.fitted import Judged
from mmc.methods.numerics.cholesky import Shifted, dimensions
from mmc.methods.numerics.kernel_moments import KernelMoments
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.numerics.left_out import Held, LeftOut, held_by_covariances
from mmc.methods.numerics.memory import require
from mmc.methods.problems.delivered import Verdict
from mmc.methods.problems.ellipsoid_geometry import Coordinates, Geometry, KernelGeometry
from mmc.methods.problems.ellipsoid_pair import (
    ClosestPoints,
    EllipsoidPair,
    Separation,
    certify,
    infeasible,
    judge,
)
from mmc.methods.problems.large_geometry import LargeGeometry
from mmc.methods.rates_together import Together, read_together
from mmc.methods.solution import Status


@dataclass(frozen=True)
class _View:
    """The ellipsoids, how their covariances were made regular, and for a kernel the moments.

    ``plain`` are moments that show K itself: where shrinkage has left nothing of a covariance, those before it.
    """

    geometry: Geometry
    regular: Regular
    plain: KernelMoments | None = None
    kernel: KernelMoments | LargeGeometry | None = None


class ErrorRateClassifier(MomentMethod):
    """The hyperplane of largest margin whose worst-case errors are at most ``eta_pos`` and ``eta_neg``.

    (3.12): the errors are bounded for every distribution that has the means and covariances of the training set; that
    they are estimates is for ``ridge`` and the two uncertainties. With
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
    ridge : "auto" or float, default "auto"
        "auto" shrinks the covariance of each class by the rule of Ledoit & Wolf, (1 - δ_i) Σ_i + δ_i tr(Σ_i)/p I, in
        feature space; for a kernel p is the rank of the Gram matrix. It depends on units: scale the features. A number is added to both covariances (the
        paper's ε): Σ_i + ridge·I.
    mean_uncertainty : float or pair of floats, default 0.0
        ν of Lanckriet et al. (2003), in standard deviations, for both classes or for (positive, negative): the bounds
        hold for every mean that is off by at most that.
    covariance_uncertainty : float or pair of floats, default 0.0
        ρ: the bounds hold for every covariance that is off by at most that, in the Frobenius norm.
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
        The bound of each class at the hyperplane found, in the order of ``classes_``: a bound on the training moments,
        for every distribution that has exactly these.
    bound_check_ : ndarray of shape (2,)
        What the moments of left-out points make of these bounds; ``fit`` warns where they refute one. Only after a ``fit``
        of rows without weights.
    ridge_, shrinkage_ : ndarray of shape (2,)
        What was added to the diagonal of each covariance, and the δ_i, in the order of ``classes_``.
    angle_ : float
        With solver "ellipsoid": the angle, in radians, at which the iteration stopped.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective ½‖w‖², duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import ErrorRateClassifier
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100, centers=[[-2, 0], [2, 0]], random_state=0)
    >>> model = ErrorRateClassifier(eta_pos=0.3, eta_neg=0.3).fit(X, y)
    >>> model.predict([[0.5, 3.0]])
    array([1])
    >>> bool((model.worst_case_error_ <= 0.3 + 1e-9).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **MomentMethod._parameter_constraints,
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
        ridge: float | str = "auto",
        mean_uncertainty: PerClass = 0.0,
        covariance_uncertainty: PerClass = 0.0,
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
        self.mean_uncertainty = mean_uncertainty
        self.covariance_uncertainty = covariance_uncertainty
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def feasible_eta_neg(self, X: ArrayLike, y: ArrayLike, eta_pos: ArrayLike) -> Array:
        """Return, for each ``eta_pos``, the edge below which no ``eta_neg`` is feasible; nan where none is."""
        edge, nu = self._view(self._training(X, y).seen_by(self._kernel)).geometry.edge, self._nu
        largest = [edge.largest(_kappa(eta) + nu[0]) - nu[1] for eta in np.ravel(eta_pos)]
        return np.array([_eta(kappa) if kappa >= 0 else nan for kappa in largest])

    def _expected_failed_checks(self) -> dict[str, str]:
        """Return the checks of scikit-learn that cannot pass, and why."""
        why = "15 points, some repeated, in 30 dimensions without a ridge: fit raises NotConverged, with weights or without"
        return {"check_sample_weight_equivalence_on_dense_data": why} if self._linear else {}

    # -- the problem ----------------------------------------------------------------------------------------
    def _fit(self, train: Training) -> Fitted:
        view = self._view(train)
        problem = self._problem(view.geometry)
        return self._read(train, view, problem, self._solve(problem))

    def _view(self, train: Training) -> _View:
        make = self._linear_view if self._linear else self._kernel_view
        return train.work.once(("ellipsoids", self._kernel, self.ridge, self._rho), lambda: make(train))

    def _linear_view(self, train: Training) -> _View:
        m = train.moments()
        regular = self._regular(lambda: m.spreads)
        total, (pos, neg) = self._total(regular), regular.shrinkage
        known = m.covariances(regular.shrinkage, total) if len(m.rows) > m.rows.shape[1] else None
        geometry = Coordinates(m.member, total, m.difference, m.rows, known, (1 - pos, 1 - neg))
        return _View(geometry if geometry.definite else geometry.compressed, regular)

    def _kernel_view(self, train: Training) -> _View:
        spec, auto = self._kernel, isinstance(self.ridge, str)
        large = self._without_gram(train) if self._can.rows else None
        if large is not None:
            return _View(large[0], large[1], None, large[0])

        def make() -> tuple[KernelMoments, KernelMoments, Regular | None]:
            n = len(train.X)
            require(COPIES * 8 * n**2, f"the Gram matrix of {n:,} points, with what the solver makes of it,", FEWER)
            K = spec(train.X, train.X)
            rank = dimensions(K) if auto else 0
            own = not callable(spec.kernel)  # a callable kernel may keep its result
            plain = KernelMoments.of(K, train.sign > 0, train.weight, in_place=own)
            if not auto:
                return plain, plain, None
            regular = self._regular(lambda: plain.spreads(rank, train.counts))
            m = plain.shrunk(*regular.shrinkage)
            return (m if min(m.share) > 0 else plain), m, regular

        plain, m, shrunk = train.work.once(("kernel moments", spec, auto), make)
        regular = self._regular(lambda: plain.spreads(0, train.counts)) if shrunk is None else shrunk
        geometry = KernelGeometry(m.member, self._total(regular), m.G, m.g, m.dd, m.noise)
        return _View(geometry, regular, plain, m)

    def _problem(self, geometry: Geometry) -> EllipsoidPair:
        pos, neg, nu = self.eta_pos, self.eta_neg, self._nu
        if pos is None or neg is None:
            pos, neg = _half_way(geometry, pos, neg, nu)
        return EllipsoidPair(geometry, (_kappa(pos) + nu[0], _kappa(neg) + nu[1]), nu)

    def _fit_ahead(self, train: Training, variants: Sequence[Self]) -> dict[int, Judged]:
        """Let a solver that can take all sizes together: one step then costs little more than for one."""
        groups: dict[object, list[tuple[int, tuple[float, float]]]] = {}
        for place, variant in enumerate(variants):
            if variant.eta_pos is not None and variant.eta_neg is not None and variant._linear:
                nu = variant._nu
                same = variant.ridge, nu, variant._rho, variant.solver, str(variant.solver_options)
                sizes = _kappa(variant.eta_pos) + nu[0], _kappa(variant.eta_neg) + nu[1]
                groups.setdefault(same, []).append((place, sizes))
        ready: dict[int, Judged] = {}
        for group in groups.values():
            first: Self = variants[group[0][0]]
            if len(group) == 1 or not first._can.together:  # one alone is solved by its own fit
                continue
            with np.errstate(all="ignore"), suppress(ValueError, ArithmeticError):  # each fit will say what is wrong
                view, nu = first._view(train), first._nu
                problems = [EllipsoidPair(view.geometry, sizes, nu) for _, sizes in group]
                found = read_together(train, problems, first._prepare(problems), view.regular)
                ready |= {group[i][0]: partial(first._read_one, found, i) for i in found.certified}
        return ready

    def _read_one(self, found: Together, i: int) -> tuple[Fitted, Verdict]:
        return found.fitted(i, self._regularity(found.regular)), found.verdicts[i]

    def _regularity(self, regular: Regular) -> dict[str, object]:
        return {"ridge_": self._by_class(regular.ridge), "shrinkage_": self._by_class(regular.shrinkage)}

    # -- the answer -----------------------------------------------------------------------------------------
    def _read(self, train: Training, view: _View, problem: EllipsoidPair, found: ClosestPoints) -> Fitted:
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
        regular = self._regularity(view.regular)
        w = scale * (whole.from_coordinates(found.primal) if found.in_coordinates else found.primal)
        coef = dual = None
        if view.kernel is None:
            coef, m = w, train.moments()
            midpoint = w @ (m.mean_pos + m.mean_neg) / 2
        else:
            dual = view.kernel.on_points(float(w[0]), w[1:])
            midpoint = dual @ view.kernel.means @ [0.5, 0.5]
        share = float(sides[0] / (sides[0] + sides[1]))
        return Fitted(
            objective=scale**2 * proof.norm2 / 2,
            gap=proof.gap,
            iterations=found.iterations,
            version=found.version,
            intercept=float(-(b + midpoint)),
            coef=coef,
            dual=dual,
            held_out=(lambda: self._held_out(train, view, problem, proof, (share, 1 - share)))
            if train.rows_alike
            else None,
            status=found.status,
            attributes=regular if found.angle is None else {**regular, "angle_": found.angle},
            judge=lambda rule: judge(
                problem, rule, rule.sides(whole.ridge, view.regular.shrinkage), proof, found.status is Status.SOLVED
            ),
        )

    def _on_training(self, dual: Array, space: Training) -> Array:
        plain = self._view(space).plain  # has taken the place of the Gram matrix, if that was made
        return super()._on_training(dual, space) if plain is None else plain.product(dual)

    def _held_out(
        self, train: Training, view: _View, problem: EllipsoidPair, proof: Separation, shares: Pair
    ) -> tuple[Held, Held]:
        """Return the moments of the points left out: r = d - Σ_i κ_i Σ_i r/s_i is of the form M r = d (see `LeftOut`)."""
        kappa, spread, ridge, c0 = problem.kappa, proof.spread, problem.geometry.ridge, 1.0
        margin = proof.along - kappa[0] * spread[0] - kappa[1] * spread[1]
        length = margin / proof.norm2 if margin > 0 else 1.0  # of r, beside the r that was found
        c = [k / (length * s) if s > 0 else (inf if k > 0 else 0.0) for k, s in zip(kappa, spread, strict=True)]
        for more, weight in zip(ridge, c, strict=True):
            c0 += more * weight if more > 0 else 0.0
        weights = c[0] * (1 - view.regular.shrinkage[0]), c[1] * (1 - view.regular.shrinkage[1])
        if isinstance(problem.geometry, LargeGeometry):
            return problem.geometry.held_out(c0, weights, shares)
        if view.plain is not None:
            m, geometry = view.plain, problem.geometry
            of_solver = geometry.shifted if isinstance(geometry, KernelGeometry) else None
            gram = of_solver if of_solver is not None and of_solver.A is m.G else Shifted(m.G)
            return LeftOut.of_gram(gram, m.g, m.dd, train.sign > 0, c0, weights, m.share).held(shares)
        moments = train.moments()
        S, d = moments.plain_covariances, moments.difference
        return held_by_covariances(moments.rows, moments.split, S, d, c0, weights, shares)


def _kappa(eta: float) -> float:
    return sqrt((1 - eta) / eta)


def _eta(kappa: float) -> float:
    return 1 / (1 + kappa * kappa)


def _half_way(geometry: Geometry, eta_pos: float | None, eta_neg: float | None, nu: Pair) -> tuple[float, float]:
    """Fill in the rates that are not given: half-way between the smallest feasible one and 1."""
    edge = geometry.edge
    if eta_pos is None and eta_neg is None:
        room = edge.reach(nu, (1.0, 1.0))
        if room == 0:
            asked = 1 + nu[0], 1 + nu[1]
            raise infeasible(EllipsoidPair(geometry, asked, nu), edge.demand(asked)[1])
        eta = (1 + _eta(room)) / 2
        return eta, eta
    given = eta_pos if eta_pos is not None else eta_neg
    assert given is not None
    kappa = _kappa(given)
    asked = (kappa + nu[0], nu[1]) if eta_pos is not None else (nu[0], kappa + nu[1])
    p = edge.demand(asked)[1]
    if p >= 1:
        raise infeasible(EllipsoidPair(geometry, asked, nu), p)
    if eta_pos is not None:
        return given, (1 + _eta(edge.largest(asked[0]) - nu[1])) / 2
    return (1 + _eta(edge.mirrored.largest(asked[1]) - nu[0])) / 2, given
