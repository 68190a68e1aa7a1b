"""Ellipsoidal knowledge sets (Pothin & Richard): HMEM and SMEM, and the two methods they are compared with.

All four separate labelled ellipsoids E_i, (3), that are given as shapes around the rows of X or made from the points
by a covering; they differ in the points of the ellipsoids that an SVM is trained on.

    HMEM   the most critical ones, hard margin:  min ½‖w‖²             s.t.  y_i(⟨w, x⟩ + b) ≥ 1       ∀ x ∈ E_i   (5)
    SMEM   the most critical ones, soft margin:  min ½‖w‖² + C Σ_i ξ_i  s.t.  y_i(⟨w, x⟩ + b) ≥ 1 − ξ_i  ∀ x ∈ E_i   (6)
    TSVC   the least critical ones
    SCSVM  the centres

The certificate. With f = ⟨w, ·⟩ + b and α on points of the sets, the primal value is that of (w, b) with the smallest
slacks (for a hard margin, scaled until all margins are 1), the dual value that of α made feasible by scaling. For a
linear kernel the worst case over E_i is exact, so that HMEM, and SMEM with a shared slack, are certified as solutions
of (5) and (6). Otherwise the gap is that of the last SVM (2), on the training set that the method made; for SMEM with
a slack per point ``exact_gap_`` then says how far (w, b) is from the optimum of (6), which the cone program bounds.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.base import BinaryMethod, Fitted, Training
from mmc.methods.covering import Covering, cover
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.hinges import SvmProblem
from mmc.methods.shapes import KnowledgeSets, knowledge_sets
from mmc.methods.solution import InfeasibleProblem
from mmc.methods.solvers import knowledge_socp
from mmc.methods.solvers.knowledge_socp import CriticalPoints, KnowledgeProblem

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryMethod._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "eps": [Interval(Real, 0, None, closed="neither"), None],
        "covering": [StrOptions({"half"}), dict, Covering, None],
        "novelty": [StrOptions({"all", "class", "own"})],
        "slack": [StrOptions({"point", "shared"})],
        "accumulate": ["boolean"],
    }

    def fit(self, X: Any, y: Any, shapes: Any = None) -> Self:
        """Fit to knowledge sets around the rows of X: radii (n,), matrices Σ (n, d, d), or a list that mixes both.

        Without shapes ``covering`` makes the sets: "half", the options of a Covering, or None, the points themselves.
        Raise ValueError for a bad shape, InfeasibleProblem, NotConverged.
        """
        return self._fit_one(self._training(X, y, shapes=shapes))

    def _sets(self, train: Training) -> KnowledgeSets:
        shapes = train.extra.get("shapes")
        if shapes is not None:
            return train.work.once("sets", lambda: knowledge_sets(train.X, train.sign, shapes))
        if self.covering is None:
            return KnowledgeSets.of_points(train.X, train.sign)
        options = Covering.of(self.covering)
        balls = train.work.once(("cover", options), lambda: cover(train.X, train.sign, options))
        return knowledge_sets(balls.centers, balls.sign, balls.radii)

    def _read(self, sets: KnowledgeSets, svm: CriticalPoints, C: float, owner: NDArray[np.intp]) -> Fitted:
        """Return the classifier of an SVM on points of the sets, certified for slacks that an ``owner`` shares."""
        sign = sets.sign[svm.owner]
        weights = svm.alpha * sign
        f = svm.gram @ weights
        margins = np.full(owner.max() + 1, np.inf)
        np.minimum.at(margins, owner, sign * (f + svm.b))
        primal = _primal(float(weights @ f), margins, C)
        return Fitted(
            objective=primal,
            gap=_gap(primal, _dual(svm, sign, owner, C)),
            iterations=svm.iterations,
            version=svm.version,
            intercept=svm.b,
            coef=weights @ svm.points if self._linear else None,
            dual=None if self._linear else weights,
            points=svm.points,
            attributes={
                "n_sets_": len(sets.sign),
                "centers_": sets.centers,
                "radii_": sets.radii,
                "n_iter_": svm.iterations,
                "eps_": svm.eps,
                "training_points_": svm.points,
                "training_size_": len(svm.points),
            },
        )


class _EllipsoidMachine(_KnowledgeMethod):
    """HMEM and SMEM: problems (5) and (6)."""

    def _separate(self, sets: KnowledgeSets, C: float, shared: bool) -> Fitted:
        problem = KnowledgeProblem(sets, C, self._kernel, self.eps, self.novelty, shared)
        svm = self._solve(problem)
        sign = sets.sign[svm.owner]
        fitted = self._read(sets, svm, C, svm.owner if shared else np.arange(len(sign)))
        exact = np.nan
        if self._linear:
            w = (svm.alpha * sign) @ svm.points
            primal = _primal(float(w @ w), sets.sign * (sets.centers @ w + svm.b) - sets.widths(w), C)
            bound = svm if shared else knowledge_socp.solve(problem)
            exact = _gap(primal, _dual(bound, sets.sign[bound.owner], bound.owner, C))
            if shared:
                fitted = replace(fitted, objective=primal, gap=exact)
        critical, _ = sets.critical(self._kernel, svm.points, svm.alpha * sign)
        return replace(fitted, attributes={**fitted.attributes, "critical_points_": critical, "exact_gap_": exact})


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
        covering: Any = None,
        novelty: str = "all",
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
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
        pair = sets.overlapping()
        if pair is not None:
            i, j, contact = pair
            raise InfeasibleProblem(
                f"no hard margin: knowledge sets {i} (positive) and {j} (negative) "
                + (f"overlap; scaled by {contact:.3g} they would touch" if contact < 1 else "touch")
                + "; shrink them or use SMEM",
                1 - min(contact, 1.0),
            )
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
        covering: Any = "half",
        novelty: str = "all",
        slack: str = "point",
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
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
        return self._separate(self._sets(train), self.C, self.slack == "shared" or self.solver == "socp")


class TSVC(_KnowledgeMethod):
    """Total support vector classification: an SVM on the least critical point of every knowledge set.

    The points of each iteration replace those of the one before until none moves by more than ``eps``, or, with
    ``accumulate``, join them as SMEM's do.
    """

    def __init__(
        self,
        C: float = 1.0,
        eps: float | None = None,
        covering: Any = "half",
        accumulate: bool = False,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "alternating",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
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
        sets = self._sets(train)
        problem = KnowledgeProblem(
            sets,
            self.C,
            self._kernel,
            self.eps,
            shared_slack=False,
            least_critical=True,
            accumulate=self.accumulate,
        )
        svm = self._solve(problem)
        fitted = self._read(sets, svm, self.C, np.arange(len(svm.points)))
        critical, _ = sets.critical(self._kernel, svm.points, svm.alpha * sets.sign[svm.owner], least=True)
        return replace(fitted, attributes={**fitted.attributes, "critical_points_": critical})


class SCSVM(_KnowledgeMethod):
    """Set-covering SVM: an SVM on the centres of the knowledge sets, whatever their size."""

    def __init__(
        self,
        C: float = 1.0,
        covering: Any = "half",
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "libsvm",
        solver_options: dict[str, Any] | None = None,
        pos_label: Any = None,
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
        found = self._solve(SvmProblem(K, sets.sign, np.full(n, self.C)))
        svm = CriticalPoints(
            sets.centers, np.arange(n), K, found.dual.a, found.primal.b, found.iterations, found.version
        )
        return self._read(sets, svm, self.C, svm.owner)


def _primal(squared_norm: float, margins: Array, C: float) -> float:
    """Return ½‖w‖² + C Σ ξ for the smallest slacks; for C = ∞ of (w, b) scaled until the least margin is 1."""
    if np.isfinite(C):
        return 0.5 * squared_norm + C * float(np.maximum(1 - margins, 0).sum())
    least = float(margins.min())
    return 0.5 * squared_norm / least**2 if least > 0 else np.inf


def _dual(svm: CriticalPoints, sign: Array, owner: NDArray[np.intp], C: float) -> float:
    """Return Σα − ½‖Σ α y x‖² for α scaled to Σ_{one owner} α ≤ C, then to Σ αy = 0, then together to its best."""
    totals = np.bincount(owner, svm.alpha)
    alpha = svm.alpha * np.divide(C, totals, out=np.ones_like(totals), where=totals > C)[owner]
    pos, neg = alpha[sign > 0].sum(), alpha[sign < 0].sum()
    if min(pos, neg) == 0:
        return 0.0
    alpha *= min(pos, neg) / np.where(sign > 0, pos, neg)
    weights = alpha * sign
    linear, quadratic = float(alpha.sum()), float(weights @ svm.gram @ weights)
    scale = linear / quadratic if quadratic > 0 else 1.0
    if np.isfinite(C):
        scale = min(scale, 1.0)
    return scale * linear - 0.5 * scale**2 * quadratic


def _gap(primal: float, dual: float) -> float:
    return (primal - dual) / primal if np.isfinite(primal) else np.inf
