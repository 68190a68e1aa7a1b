"""What a fit delivers: the stored rule on the points that judge it, as `decision_function` computes it.

A solver's answer is judged in the solver's own coordinates, which are not those of the model: coefficients are stored, an origin is
subtracted, a kernel is summed. So the last word has a function of each problem that sees the decision values alone, and the
lower bound that the solver's dual point proves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt

import numpy as np

from mmc.methods.numerics.kernels import Array

EPS = float(np.finfo(float).eps)
HARD = 1e-6  # by how much a constraint that must hold may be missed, relative


@dataclass(frozen=True)
class Delivered:
    """f on the judging points, ``expansion`` + ``offset``; f > 0 is the positive class.

    f = coef·x + offset, or Σ dual_i k(x_i, x) + offset over all judging points. ``average`` has in its two columns the weights that
    average over the positive and over the negative class. ``lengths`` returns the ‖x‖ in feature space.
    """

    expansion: Array
    average: Array
    offset: float
    lengths: Callable[[], Array]
    coef: Array | None = None
    dual: Array | None = None

    @cached_property
    def values(self) -> Array:
        """f on the judging points."""
        return self.expansion + self.offset

    @cached_property
    def norm2(self) -> float:
        """‖w‖² of the stored coefficients."""
        if self.coef is not None:
            return float(self.coef @ self.coef)
        assert self.dual is not None
        return max(float(self.dual @ self.expansion), 0.0)

    @cached_property
    def noise(self) -> Array:
        """How far rounding may move each decision value: its terms can be larger than their sum."""
        lengths, terms = self.lengths(), self.coef
        if terms is None:
            assert self.dual is not None
            terms = self.dual * lengths
        return 4 * EPS * (float(np.linalg.norm(terms)) * lengths + abs(self.offset))

    @cached_property
    def means(self) -> tuple[float, float]:
        """The mean of f in the positive and in the negative class."""
        pos, neg = (self.values @ self.average).tolist()
        return pos, neg

    @cached_property
    def variances(self) -> tuple[float, float]:
        """The variance of f in either class."""
        middles = (self.expansion @ self.average).tolist()  # without the offset, which would take digits
        apart = self.expansion - np.where(self.average[:, 0] > 0, *middles)
        pos, neg = (apart * apart @ self.average).tolist()
        return pos, neg

    def spreads(self, ridge: float = 0.0) -> tuple[float, float]:
        """Return the standard deviation of f in either class, with ridge·‖w‖² added to its square."""
        more = ridge * self.norm2 if ridge else 0.0
        pos, neg = self.variances
        return sqrt(pos + more), sqrt(neg + more)

    def charged(self, short: Array, cost: Array | float) -> tuple[float, float]:
        """Return Σ cost·[short]_+ and what rounding may add to it."""
        near = short > -self.noise
        return float(np.sum(cost * np.maximum(short, 0.0))), float(np.sum(cost * near * self.noise))


@dataclass(frozen=True)
class Verdict:
    """What the delivered rule is worth: its objective, its relative distance from the bound, and how much is ``allowed``.

    ``errors`` are the worst-case errors (positive, negative) of the delivered rule, where a method promises them. ``facts`` are
    further numbers that follow from it, by the names of the estimator's attributes.
    """

    objective: float
    gap: float
    errors: tuple[float, float] | None = None
    allowed: float = 1e-4
    facts: Mapping[str, float] = field(default_factory=dict)


Judge = Callable[[Delivered], Verdict]


def above(objective: float, bound: float, rounding: float = 0.0, least: float = 0.0) -> Verdict:
    """Return the verdict of a minimum: the objective, and how far above a lower bound it may be."""
    size = max(abs(objective), least)
    distance = max(objective - bound, 0.0) + rounding
    return Verdict(objective, distance / size if size > 0 else (0.0 if distance == 0 else inf))
