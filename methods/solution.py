"""What a fit leaves behind, and the two ways in which it can fail."""

from __future__ import annotations

import warnings
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


class BoundWarning(UserWarning):
    """A bound on the training moments is far below what left-out points say: the moments are no estimate."""


class PositiveClassWarning(UserWarning):
    """Nobody said which of two words is the positive class, and something depends on it."""


def warn_of_positive(positive: object, how: str, stacklevel: int) -> None:
    """Say which class was taken as the positive one; ``how`` is what states it."""
    label = getattr(positive, "item", lambda: positive)()
    warnings.warn(
        f"the positive class is {label!r}, the last of the labels in order: nobody said which one it is; state it with {how}",
        PositiveClassWarning,
        stacklevel=stacklevel,
    )


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
