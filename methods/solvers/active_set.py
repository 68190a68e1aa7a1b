"""Multipliers of a sum of hinges by an active-set method, from a start that knows nearly all that are at a bound.

A step is Newton's on the free multipliers and those whose gradient points away from their bound, cut where the first
one meets a bound, where it stays until a step is whole: the dual objective never falls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.hinges import NOT_CONVEX, Hinges
from mmc.methods.solution import NotConverged

_STEPS = 1000  # one or two are usual, some hundred were the worst seen after a bad start
_FREED = 100  # hinges that a step frees, or as many as are free already


def solve(hinges: Hinges, start: Array, *, tol: float) -> tuple[Array, int]:
    """Return optimal multipliers near ``start``, with a relative gap of at most ``tol``, and the steps.

    At least one step is made: it is cheap, and mostly takes the gap from 1e-4 to 1e-12. If freeing many at once leads
    nowhere, only the worst is freed.
    """
    at = _Iterate(hinges, start)
    for step in range(_STEPS):
        optimal = at.look(tol)
        if step or optimal:
            feasible = hinges.feasible(at.a)
            bracket = hinges.certify(*hinges.points(feasible))
            if bracket.reached <= tol and (at.whole or optimal):
                return feasible, step
        at.advance()
    raise bracket.not_converged(tol, "the active-set method", _STEPS)


class _Iterate:
    """The multipliers ``a``, and which of them ``stay`` at the bound that they met. ``whole``: the last step was not cut."""

    def __init__(self, hinges: Hinges, a: Array):
        self.hinges, self.a = hinges, a
        self.wide, self.whole = True, False
        self.stay = np.zeros(len(a), dtype=bool)

    def look(self, tol: float) -> bool:
        """Compute the gradient r = t − Kβ; return whether no pair of multipliers gains more than ``tol``."""
        hinges = self.hinges
        self.r = r = hinges.target - hinges.values(self.a)[hinges.point]
        self.up, self.down = hinges.movable(self.a)
        if not (self.up.any() and self.down.any()):
            raise NotConverged("the costs of the two classes are so uneven that Σβ = 0 is lost in rounding")
        self.best = np.flatnonzero(self.up)[np.argmax(r[self.up])]
        self.worst = np.flatnonzero(self.down)[np.argmin(r[self.down])]
        return bool(r[self.best] - r[self.worst] <= tol * np.min(np.abs(hinges.target)))

    def advance(self) -> None:
        """Make one step, as long as the bounds let it be."""
        hinges, a, C = self.hinges, self.a, self.hinges.C
        W = self._working()
        while True:
            points = hinges.point[W]
            move = hinges.side[W] * _newton(hinges.K[np.ix_(points, points)], self.r[W])
            outward = ((a[W] <= 0) & (move < 0)) | ((a[W] >= C[W]) & (move > 0))
            if not outward.any():
                break
            W = W[~outward]
        room = np.full(len(W), np.inf)
        np.divide(np.where(move > 0, C[W] - a[W], a[W]), np.abs(move), out=room, where=move != 0)
        length = np.min(room, initial=1.0)
        met, self.whole = room <= length, bool(length == 1.0)
        if self.whole:
            self.wide = bool(np.any(self.stay)) or bool(np.any(move))
            self.stay[:] = False
        self.stay[W[met]] = True
        self.a = a.copy()
        self.a[W] = np.where(met, np.where(move > 0, C[W], 0.0), a[W] + length * move)

    def _working(self) -> NDArray[np.intp]:
        """Return the multipliers that may move: the free ones, and some or one of those whose gradient points inwards."""
        r, best, worst = self.r, self.best, self.worst
        free = self.up & self.down
        b = np.clip(np.mean(r[free]), r[worst], r[best]) if free.any() else (r[best] + r[worst]) / 2
        if not self.wide:
            work = free.copy()
            work[[best, worst] if not free.any() else best if r[best] - b > b - r[worst] else worst] = True
            return np.flatnonzero(work & ~self.stay)
        margin = 1e-3 * (r[best] - r[worst])
        work = (self.up & (r > b + margin)) | (self.down & (r < b - margin))
        inwards = np.flatnonzero(work & ~free & ~self.stay)
        many = max(_FREED, int(np.sum(free)))
        if len(inwards) > many:  # those that matter most: a large block is dear, and most of it would turn back
            work[inwards] = False
            work[inwards[np.argpartition(-np.abs(r[inwards] - b), many)[:many]]] = True
        return np.flatnonzero((work | free) & ~self.stay)


def _newton(K: Array, r: Array) -> Array:
    """Return d with Σd = 0 that maximises r'd − ½ d'Kd, very slightly damped so that a singular K serves too."""
    if not len(r):
        return r
    mean, rounding = K.mean(axis=0), 4 * np.finfo(float).eps * len(r) * np.max(np.diag(K))
    K = K - mean - mean[:, None] + mean.mean()
    trace = max(float(np.trace(K)), 1e-100)
    K += trace / len(r) ** 2  # the direction of ones, which centring removed
    K.flat[:: len(r) + 1] += 1e-12 * trace + rounding
    try:
        factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise NotConverged(NOT_CONVEX) from error
    d: Array = cho_solve(factor, r - r.mean(), check_finite=False)
    d -= d.mean()
    return d
