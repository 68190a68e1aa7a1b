"""What a fit delivers: the stored rule on the points that judge it, as `decision_function` computes it.

A solver's answer is judged in the solver's own coordinates, which are not those of the model: coefficients are stored, an origin is
subtracted, a kernel is summed. So the last word has a function of each problem that sees the decision values alone, and the
lower bound that the solver's dual point proves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from mmc.methods.numerics.blur import blurred
from mmc.methods.numerics.kernels import Array

HARD = 1e-6  # by how much a constraint that must hold may be missed, relative
Pair = tuple[float, float]  # of the positive and of the negative class
_EACH = np.eye(2)  # averages over two judging points, one for each class


class Sides(NamedTuple):
    """Per class: how far its mean lies on its own side, how far f spreads there, and how far rounding may move either."""

    means: Pair
    spreads: Pair
    rounding: Pair

    def errors(self, nu: Pair) -> Pair:
        """Return the largest probability of the wrong side (Cantelli), for means that may be off by ``nu`` times the spread."""
        from mmc.methods.numerics.worth import wrong_side  # compiled: not every judge asks for it

        means, spreads, off = self.means, self.spreads, self.rounding
        return wrong_side(means[0], spreads[0], off[0], nu[0]), wrong_side(means[1], spreads[1], off[1], nu[1])

    def sizes(self) -> tuple[Pair, Pair]:
        """Return how many spreads each mean is away from the threshold, and how far rounding may move that."""
        pos, neg = (mean / s if s > 0 else nan for mean, s in zip(self.means, self.spreads, strict=True))
        off_pos, off_neg = (
            (1 + abs(size)) * off / s if s > 0 else inf
            for size, s, off in zip((pos, neg), self.spreads, self.rounding, strict=True)
        )
        return (pos, neg), (off_pos, off_neg)


@dataclass(frozen=True)
class Delivered:
    """f on the judging points, ``expansion`` + ``offset``; f > 0 is the positive class.

    f = coef·x + offset, or Σ dual_i k(x_i, x) + offset over all judging points. ``average`` has in its two columns the weights that
    average over the positive and over the negative class. ``lengths`` returns the ‖x‖ in feature space. ``moved`` is how far the
    values are from those that the solver saw, if the judging points were rounded.
    """

    expansion: Array
    average: Array
    offset: float
    lengths: Callable[[], Array]
    coef: Array | None = None
    dual: Array | None = None
    moved: Array | float = 0.0

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
    def norm2_rounding(self) -> float:
        """How far rounding may move ``norm2``: for a kernel, as far as the decision values that it sums up."""
        return 0.0 if self.dual is None else float(np.abs(self.dual) @ self.noise)

    @cached_property
    def noise(self) -> Array:
        """How far rounding may move each decision value: its terms can be larger than their sum."""
        length, lengths = self._lengths
        return blurred(length, lengths, self.offset) + self.moved

    @property
    def blur(self) -> float:
        """The largest of these."""
        length, lengths = self._lengths
        moved = self.moved if isinstance(self.moved, float) else float(self.moved.max())
        return blurred(length, float(lengths.max()), self.offset) + moved

    @cached_property
    def _lengths(self) -> tuple[float, Array]:
        """The length of all terms of a decision value at a point of length 1, and the lengths of the points."""
        lengths, terms = self.lengths(), self.coef
        if terms is None:
            assert self.dual is not None
            terms = self.dual * lengths
        return sqrt(terms @ terms), lengths

    @cached_property
    def _moments(self) -> tuple[float, float, float, float]:
        """The mean in either class, without the offset, which would take digits from a variance, and the variances."""
        from mmc.methods.numerics.row_passes import spread_along  # compiled: not every judge asks for it

        return spread_along(self.expansion, self.average)

    @property
    def means(self) -> Pair:
        """The mean of f in the positive and in the negative class."""
        pos, neg, _, _ = self._moments
        return pos + self.offset, neg + self.offset

    @property
    def variances(self) -> Pair:
        """The variance of f in either class."""
        return self._moments[2:]

    def spreads(self, ridge: Pair, shrinkage: Pair = (0.0, 0.0), norm2: float | None = None) -> Pair:
        """Return the standard deviations of f where the covariances are (1 - shrinkage_i) Σ_i + ridge_i I.

        ``norm2`` is the square that the ridge multiplies, if it is not ‖w‖².
        """
        square = 0.0 if not any(ridge) else self.norm2 if norm2 is None else norm2
        pos, neg = self.variances
        return (
            sqrt((1 - shrinkage[0]) * pos + ridge[0] * square),
            sqrt((1 - shrinkage[1]) * neg + ridge[1] * square),
        )

    def sides(self, ridge: Pair, shrinkage: Pair = (0.0, 0.0), norm2: float | None = None) -> Sides:
        """Return where both classes lie, with `spreads` as they are regularised."""
        spreads, blur, (pos, neg) = self.spreads(ridge, shrinkage, norm2), self.blur, self.means
        rounding = blur, blur
        if norm2 is None and self.dual is not None and any(ridge):  # what a ridge adds to a spread is as exact as ‖w‖²
            square = self.norm2_rounding
            first, second = (more * square / (2 * s) if s > 0 else 0.0 for s, more in zip(spreads, ridge, strict=True))
            rounding = blur + first, blur + second
        return Sides((pos, -neg), spreads, rounding)

    def charged(self, short: Array, cost: Array | float) -> tuple[float, float]:
        """Return Σ cost·[short]_+ and what rounding may add to it."""
        near = short > -self.noise
        return float(np.sum(cost * np.maximum(short, 0.0))), float(np.sum(cost * near * self.noise))


@dataclass(frozen=True)
class OnMoments(Delivered):
    """A linear rule of which only moments are asked: the judging points are the two means, ``within`` is the variance of f in either class."""

    along: Pair = (0.0, 0.0)
    within: Pair = (0.0, 0.0)
    longest: float = 0.0

    @classmethod
    def of(cls, coef: Array, offset: float, along: Pair, within: Pair, longest: float) -> OnMoments:
        """Return it where the means of coef·x are ``along``, and its variances ``within``; ``longest`` is the largest ‖x‖."""
        return cls(
            np.array(along),
            _EACH,
            offset,
            lambda: np.array([longest]),
            coef,
            along=along,
            within=within,
            longest=longest,
        )

    @property
    def blur(self) -> float:
        """How far rounding may move a decision value."""
        return blurred(sqrt(self.norm2), self.longest, self.offset)

    @property
    def _moments(self) -> tuple[float, float, float, float]:
        return *self.along, *self.within


@dataclass(frozen=True)
class Verdict:
    """What the delivered rule is worth: its objective, its relative distance from the bound, and how much is ``allowed``.

    ``errors`` are the worst-case errors (positive, negative) of the delivered rule, where a method promises them. ``facts`` are
    further numbers that follow from it, by the names of the estimator's attributes. ``lenient``: a solver that was told to stop
    earlier is allowed what it was told.
    """

    objective: float
    gap: float
    errors: Pair | None = None
    allowed: float = 1e-4
    lenient: bool = True
    facts: Mapping[str, float] = field(default_factory=dict)


Judge = Callable[[Delivered], Verdict]


def above(objective: float, bound: float, rounding: float = 0.0, least: float = 0.0) -> Verdict:
    """Return the verdict of a minimum: the objective, and how far above a lower bound it may be."""
    size = max(abs(objective), least)
    distance = max(objective - bound, 0.0) + rounding
    return Verdict(objective, distance / size if size > 0 else (0.0 if distance == 0 else inf))


def apart(objective: float, bound: float, sides: Sides, nu: Pair, rounding: float, lenient: bool = False) -> Verdict:
    """Return the verdict where either value may be the larger one: one that passes its bound disproves the bound.

    ``rounding`` is how far it may move the objective.
    """
    distance = abs(bound - objective) + rounding
    return Verdict(objective, distance / objective if objective > 0 else inf, sides.errors(nu), lenient=lenient)
