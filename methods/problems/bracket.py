"""What two feasible points prove: the optimum lies between their values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from mmc.methods.solution import NotConverged


@dataclass(frozen=True)
class Bracket:
    """The optimum of a minimum lies between ``bound`` and ``objective``, the values of a dual and of a primal point.

    ``rounding`` is how far off the sums behind the two values may be. ``least`` is the smallest size that a relative gap
    refers to.
    """

    objective: float
    bound: float
    rounding: float = 0.0
    least: float = 0.0

    @property
    def reached(self) -> float:
        """Return the relative distance of the two values: what a solver can lower."""
        return self._relative(max(self.objective - self.bound, 0.0))

    @property
    def gap(self) -> float:
        """Return the relative distance of the two values with what rounding may hide: what a solution reports."""
        return self._relative(max(self.objective - self.bound, 0.0) + self.rounding)

    def judge(self, tol: float, solver: str, iterations: int, advice: str = "scale the data or lower C") -> None:
        """Raise NotConverged if the values are farther apart than ``tol``; ``advice`` says what may help."""
        if not self.reached <= tol:
            raise NotConverged(
                f"{solver} reached a relative duality gap of {self.reached:.1e}, wanted {tol:.1e}: {advice}",
                iterations,
                self.reached,
            )

    def _relative(self, distance: float) -> float:
        return distance / max(abs(self.objective), self.least) if isfinite(self.objective) else inf
