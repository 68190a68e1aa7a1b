"""What a fit makes: a decision rule with its certificate, and the steps of a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.left_out import Held
from mmc.methods.problems.delivered import Judge, Verdict
from mmc.methods.solution import FitError, Solution, Status


@dataclass(frozen=True)
class Fitted:
    """A decision rule and its certificate; f(x) > 0 is the positive class.

    f(x) = coef·x + intercept, or Σ_i dual_i k(points_i, x) + intercept where ``points`` are the training points
    unless given. ``places`` are attributes that are points. All points count from the origin of the training set.
    ``held_out`` computes what left-out points say of the worst-case errors of a method that promises them; ``attributes`` are
    set on the estimator as they are. ``judge`` has the last word on objective, gap and errors: it sees the decision values on the
    training points, or on ``judged``.
    """

    objective: float
    gap: float
    iterations: int
    version: str
    intercept: float
    coef: Array | None = None
    dual: Array | None = None
    points: Array | None = None
    held_out: Callable[[], tuple[Held, Held]] | None = None
    status: Status = Status.SOLVED
    attributes: Mapping[str, object] = field(default_factory=dict)
    places: Mapping[str, Array] = field(default_factory=dict)
    judge: Judge | None = None
    judged: Array | None = None


Judged = Callable[[], tuple[Fitted, Verdict]]  # a rule of a grid with its verdict


@dataclass(frozen=True)
class Later:
    """A rule that is found and judged; the estimator that holds it is made when somebody asks for it."""

    make: Callable[[], Rule]


@dataclass(frozen=True)
class Step:
    """One point of a parameter grid: a fitted estimator with its decision values, or the error that says why not.

    ``decision`` is oriented as ``decision_function`` is: > 0 means ``classes_[1]``. A classifier from outside that was given more
    than two classes has instead of it what it ``predicted``.
    """

    params: Mapping[str, object]
    seconds: float
    rule: Rule | Later | None = None
    decision: Array | None = None
    error: FitError | None = None
    predicted: NDArray[np.intp] | None = None

    @cached_property
    def estimator(self) -> Rule | None:
        """The fitted estimator; None where there is an error."""
        return self.rule.make() if isinstance(self.rule, Later) else self.rule


class Rule(Protocol):
    """A fitted classifier of two classes, of ours or from outside."""

    @property
    def solution_(self) -> Solution:
        """How the fit ended."""

    def decision_function(self, X: Array) -> Array:
        """Return the signed decision values."""


class PathFitter(Protocol):
    """What fits a whole grid on one training set."""

    def fit(self, X: Array, y: NDArray[np.intp], /, **extra: object) -> Rule:
        """Fit one classifier."""

    def fit_path(
        self,
        X: Array,
        y: NDArray[np.intp],
        grid: Sequence[Mapping[str, object]],
        X_test: Array | None = None,
        **extra: object,
    ) -> Iterator[Step]:
        """Yield a step for every point of the grid, in order."""
