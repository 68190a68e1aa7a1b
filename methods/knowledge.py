"""Labelled ellipsoids as training data (Pothin & Richard): what the methods share, and the two plain ones.

Four methods separate labelled ellipsoids E_i, (3), that are given as shapes around the rows of X or made from the points
by a covering; they differ in the points of the ellipsoids that an SVM is trained on.

    HMEM, SMEM   the most critical ones (see `ellipsoid_machines`)
    TSVC         the least critical ones
    SCSVM        the centres

The certificate of `mmc.methods.problems.knowledge` is that of the last SVM (2), on the training set that the method made.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import ClassVar, Never, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import COPIES, BinaryMethod, Fitted, Training
from mmc.methods.covering import Covering, cover
from mmc.methods.numerics.kernels import Array, Kernel
from mmc.methods.numerics.memory import require
from mmc.methods.pairs import SeveralClasses, fit_pairs
from mmc.methods.problems import Answer
from mmc.methods.problems.hinges import SvmProblem
from mmc.methods.problems.knowledge import CriticalPoints, KnowledgeAnswer, KnowledgeProblem, PointRule
from mmc.methods.problems.shapes import KnowledgeSets, Shapes, knowledge_sets


class KnowledgeMethod(BinaryMethod):
    """What the four methods share: the knowledge sets, and the reading of the SVM that they come down to."""

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "eps": [Interval(Real, 0, None, closed="neither"), None],
        "covering": [StrOptions({"half"}), dict, Covering, None],
        "novelty": [StrOptions({"all", "class", "own"})],
        "slack": [StrOptions({"point", "shared"})],
        "penalty": [StrOptions({"linear", "squared"})],
        "accumulate": ["boolean"],
    }

    covering: str | Mapping[str, object] | Covering | None

    def _validate_params(self) -> None:
        if self.kernel == "precomputed":
            raise ValueError(f"{type(self).__name__} makes sets around points: kernel='precomputed' has no points")
        super()._validate_params()

    def fit(self, X: ArrayLike, y: ArrayLike, shapes: Shapes | None = None, **given: Never) -> Self:
        """Fit to knowledge sets around the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_sets, n_features)
            The centres of the sets.
        y : array-like of shape (n_sets,)
            Their labels.
        shapes : array-like, default=None
            Radii (n_sets,), matrices Σ (n_sets, n_features, n_features), or a list that mixes both. Without shapes
            ``covering`` makes the sets out of the points.
        **given : dict
            Nothing: a ``sample_weight`` is refused with the names of the methods that take it.

        Returns
        -------
        self
            The fitted classifier. A bad shape raises ValueError; a problem without a certified answer raises
            InfeasibleProblem or NotConverged.
        """
        self._refuse(given)
        try:
            train = self._training(X, y, shapes=shapes)
        except SeveralClasses as several:
            found = several
        else:
            return self._fit_one(train)
        fit_pairs(self, found, shapes=shapes)
        return self

    def _sets(self, train: Training) -> KnowledgeSets:
        shapes = cast("Shapes | None", train.extra.get("shapes"))
        if shapes is not None:
            return train.work.once("sets", lambda: knowledge_sets(train.X, train.sign, shapes))
        if self.covering is None:
            return KnowledgeSets.of_points(train.X, train.sign)
        options, n = Covering.of(self.covering), len(train.X)
        require(8 * n**2, f"the distances between {n:,} points, for their covering,", "give shapes, or fewer rows")
        balls = train.work.once(("cover", options), lambda: cover(train.X, train.sign, options))
        return knowledge_sets(balls.centers, balls.sign, balls.radii)

    def _read(
        self, problem: KnowledgeProblem, answer: KnowledgeAnswer, critical: Array | None = None, **more: object
    ) -> Fitted:
        """Return the classifier of an SVM on points of the sets; ``more`` are further attributes."""
        rule, dual, sets = answer.primal, answer.dual, problem.sets
        bracket = problem.certify(rule, dual)
        return Fitted(
            objective=bracket.objective,
            gap=bracket.gap,
            iterations=answer.iterations,
            version=answer.version,
            intercept=rule.b,
            coef=rule.weights @ rule.points if self._linear else None,
            dual=None if self._linear else rule.weights,
            points=rule.points,
            judge=lambda delivered: problem.judge(delivered, dual),
            judged=dual.points,
            attributes={
                "n_sets_": len(sets.sign),
                "radii_": sets.radii,
                "eps_": dual.eps,
                "training_size_": len(rule.points),
                **more,
            },
            places={
                "centers_": sets.centers,
                "training_points_": rule.points,
                **({} if critical is None else {"critical_points_": critical}),
            },
        )


class TSVC(KnowledgeMethod):
    """Total support vector classification: an SVM on the least critical point of every knowledge set.

    The points of each iteration replace those of the one before until none moves by more than ``eps``.

    Parameters
    ----------
    C : float, default 1.0
        The cost of a unit of slack.
    eps : float or None, default None
        How far, in feature space, a point must move to count. None takes a quarter of the largest distance between a
        centre and its first least critical point.
    covering : {"half"}, dict, Covering or None, default "half"
        How ``fit`` makes sets of points if it is given no shapes. "half" is a ball of half the distance to the nearest
        point of the other class; a dict has the options of a `Covering`; None takes the points themselves.
    accumulate : bool, default False
        Whether the points join those of the iterations before, as SMEM's do, instead of replacing them.
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
    solver : {"alternating"}, default "alternating"
        The algorithm: least critical points and SVMs in turn.
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
        The ``eps`` that was used; None if no point ever moved.
    training_points_ : ndarray of shape (training_size_, n_features_in_)
        The points of the sets that the last SVM was trained on.
    training_size_ : int
        How many these are.
    critical_points_ : ndarray of shape (n_sets_, n_features_in_)
        The least critical point of every set.
    solution_ : Solution
        Status, objective ½‖w‖² + C Σ ξ of the last SVM, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import TSVC
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = TSVC().fit(X, [0, 0, 0, 1, 1, 1], shapes=[0.5] * 6)
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    def __init__(
        self,
        C: float = 1.0,
        eps: float | None = None,
        covering: str | Mapping[str, object] | Covering | None = "half",
        accumulate: bool = False,
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
        self.accumulate = accumulate
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label
        self.decision_function_shape = decision_function_shape

    def _fit(self, train: Training) -> Fitted:
        problem = KnowledgeProblem(
            self._sets(train),
            self.C,
            self._kernel,
            self.eps,
            shared_slack=False,
            least_critical=True,
            accumulate=self.accumulate,
        )
        answer = self._solve(problem)
        rule = answer.primal
        critical, _ = problem.sets.critical(self._kernel, rule.points, rule.weights, least=True)
        return self._read(problem, answer, critical)


class SCSVM(KnowledgeMethod):
    """Set-covering SVM: an SVM on the centres of the knowledge sets, whatever their size.

    Parameters
    ----------
    C : float, default 1.0
        The cost of a unit of slack.
    covering : {"half"}, dict, Covering or None, default "half"
        How ``fit`` makes sets of points if it is given no shapes. "half" is a ball of half the distance to the nearest
        point of the other class; a dict has the options of a `Covering`; None takes the points themselves.
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
    solver : {"libsvm"}, default "libsvm"
        The algorithm: libsvm with Newton steps that finish it.
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
        For other kernels: which of the centres the decision function uses.
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
        The iterations of libsvm and the Newton steps.
    eps_ : float or None
        None: the centres do not move.
    training_points_ : ndarray of shape (training_size_, n_features_in_)
        The points of the sets that the last SVM was trained on.
    training_size_ : int
        How many these are.
    solution_ : Solution
        Status, objective ½‖w‖² + C Σ ξ, duality gap, iterations, seconds, solver and its version.

    Examples
    --------
    >>> from mmc.methods import SCSVM
    >>> X = [[-2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    >>> model = SCSVM().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.5, 3.0]])
    array([1])
    """

    def __init__(
        self,
        C: float = 1.0,
        covering: str | Mapping[str, object] | Covering | None = "half",
        kernel: Kernel = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "libsvm",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
        decision_function_shape: str = "ovr",
    ):
        self.C = C
        self.covering = covering
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
        n = len(sets.sign)
        require(8 * COPIES * n**2, f"the Gram matrix of {n:,} sets", "take fewer rows, or a covering of fewer sets")
        K = self._kernel(sets.centers, sets.centers)
        svm = self._solve(SvmProblem(K, sets.sign, np.full(n, self.C)))
        answer = Answer(
            PointRule(sets.centers, svm.primal.coef, svm.primal.b),
            CriticalPoints(sets.centers, np.arange(n), K, svm.dual.a),
            svm.iterations,
            svm.version,
        )
        return self._read(KnowledgeProblem(sets, self.C, self._kernel, shared_slack=False), answer)
