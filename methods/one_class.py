"""Novelty detection with ellipsoidal knowledge sets: the one-class extension that Pothin & Richard name in section 5."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.numerics.kernels import KERNELS, WITH_GAMMA, Array, KernelSpec, width
from mmc.methods.problems.one_class import OneClassProblem
from mmc.methods.problems.shapes import KnowledgeSets, Shapes, knowledge_sets
from mmc.methods.solution import NotConverged, Solution, Status
from mmc.methods.solvers.one_class import solve


class OneClassSMEM(OutlierMixin, BaseEstimator):
    """The region that holds whole ellipsoids of one class: a one-class SVM in the worst case over every set.

    Pothin & Richard name it in section 5; `mmc.methods.problems.one_class` states the problem. With points for sets it is
    scikit-learn's ``OneClassSVM``, whose decision values are ν n times ours.

    Parameters
    ----------
    nu : float, default 0.5
        The largest share of the sets that may be cut by the edge of the region; at least that share touches it.
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine"} or callable, default "rbf"
        A callable takes two matrices of points and returns the matrix of kernel values. Sets that are no points need a kernel
        with a gradient: "linear", "rbf" or "poly".
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    tol : float, default 1e-6
        The relative duality gap at which the rounds end.
    max_iter : int, default 200
        The largest number of rounds.

    Attributes
    ----------
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X had names.
    gamma_ : float
        The width that was used, for a kernel that has one.
    coef_ : ndarray of shape (1, n_features_in_)
        w, for the linear kernel only.
    offset_ : float
        ρ: ``decision_function`` is ``score_samples`` less this.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        The points of the sets that the region rests on.
    dual_coef_ : ndarray of shape (1, n_support)
        Their weights, which sum to 1.
    owner_ : ndarray of shape (n_support,)
        The set of each of these points.
    lowest_ : ndarray of shape (n_sets,)
        The lowest score on each set: exact for the linear kernel, else on the points of the set that were looked at.
    n_iter_ : int
        The rounds of the solver.
    solution_ : Solution
        Status, objective ½‖w‖² - ρ + Σ ξ / (ν n), duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import OneClassSMEM
    >>> model = OneClassSMEM(nu=0.25, gamma=0.5).fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], shapes=[0.2] * 4)
    >>> model.predict([[0.5, 0.5], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "nu": [Interval(Real, 0, 1, closed="right")],
        "kernel": [StrOptions(set(KERNELS) - {"precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale", "auto"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        nu: float = 0.5,
        kernel: str | Callable[[Array, Array], Array] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 200,
    ):
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: object = None, shapes: Shapes | None = None) -> Self:
        """Fit the region to sets around the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_sets, n_features)
            The centres of the sets.
        y : ignored
            There is one class.
        shapes : array-like, default=None
            Radii (n_sets,), matrices Σ (n_sets, n_features, n_features), or a list that mixes both; None: the rows are points.

        Returns
        -------
        self
            The fitted region. A bad shape raises ValueError; a problem without a certified answer raises InfeasibleProblem or
            NotConverged.
        """
        start = time.perf_counter()
        self._validate_params()
        centers: Array = validate_data(self, X, dtype=np.float64)
        sign = np.ones(len(centers))
        sets = KnowledgeSets.of_points(centers, sign) if shapes is None else knowledge_sets(centers, sign, shapes)
        for name in ("gamma_", "coef_"):
            self.__dict__.pop(name, None)
        if self.kernel in WITH_GAMMA:
            self.gamma_ = width(self.gamma, centers)
        problem = OneClassProblem(sets, self._kernel, float(self.nu))
        answer = solve(problem, tol=self.tol, max_iter=self.max_iter)
        found = answer.primal
        used = np.flatnonzero(found.weights)
        self.support_vectors_, self.owner_ = found.points[used], found.owner[used]
        self.dual_coef_ = found.weights[None, used]
        if self.kernel == "linear":
            self.coef_ = self.dual_coef_ @ self.support_vectors_
        self.n_iter_ = answer.iterations
        self.lowest_ = self._lowest(problem, found.points, found.owner)
        rounding = 1e-12 * float(np.abs(self.lowest_).max())
        self.offset_ = problem.offset(self.lowest_) - rounding  # what lies on the edge is inside
        norm2 = float(self.dual_coef_[0] @ self.score_samples(self.support_vectors_))
        bracket = problem.certify(norm2, self.lowest_, norm2)
        if not bracket.gap <= 10 * self.tol:
            raise NotConverged(
                f"the stored region is certified to {bracket.gap:.1e} only, not to {10 * self.tol:.0e}: scale the data",
                answer.iterations,
                bracket.gap,
            )
        seconds = time.perf_counter() - start
        self.solution_ = Solution(
            Status.SOLVED, bracket.objective, bracket.gap, answer.iterations, seconds, "alternating", answer.version
        )
        return self

    @property
    def _kernel(self) -> KernelSpec:
        return KernelSpec(self.kernel, getattr(self, "gamma_", None), self.degree, self.coef0)

    def _lowest(self, problem: OneClassProblem, points: Array, owner: NDArray[np.intp]) -> Array:
        """Return the lowest score on each set, by the stored rule."""
        sets = problem.sets
        if self.kernel == "linear":
            inside: Array = sets.centers @ self.coef_[0] - sets.widths(self.coef_[0])
            return inside
        critical, _ = sets.critical(problem.kernel, self.support_vectors_, self.dual_coef_[0])
        lowest = self._scores(critical)
        np.minimum.at(lowest, owner, self._scores(points))
        return lowest

    def _scores(self, X: Array) -> Array:
        linear = self.kernel == "linear"
        scores: Array = X @ self.coef_[0] if linear else self._kernel(X, self.support_vectors_) @ self.dual_coef_[0]
        return scores

    def score_samples(self, X: ArrayLike) -> Array:
        """Return ⟨w, φ(x)⟩ for every row: the larger, the more alike to the sets."""
        check_is_fitted(self)
        points: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return self._scores(points)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores less ρ: ≥ 0 is inside the region."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return +1 inside the region and -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
