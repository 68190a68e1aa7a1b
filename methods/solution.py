"""What a fit leaves behind, and the two ways in which it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isnan


class Status(StrEnum):
    """How a fit ended: the word that records and tables show."""

    SOLVED = "solved"
    CAPPED = "iteration-cap"
    INFEASIBLE = "infeasible"
    NOT_CONVERGED = "not-converged"
    SINGULAR = "singular"
    FAILED = "failed"

    @property
    def counted(self) -> bool:
        """Whether there is a classifier whose errors can be counted."""
        return self in (Status.SOLVED, Status.CAPPED)


@dataclass(frozen=True)
class Solution:
    """How a fit ended. ``gap`` is relative and computed from a primal and a dual point: never a solver's claim.

    A classifier from outside has no certificate: its gap is nan.
    """

    status: Status
    objective: float
    gap: float
    iterations: int
    seconds: float
    solver: str
    version: str

    @property
    def certified(self) -> bool:
        """Whether there is a gap that proves how good the solution is."""
        return not isnan(self.gap)


class FitError(ValueError):
    """A problem that did not become a classifier; ``status`` is the word that records and tables show."""

    status = Status.FAILED


class InfeasibleProblem(FitError):
    """No classifier satisfies the constraints. ``distance`` says how far from feasible; 0 is the edge."""

    status = Status.INFEASIBLE

    def __init__(self, message: str, distance: float = float("nan")):
        super().__init__(message, distance)
        self.distance = distance

    def __str__(self) -> str:
        return str(self.args[0])


class NotConverged(FitError):
    """A solver stopped short of its tolerance. ``residual`` is what it had reached."""

    status = Status.NOT_CONVERGED

    def __init__(self, message: str, iterations: int = 0, residual: float = float("nan")):
        super().__init__(message, iterations, residual)
        self.iterations = iterations
        self.residual = residual

    def __str__(self) -> str:
        return str(self.args[0])
