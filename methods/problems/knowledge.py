"""The widest margin to labelled ellipsoids (Pothin & Richard).

    min ½‖w‖²             s.t.  y_i(⟨w, x⟩ + b) ≥ 1       ∀ x ∈ E_i                                                  (5)
    min ½‖w‖² + C Σ_i ξ_i  s.t.  y_i(⟨w, x⟩ + b) ≥ 1 − ξ_i  ∀ x ∈ E_i,  ξ ≥ 0                                         (6)

or (6) with Σ ξ_i² in place of Σ ξ_i. The dual is the SVM's, over points of the sets and a weight for each:

    max Σ_j α_j − ½‖Σ_j α_j y_j x_j‖²   s.t.   x_j ∈ E_i(j),  Σ_j α_j y_j = 0,  α ≥ 0,  Σ_{j of one set} α_j ≤ C;

with squares, −Σ_i (Σ_{j of set i} α_j)² / 4C takes the place of the bound C.

The certificate. With f = ⟨w, ·⟩ + b and α on points of the sets, the primal value is that of (w, b) with the smallest
slacks (for a hard margin, scaled until all margins are 1), the dual value that of α made feasible by scaling. For a
linear kernel the worst case over E_i is exact, so that (w, b) is certified as a solution of (5) or (6). Otherwise the
certificate is that of the SVM (2) on the points alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.balance import balanced
from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.delivered import Delivered, Verdict, above
from mmc.methods.problems.shapes import KnowledgeSets
from mmc.methods.solution import InfeasibleProblem

_ACCEPTED = 1e-3  # relative gap: interior points of cone programs in the coordinates of a kernel reach no more


@dataclass(frozen=True)
class PointRule:
    """A primal point: f = Σ_j weights_j κ(points_j, ·) + b."""

    points: Array
    weights: Array
    b: float


@dataclass(frozen=True)
class CriticalPoints:
    """A dual point: weights ``alpha`` of ``points``, each inside the set ``owner``, and their Gram matrix.

    ``eps`` is how far apart an alternating solver kept them; None for another solver.
    """

    points: Array
    owner: NDArray[np.intp]
    gram: Array
    alpha: Array
    eps: float | None = None


KnowledgeAnswer = Answer[PointRule, CriticalPoints]


@dataclass(frozen=True)
class KnowledgeProblem(Problem[KnowledgeAnswer]):
    """Ellipsoids to separate with the widest margin: problem (6), or (5) for C = ∞.

    The rest only matters to an alternating solver: how far a critical point must be from the training points to be
    new (``eps``; None for a fraction of the first distances), and from which of them (``novelty``: "all", "class",
    "own"); whether the points of one set share its slack; whether the points wanted are the least critical; whether
    past ones stay. ``squared``: slacks cost their square.
    """

    sets: KnowledgeSets
    C: float
    kernel: KernelSpec
    eps: float | None = None
    novelty: str = "all"
    shared_slack: bool = True
    least_critical: bool = False
    accumulate: bool = True
    squared: bool = False

    def certify(self, primal: PointRule, dual: CriticalPoints) -> Bracket:
        """Return what the two prove of the SVM (2) on the dual's points, which share slacks or not."""
        sign = self.sets.sign[dual.owner]
        owner = dual.owner if self.shared_slack else np.arange(len(sign))
        f = dual.gram @ primal.weights
        margins = np.full(owner.max() + 1, np.inf)
        np.minimum.at(margins, owner, sign * (f + primal.b))
        return Bracket.between(self._value(float(primal.weights @ f), margins), self._bound(dual, owner))

    def certify_sets(self, primal: PointRule, dual: CriticalPoints) -> Bracket:
        """Return what the two prove of (5) or (6) itself; the kernel must be linear."""
        sets, w = self.sets, primal.weights @ primal.points
        margins = sets.sign * (sets.centers @ w + primal.b) - sets.widths(w)
        return Bracket.between(self._value(float(w @ w), margins), self._bound(dual, dual.owner))

    def judge(self, rule: Delivered, dual: CriticalPoints) -> Verdict:
        """Return what the delivered rule is worth as the SVM (2) on the dual's points, where it was evaluated."""
        sign = self.sets.sign[dual.owner]
        owner = dual.owner if self.shared_slack else np.arange(len(sign))
        margins = np.full(owner.max() + 1, np.inf)
        np.minimum.at(margins, owner, sign * rule.values)
        return self._verdict(rule, margins, self._bound(dual, owner))

    def judge_sets(self, rule: Delivered, dual: CriticalPoints) -> Verdict:
        """Return what the delivered linear rule is worth as a solution of (5) or (6) itself.

        Every critical point is within eps of a training point, so that a margin may be off by ‖w‖ eps: that much is allowed.
        """
        sets, w = self.sets, rule.coef
        assert w is not None
        margins = sets.sign * (sets.centers @ w + rule.offset) - sets.widths(w)
        verdict = self._verdict(rule, margins, self._bound(dual, dual.owner))
        off = np.sqrt(rule.norm2) * (dual.eps or 0.0)
        more = 1 - max(1 - off, 0.0) ** 2 if np.isinf(self.C) else len(margins) * self.C * off / verdict.objective
        return replace(verdict, allowed=verdict.allowed + more)

    def _verdict(self, rule: Delivered, margins: Array, bound: float) -> Verdict:
        objective = self._value(rule.norm2, margins)
        most = float(rule.noise.max())
        rounding = self.C * float(np.sum(margins < 1 + most)) * most if np.isfinite(self.C) else 0.0
        return replace(above(objective, bound, rounding), allowed=_ACCEPTED)

    def _value(self, squared_norm: float, margins: Array) -> float:
        """Return ½‖w‖² + C Σ ξ for the smallest slacks; for C = ∞ of (w, b) scaled until the least margin is 1."""
        if np.isfinite(self.C):
            slack = np.maximum(1 - margins, 0)
            return 0.5 * squared_norm + self.C * float((slack**2 if self.squared else slack).sum())
        least = float(margins.min())
        return 0.5 * squared_norm / least**2 if least > 0 else np.inf

    def _bound(self, dual: CriticalPoints, owner: NDArray[np.intp]) -> float:
        """Return Σα − ½‖Σ α y x‖² for α scaled to Σ_{one owner} α ≤ C, then to Σ αy = 0, then together to its best."""
        C, sign = self.C, self.sets.sign[dual.owner]
        totals = np.bincount(owner, dual.alpha)
        above = np.zeros_like(totals, dtype=bool) if self.squared else totals > C
        alpha = dual.alpha * np.divide(C, totals, out=np.ones_like(totals, dtype=np.float64), where=above)[owner]
        alpha = balanced(alpha, sign)
        weights = alpha * sign
        linear, quadratic = float(alpha.sum()), float(weights @ dual.gram @ weights)
        if self.squared:
            quadratic += float(np.sum(np.bincount(owner, alpha) ** 2)) / (2 * C)
        scale = linear / quadratic if quadratic > 0 else 1.0
        if np.isfinite(C) and not self.squared:
            scale = min(scale, 1.0)
        return scale * linear - 0.5 * scale**2 * quadratic


def overlap(sets: KnowledgeSets) -> InfeasibleProblem | None:
    """Return the error of a hard margin to sets of opposite classes that touch or overlap; None if none do."""
    pair = sets.overlapping()
    if pair is None:
        return None
    i, j, contact = pair
    return InfeasibleProblem(
        f"no hard margin: knowledge sets {i} (positive) and {j} (negative) "
        + (f"overlap; scaled by {contact:.3g} they would touch" if contact < 1 else "touch")
        + "; shrink them or use SMEM",
        1 - min(contact, 1.0),
    )


def inseparable_sets(slack: float) -> InfeasibleProblem:
    """Return the error of a hard margin that the kernel does not have; ``slack`` is the smallest mean slack."""
    return InfeasibleProblem(
        f"no hard margin: the sets of the two classes cannot be separated with this kernel, they need a slack of "
        f"{slack:.3g} on average; use SMEM, or a kernel that is richer",
        slack,
    )
