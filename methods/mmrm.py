"""The max-margin ratio machine (Gu & Guo): the largest margin, measured by the spread within the classes.

    max  d_b^m(w) / d_w^m(w)                                                                             (18)–(20)

is, because d_w^m = d_b^c - d_b^m (17), a linear program (24), with slacks (28)

    min  w'(x̄ - ȳ) + C (Σξ_i + Σξ_j)   s.t.  w'x_i + b ≥ 1 - ξ_i,  -(w'y_j + b) ≥ 1 - ξ_j,  ξ ≥ 0

and, with w = Σ α_k φ(x_k) - Σ β_l φ(y_l), the kernel form (30). α, β ≥ 0 there is essential: with free signs every class can
be mapped to one point, and the ratio says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, nan
from numbers import Real
from typing import ClassVar

import numpy as np

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.problems.ratio import RatioLP, RatioPrimal
from mmc.methods.problems.ratio_matrices import dense_program, kernel_program
from mmc.methods.solution import FitError
from mmc.methods.solvers import Session

_SMALL = 1000  # points up to which a centred copy of the Gram matrix costs nothing
_SAMPLE = 100  # rows from which the unit of a column is estimated


class MMRM(BinaryMethod):
    """Max-margin ratio machine (Gu & Guo): (28) for the linear kernel, (30) for the others.

    Below the threshold max(1/n_x, 1/n_y) of C the program may be unbounded, and at the threshold w = 0 is optimal.
    The coefficients of (30) are capped (see ``problems/ratio.py``), far above what the data of the papers need.

    Parameters
    ----------
    C : float or inf, default 10.0
        The cost of a unit of slack; ``inf`` is the hard margin (24).
    C_unit : {"threshold", "absolute"}, default "threshold"
        Whether C counts in multiples of the threshold, or is the paper's own.
    bias : {"program", "ratio"}, default "program"
        The constant of the decision function: that of the linear program, which puts the plane in the middle of the margin;
        or (22), which divides the margin in proportion to the spread of each class towards it.
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine", "precomputed"} or callable, default "linear"
        A callable takes two matrices of points and returns the matrix of kernel values; with "precomputed", X is that
        matrix. (30) takes any kernel.
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    solver : {"lp", "column-generation", "cvxpy"}, default "lp"
        The algorithm: the whole linear program by the simplex method of HiGHS; small parts of it by an interior
        point method, for many points; the program written in cvxpy.
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
        Their coefficients in the decision function.
    margin_ratio_ : float
        2 / (w'(x̄ - ȳ) - 2), the ratio of Theorem 3. With slacks it is the ratio of the soft margin, the points
        within it
        left aside. It is ∞ where the classes have no spread towards each other, and nan where the means are closer
        than the soft margin is wide, so that there is no ratio.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective w'(x̄ - ȳ) + C Σ ξ, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import MMRM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = MMRM(C=10.0).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "C_unit": [StrOptions({"threshold", "absolute"})],
        "bias": [StrOptions({"program", "ratio"})],
    }

    _needs_definite = False  # (30) is a linear program in K, whatever K is

    def __init__(
        self,
        C: float = 10.0,
        C_unit: str = "threshold",
        bias: str = "program",
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "lp",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.C = C
        self.C_unit = C_unit
        self.bias = bias
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        z = train.sign
        weight = np.where(z > 0, 1 / np.sum(z > 0), 1 / np.sum(z < 0))
        C = self._slack_cost(float(weight.max()))
        kernel = None if self._linear else self._kernel
        if kernel is None:
            problem, middle, size = train.work.once("ratio of features", lambda: _of_features(train.X, z, weight))
        else:
            whole = len(z) <= _SMALL or not self._can.rows
            problem, middle, size = train.work.once(
                ("ratio of kernel", kernel, whole),
                lambda: _of_kernel(train.gram(kernel) if whole else train.kernel(kernel), z, weight, whole),
            )
        problem = replace(problem, C=C)
        path = ("ratio path", self.solver, kernel)
        carried = {"session": train.work.once(path, Session[object])} if self._can.session else {}
        answer = self._solve(problem, **carried)
        primal, bracket = answer.primal, problem.certify(answer.primal, answer.dual)
        coefficients = (1.0 if kernel is None else z) * primal.v / size
        b = primal.b if self.bias == "program" else _dividing(problem, primal)
        return Fitted(
            bracket.objective,
            bracket.gap,
            answer.iterations,
            answer.version,
            b - float(coefficients @ middle),
            coef=coefficients if kernel is None else None,
            dual=None if kernel is None else coefficients,
            attributes={"margin_ratio_": _ratio(primal)},
            judge=lambda rule: problem.judge(rule, primal, answer.dual, primal.b - b),
        )

    def _slack_cost(self, threshold: float) -> float:
        C = self.C * (threshold if self.C_unit == "threshold" else 1.0)
        if threshold * (1 - 1e-12) > C:
            raise FitError(
                f"C={self.C:g} ({self.C_unit}) is below the threshold max(1/n_x, 1/n_y) = {threshold:g}: "
                "the linear program may be unbounded"
            )
        return C


def _of_features(X: Array, z: Array, weight: Array) -> tuple[RatioLP, Array, Array]:
    """Return (28) for standardised features, which leaves the optimum alone but suits the solvers' tolerances."""
    middle, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    return dense_program(z[:, None] * ((X - middle) / scale), z, weight, inf, False), middle, scale


def _of_kernel(K: Array | LazyGram, z: Array, weight: Array, whole: bool) -> tuple[RatioLP, Array, Array]:
    """Return (30) with G = zz'∘(K - 1m')/s: the columns can be centred because z'λ = 0, it only moves b, and v counts in any unit.

    m_i is the median of column i, s_i how far the column, or the point's own entry, is from it: medians of some rows, which
    a few points far outside do not move, whatever the kernel makes of them.
    """
    n = len(z)
    some = np.arange(0, n, 1 + n // _SAMPLE)
    rows = K[np.ix_(some, np.arange(n))]
    middle = _medians(rows)
    rows -= middle
    size = np.maximum(_medians(np.abs(rows, out=rows)), np.abs(K.diagonal() - middle))
    size[size == 0] = 1.0
    return kernel_program(K, z, weight, middle, size, whole), middle, size


def _medians(rows: Array) -> Array:
    """Return the median of each column; of so few rows sorting is much quicker than `np.median`."""
    ordered, last = np.sort(rows, axis=0), len(rows) - 1
    middle: Array = (ordered[last // 2] + ordered[(last + 1) // 2]) / 2
    return middle


def _dividing(problem: RatioLP, primal: RatioPrimal) -> float:
    """Return the bias (22): with x*, y* the points of each class that are nearest to the other along w,

    b = −w'y* − (w'x* − w'y*) d_y / (d_x + d_y),   d_x = w'(x̄ − x*),  d_y = w'(y* − ȳ).
    """
    along, positive = problem.sign * problem.matrix.times(primal.v), problem.sign > 0
    x, y = along[positive], along[~positive]
    d_x, d_y = float(x.mean() - x.min()), float(y.max() - y.mean())
    share = d_y / (d_x + d_y) if d_x + d_y > 0 else 0.5
    return float(-y.max() - share * (x.min() - y.max()))


def _ratio(primal: RatioPrimal) -> float:
    within = primal.spread - 2
    return 2 / within if within > 1e-9 else inf if primal.slack < 1e-9 else nan
