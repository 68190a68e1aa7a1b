"""The minimax probability machine (Lanckriet et al., 2002), and what its biased version (Huang et al.) shares with it.

Of all distributions with the means and covariances of the training data, the worst one puts a share 1 - α of the
positive class x and 1 - β of the negative class y on the wrong side of a'z = b. By Lemma 1 that is

    a'x̄ - b = κ(α) √(a'Σx a),     b - a'ȳ = κ(β) √(a'Σy a),     κ(p) = √(p / (1 - p)).          (13)

BMPM maximises α while β ≥ γ; MPM maximises the level that both keep. Both are the problem of
``problems/minimax.py``, stated in coordinates Z of the training points, with (1 - δ) Σ + ridge I for the Σ of each class:

    linear kernel                       Z = X: the ridge is added in input space, which is its feature space;
    ridge_kind="feature"                K = GG', Z = G, so ridge ‖a‖² is the norm of the kernel's own space;
    ridge_kind="w" (the paper's (16))   Z = K, so a is the paper's w and ridge ‖w‖² regularises the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import Fitted, Training
from mmc.methods.estimated_moments import MomentMethod, PerClass, Regular
from mmc.methods.numerics.cholesky import pivoted_cholesky
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.numerics.left_out import LeftOut
from mmc.methods.numerics.pair_moments import PairMoments
from mmc.methods.numerics.shrinkage import Spread
from mmc.methods.problems import Answer
from mmc.methods.problems.delivered import Delivered, Sides, Verdict
from mmc.methods.problems.large_geometry import LargeGeometry
from mmc.methods.problems.minimax import Minimax, WorstCase, certify, judge
from mmc.methods.problems.moment_pair import MomentPair, shared_range
from mmc.methods.problems.trade_off import TradeOff
from mmc.methods.solution import InfeasibleProblem
from mmc.methods.solvers.minimax_large import solve_large

AUTOMATIC_RIDGE = 1e-8
_EPS = float(np.finfo(float).eps)
_LARGE_GAP = 1e-6  # at which a fit without the Gram matrix stops
_SAME_MEANS = "the means of the two classes are equal: no level above 0 can be kept"
Solved = tuple[Array, Answer[object, object], WorstCase, Callable[[Sides], Verdict]]


@dataclass(frozen=True)
class _View:
    """The problem: ``basis`` leads from the pair's coordinates to Z, ``expand`` from Z to dual coefficients."""

    pair: MomentPair
    moments: PairMoments
    regular: Regular
    basis: Array | None = None
    expand: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class _Coordinates:
    """The moments in coordinates Z, ``expand`` from Z to dual coefficients, and how many dimensions the points span (0: all of Z)."""

    moments: PairMoments
    expand: Callable[[Array], Array] | None = None
    dimensions: int = 0


class MPM(MomentMethod):
    """Minimax probability machine: the largest worst-case accuracy that both classes keep.

    Parameters
    ----------
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
    ridge : "auto", float or None, default "auto"
        "auto" shrinks the covariance of each class by the rule of Ledoit & Wolf, (1 - δ) Σ + δ tr(Σ)/p I in the p
        coordinates of the problem; it depends on units: scale the features. A number is added to the diagonal of both covariances. None adds 1e-8 of the mean
        variance of a coordinate, enough to fit any data, too little for a bound that means something.
    ridge_kind : {"feature", "input", "w"}, default "feature"
        Where the ridge is added: in the kernel's feature space, in input space (the same for a linear kernel, which
        is the only one that has it) or to the matrices that act on the dual coefficients (not for a linear kernel).
    mean_uncertainty : float or pair of floats, default 0.0
        ν of Lanckriet et al. (2003), in standard deviations, for both classes or for (positive, negative): the bounds
        hold for every mean that is off by at most that.
    covariance_uncertainty : float or pair of floats, default 0.0
        ρ: the bounds hold for every covariance that is off by at most that, in the Frobenius norm.
    rank_tol : float or None, default None
        For kernels: a is a combination of as many training points as it takes (pivoted Cholesky) for every other one
        to be within √(rank_tol · max k(x, x)) of their span. The bounds stay valid and can only be smaller. None
        takes all points.
    solver : {"frontier", "least-squares", "socp", "cvxpy"}, default "frontier"
        The algorithm: the curve of all trade-offs, iterative least squares, a cone program, or that program written
        in cvxpy.
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
        The normal of the hyperplane, for the linear kernel only.
    intercept_ : ndarray of shape (1,)
        The constant of the decision function.
    support_ : ndarray of shape (n_support,)
        For other kernels: the training points that the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients.
    worst_case_error_ : ndarray of shape (2,)
        1 - α and 1 - β in the order of ``classes_``: bounds on the training moments, for every distribution that has
        exactly these.
    bound_check_ : ndarray of shape (2,)
        What the moments of left-out points make of these bounds; ``fit`` warns where they refute one. Only after a ``fit``
        of rows without weights.
    ridge_, shrinkage_ : ndarray of shape (2,)
        What was added to the diagonal of each covariance, and the δ by which it was shrunk, in the order of ``classes_``.
    rank_ : int
        The number of coordinates in which the problem was solved.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective κ(α), duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import MPM
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100, centers=[[-2, 0], [2, 0]], random_state=0)
    >>> model = MPM().fit(X, y)
    >>> model.predict([[0.5, 3.0]])
    array([1])
    >>> model.worst_case_error_.round(2)
    array([0.21, 0.21])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **MomentMethod._parameter_constraints,
        "ridge": [*MomentMethod._parameter_constraints["ridge"], None],
        "ridge_kind": [StrOptions({"input", "w", "feature"})],
        "rank_tol": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float | str | None = "auto",
        ridge_kind: str = "feature",
        rank_tol: float | None = None,
        mean_uncertainty: PerClass = 0.0,
        covariance_uncertainty: PerClass = 0.0,
        solver: str = "frontier",
        solver_options: dict[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.ridge_kind = ridge_kind
        self.rank_tol = rank_tol
        self.mean_uncertainty = mean_uncertainty
        self.covariance_uncertainty = covariance_uncertainty
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    _trade_off: TradeOff | None
    _grows: ClassVar[bool] = True  # whether the gap in a part of feature space tells what the whole could add

    def frontier(self, n: int = 101) -> tuple[Array, Array]:
        """Return the worst-case accuracies (positive, negative) of n optimal trade-offs on the training moments.

        The first is the best for the positive class, with nothing promised to the negative one; the last is the
        opposite. In between the accuracy of the negative class rises in cosine steps, finer towards both ends. With a kernel,
        a ridge and more than 2,000 points it is that of landmarks: no better than that of all points.
        """
        check_is_fitted(self)
        if n < 2:
            raise ValueError(f"a frontier has at least its two ends: n={n}")
        if len(self.classes_) > 2:
            raise ValueError("frontier() is of two classes: ask one of estimators_, which has those of each pair")
        curve: TradeOff | None = self._trade_off
        if curve is None:
            raise AttributeError("frontier() needs the decomposition that factor='cholesky' spares: fit without it")
        nu = self._nu
        best_pos, best_neg = curve.beside(nu[1]) - nu[0], curve.mirrored.beside(nu[0]) - nu[1]
        neg = _level(best_neg) * (1 - np.cos(np.linspace(0, np.pi, n))) / 2
        inner = neg[1:-1]
        kappa_pos, _ = curve.kappas(curve.at(np.sqrt(inner / (1 - inner)) + nu[1])[0])
        return np.concatenate([[_level(best_pos)], _level(kappa_pos - nu[0]), [0.0]]), neg

    @property
    def _level(self) -> float | None:
        """The level that the negative class must keep; None: the same as the positive class."""
        return None

    def _problem(self, pair: MomentPair) -> Minimax:
        return (
            Minimax.balanced(pair, self._nu) if self._level is None else Minimax.at_level(pair, self._level, self._nu)
        )

    def _solved(self, pair: MomentPair) -> Solved:
        """Return the normal, the solver's answer, what is proven of it, and who judges the delivered rule."""
        problem = self._problem(pair)
        answer = self._solve(problem)
        proof = certify(problem, answer)
        return answer.primal, answer, proof, lambda sides: judge(problem, sides, proof.bound)

    def _fit(self, train: Training) -> Fitted:
        many = not self._linear and self.ridge_kind == "feature" and self.rank_tol is None and self._grows
        large = self._without_gram(train) if many else None
        if large is not None:
            return self._fit_large(train, *large)
        key = ("minimax", self._kernel, self.ridge, self.ridge_kind, self.rank_tol, self._rho)
        view = train.work.once(key, lambda: self._view(train))
        a, answer, bound, judge = self._solved(view.pair)
        if view.basis is not None:
            a = view.basis @ a
        spared = (self.solver_options or {}).get("factor") == "cholesky"
        return Fitted(
            objective=bound.objective,
            gap=bound.gap,
            iterations=answer.iterations,
            version=answer.version,
            intercept=-float(a @ view.moments.mean_neg + bound.sides[1]),
            coef=a if view.expand is None else None,
            dual=None if view.expand is None else view.expand(a),
            held_out=(lambda: _left_out(view, bound).held(bound.sides)) if train.rows_alike else None,
            attributes={
                "ridge_": self._by_class(view.regular.ridge),
                "shrinkage_": self._by_class(view.regular.shrinkage),
                "rank_": len(view.pair.d),
                "_trade_off": None if spared else view.pair.spectrum[0],
            },
            judge=lambda rule: judge(self._sides(rule, view.regular)),
        )

    def _fit_large(self, train: Training, geometry: LargeGeometry, regular: Regular) -> Fitted:
        """Fit without the Gram matrix: `rank_` and `frontier()` are those of the landmarks."""
        if geometry.same_means:
            raise InfeasibleProblem(_SAME_MEANS, 0.0)
        d, (Sx, Sy) = geometry.inner
        pair = train.work.once(("landmarks", id(geometry)), lambda: MomentPair.definite(d, Sx, Sy, geometry.ridge))
        asked = Minimax.asked(self._level, self._nu)
        best = solve_large(geometry, pair, self._solved, self._nu, asked, _LARGE_GAP)
        bound, problem = best.bound, Minimax(pair, None if self._level is None else asked[1], self._nu)
        c = [side / spread**2 for side, spread in zip(bound.sides, bound.spreads, strict=True)]
        weights = c[0] * geometry.share[0], c[1] * geometry.share[1]
        c0 = c[0] * geometry.ridge[0] + c[1] * geometry.ridge[1]
        return Fitted(
            objective=bound.objective,
            gap=bound.gap,
            iterations=best.passes,
            version=best.answer.version,
            intercept=-float(geometry.average[:, 1] @ best.y + bound.sides[1]),
            dual=best.beta,
            held_out=(lambda: geometry.held_out(c0, weights, bound.sides)) if train.rows_alike else None,
            attributes={
                "ridge_": self._by_class(regular.ridge),
                "shrinkage_": self._by_class(regular.shrinkage),
                "rank_": len(d),
                "_trade_off": pair.spectrum[0],
            },
            judge=lambda rule: judge(problem, self._sides(rule, regular), bound.bound),
        )

    def _sides(self, rule: Delivered, regular: Regular) -> Sides:
        """Return where the delivered rule has both classes, with the covariances of the problem."""
        square = float(rule.dual @ rule.dual) if rule.dual is not None and self.ridge_kind == "w" else None
        return rule.sides(self._total(regular), regular.shrinkage, square)

    # -- the problem in its coordinates ---------------------------------------------------------------------
    def _view(self, train: Training) -> _View:
        """Return the problem in its coordinates, with its ridge."""
        space = train.work.once(
            ("coordinates", self._kernel, self.ridge_kind, self.rank_tol), lambda: self._coordinates(train)
        )
        m, expand = space.moments, space.expand
        d = m.difference
        # of the total variance, classes weighted equally: positive whenever two points differ
        least = AUTOMATIC_RIDGE * ((np.trace(m.cov_pos) + np.trace(m.cov_neg)) / 2 + d @ d / 4) / len(d)
        if self.ridge is None:
            regular = Regular((0.0, 0.0), (least, least))
        else:
            regular = self._regular(lambda: _in_dimensions(m, space.dimensions))
            if isinstance(self.ridge, str):
                regular = replace(regular, ridge=(max(regular.ridge[0], least), max(regular.ridge[1], least)))
        added = self._total(regular)
        Sx, Sy = m.covariances(regular.shrinkage, added)
        if min(added) == 0:
            basis = shared_range(d, Sx, Sy)
            pair = MomentPair(basis.T @ d, basis.T @ Sx @ basis, basis.T @ Sy @ basis)
            return _View(pair, m, regular, basis, expand)
        return _View(MomentPair.definite(d, Sx, Sy, added), m, regular, None, expand)

    def _coordinates(self, train: Training) -> _Coordinates:
        if self._linear:
            if self.ridge_kind == "w" or self.rank_tol is not None:
                given = "ridge_kind='w'" if self.ridge_kind == "w" else "rank_tol"
                raise ValueError(f"{given} is about dual coefficients, which a linear kernel does not have")
            return _Coordinates(_told_apart(train, train.moments(), train.X))
        if self.ridge_kind == "input":
            raise ValueError("ridge_kind='input' is for the linear kernel; others take 'feature' or 'w'")
        K = train.gram(self._kernel)
        if self.ridge_kind == "w" and self.rank_tol is None:
            return _Coordinates(_told_apart(train, _moments(train, K), K), lambda a: a)
        factor = pivoted_cholesky(K, self.rank_tol)

        def at_pivots(w: Array) -> Array:
            dual = np.zeros(len(K))
            dual[factor.pivots] = w
            return dual

        if self.ridge_kind == "w":
            Z = K[:, factor.pivots]
            return _Coordinates(_told_apart(train, _moments(train, Z), Z), at_pivots)
        L = factor.triangle
        m = _told_apart(train, _moments(train, factor.rows), K)  # K shows it better than its factor does
        return _Coordinates(m, lambda a: at_pivots(solve_triangular(L, a, lower=True, trans=1)), factor.dimensions)


def _moments(train: Training, Z: Array) -> PairMoments:
    return PairMoments.of(Z, train.sign > 0, train.weight)


def _told_apart(train: Training, m: PairMoments, points: Array) -> PairMoments:
    """Return the moments; raise InfeasibleProblem if the means of these points are equal."""
    if m.same_means(train.sign, points):
        raise InfeasibleProblem(_SAME_MEANS, 0.0)
    return m


def _in_dimensions(m: PairMoments, p: int) -> tuple[Spread, Spread]:
    pos, neg = m.spreads
    return (pos._replace(p=p), neg._replace(p=p)) if p else (pos, neg)


def _left_out(view: _View, bound: WorstCase) -> LeftOut:
    """Return what is known of every point left out: at the optimum (κ(α)/√(a'Σx a) Σx + κ(β)/√(a'Σy a) Σy) a = d."""
    m, pair = view.moments, view.pair
    c = [side / spread**2 for side, spread in zip(bound.sides, bound.spreads, strict=True)]
    weights = c[0] * (1 - view.regular.shrinkage[0]), c[1] * (1 - view.regular.shrinkage[1])
    rows = m.rows if view.basis is None else m.rows @ view.basis
    return LeftOut.in_coordinates(rows, m.split, c[0] * pair.Sx + c[1] * pair.Sy, pair.d, weights)


def _level(kappa: Array | float) -> Array:
    square: Array = np.square(kappa)
    return square / (1 + square)
