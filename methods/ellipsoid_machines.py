"""The ellipsoid machines (Pothin & Richard): the widest margin to labelled ellipsoids E_i, (3).

    HMEM   hard margin:  min ½‖w‖²              s.t.  y_i(⟨w, x⟩ + b) ≥ 1       ∀ x ∈ E_i   (5)
    SMEM   soft margin:  min ½‖w‖² + C Σ_i ξ_i  s.t.  y_i(⟨w, x⟩ + b) ≥ 1 − ξ_i  ∀ x ∈ E_i   (6)

With a linear kernel HMEM, and SMEM with a shared slack, are certified as solutions of (5) and (6), all others as the
last SVM (2), on the training set that the method made. For SMEM with a slack per point ``exact_gap_`` then says how far
(w, b) is from the optimum of (6), which the cone program bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mmc.methods.base import Fitted, Training
from mmc.methods.covering import Covering
from mmc.methods.knowledge import KnowledgeMethod
from mmc.methods.numerics.kernels import Kernel
from mmc.methods.problems.delivered import Delivered, Verdict
from mmc.methods.problems.knowledge import KnowledgeProblem, overlap
from mmc.methods.problems.shapes import KnowledgeSets
from mmc.methods.solvers import knowledge_socp

# scikit-learn's checks on data that have no hard margin: with a linear kernel, with a quadratic one too, and with a
# Gaussian one none that double precision can tell
_NOT_GAUSSIAN = ("check_classifiers_train", "check_fit_check_is_fitted", "check_n_features_in")
_NOT_QUADRATIC = (
    *_NOT_GAUSSIAN,
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_supervised_y_2d",
)
_NOT_LINEAR = (
    *_NOT_QUADRATIC,
    "check_classifier_data_not_an_array",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
)


class _EllipsoidMachine(KnowledgeMethod):
    """HMEM and SMEM: problems (5) and (6)."""

    eps: float | None
    novelty: str

    def _separate(self, sets: KnowledgeSets, C: float, shared: bool, squared: bool = False) -> Fitted:
        problem = KnowledgeProblem(sets, C, self._kernel, self.eps, self.novelty, shared, squared=squared)
        answer = self._solve(problem)
        rule = answer.primal
        critical, _ = sets.critical(self._kernel, rule.points, rule.weights)
        if not self._linear:
            return self._read(problem, answer, critical, exact_gap_=np.nan)
        exact = answer.dual if shared or squared else knowledge_socp.solve(problem).dual

        def judge(rule: Delivered) -> Verdict:
            whole = problem.judge_sets(rule, exact)
            verdict = whole if shared else problem.judge(rule, answer.dual)
            return replace(verdict, facts={"exact_gap_": whole.gap})

        return replace(self._read(problem, answer, critical), judge=judge)


class HMEM(_EllipsoidMachine):
    """Hard-margin ellipsoid machine: the widest margin to knowledge sets that are all on their side, (5).

    Parameters
    ----------
    eps : float or None, default None
        How far, in feature space, a critical point must be from the training set to join it (Table 1).
        None takes a hundredth of the largest distance between a centre and its first critical point.
    covering : {"half"}, dict, Covering or None, default None
        How ``fit`` makes sets of points if it is given no shapes. "half" is a ball of half the distance to the nearest
        point of the other class; a dict has the options of a `Covering`; None takes the points themselves. This is the
        default, since balls of half the distance may touch, and then there is no hard margin.
    novelty : {"all", "class", "own"}, default "all"
        From which points of the training set: all, those of its class, or those of its own set.
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine"} or callable, default "linear"
        A callable takes two matrices of points and returns the matrix of kernel values. Sets that are no points need
        a kernel with a gradient: "linear", "rbf" or "poly".
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    solver : {"alternating", "socp", "cvxpy"}, default "alternating"
        The algorithm: critical points and SVMs in turn (Table 1); for the linear kernel one cone program, or the same
        written in cvxpy.
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
        For other kernels: which of ``training_points_`` the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients in the decision function.
    n_sets_ : int
        The number of knowledge sets.
    centers_ : ndarray of shape (n_sets_, n_features_in_)
        Their centres.
    radii_ : ndarray of shape (n_sets_,)
        Their radii: of an ellipsoid the longest half-axis, of a point 0.
    n_iter_ : int
        The rounds of the solver.
    eps_ : float or None
        The ``eps`` that was used; None if the solver has none.
    training_points_ : ndarray of shape (training_size_, n_features_in_)
        The points of the sets that the last SVM was trained on.
    training_size_ : int
        How many these are.
    critical_points_ : ndarray of shape (n_sets_, n_features_in_)
        The most critical point of every set.
    exact_gap_ : float
        For the linear kernel: the relative distance of (w, b) from the optimum of (5); otherwise nan.
    solution_ : Solution
        Status, objective ½‖w‖², duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import HMEM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = HMEM().fit(X, [0, 0, 0, 1, 1, 1], shapes=[0.5] * 6)
    >>> model.predict([[0.5, 3.0]])
    array([1])
    >>> model.n_sets_
    6
    """

    def __init__(
        self,
        eps: float | None = None,
        covering: str | Mapping[str, object] | Covering | None = None,
        novelty: str = "all",
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.eps = eps
        self.covering = covering
        self.novelty = novelty
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        sets = self._sets(train)
        infeasible = overlap(sets)
        if infeasible is not None:
            raise infeasible
        return self._separate(sets, np.inf, shared=True)

    def _expected_failed_checks(self) -> dict[str, str]:
        """Return scikit-learn's checks whose data have no hard margin in the feature space of this kernel."""
        checks = {"linear": _NOT_LINEAR, "poly": _NOT_QUADRATIC, "rbf": _NOT_GAUSSIAN}.get(str(self.kernel), ())
        return dict.fromkeys(checks, "the classes of this check's data have no hard margin")


class SMEM(_EllipsoidMachine):
    """Soft-margin ellipsoid machine: the widest margin to knowledge sets, with slack, (6).

    Parameters
    ----------
    C : float, default 1.0
        The cost of a unit of slack.
    eps : float or None, default None
        How far, in feature space, a critical point must be from the training set to join it (Table 1).
        None takes a quarter, or with a shared slack a hundredth, of the largest distance between a centre and its
        first critical point.
    covering : {"half"}, dict, Covering or None, default "half"
        How ``fit`` makes sets of points if it is given no shapes. "half" is a ball of half the distance to the nearest
        point of the other class; a dict has the options of a `Covering`; None takes the points themselves.
    novelty : {"all", "class", "own"}, default "all"
        From which points of the training set: all, those of its class, or those of its own set.
    slack : {"point", "shared"}, default "point"
        Whether every critical point has a slack of its own, as printed, or every set has one, which is (6).
        Solvers "socp" and "cvxpy" solve (6) whatever ``slack`` and ``eps`` are.
    penalty : {"linear", "squared"}, default "linear"
        What slacks cost: C Σ ξ, or C Σ ξ², which the paper names at the end of section 2. Squares need solver "alternating".
    kernel : {"linear", "rbf", "poly", "laplacian", "sigmoid", "chi2", "cosine"} or callable, default "linear"
        A callable takes two matrices of points and returns the matrix of kernel values. Sets that are no points need
        a kernel with a gradient: "linear", "rbf" or "poly".
    gamma : {"scale", "auto"} or float, default "scale"
        The width of "rbf", exp(-gamma ‖x - z‖²), of "poly", (gamma x'z + coef0)^degree, and of "laplacian", "sigmoid" and
        "chi2": a number, 1 / (n_features · X.var()), or 1 / n_features.
    degree : int, default 3
        The degree of "poly".
    coef0 : float, default 1.0
        The constant of "poly" and "sigmoid".
    solver : {"alternating", "socp", "cvxpy"}, default "alternating"
        The algorithm: critical points and SVMs in turn (Table 1); for the linear kernel one cone program, or the same
        written in cvxpy.
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
        For other kernels: which of ``training_points_`` the decision function uses.
    support_vectors_ : ndarray of shape (n_support, n_features_in_)
        These points.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients in the decision function.
    n_sets_ : int
        The number of knowledge sets.
    centers_ : ndarray of shape (n_sets_, n_features_in_)
        Their centres.
    radii_ : ndarray of shape (n_sets_,)
        Their radii: of an ellipsoid the longest half-axis, of a point 0.
    n_iter_ : int
        The rounds of the solver.
    eps_ : float or None
        The ``eps`` that was used; None if the solver has none.
    training_points_ : ndarray of shape (training_size_, n_features_in_)
        The points of the sets that the last SVM was trained on.
    training_size_ : int
        How many these are.
    critical_points_ : ndarray of shape (n_sets_, n_features_in_)
        The most critical point of every set.
    exact_gap_ : float
        For the linear kernel: the relative distance of (w, b) from the optimum of (6); otherwise nan.
    solution_ : Solution
        Status, objective ½‖w‖² + C Σ ξ, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import SMEM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = SMEM(C=10.0).fit(X, [0, 0, 0, 1, 1, 1], shapes=[0.5] * 6)
    >>> model.predict([[0.5, 3.0]])
    array([1])
    >>> model.n_sets_
    6
    """

    def __init__(
        self,
        C: float = 1.0,
        eps: float | None = None,
        covering: str | Mapping[str, object] | Covering | None = "half",
        novelty: str = "all",
        slack: str = "point",
        penalty: str = "linear",
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.C = C
        self.eps = eps
        self.covering = covering
        self.novelty = novelty
        self.slack = slack
        self.penalty = penalty
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        squared = self.penalty == "squared"
        if squared and not self._can.squared_slack:
            raise ValueError(f"penalty='squared' needs solver='alternating'; {self.solver!r} has linear slacks only")
        shared = self.slack == "shared" or not self._can.slack_per_point
        return self._separate(self._sets(train), self.C, shared, squared)

    def _expected_failed_checks(self) -> dict[str, str]:
        """Return scikit-learn's checks on noise in which critical points of the printed algorithm move without end."""
        checks = ("check_dtype_object",) if self.kernel == "linear" else ()
        return dict.fromkeys(checks, "solver 'alternating' does not converge on the pairs of this check's classes")
