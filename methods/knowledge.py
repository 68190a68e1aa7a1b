"""Ellipsoidal knowledge sets (Pothin & Richard): HMEM and SMEM, and the two methods they are compared with.

All four separate labelled ellipsoids E_i, (3), that are given as shapes around the rows of X or made from the points
by a covering; they differ in the points of the ellipsoids that an SVM is trained on.

    HMEM   the most critical ones, hard margin:  min ½‖w‖²             s.t.  y_i(⟨w, x⟩ + b) ≥ 1       ∀ x ∈ E_i   (5)
    SMEM   the most critical ones, soft margin:  min ½‖w‖² + C Σ_i ξ_i  s.t.  y_i(⟨w, x⟩ + b) ≥ 1 − ξ_i  ∀ x ∈ E_i   (6)
    TSVC   the least critical ones
    SCSVM  the centres

They are certified as `mmc.methods.problems.knowledge` says: with a linear kernel HMEM, and SMEM with a shared slack, as
solutions of (5) and (6), all others as the last SVM (2), on the training set that the method made. For SMEM with a slack per
point ``exact_gap_`` then says how far (w, b) is from the optimum of (6), which the cone program bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.covering import Covering, cover
from mmc.methods.numerics.kernels import Kernel
from mmc.methods.problems import Answer
from mmc.methods.problems.hinges import SvmProblem
from mmc.methods.problems.knowledge import CriticalPoints, KnowledgeAnswer, KnowledgeProblem, PointRule, overlap
from mmc.methods.problems.shapes import KnowledgeSets, Shapes, knowledge_sets
from mmc.methods.solvers import knowledge_socp

# scikit-learn's checks on data that have no hard margin: with a linear kernel, with a quadratic one too, and with a
# Gaussian one none that double precision can tell
_NOT_GAUSSIAN = ("check_fit_check_is_fitted", "check_n_features_in")
_NOT_QUADRATIC = (
    *_NOT_GAUSSIAN,
    "check_classifiers_train",
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
)


class _KnowledgeMethod(BinaryMethod):
    """What the four methods share: the knowledge sets, and the reading of the SVM that they come down to."""

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "eps": [Interval(Real, 0, None, closed="neither"), None],
        "covering": [StrOptions({"half"}), dict, Covering, None],
        "novelty": [StrOptions({"all", "class", "own"})],
        "slack": [StrOptions({"point", "shared"})],
        "accumulate": ["boolean"],
    }

    covering: str | Mapping[str, object] | Covering | None
    eps: float | None
    novelty: str

    def fit(self, X: ArrayLike, y: ArrayLike, shapes: Shapes | None = None) -> Self:
        """Fit to knowledge sets around the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_sets, n_features)
            The centres of the sets.
        y : array-like of shape (n_sets,)
            Their labels, of two classes.
        shapes : array-like, default=None
            Radii (n_sets,), matrices Σ (n_sets, n_features, n_features), or a list that mixes both. Without shapes
            ``covering`` makes the sets out of the points.

        Returns
        -------
        self
            The fitted classifier. A bad shape raises ValueError; a problem without a certified answer raises
            InfeasibleProblem or NotConverged.
        """
        return self._fit_one(self._training(X, y, shapes=shapes))

    def _sets(self, train: Training) -> KnowledgeSets:
        shapes = cast("Shapes | None", train.extra.get("shapes"))
        if shapes is not None:
            return train.work.once("sets", lambda: knowledge_sets(train.X, train.sign, shapes))
        if self.covering is None:
            return KnowledgeSets.of_points(train.X, train.sign)
        options = Covering.of(self.covering)
        balls = train.work.once(("cover", options), lambda: cover(train.X, train.sign, options))
        return knowledge_sets(balls.centers, balls.sign, balls.radii)

    def _read(self, problem: KnowledgeProblem, answer: KnowledgeAnswer, **more: object) -> Fitted:
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
            attributes={
                "n_sets_": len(sets.sign),
                "centers_": sets.centers,
                "radii_": sets.radii,
                "n_iter_": answer.iterations,
                "eps_": dual.eps,
                "training_points_": rule.points,
                "training_size_": len(rule.points),
                **more,
            },
        )


class _EllipsoidMachine(_KnowledgeMethod):
    """HMEM and SMEM: problems (5) and (6)."""

    def _separate(self, sets: KnowledgeSets, C: float, shared: bool) -> Fitted:
        problem = KnowledgeProblem(sets, C, self._kernel, self.eps, self.novelty, shared)
        answer = self._solve(problem)
        rule = answer.primal
        critical, _ = sets.critical(self._kernel, rule.points, rule.weights)
        if not self._linear:
            return self._read(problem, answer, critical_points_=critical, exact_gap_=np.nan)
        exact = problem.certify_sets(rule, answer.dual if shared else knowledge_socp.solve(problem).dual)
        fitted = self._read(problem, answer, critical_points_=critical, exact_gap_=exact.gap)
        return replace(fitted, objective=exact.objective, gap=exact.gap) if shared else fitted


class HMEM(_EllipsoidMachine):
    """Hard-margin ellipsoid machine: the widest margin to knowledge sets that are all on their side, (5).

    ``eps`` is how far, in feature space, a critical point must be from the training set to join it (Table 1), from
    ``novelty`` points: "all", those of the "class", or those of the "own" set; by default a hundredth of the largest
    distance between a centre and its first critical point. The sets come from ``fit(…, shapes=…)`` or from ``covering``;
    the default takes the points themselves, since the balls of a covering at ½ may touch, and then there is no hard
    margin.
    """

    def __init__(
        self,
        eps: float | None = None,
        covering: str | Mapping[str, object] | Covering | None = None,
        novelty: str = "all",
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
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

    ``slack``: "point", as printed, every critical point has its own; "shared", one for each set, which is (6).
    The other parameters are HMEM's, except that ``eps`` is by default a quarter of that distance where every point has
    its slack. Solver "socp" solves (6) whatever ``slack`` and ``eps`` are.
    """

    def __init__(
        self,
        C: float = 1.0,
        eps: float | None = None,
        covering: str | Mapping[str, object] | Covering | None = "half",
        novelty: str = "all",
        slack: str = "point",
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
    ):
        self.C = C
        self.eps = eps
        self.covering = covering
        self.novelty = novelty
        self.slack = slack
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.solver_options = solver_options
        self.pos_label = pos_label

    def _fit(self, train: Training) -> Fitted:
        return self._separate(self._sets(train), self.C, self.slack == "shared" or not self._can.slack_per_point)


class TSVC(_KnowledgeMethod):
    """Total support vector classification: an SVM on the least critical point of every knowledge set.

    The points of each iteration replace those of the one before until none moves by more than ``eps``, or, with
    ``accumulate``, join them as SMEM's do.
    """

    def __init__(
        self,
        C: float = 1.0,
        eps: float | None = None,
        covering: str | Mapping[str, object] | Covering | None = "half",
        accumulate: bool = False,
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
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
        return self._read(problem, answer, critical_points_=critical)


class SCSVM(_KnowledgeMethod):
    """Set-covering SVM: an SVM on the centres of the knowledge sets, whatever their size."""

    def __init__(
        self,
        C: float = 1.0,
        covering: str | Mapping[str, object] | Covering | None = "half",
        kernel: Kernel = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "libsvm",
        solver_options: Mapping[str, object] | None = None,
        pos_label: object = None,
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

    def _fit(self, train: Training) -> Fitted:
        sets = self._sets(train)
        n = len(sets.sign)
        K = self._kernel(sets.centers, sets.centers)
        svm = self._solve(SvmProblem(K, sets.sign, np.full(n, self.C)))
        answer = Answer(
            PointRule(sets.centers, svm.primal.coef, svm.primal.b),
            CriticalPoints(sets.centers, np.arange(n), K, svm.dual.a),
            svm.iterations,
            svm.version,
        )
        return self._read(KnowledgeProblem(sets, self.C, self._kernel, shared_slack=False), answer)
