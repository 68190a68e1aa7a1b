"""The maxi-min margin machine M⁴ (Gu & Guo, (12); Huang et al. 2008): the margin in standard deviations of each class.

    max  ρ   s.t.  w'x_i + b ≥ ρ s_x(w),   -(w'y_j + b) ≥ ρ s_y(w)                                              (12)

with s_x(w)² = w'Σx w, s_y(w)² = w'Σy w, the covariances divided by the class sizes as Huang et al. and MPM have them. With
slacks Huang et al. maximise ρ - C Σξ and leave the scale of w open; w → 0 then takes every slack to 0. Here the scale is that of
(24): ρ (s_x(w) + s_y(w)) = 2, the width of the margin, and slacks are traded for 2/ρ as (28) trades them for w'(x̄ - ȳ):

    min  2/ρ + C Σξ   s.t.  w'x_i + b ≥ ρ s_x(w) - ξ_i,   -(w'y_j + b) ≥ ρ s_y(w) - ξ_j,   ρ (s_x(w) + s_y(w)) = 2,   ξ ≥ 0

which is convex, has a solution for every C, and is (12) for C = ∞.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from mmc.methods._sklearn import Interval
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.numerics.cholesky import pivoted_cholesky
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.numerics.pair_moments import PairMoments
from mmc.methods.problems.scatter_margin import ScatterMargin, judge
from mmc.methods.solution import FitError


class M4(BinaryMethod):
    """Maxi-min margin machine; ``C=inf`` is the hard margin (12).

    Parameters
    ----------
    C : float or inf, default 1.0
        The cost of a unit of slack; ``inf`` allows none.
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
    ridge : float or None, default None
        Added to both covariances in feature space. None adds 1e-6 of the variance of the data, enough to fit any data.
        With a kernel of full rank and a small ridge each class can be mapped to one point, and ρ says nothing.
    solver : {"sequential-socp", "newton", "cvxpy"}, default "sequential-socp"
        The algorithm: a cone program; Newton steps from a support vector machine, for kernels and a finite C, 20 to 50
        times as fast at 300 points; the cone program written in cvxpy.
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
    rho_ : float
        ρ; with slacks, that of the soft margin; nan if w = 0.
    ridge_ : float
        The ridge that was added.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective 2/ρ + C Σξ, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import M4
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = M4().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "ridge": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        C: float = 1.0,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        ridge: float | None = None,
        solver: str = "sequential-socp",
        solver_options: dict[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        space = train.work.once(("scatter", self._kernel, self.ridge), lambda: self._space(train))
        problem = ScatterMargin(space.points, train.sign, space.share, self.C)
        answer = self._solve(problem)
        found = answer.certificate
        s_x, s_y = found.spread
        width = s_x + s_y
        bias = found.b + ((s_x - s_y) / width if width > 0 else 0.0)
        w = space.axes @ found.w
        coef: Array | None = w
        dual, intercept = None, bias - float(w @ space.middle)
        if space.pivots is not None:
            dual, coef, intercept = np.zeros(len(train.sign)), None, bias
            dual[space.pivots] = w
        return Fitted(
            found.objective,
            found.gap,
            answer.iterations,
            answer.version,
            intercept,
            coef=coef,
            dual=dual,
            judge=lambda rule: judge(problem, rule, answer.dual, space.ridge),
            attributes={"rho_": 2 / width if width > 0 else nan, "ridge_": space.ridge},
        )

    def _space(self, train: Training) -> _Space:
        if self._linear:
            middle = train.X.mean(axis=0)
            return _decorrelate(train.X - middle, train.sign, self.ridge, middle)
        # K = LL' to 1e-8; f = w'φ with φ(x) = L_P⁻¹ k(P, x) on the pivots P, so that w becomes L_P'⁻¹ w there.
        spec = self._kernel
        factor = train.work.once(("factor", spec), lambda: pivoted_cholesky(train.gram(spec), 1e-8))
        space = _decorrelate(factor.rows, train.sign, self.ridge, np.zeros(factor.rank))
        axes = solve_triangular(factor.triangle, space.axes, lower=True, trans=1)
        return replace(space, axes=axes, pivots=factor.pivots)


@dataclass(frozen=True)
class _Space:
    """Coordinates v of w = ``axes`` v in which Σx + Σy = I and Σx = diag(``share``)."""

    points: Array
    share: Array
    axes: Array
    middle: Array
    ridge: float
    pivots: NDArray[np.intp] | None = None


def _decorrelate(F: Array, sign: Array, ridge: float | None, middle: Array) -> _Space:
    m = PairMoments.of(F, sign > 0)
    apart, total = m.mean_pos - m.mean_neg, m.cov_pos + m.cov_neg
    if ridge is None:
        ridge = 1e-6 * float(np.trace(total) / 2 + apart @ apart / 4) / len(apart)
    total.ravel()[:: len(total) + 1] += 2 * ridge
    scale = np.sqrt(np.diag(total))
    scale = np.where(scale > 1e-13 * np.abs(apart), scale, np.abs(apart))  # below is what rounding leaves of no spread
    scale[scale == 0] = 1.0
    values, vectors = eigh(total / np.outer(scale, scale))
    flat = values <= 10 * len(values) * np.finfo(float).eps
    apart = apart / scale
    if np.linalg.norm(apart @ vectors[:, flat]) > 1e-6 * np.linalg.norm(apart):
        raise FitError("the classes have no spread in a direction that separates them: ρ is unbounded, use a ridge > 0")
    V = vectors[:, ~flat] / np.sqrt(values[~flat]) / scale[:, None]
    share, turn = eigh(V.T @ m.cov_pos @ V + ridge * V.T @ V)
    axes = V @ turn
    return _Space(F @ axes, np.clip(share, 0, 1), axes, middle, ridge)
