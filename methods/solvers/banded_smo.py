"""The banded SVM by sequential minimal optimisation in n variables.

With β = y∘(α − θ) the dual (Pendse (3.14)) has one variable for every point, and a linear term with a kink at 0, since
α_i θ_i = 0:

    min_β  ½ β'Kβ − Σ h(y_i β_i)     s.t.  Σβ = 0,  −C2 ≤ y_i β_i ≤ C1,      h(γ) = ρ1 γ for γ > 0,  ρ2 γ for γ < 0.

Pairs of variables are moved by compiled code (`numerics/smo.py`), a part of the points at a time: the free ones, and those that
gain most. That part of K is in single precision, the gradient Kβ of all points in double; so what a round gets wrong, the next
one mends. Newton steps (`active_set`) finish it. Where thousands of points are free, a Newton step costs more than the rounds
that make it unnecessary.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics import compiled
from mmc.methods.numerics.gram import Index, LazyGram
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.smo import descend
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.problems.hinges import MachineAnswer
from mmc.methods.solvers import Capabilities
from mmc.methods.solvers.libsvm import Rough, solve_hinges

CAN = Capabilities(rows=True)
VERSION = f"smo, {compiled.VERSION}"
_ROUGH = 1e-3  # of ρ1: enough to know nearly all points that are at a bound
_FINER = 20.0  # by how much a round improves, where it need not be better
_PART = 1000  # points that a round adds, or half as many as are free
_MANY = 1500  # free points from which on a Newton step is dear
_ROOM = 1.125  # for points that later rounds add
_ROWS = 128  # of the kernel that are made in one go
_LEAST = 1e-11  # of ρ1: below is rounding


def solve(problem: BandedProblem, *, tol: float = 1e-6, max_iter: int | None = None) -> MachineAnswer:
    """Return the banded SVM to a relative duality gap of ``tol``, or raise NotConverged.

    ``max_iter`` bounds the steps of one descent (default: 100 per point and at least 20,000).
    """
    limit = max(20_000, 100 * len(problem.sign)) if max_iter is None else max_iter
    at = _Descent(problem, 1.0)
    first = at.down_to(_ROUGH * problem.rho1, limit)
    end = _ROUGH
    while first and np.sum(at.free) > _MANY and end > _LEAST:
        end /= 10
        if not at.down_to(end * problem.rho1, limit):
            break
        if end < 10 * tol:
            primal, dual = problem.points(at.multipliers)
            if problem.certify(primal, dual).reached <= tol:
                return MachineAnswer(primal, dual, at.steps, VERSION)

    def descent(scale: float) -> Rough:
        if scale == 1:
            return at.multipliers if first else None, at.steps
        less = _Descent(problem, scale)
        return less.multipliers if less.down_to(_ROUGH * problem.rho1, limit) else None, less.steps

    a, iterations = solve_hinges(problem.hinges, descent, tol, "the descent")
    return problem.answer(a, tol, iterations, VERSION)


class _Descent:
    """β and G = Kβ, from 0 on, with C times ``scale``.

    ``part`` are the points of the last round and ``K_part`` the kernel between them, with room for more.
    """

    def __init__(self, problem: BandedProblem, scale: float):
        y, C1, C2 = problem.sign, scale * problem.costs[0], scale * problem.largest_theta
        self.K, self.y, self.steps = problem.K, y, 0
        self.above = np.where(y > 0, problem.rho1, -problem.rho2)
        self.below = np.where(y > 0, problem.rho2, -problem.rho1)
        self.low, self.high = np.where(y > 0, -C2, -C1), np.where(y > 0, C1, C2)
        self.beta, self.G = np.zeros(len(y)), np.zeros(len(y))
        self.part = np.arange(0 if isinstance(problem.K, LazyGram) else len(y))
        self.K_part: NDArray[np.float32] | Array = np.empty((0, 0)) if isinstance(self.K, LazyGram) else self.K

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which points lie on an edge of the band."""
        inside: NDArray[np.bool_] = (self.beta != 0) & (self.beta > self.low) & (self.beta < self.high)
        return inside

    @property
    def multipliers(self) -> Array:
        """α, then θ."""
        gamma = self.y * self.beta
        return np.concatenate([np.maximum(gamma, 0.0), np.maximum(-gamma, 0.0)])

    def down_to(self, end: float, limit: int) -> bool:
        """Descend until no pair gains more than ``end`` per unit; return False after ``limit`` steps."""
        limit += self.steps
        while self.steps < limit:
            rise, fall = self._slopes()
            excess = float(np.max(rise) - np.min(fall))
            if excess <= end:
                return True
            if self.steps or not len(self.part):
                self._choose(rise, fall)
            W, before = self.part, self.beta
            here = (self.above[W], self.below[W], self.low[W], self.high[W])
            beta = before[W]
            done = descend(self.K_part, *here, beta, self.G[W], max(end / 2, excess / _FINER), limit - self.steps)
            if not done:  # what is left is the rounding of single precision
                return False
            self.steps += done
            self.beta = before.copy()
            self.beta[W] = beta
            self.G += self.K @ (self.beta - before)
        return False

    def _slopes(self) -> tuple[Array, Array]:
        """Return the gain per unit of moving β up, and the loss per unit of moving it down."""
        beta = self.beta
        rise = np.where(beta < self.high, np.where(beta >= 0, self.above, self.below) - self.G, -np.inf)
        fall = np.where(beta > self.low, np.where(beta > 0, self.above, self.below) - self.G, np.inf)
        return rise, fall

    def _choose(self, rise: Array, fall: Array) -> None:
        """Take the free points and those that gain most; the last round's stay while there is room."""
        free = self.free
        ends = float(np.min(fall)), float(np.max(rise))
        bias = np.clip(np.mean(rise[free]), *ends) if free.any() else sum(ends) / 2
        up, down = rise - bias, bias - fall
        gain = np.where(free, -np.inf, np.maximum(up, down))
        most = max(_PART, int(free.sum()) // 2)
        order = np.argsort(-gain)[:most]
        chosen = free.copy()
        chosen[order[gain[order] > 0]] = True
        for side in (up, down):  # where all gain the same, those of one class may come first: a pair has two ends
            if not np.any(side[chosen] > 0):
                chosen[np.argsort(-side)[: most // 2]] = True
        known = np.zeros(len(free), dtype=bool)
        known[self.part] = True
        new = np.flatnonzero(chosen & ~known)
        if len(self.part) + len(new) > len(self.K_part) or np.sum(chosen) < len(self.part) / 2:
            self._keep(np.flatnonzero(chosen[self.part]), len(new))
        self._add(new)

    def _keep(self, kept: Index, new: int) -> None:
        """Keep only some places of the part, and make room for new points and some more."""
        m, K, self.part = len(kept), self.K_part, self.part[kept]
        room = int((m + new) * _ROOM)
        self.K_part = np.empty((room, room), dtype=np.float32)
        for row, place in zip(self.K_part, kept, strict=False):
            row[:m] = K[place].take(kept)

    def _add(self, new: Index) -> None:
        """Add points to the part. Whole rows of K are made only of those that then move."""
        K, m, self.part = self.K_part, len(self.part), np.concatenate([self.part, new])
        n = len(self.part)
        for start in range(m, n, _ROWS):
            rows = slice(start, min(start + _ROWS, n))
            K[rows, :n] = self.K[np.ix_(self.part[rows], self.part)]
        K[:m, m:n] = K[m:n, :m].T
