"""The hyperplane with the largest mean worst-case accuracy: the problem of the minimum error minimax machine.

    max θ α + (1 - θ) β   s.t.   1 ≥ (κ(α) + νx) √(a'Σx a) + (κ(β) + νy) √(a'Σy a),   a'd = 1,     κ(p) = √(p / (1 - p)).

Every sum κ + ν, here a size, that two classes can have together lies on or below one curve: x's largest size F(s) where y's is
s. F is a maximum of linear functions of s, one for each a, so it is convex and lies below its chords; and every touching point
of ``problems/minimax.py`` is a bound on F. With A(κ) = κ²/(1 + κ²) = p, which rises, the objective between two points of the
curve is at most that of the larger of both sizes; and if they are h1 and h2 apart in the two sizes, it exceeds the larger of its
values there by at most (θ m1 h1² + (1 - θ) m2 h2²)/8, where m bounds -A'' = (6κ² - 2)/(1 + κ²)³ ≤ 1/2 between them.
That bounds the global maximum, though the problem is not concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.linalg import cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.delivered import Sides, Verdict, apart
from mmc.methods.problems.minimax import WorstCase
from mmc.methods.problems.moment_pair import MomentPair


@dataclass(frozen=True)
class Rule:
    """A hyperplane a'd = 1, and where between the means it lies: at ``size`` spreads of the negative class from ȳ."""

    a: Array
    size: float


@dataclass(frozen=True)
class Touching:
    """Points of y's ellipsoids: for each of ``sizes``, rising, where it touches the hyperplane of a row of ``directions``."""

    sizes: Array
    directions: Array


@dataclass(frozen=True)
class MeanAccuracy(Problem[Answer[Rule, Touching]]):
    """The problem with θ = ``weight``; ``nu`` is (νx, νy)."""

    pair: MomentPair
    weight: float
    nu: tuple[float, float] = (0.0, 0.0)

    def value(self, pos: Array, neg: Array) -> Array:
        """Return θ α + (1 - θ) β at the given sizes of both classes."""
        levels: Array = self.weight * accuracy(pos - self.nu[0]) + (1 - self.weight) * accuracy(neg - self.nu[1])
        return levels

    def between(self, pos: Array, neg: Array) -> Array:
        """Return bounds on the objective between neighbours of the curve, whose sizes ``pos`` and ``neg`` are or exceed."""
        values = self.value(pos, neg)
        steps = self.weight * _sag(pos - self.nu[0]) + (1 - self.weight) * _sag(neg - self.nu[1])
        corner = self.value(np.maximum(pos[1:], pos[:-1]), np.maximum(neg[1:], neg[:-1]))
        bounds: Array = np.minimum(np.maximum(values[1:], values[:-1]) + steps, corner)
        return bounds


def _sag(kappa: Array) -> Array:
    """Return how far A can exceed its chord between neighbours: h²/8 times the most of -A'', which is largest at κ = 1."""
    nearest_one = np.clip(1.0, np.minimum(kappa[1:], kappa[:-1]), np.maximum(kappa[1:], kappa[:-1]))
    square = np.square(np.maximum(nearest_one, 0.0))
    most: Array = np.maximum((6 * square - 2) / (1 + square) ** 3, 0.0)
    return most * np.diff(kappa) ** 2 / 8


def accuracy(kappa: Array) -> Array:
    """Return the p of κ(p), 0 where κ is not positive."""
    square: Array = np.square(np.maximum(kappa, 0.0))
    return square / (1 + square)


def certify(problem: MeanAccuracy, answer: Answer[Rule, Touching]) -> WorstCase:
    """Return what a rule promises, and how much more any other could: ``gap``, relative."""
    pair, rule, touching = problem.pair, answer.primal, answer.dual
    sx, sy = pair.spreads(rule.a)
    pos, neg = (1 - rule.size * sy) / sx, rule.size
    value = float(problem.value(np.array(pos), np.array(neg)))
    ends = [np.sqrt(pair.d @ cho_solve(factor, pair.d)) for factor in pair.factors]
    Y = touching.directions @ pair.Sy
    lengths = np.sqrt(np.einsum("ij,ij->i", Y, touching.directions))
    T = pair.d - touching.sizes[:, None] * Y / lengths[:, None]
    most = np.sqrt(np.einsum("ij,ji->i", T, cho_solve(pair.factors[0], T.T)))
    sizes = np.concatenate([[0.0], touching.sizes, [ends[1]]])
    upper = float(problem.between(np.concatenate([[ends[0]], most, [0.0]]), sizes).max())
    gap = max(upper / value - 1, 0.0) if value > 0 else inf
    return WorstCase(value, gap, upper, (pos * sx, neg * sy), (sx, sy))


def judge(problem: MeanAccuracy, sides: Sides, bound: float) -> Verdict:
    """Return what the delivered rule promises beside the most that any rule can."""
    (pos, neg), rounding = sides.sizes()
    steep = problem.weight * rounding[0] + (1 - problem.weight) * rounding[1]  # A' = 2κ/(1 + κ²)² is below 1
    return apart(float(problem.value(np.array(pos), np.array(neg))), bound, sides, problem.nu, steep)
