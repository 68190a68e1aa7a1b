"""A certificate from two feasible points: the optimum lies between their values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from mmc.methods.problems import Certificate
from mmc.methods.solution import NotConverged


@dataclass(frozen=True)
class Bracket(Certificate):
    """The optimum of a minimum lies between ``bound`` and ``objective``, the values of a dual and of a primal point.

    ``rounding`` is how far off the sums behind the two values may be: ``gap`` includes it. ``reached`` is the relative
    distance of the two values alone, which is what a solver can lower.
    """

    bound: float
    rounding: float
    reached: float

    @classmethod
    def between(cls, objective: float, bound: float, rounding: float = 0.0, least: float = 0.0) -> Bracket:
        """Return the bracket of two values; ``least`` is the smallest size that a relative gap refers to."""
        distance, size = max(objective - bound, 0.0), max(abs(objective), least)
        gap, reached = ((distance + rounding) / size, distance / size) if isfinite(objective) else (inf, inf)
        return cls(objective, gap, bound, rounding, reached)

    def judge(self, tol: float, solver: str, iterations: int) -> None:
        """Raise NotConverged if the values are farther apart than ``tol``."""
        if not self.reached <= tol:
            raise self.not_converged(tol, solver, iterations)

    def not_converged(
        self, tol: float, solver: str, iterations: int, advice: str = "scale the data or lower C"
    ) -> NotConverged:
        """Return the error of values that are too far apart; ``advice`` says what may help."""
        return NotConverged(
            f"{solver} reached a relative duality gap of {self.reached:.1e}, wanted {tol:.1e}: {advice}",
            iterations,
            self.reached,
        )
