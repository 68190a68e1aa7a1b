"""Ellipsoids by alternation (Pothin & Richard, Table 1): critical points for fixed (w, b), then an SVM on them.

    A⁽⁰⁾ = {x̄_i}. Repeat: an SVM (2) on A⁽ᵏ⁾ gives f; every set gives its most critical point, (17),

        x_i^c = x̄_i − y_i Σ_i v_i / √⟨Σ_i v_i, v_i⟩,   v_i = Σ_j α_j y_j ∇ₓκ(x, x_j) at x̄_i

    (v_i = w for a linear kernel: (11)); those that lie more than ε from the points of A⁽ᵏ⁾, in feature space, are
    inserted. Until none is.

The least critical point has the other sign. Replacing, A⁽ᵏ⁺¹⁾ holds the new points alone, until none moved by
more than ε.

The paper's SVM gives every point of A⁽ᵏ⁾ its own slack, so that a set pays once for each of its points. Where they
share one slack (Σα ≤ C over the points of a set), and for a hard margin, the SVM is a lower bound of (6) that
tightens with every point; the dual with these group constraints is outside libsvm's form and goes to a
quadratic program in the coordinates of a Cholesky factor of the Gram matrix.

Slacks that cost their square need no bound on α: with E_jk = 1 where j and k share a slack, the SVM is the one of a hard margin for
K + E / 2C. No α is then larger than 2C√n, since w = 0 costs C n.

The Gram matrix grows by rows: the kernel of a critical point with all others is computed once, for the novelty
test, and kept if the point is.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.cholesky import pivoted_cholesky
from mmc.methods.numerics.clock import Clock
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.memory import require
from mmc.methods.problems import Answer
from mmc.methods.problems.hinges import SvmProblem
from mmc.methods.problems.knowledge import CriticalPoints, KnowledgeAnswer, KnowledgeProblem, PointRule
from mmc.methods.problems.shapes import KnowledgeSets
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities, hinge_interior, libsvm
from mmc.methods.solvers.knowledge_socp import VERSION, separate

CAN = Capabilities(slack_per_point=True, squared_slack=True)
# eps by default, in units of the furthest first critical point from its centre. A slack per point has no limit to
# refine towards; there it is what the paper's .25 amounts to on its benchmark.
_FINE, _COARSE = 0.01, 0.25
_PER_SET, _MANY = 50, 1500  # training points for each set, and in all
_STEPS, _LEAST_STEPS = 10_000, 1_000_000  # of all SVMs together for each set, and at least: some hundred are usual
_COPIES = 6  # of the first Gram matrix: it doubles as it grows, and the SVMs have copies


def solve(
    problem: KnowledgeProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    max_per_set: int | None = None,
    max_seconds: float = inf,
) -> KnowledgeAnswer:
    """Return the SVM of the last training set; raise NotConverged with the last change, or InfeasibleProblem.

    It gives up after ``max_iter`` rounds, beyond ``max_per_set`` training points for each set, and after ``max_seconds``. By
    default a set may have 50 training points, or 10 where that would be more than 1500 in all: the SVM of them all is solved in
    every round. It also gives up where these SVMs take far more steps than is usual.
    """
    clock = Clock(max_seconds)
    sets, kernel, eps = problem.sets, problem.kernel, problem.eps
    points, owner = sets.centers, np.arange(len(sets.centers))
    n = len(points)
    most = min(_PER_SET * n, max(_PER_SET * n // 5, _MANY)) if max_per_set is None else max_per_set * n
    require(
        8 * _COPIES * n**2,
        f"the Gram matrix of {n:,} sets, which grows,",
        "take fewer rows, or a covering of fewer sets",
    )
    gram = _GrowingGram(kernel(points, points))
    solid = np.flatnonzero(sets.radii > 0)
    moving, hint, spent = sets.subset(solid), np.ones(len(points), dtype=bool), 0
    for iteration in range(1, max_iter + 1):
        K, sign = gram.matrix, sets.sign[owner]
        alpha, b, version, steps = _svm(K, sign, owner, problem, hint, tol)
        spent += steps
        rule, dual = PointRule(points, alpha * sign, b), CriticalPoints(points, owner, K, alpha, eps)
        active = np.flatnonzero(alpha)
        critical, rise = moving.critical(kernel, points[active], rule.weights[active], least=problem.least_critical)
        live = rise > tol  # over the other sets f is constant: no point is more critical than the centre
        if not live.any():
            return Answer(rule, dual, iteration, version)
        at, critical = solid[live], critical[live]
        rows = kernel(critical, np.vstack([points, critical]))
        known, among = rows[:, : len(points)], rows[:, len(points) :]
        squared = np.diag(among)[:, None] + np.diag(K) - 2 * known
        squared[~_comparable(problem, at, owner)] = np.inf
        change = np.sqrt(np.maximum(squared.min(axis=1), 0))
        if eps is None:
            eps = (_FINE if problem.shared_slack else _COARSE) * float(change.max())
            dual = replace(dual, eps=eps)
        new = np.flatnonzero(change > eps)
        if not len(new):
            return Answer(rule, dual, iteration, version)
        clock.check("alternation", iteration, float(change.max()), f"the furthest new point, for eps={eps:.3g},")
        if problem.accumulate and len(points) + len(new) > most:
            break
        if spent > max(_STEPS * n, _LEAST_STEPS):
            raise NotConverged(
                f"the SVMs of {iteration} rounds took {spent:,} steps, and {len(new)} critical points were still new, up to "
                f"{change.max():.3g} from the training set, for eps={eps:.3g}: C times the kernel reaches "
                f"{problem.C * float(K.diagonal().max()):.2g}; take a smaller C or gamma, or scale the data",
                iteration,
                float(change.max()),
            )
        if problem.accumulate:
            points, owner = np.vstack([points, critical[new]]), np.append(owner, at[new])
            hint = np.append(alpha > 1e-4 * alpha.max(), np.ones(len(new), dtype=bool))
            gram.grow(known[new], among[np.ix_(new, new)])
        else:
            points = points.copy()
            points[at] = critical
            gram.replace(at, known, among)
    raise NotConverged(
        f"after {iteration} outer iterations and with {len(points)} training points for {n} sets, {len(new)} critical points were "
        f"still new: the furthest is {change.max():.3g} from the training set, more than eps={eps:.3g}; take a larger eps, or raise "
        "max_iter or max_per_set",
        iteration,
        float(change.max()),
    )


class _GrowingGram:
    """A Gram matrix that grows by rows, in a buffer with room to spare."""

    def __init__(self, K: Array):
        self._buffer, self._size = K, len(K)

    @property
    def matrix(self) -> Array:
        return self._buffer[: self._size, : self._size]

    def grow(self, across: Array, corner: Array) -> None:
        """Append points: their kernel with those before, and among themselves."""
        old, new = self._size, self._size + len(corner)
        if new > len(self._buffer):
            wider = np.empty((2 * new, 2 * new))
            wider[:old, :old] = self.matrix
            self._buffer = wider
        self._buffer[old:new, :old], self._buffer[:old, old:new], self._buffer[old:new, old:new] = (
            across,
            across.T,
            corner,
        )
        self._size = new

    def replace(self, at: NDArray[np.intp], across: Array, corner: Array) -> None:
        """Put other points in the places ``at``: their kernel with those before, and among themselves."""
        self._buffer = self._buffer.copy()
        self._buffer[at], self._buffer[:, at] = across, across.T
        self._buffer[np.ix_(at, at)] = corner


def _comparable(problem: KnowledgeProblem, at: NDArray[np.intp], owner: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for every critical point the training points that it must be far from to be new."""
    own: NDArray[np.bool_] = at[:, None] == owner
    if problem.novelty == "own" or not problem.accumulate:
        return own
    sign = problem.sets.sign
    return np.ones_like(own) if problem.novelty == "all" else sign[at][:, None] == sign[owner]


def _svm(
    K: Array, sign: Array, owner: NDArray[np.intp], problem: KnowledgeProblem, hint: NDArray[np.bool_], tol: float
) -> tuple[Array, float, str, int]:
    """Return the weights and b of the SVM (2), what solved it, and in how many steps."""
    if problem.squared:
        shared = owner[:, None] == owner if problem.shared_slack else np.eye(len(sign), dtype=bool)
        bound = np.full(len(sign), 2 * problem.C * np.sqrt(len(sign)))
        found = libsvm.solve(SvmProblem(K + shared / (2 * problem.C), sign, bound), tol=tol)
        return found.dual.a, found.primal.b, found.version, found.iterations
    if not problem.shared_slack:
        few = problem.kernel.kernel == "linear" and problem.sets.centers.shape[1] < len(sign)
        # libsvm would hardly end: most rounds have many more points than features, and most points are on the wrong side
        found = (hinge_interior if few else libsvm).solve(SvmProblem(K, sign, np.full(len(sign), problem.C)), tol=tol)
        return found.dual.a, found.primal.b, found.version, found.iterations
    alpha, b, steps = _joint_svm(K, sign, owner, problem.C, hint, tol)
    return alpha, b, VERSION, steps


def _joint_svm(
    K: Array, sign: Array, owner: NDArray[np.intp], C: float, hint: NDArray[np.bool_], tol: float
) -> tuple[Array, float, int]:
    """Return the SVM whose points share a slack with their owner's, or whose margin is hard (C = ∞); and its steps.

    Few of the points of a set matter. It is solved for those of ``hint``, and those that violate it join them.
    """
    alpha, work, steps = np.zeros(len(sign)), hint.copy(), 0
    while True:
        index = np.flatnonzero(work)
        points = pivoted_cholesky(K[np.ix_(index, index)]).rows
        found = separate(KnowledgeSets.of_points(points, sign[index]), owner[index], C)
        alpha[index], b = found.dual.alpha, found.primal.b
        steps += found.iterations
        margins = sign * (K @ (alpha * sign) + b)
        floor = np.ones(owner.max() + 1)
        if np.isfinite(C):
            np.minimum.at(floor, owner[index], margins[index])
        late = ~work & (margins < floor[owner] - tol)
        if not late.any():
            return alpha, b, steps
        work |= late
