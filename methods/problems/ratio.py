"""The linear programs of the max-margin ratio machine (Gu & Guo, section 3).

(24), (28) and (30) are one program. With z_i = ±1 the class of point i, u_i = 1/n_x or 1/n_y, and row i of G the
point's features times z_i, or row i of zz'∘K,

    primal   min  u'G v + C 1'ξ   s.t.  G v + b z + ξ ≥ 1,  ξ ≥ 0,   in (30) also v ≥ 0 and 1'v ≤ CAP
    dual     max  1'λ - CAP μ     s.t.  G'λ = G'u  (in (30): G'λ ≤ G'u + μ, μ ≥ 0),  z'λ = 0,  0 ≤ λ ≤ C

and C = ∞ is the hard margin (24). λ = u is feasible for C ≥ max u, so that the optimum is at least 2. The dual has no slack
columns, and C is only a bound in it: the basis of one C stays dual feasible for the next.
The cap is not the paper's. It is beyond all v that mean anything in double precision, and it never binds but on data that
a kernel can hardly tell apart, whose G is singular for all that rounding leaves of it.

The certificate. (v, b) with the smallest slacks is primal feasible (for C = ∞, scaled until every margin is 1). λ is
clipped to its bounds and its heavier class is scaled down until z'λ = 0. What G'λ then exceeds G'u by, e, is mended by a mixture:
in (30) with a second λ that has room where e > 0, such as a point that an interior point method passed early, or 0; else with u
and a small step that takes G'λ back to G'u. With what is left of e, 1'λ - CAP e is a lower bound for all ‖v‖₁ ≤ CAP. What
rounding explains of e is charged as if ‖v‖₁ were ten times that found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isinf
from typing import Protocol

import numpy as np
from scipy.linalg import lstsq
from sklearn.svm import SVC

from mmc.methods.numerics.balance import balanced
from mmc.methods.numerics.gram import Index
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.delivered import HARD, Delivered, Verdict, above
from mmc.methods.solution import InfeasibleProblem, NotConverged

CAP = 1e7


class Matrix(Protocol):
    """What the solvers ask of G."""

    shape: tuple[int, int]

    def block(self, rows: Index, columns: Index) -> Array:
        """Return G[rows, columns]."""

    def whole(self) -> Array:
        """Return G."""

    def times(self, v: Array) -> Array:
        """Return G v."""

    def pull(self, dual: Array) -> Array:
        """Return G'λ."""

    def rounding(self, dual: Array) -> Array:
        """Return what rounding may have added to G'λ, which `pull` returns."""

    def machine(self, svc: SVC, sign: Array) -> tuple[Array, float]:
        """Return v and b of an SVM on the same points."""

    def limit(self, memory: float) -> None:
        """Keep no more than ``memory`` bytes of what can be made anew."""


@dataclass(frozen=True)
class RatioPrimal:
    """A primal point: v and b, its ``spread`` u'Gv = w'(x̄ - ȳ) and its ``slack`` 1'ξ.

    ``margins`` are Gv + bz, before a hard margin scaled the point.
    """

    v: Array
    b: float
    spread: float
    slack: float
    margins: Array


@dataclass(frozen=True)
class RatioDual:
    """A dual point: ``weights`` λ, the ``excess`` of its G'λ over G'u, and what ``rounding`` may explain of it.

    ``violation`` is the excess of the λ that this one was mended from.
    """

    weights: Array
    excess: Array
    rounding: Array
    violation: Array


RatioAnswer = Answer[RatioPrimal, RatioDual]


@dataclass(frozen=True)
class RatioLP(Problem[RatioAnswer]):
    """The program above; ``costs`` are G'u₊ and G'u₋, the parts of its cost G'u for either class."""

    matrix: Matrix
    sign: Array
    weight: Array
    costs: tuple[Array, Array]
    C: float
    nonnegative: bool

    @cached_property
    def cost(self) -> Array:
        return self.costs[0] + self.costs[1]

    def pull(self, dual: Array, inside: Index | None) -> Array:
        """Return G'λ. Outside the points ``inside``, λ is a multiple of u within each class (None: it may be anything)."""
        if inside is None:
            return self.matrix.pull(dual)
        rest, total = dual.copy(), np.zeros(self.matrix.shape[1])
        outside = np.ones(len(dual), dtype=bool)
        outside[inside] = False
        for side, cost in zip((self.sign > 0, self.sign < 0), self.costs, strict=True):
            for example in np.flatnonzero(outside & side)[:1]:
                multiple = dual[example] / self.weight[example] if dual[example] else 0.0
                rest[side] -= multiple * self.weight[side]
                total += multiple * cost
        rest[outside] = 0.0
        return total + self.matrix.pull(rest)

    # -- the certificate ------------------------------------------------------------------------------------
    def points(
        self, v: Array, b: float, dual: Array, inside: Index | None = None, central: Array | None = None
    ) -> tuple[RatioPrimal, RatioDual]:
        """Return (v, b) and λ made feasible.

        ``central`` is a λ with room, if one is known; for both, ``inside`` is as in `pull`.
        """
        primal = self._primal(v, b)
        dual = self._balanced(dual)
        excess = self.pull(dual, inside) - self.cost
        found = [(dual, excess)]
        if not self.nonnegative:
            found.append(self._stepped(dual, excess))
        elif excess.max() > 0:
            found.append(_mixed(dual, excess, np.zeros_like(dual), -self.cost))
            if central is not None:
                central = self._balanced(central)
                found.append(_mixed(dual, excess, central, self.pull(central, inside) - self.cost))
        rounding = self.matrix.rounding(dual)
        duals = [RatioDual(*one, rounding, excess) for one in found]
        return primal, max(duals, key=lambda one: self._bound(primal, one))

    def certify(self, primal: RatioPrimal, dual: RatioDual) -> Bracket:
        """Return what the two points prove: nothing, if the margin is hard and the primal point has none."""
        objective = primal.spread + (self.C * primal.slack if primal.slack else 0.0)
        return Bracket.between(objective, self._bound(primal, dual), least=1.0)

    def judge(self, rule: Delivered, primal: RatioPrimal, dual: RatioDual, moved: float = 0.0) -> Verdict:
        """Return what the delivered rule is worth beside the dual point: f = w'x + b, so that w'(x̄ - ȳ) is a difference of means.

        ``moved`` is how far the b of the program is from a b that was chosen otherwise.
        """
        margins = self.sign * (rule.values + moved)
        spread = rule.means[0] - rule.means[1]
        if isinf(self.C):
            least = float(margins.min())
            return above(spread / least if least >= 1 - HARD else inf, self._bound(primal, dual), least=1.0)
        slack, rounding = rule.charged(1 - margins, self.C)
        return above(spread + slack, self._bound(primal, dual), rounding, least=1.0)

    def _primal(self, v: Array, b: float) -> RatioPrimal:
        z = self.sign
        if self.nonnegative:
            v = np.maximum(v, 0.0)
            v = v * min(1.0, CAP / max(float(v.sum()), 1.0))
        margins = self.matrix.times(v) + b * z
        slack = float(np.maximum(1 - margins, 0).sum())
        if isinf(self.C):
            lowest = margins[z > 0].min(), margins[z < 0].min()
            half = sum(lowest) / 2
            if half > 0 and (not self.nonnegative or float(v.sum()) <= CAP * half):  # the cap holds for the scaled v
                v, b, slack = v / half, (b + half - lowest[0]) / half, 0.0
        return RatioPrimal(v, float(b), float(self.cost @ v), slack, margins)

    def _bound(self, primal: RatioPrimal, dual: RatioDual) -> float:
        length = min(10 * (1 + float(np.abs(primal.v).sum())), CAP)
        left = dual.excess if self.nonnegative else np.abs(dual.excess)
        costs = CAP * np.maximum(left - dual.rounding, 0.0) + length * np.minimum(left, dual.rounding)
        return float(dual.weights.sum() - costs.max(initial=0.0))

    def _balanced(self, dual: Array) -> Array:
        return balanced(np.clip(dual, 0.0, self.C), self.sign)

    def _stepped(self, dual: Array, excess: Array) -> tuple[Array, Array]:
        """Return the mixture of λ with u, whose room between 0 and C takes the step back to G'λ = G'u, and what is left."""
        u = self.weight
        back = np.column_stack([self.matrix.whole(), self.sign]).T
        noise = len(dual) * float(np.finfo(float).eps)  # of features that repeat others: no step along it
        step = lstsq(back, np.append(-excess, 0.0), cond=noise, lapack_driver="gelsy")[0]
        room = np.minimum(u, self.C - u)
        if np.any(room[step != 0] <= 0):
            return dual, excess
        share = float((np.abs(step) / np.where(step != 0, room, 1.0)).max())
        dual = (dual + share * u + step) / (1 + share)
        return dual, self.matrix.pull(dual) - self.cost

    # -- the hard margin that does not exist ----------------------------------------------------------------
    def least_slack(self) -> RatioLP:
        """Return the program whose optimum is the smallest total slack, Σξ."""
        nothing = np.zeros(self.matrix.shape[1])
        return replace(self, weight=np.zeros_like(self.weight), costs=(nothing, nothing), C=1.0)


def inseparable(distance: float) -> InfeasibleProblem:
    """Return the error of a hard margin that does not exist; ``distance`` is the optimum of `RatioLP.least_slack`."""
    if not distance > 1e-6:
        raise NotConverged("no bound was found for classes that seem separable", residual=distance)
    return InfeasibleProblem(
        f"no hard margin (C=inf): the classes are not separable, the smallest total slack is {distance:.3g}; "
        "use a finite C",
        distance,
    )


def _mixed(dual: Array, excess: Array, other: Array, other_excess: Array) -> tuple[Array, Array]:
    """Return the mixture of λ with as much of another one as its room needs to take up what G'λ exceeds, and what is left."""
    mend = (excess > 0) & (other_excess < 0)
    share = float((excess[mend] / -other_excess[mend]).max(initial=0.0))
    return (dual + share * other) / (1 + share), (excess + share * other_excess) / (1 + share)
