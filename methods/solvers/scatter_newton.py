"""The maxi-min margin machine as a support vector machine whose metric is part of the answer, by Newton steps.

By s_x(w) = min_a (w'Σx w/a + a)/2 the problem of ``problems/scatter_margin.py`` is

    min_{a,c}  (a + c)/2 + min_{w,b'}  ½ w'Dw + C 1'ξ     s.t.  z_i(w'x_i + b') ≥ 1 - ξ_i,  ξ ≥ 0,      D = Σx/a + Σy/c.

Inside is an SVM in the metric D, which is diagonal in the problem's coordinates. Outside, a = s_x(w) and c = s_y(w) at the
optimum. A round solves the SVM roughly by pairs of multipliers (`numerics/smo.py`), with a and c times the number that makes
their sum right. Newton steps follow on all conditions at once: λ of the points on the margin, b', α = 1/a and κ = 1/c. Every step
decides anew which points are on the margin. The matrix of a step is only as large as their number. Where the steps lead nowhere,
the next round has a = s_x(w) and c = s_y(w), which never raises the objective.

λ with p = Σx^½ w/a and q = Σy^½ w/c satisfies the dual's equation, and ‖p‖ = s_x/a, ‖q‖ = s_y/c. Made for kernels, where most
points on the margin are independent; with few features and a large C the cone program is the surer way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isinf, log

import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics import compiled
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.smo import descend
from mmc.methods.problems import Judged
from mmc.methods.problems.scatter_margin import (
    ScatterAnswer,
    ScatterMargin,
    ScatterMultipliers,
    ScatterPlane,
    certify,
)
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

CAN = Capabilities()
VERSION = f"smo, {compiled.VERSION}"
_STEPS = 200  # of pairs, for every point, in one round
_NEWTON = 20  # steps in one round
_ALIKE = 0.1  # how far a and c may be from the spreads, in logarithms, before Newton's steps


def solve(problem: ScatterMargin, *, gap: float = 1e-6, max_iter: int = 100) -> ScatterAnswer:
    """Return the solution, certified to ``gap``; ``max_iter`` bounds the rounds. Raises NotConverged above ``gap``."""
    if isinf(problem.C):
        raise ValueError("C=inf is for solver='sequential-socp': the Newton steps need a bound for every multiplier")
    smallest, steps, at = np.inf, 0, _start(problem)
    for k in range(max_iter):
        rough, taken = _svm(problem, at, max(1e-2 / 3**k, 1e-9))
        steps += taken
        refined, taken = _newton(problem, rough)
        steps += taken
        for plane, dual in (point.both(problem) for point in (refined, rough)):
            width = certify(problem, plane, dual)
            smallest = min(smallest, width.gap)
            if width.gap <= gap:
                return Judged(plane, dual, steps, VERSION, certificate=width)
        a, c = _spreads(problem, rough.w(problem))
        if not (a > 0 and c > 0):
            break
        at = replace(rough, a=a, c=c)
    raise NotConverged(f"certified to {smallest:.2g}, not to {gap:.2g}, after {k + 1} rounds", steps, smallest)


@dataclass(frozen=True)
class _Point:
    """λ, b' and the metric: w = Σ λ_i z_i x_i / D follows."""

    dual: Array
    b: float
    a: float
    c: float

    def w(self, problem: ScatterMargin) -> Array:
        """Return w."""
        w: Array = (problem.sign * self.dual) @ problem.points / _metric(problem, self.a, self.c)
        return w

    def both(self, problem: ScatterMargin) -> tuple[ScatterPlane, ScatterMultipliers]:
        """Return the primal and the dual point."""
        w, share = self.w(problem), problem.share
        p, q = np.sqrt(share) * w / self.a, np.sqrt(1 - share) * w / self.c
        return ScatterPlane(w, self.b), ScatterMultipliers(self.dual, p, q)


def _metric(problem: ScatterMargin, a: float, c: float) -> Array:
    return problem.share / a + (1 - problem.share) / c


def _spreads(problem: ScatterMargin, w: Array) -> tuple[float, float]:
    return float(np.sqrt(problem.share @ w**2)), float(np.sqrt((1 - problem.share) @ w**2))


def _start(problem: ScatterMargin) -> _Point:
    """Return λ = 0 in the metric of the w along the difference of the means that puts them at ±1."""
    z, F = problem.sign, problem.points
    apart = F[z > 0].mean(axis=0) - F[z < 0].mean(axis=0)
    length = float(apart @ apart)
    a, c = _spreads(problem, 2 * apart / length) if length > 0 else (1.0, 1.0)
    return _Point(np.zeros(len(z)), 0.0, max(a, 1e-12 * c), max(c, 1e-12 * a))


def _svm(problem: ScatterMargin, at: _Point, tol: float) -> tuple[_Point, int]:
    """Return the SVM in a metric t times that of ``at``, where t is such that the spreads are about a and c; and the steps."""
    F, z, C = problem.points, problem.sign, problem.C
    K = F / _metric(problem, at.a, at.c) @ F.T
    low, high, beta = np.where(z > 0, 0.0, -C), np.where(z > 0, C, 0.0), z * at.dual
    t, steps = 1.0, 0
    for _ in range(6):
        scaled = t * K
        steps += descend(scaled, z, z, low, high, beta, scaled @ beta, tol, _STEPS * len(z))
        slope = z - scaled @ beta
        rise, fall = slope[beta < high], slope[beta > low]
        point = _Point(z * beta, float(np.max(rise) + np.min(fall)) / 2, t * at.a, t * at.c)
        spread = sum(_spreads(problem, point.w(problem)))
        far = log(spread / (point.a + point.c)) if spread > 0 else 0.0
        if abs(far) < _ALIKE:
            break
        t *= float(np.exp(1.5 * far))  # the spread itself falls as the metric grows
    return point, steps


def _newton(problem: ScatterMargin, at: _Point) -> tuple[_Point, int]:
    """Return the last point of Newton's steps, and their number."""
    F, z, C = problem.points, problem.sign, problem.C
    on, top = (at.dual > 0) & (at.dual < C), at.dual >= C
    for k in range(_NEWTON):
        moved = _step(problem, replace(at, dual=np.where(on, at.dual, np.where(top, C, 0.0))), np.flatnonzero(on))
        if moved is None:
            return at, k
        at = moved
        D, margins = _metric(problem, at.a, at.c), z * (F @ at.w(problem) + at.b)
        guess = at.dual + (1 - margins) / np.maximum(np.einsum("ij,ij->i", F / D, F), 1e-300)
        before, (on, top) = (on, top), ((guess > 0) & (guess < C), guess >= C)
        if np.array_equal(before, (on, top)) and np.max(np.abs(1 - margins[on]), initial=0.0) < 1e-10:
            return at, k + 1
    return at, _NEWTON


def _step(problem: ScatterMargin, at: _Point, on: NDArray[np.intp]) -> _Point | None:
    """Make one Newton step for λ of the points ``on`` the margin, b', α and κ; None if it has no solution.

    With P = z_i x_i of these points, e_x = Σx w/D, e_y = Σy w/D the equations are

        P w + z b' = 1,     z'λ = 0,     (w'Σx w - 1/α²)/2 = 0,     (w'Σy w - 1/κ²)/2 = 0,

    and as dw = (P'dλ - Σx w dα - Σy w dκ)/D, their matrix is symmetric if the last two change sign.
    """
    z, n = problem.sign[on], len(on)
    alpha, kappa, w = 1 / at.a, 1 / at.c, at.w(problem)
    D, P = _metric(problem, at.a, at.c), z[:, None] * problem.points[on]
    turned = np.column_stack([problem.share * w, (1 - problem.share) * w])
    M = np.zeros((n + 3, n + 3))
    M[:n, :n] = P / D @ P.T
    M.flat[: n * (n + 3) : n + 4] += 1e-13 * np.trace(M)
    M[:n, n] = M[n, :n] = z
    M[:n, n + 1 :] = -P @ (turned / D[:, None])
    M[n + 1 :, :n] = M[:n, n + 1 :].T
    squares = w @ turned
    M[n + 1 :, n + 1 :] = turned.T @ (turned / D[:, None]) - np.diag(squares / [alpha, kappa])
    short = np.concatenate([1 - P @ w - z * at.b, [-(problem.sign @ at.dual)], (squares - [at.a**2, at.c**2]) / 2])
    try:
        step = np.linalg.solve(M, short)
    except np.linalg.LinAlgError:
        return None
    shrink = min(1.0, *(0.5 * old / max(-new, 1e-300) for old, new in zip((alpha, kappa), step[n + 1 :], strict=True)))
    if not np.all(np.isfinite(step)):
        return None
    step *= shrink
    dual = at.dual.copy()
    dual[on] += step[:n]
    return _Point(dual, at.b + float(step[n]), 1 / (alpha + float(step[n + 1])), 1 / (kappa + float(step[n + 2])))
