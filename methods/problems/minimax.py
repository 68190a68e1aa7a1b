"""The worst case of two classes of which only the moments are known: the problem of the minimax machines.

Huang et al., (9)-(12), with d = x̄ - ȳ and κ(p) = √(p / (1 - p)):

    max κ(α)   s.t.   1 ≥ κ(α) √(a'Σx a) + κ(β) √(a'Σy a),   a'd = 1,   κ(β) ≥ κ(γ).

If the means are only known to ν (Lanckriet et al., 2003), κ(α) + νx and κ(β) + νy stand in their places; the code calls
these sums sizes, and the optimum is the same curve of sizes.

The certificate is a distance. Every point of y's ellipsoid of size κ(γ) shows κ(α) ≤ its Mahalanobis distance from x̄,
because a hyperplane cannot keep the one and the other apart. The point where that ellipsoid touches the hyperplane
of any a, ȳ + κ(γ) Σy a / √(a'Σy a), makes the two sides equal at the optimum and differ by O(error²) near it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from scipy.linalg import cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Certificate, Problem
from mmc.methods.problems.delivered import HARD, Sides, Verdict, apart
from mmc.methods.problems.moment_pair import MomentPair
from mmc.methods.solution import InfeasibleProblem

Directions = Answer[Array, Array]  # a with a'd = 1, and the direction whose touching point is the dual point


@dataclass(frozen=True)
class Minimax(Problem[Directions]):
    """The problem (12) at the size ``kappa`` = κ(β) + νy; without it κ(β) = κ(α), the MPM. ``nu`` is (νx, νy)."""

    pair: MomentPair
    kappa: float | None = None
    nu: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def balanced(cls, pair: MomentPair, nu: tuple[float, float] = (0.0, 0.0)) -> Minimax:
        """Return the problem of the MPM; raise InfeasibleProblem if ``nu`` leaves no level above 0."""
        if max(nu) > 0 and pair.largest_beside(nu[0]) <= nu[1] * (1 + 1e-12):
            raise InfeasibleProblem(
                f"mean_uncertainty={nu} is more than the distance of the classes allows: no level above 0 can be kept; "
                "lower it",
                nu[1] - pair.largest_beside(nu[0]),
            )
        return cls(pair, None, nu)

    @classmethod
    def at_level(cls, pair: MomentPair, level: float, nu: tuple[float, float] = (0.0, 0.0)) -> Minimax:
        """Return the problem whose β must be at least ``level``; raise InfeasibleProblem if no hyperplane keeps it."""
        size = cls.asked(level, nu)[1]
        most = pair.largest_beside(nu[0])
        if size >= most * (1 - 1e-12):  # closer to the edge than rounding can tell
            largest = max(most - nu[1], 0.0) ** 2 / (1 + max(most - nu[1], 0.0) ** 2)
            beside = f" with mean_uncertainty={nu}" if max(nu) > 0 else ""
            raise InfeasibleProblem(
                f"min_accuracy_neg={level} cannot be kept on these training moments{beside}: the largest feasible level is "
                f"{largest:.9f}, and there nothing is left for the positive class",
                level - largest,
            )
        return cls(pair, size, nu)

    @staticmethod
    def asked(level: float | None, nu: tuple[float, float]) -> tuple[float, float]:
        """Return the sizes that a hyperplane must keep at least, for the problem to have an answer."""
        return (nu[0], nu[1] if level is None else sqrt(level / (1 - level)) + nu[1])

    def reached(self, a: Array) -> tuple[float, float, float, float]:
        """Return the sizes of both classes at a hyperplane a'd = 1 of this problem, and √(a'Σx a), √(a'Σy a)."""
        sx, sy = self.pair.spreads(a)
        size = self.kappa
        if size is None:
            size = (1 - self.nu[0] * sx - self.nu[1] * sy) / (sx + sy) + self.nu[1]
        return (1 - size * sy) / sx, size, sx, sy

    @property
    def level(self) -> float:
        """Return the size of the negative class, of the MPM too: there it is that of the curve of all trade-offs."""
        if self.kappa is not None:
            return self.kappa
        curve = self.pair.spectrum[0]
        return float(curve.kappas(curve.balanced(self.nu)[0])[1][0])


@dataclass(frozen=True)
class WorstCase(Certificate):
    """How far the b of a hyperplane lies from a'x̄ and from a'ȳ, √(a'Σx a), √(a'Σy a), and the most that any objective can be."""

    bound: float
    sides: tuple[float, float]
    spreads: tuple[float, float]


def certify(problem: Minimax, answer: Directions) -> WorstCase:
    """Return what any a with a'd = 1 promises, and how much more the best one could: ``gap``, relative."""
    pair, a, nu = problem.pair, answer.primal, problem.nu
    pos, neg, sx, sy = problem.reached(a)
    y = pair.Sy @ answer.dual
    to_mean = pair.d - neg * y / np.sqrt(answer.dual @ y)
    upper = float(np.sqrt(to_mean @ cho_solve(pair.factors[0], to_mean)))
    gap = abs((upper - nu[0]) / (pos - nu[0]) - 1) if pos > nu[0] else inf
    return WorstCase(pos - nu[0], gap, upper - nu[0], (pos * sx, neg * sy), (sx, sy))


def judge(problem: Minimax, sides: Sides, bound: float) -> Verdict:
    """Return what the delivered rule promises beside the most that any rule can."""
    sizes, rounding = sides.sizes()
    pos, neg = (size - nu for size, nu in zip(sizes, problem.nu, strict=True))
    if problem.kappa is None:
        return apart(min(pos, neg), bound, sides, problem.nu, max(rounding))
    verdict = apart(pos, bound, sides, problem.nu, rounding[0])
    kept = sizes[1] >= problem.kappa * (1 - HARD) - rounding[1]
    return verdict if kept else replace(verdict, gap=inf)
