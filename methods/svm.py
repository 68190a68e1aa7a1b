"""The biased soft-margin support vector machine (Nath & Bhattacharyya (2.11)).

    min_{w,b,ξ≥0}  ½‖w‖² + C_pos Σ_{y=1} ξ_j + C_neg Σ_{y=−1} ξ_j     s.t.  y_j (⟨w, x_j⟩ + b) ≥ 1 − ξ_j

(the paper writes its bias with the other sign). With ``max_norm`` it is (2.4), which bounds ‖w‖ instead of paying for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import ClassVar

import numpy as np

from mmc.methods._sklearn import Interval
from mmc.methods.base import Fitted, Training
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.problems import Answer
from mmc.methods.problems.bounded_norm import BoundedNorm
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.delivered import Judge
from mmc.methods.problems.hinges import Machine, SvmProblem
from mmc.methods.solvers import Session
from mmc.methods.solvers.bounded_norm import solve as solve_bounded
from mmc.methods.weighted import WeightedMethod


class SVM(WeightedMethod):
    """Soft-margin SVM with a cost for each class (Nath & Bhattacharyya, (2.11)), or with a margin of at least so much (2.4).

    Parameters
    ----------
    C_pos : float, default 1.0
        The cost of a unit of slack of a positive point.
    C_neg : float, default 1.0
        The cost of a unit of slack of a negative point.
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
    solver : {"libsvm", "interior-point", "cvxpy"}, default "libsvm"
        The algorithm: libsvm with Newton steps that finish it; an interior point method, quick for few features;
        (2.11) written in cvxpy.
    solver_options : dict or None, default None
        Options of that solver's ``solve``.
    pos_label : label or None, default None
        The positive class. None takes the larger label, as numbers if all labels are numbers. With more than two
        classes it must be None, and the larger label of each pair is positive.
    class_weight : {"balanced"}, dict or None, default None
        What multiplies the costs of each class: by label, or n_samples / (n_classes · size of the class).
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        With more than two classes, what ``decision_function`` returns: one column for each class, or one for each pair.
    max_norm : float or None, default None
        W: the costs of the slacks alone are minimised, with ‖w‖ ≤ W, so that the margin is at least 1/W. Only the ratio of the
        costs matters then.

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
        The training points that the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients in the decision function.
    alpha_ : ndarray of shape (n_samples,)
        The multiplier of every training point.
    cost_scale_ : float
        What multiplies the costs: 1, or with ``max_norm`` a factor with which (2.11) has the same classifier.
    n_iter_ : int
        The iterations of the solver.
    solution_ : Solution
        Status, objective ½‖w‖² + Σ C ξ, or Σ C ξ with ``max_norm``, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import SVM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = SVM(C_pos=10.0).fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **WeightedMethod._parameter_constraints,
        "C_pos": [Interval(Real, 0, None, closed="neither")],
        "C_neg": [Interval(Real, 0, None, closed="neither")],
        "max_norm": [Interval(Real, 0, None, closed="neither"), None],
    }

    _per_row = ("alpha_",)

    def __init__(
        self,
        C_pos: float = 1.0,
        C_neg: float = 1.0,
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "libsvm",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        class_weight: Mapping[object, float] | str | None = None,
        decision_function_shape: str = "ovr",
        max_norm: float | None = None,
    ):
        self.C_pos = C_pos
        self.C_neg = C_neg
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.max_norm = max_norm

    def _fit(self, train: Training) -> Fitted:
        C = np.where(train.sign > 0, float(self.C_pos), float(self.C_neg))
        weight = self._weights(train)
        C = C if weight is None else C * weight
        K = train.kernel(self._kernel) if self._can.rows else train.gram(self._kernel)
        if self.max_norm is not None:
            return self._fit_bounded(BoundedNorm(K, train.sign, C, float(self.max_norm)), train)
        problem = SvmProblem(K, train.sign, C)
        path = ("svm path", self.solver, str(self.solver_options), self._kernel)
        carried = {"session": train.work.once(path, Session[object])} if self._can.session else {}
        answer = self._solve(problem, **carried)
        bracket, dual = problem.certify(answer.primal, answer.dual), answer.dual
        return self._read(train, answer.primal, bracket, answer, dual.a, 1.0, lambda rule: problem.judge(rule, dual))

    def _fit_bounded(self, problem: BoundedNorm, train: Training) -> Fitted:
        answer = solve_bounded(problem, self._solve)
        bracket, dual = problem.certify(answer.primal, answer.dual), answer.dual
        alpha = answer.primal.coef * train.sign
        return self._read(
            train, answer.primal, bracket, answer, alpha, dual.cost, lambda rule: problem.judge(rule, dual)
        )

    def _read(
        self,
        train: Training,
        machine: Machine,
        bracket: Bracket,
        answer: Answer[object, object],
        alpha: Array,
        scale: float,
        judge: Judge,
    ) -> Fitted:
        return Fitted(
            bracket.objective,
            bracket.gap,
            answer.iterations,
            answer.version,
            machine.b,
            coef=machine.coef @ train.X if self._linear else None,
            dual=machine.coef,
            attributes={"alpha_": alpha, "cost_scale_": scale},
            judge=judge,
        )
