"""Sums of hinges, each on one side of a target: the problem behind the SVM and the banded SVM.

    min_{w,b}  ½‖w‖² + Σ_k C_k [s_k (t_k − f(x_k))]_+ ,        f(x) = ⟨w, x⟩ + b,  s_k = ±1,

has the dual

    max_a  t'β − ½ β'Kβ ,    β_k = s_k a_k,  0 ≤ a_k ≤ C_k,  Σ β_k = 0,         w = Σ β_k x_k.

The soft-margin SVM has one hinge per point, s = t = y (Nath & Bhattacharyya (2.11)); the banded SVM has two.

The certificate. Feasible a are a dual point, and the w that they give, with the bias of the free ones, is a primal point. Both
values rest on Kβ, whose terms can be far larger than their sum. By |k(x, z)|² ≤ k(x, x) k(z, z) its entry i is rounded by no
more than about ε √k(x_i, x_i) S with S = Σ |β_j| √k(x_j, x_j). A hinge that costs something has a_k = C_k at the optimum: near
it, rounding moves either value by no more than about ε S².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.gram import LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer, Problem
from mmc.methods.problems.bracket import Bracket
from mmc.methods.problems.delivered import Delivered, Verdict, above
from mmc.methods.solution import NotConverged

NOT_CONVEX = "the kernel matrix is not positive semidefinite: the problem is not convex"
_EPS = float(np.finfo(float).eps)
_AT_BOUND = 1e-9  # of the largest multiplier


@dataclass(frozen=True)
class Machine:
    """A primal point: f(x) = Σ coef_i k(x_i, x) + b; ``values`` are f − b on the points."""

    coef: Array
    b: float
    values: Array


@dataclass(frozen=True)
class Multipliers:
    """A dual point: multipliers ``a`` of all hinges, and ``square`` = β'Kβ."""

    a: Array
    square: float


MachineAnswer = Answer[Machine, Multipliers]


@dataclass(frozen=True)
class Hinges:
    """The problem of the module: hinge k sits on point ``point[k]`` of the Gram matrix K."""

    K: Array | LazyGram
    point: NDArray[np.intp]
    side: Array
    target: Array
    C: Array

    def values(self, a: Array) -> Array:
        """Return Kβ: the decision values of all points, without the bias."""
        return self.K @ self.coef(a)

    def coef(self, a: Array) -> Array:
        """Return the coefficient of every point."""
        return np.bincount(self.point, self.side * a, len(self.K)).astype(np.float64, copy=False)

    def movable(self, a: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which β_k can still grow, and which can still fall; a free one can do both."""
        below, above = a < self.C, a > 0
        return np.where(self.side > 0, below, above), np.where(self.side > 0, above, below)

    def feasible(self, a: Array) -> Array:
        """Return the multipliers clipped into their bounds and moved until Σβ = 0: free ones, if they have the room."""
        a = np.clip(a, 0.0, self.C)
        total = np.sum(self.side * a)
        excess, heavy, free = abs(total), self.side * total > 0, (a > 0) & (a < self.C)
        for part, way in ((free & heavy, -a), (free & ~heavy, self.C - a), (heavy, -a)):
            room = abs(np.sum(way[part]))
            if room >= excess > 0:
                return np.where(part, a + way * (excess / room), a)
        return a

    def settled(self, a: Array) -> Array:
        """Return multipliers of an interior point method, which leaves none at its bounds, with those nearly there moved to it."""
        close = _AT_BOUND * np.max(a)
        return np.where(a < close, 0.0, np.where(a > self.C - close, self.C, a))

    def points(self, a: Array, interior: bool = False) -> tuple[Machine, Multipliers]:
        """Return the primal and the dual point of feasible multipliers; ``interior``: they come from an interior point method."""
        h = self.values(a)
        bias = self.least_bias(h) if interior else self._bias(a, h)
        return Machine(self.coef(a), bias, h), Multipliers(a, float(self.side * a @ h[self.point]))

    def certify(self, primal: Machine, dual: Multipliers) -> Bracket:
        """Return the values of both points; raise NotConverged if ‖w‖² is more negative than rounding explains."""
        residual = self.target - primal.values[self.point] - primal.b
        loss = float(self.C @ np.maximum(self.side * residual, 0.0))
        rounding = self.rounding(primal.coef)
        if dual.square < -2e-9 * loss - 2 * rounding:
            raise NotConverged(NOT_CONVEX)
        objective = float(primal.coef @ primal.values) / 2 + loss
        return Bracket.between(objective, self.bound(dual), rounding)

    def bound(self, dual: Multipliers) -> float:
        """Return the value of a dual point."""
        return float(self.target @ (self.side * dual.a)) - dual.square / 2

    def rounding(self, coef: Array) -> float:
        """Return what rounding may add to the value of a point."""
        return _EPS * float(np.abs(coef) @ self._lengths) ** 2

    @cached_property
    def _lengths(self) -> Array:
        return np.sqrt(np.abs(self.K.diagonal()))

    def _bias(self, a: Array, h: Array) -> float:
        """Return the average over the free multipliers, which lie on their targets.

        If none is free, it is the middle of the interval that is left (Pendse, section 3.4).
        """
        r = self.target - h[self.point]
        free = (a > 1e-12 * self.C) & (a < (1 - 1e-12) * self.C)
        if free.any():
            return float(np.mean(r[free]))
        up, down = self.movable(np.where(a > self.C / 2, self.C, 0.0))
        if not (up.any() and down.any()):  # costs so uneven that Σβ = 0 is lost in rounding
            return self.least_bias(h)
        return float(np.max(r[up]) + np.min(r[down])) / 2

    def least_bias(self, h: Array) -> float:
        """Return the bias of least loss, a weighted quantile of t − Kβ.

        An interior point method leaves no multiplier quite free nor quite at a bound.
        """
        r = self.target - h[self.point]
        order = np.argsort(r)
        weight = np.cumsum(self.C[order])
        k = np.searchsorted(weight, np.sum(self.C[self.side > 0]) * (1 + np.array([-1e-12, 1e-12])))
        return float(np.mean(r[order[np.minimum(k, len(r) - 1)]]))


class HingeProblem(Problem[MachineAnswer]):
    """A problem that is a sum of hinges."""

    @property
    def hinges(self) -> Hinges:
        """Return the sum."""
        raise NotImplementedError

    def points(self, a: Array, interior: bool = False) -> tuple[Machine, Multipliers]:
        """Return the feasible points that multipliers lead to; ``interior`` as in `Hinges.points`."""
        return self.hinges.points(a, interior)

    def certify(self, primal: Machine, dual: Multipliers) -> Bracket:
        """Return what the two points prove."""
        return self.hinges.certify(primal, dual)

    def judge(self, rule: Delivered, dual: Multipliers) -> Verdict:
        """Return what the delivered rule is worth beside the dual point."""
        raise NotImplementedError

    def answer(self, a: Array, tol: float, iterations: int, version: str, interior: bool = False) -> MachineAnswer:
        """Return the points of the multipliers a; raise NotConverged if they are farther apart than ``tol``."""
        primal, dual = self.points(a, interior)
        self.certify(primal, dual).judge(tol, version, iterations)
        return Answer(primal, dual, iterations, version)


@dataclass(frozen=True)
class SvmProblem(HingeProblem):
    """The soft-margin SVM: Gram matrix K, labels ±1, and the largest multiplier C_i > 0 of every point."""

    K: Array | LazyGram
    sign: Array
    C: Array

    @cached_property
    def hinges(self) -> Hinges:
        """Return the problem with one hinge for every point."""
        return Hinges(self.K, np.arange(len(self.sign)), self.sign, self.sign, self.C)

    def judge(self, rule: Delivered, dual: Multipliers) -> Verdict:
        loss, more = rule.charged(1 - self.sign * rule.values, self.C)
        rounding = self.hinges.rounding(self.hinges.coef(dual.a)) + more
        return above(rule.norm2 / 2 + loss, self.hinges.bound(dual), rounding)
