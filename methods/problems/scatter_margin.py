"""The margin in standard deviations of each class: the problem of the maxi-min margin machine (Gu & Guo, (12)).

Huang et al. (2008) find ρ by a sequence of programs, each of which asks whether (12) is feasible at one ρ. What Theorem 3 does to
(18) also works here: with s_x(w)² = w'Σx w, s_y(w)² = w'Σy w and the scale of w fixed by ρ (s_x + s_y) = 2, the constraints of
(12) with slacks, w'x_i + b ≥ ρ s_x(w) - ξ_i, are w'x_i + b' ≥ 1 - ξ_i for b' = b - (s_x - s_y)/(s_x + s_y), and the largest ρ is
the smallest s_x + s_y = 2/ρ. The sequence shrinks to a single convex program, with a dual:

    primal   min  s_x(w) + s_y(w) + C 1'ξ   s.t.  z_i(w'x_i + b') ≥ 1 - ξ_i,  ξ ≥ 0
    dual     max  1'λ   s.t.  Σ_i λ_i z_i x_i = Σx^½ p + Σy^½ q,  ‖p‖ ≤ 1,  ‖q‖ ≤ 1,  z'λ = 0,  0 ≤ λ ≤ C

C = ∞ is the hard margin (12). The points come in coordinates in which Σx + Σy = I and Σx = diag(l).

The certificate. (w, b') with the smallest slacks is primal feasible (for C = ∞, scaled until every margin is 1). λ is clipped, and
its heavier class scaled down until z'λ = 0. What is missing from the equation, e, is shared out as p + √l e, q + √(1-l) e, which
satisfies it exactly; λ, p and q are divided by the larger norm where it exceeds 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import NamedTuple

import numpy as np

from mmc.methods.numerics.balance import balanced
from mmc.methods.numerics.blur import EPS
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Certificate, Judged, Problem
from mmc.methods.problems.delivered import HARD, Delivered, Verdict, above


class ScatterPlane(NamedTuple):
    """A primal point: w and b'."""

    w: Array
    b: float


class ScatterMultipliers(NamedTuple):
    """A dual point: λ, p and q."""

    points: Array
    pos: Array
    neg: Array


@dataclass(frozen=True)
class ScatterWidth(Certificate):
    """The feasible primal point w, b'; ``spread`` is (s_x, s_y) there."""

    w: Array
    b: float
    spread: tuple[float, float]


ScatterAnswer = Judged[ScatterPlane, ScatterMultipliers, ScatterWidth]


@dataclass(frozen=True)
class ScatterMargin(Problem[ScatterAnswer]):
    """The program above: ``points`` in the coordinates of ``share`` = l, ``sign`` = z."""

    points: Array
    sign: Array
    share: Array
    C: float


def certify(problem: ScatterMargin, plane: ScatterPlane, multipliers: ScatterMultipliers) -> ScatterWidth:
    """Return the primal point made feasible, and its relative gap; the gap is inf if w separates nothing."""
    w, b, slack = _feasible(problem, plane)
    spread = _spread(problem, w)
    objective = sum(spread) + slack
    gap = max(objective - _bound(problem, multipliers), 0.0) / objective if objective < inf else inf
    return ScatterWidth(objective, gap, w, b, spread)


def judge(problem: ScatterMargin, rule: Delivered, multipliers: ScatterMultipliers, ridge: float) -> Verdict:
    """Return what the delivered rule is worth beside the dual point; ``ridge`` was added to both covariances.

    The standard deviations of f in the classes are s_x and s_y, whatever the coordinates of the program were.
    """
    sides = rule.sides((ridge, ridge))
    (s_x, s_y), bound = sides.spreads, _bound(problem, multipliers)
    width, blur = s_x + s_y, sum(sides.rounding)
    # Rounding moves the spreads, and the shift by at most ``move``: not if w = 0, where both are 0.
    shift, move = ((s_x - s_y) / width, 2 * blur / width) if width > 0 else (0.0, 0.0)
    margins = problem.sign * (rule.values - shift)
    if isinf(problem.C):
        least = float(margins.min())
        off = (blur + width * (move + float(rule.noise.max())) / least) / least if width > 0 else 0.0
        return above(width / least if least >= 1 - HARD else inf, bound, off)
    short, slack = 1 - margins, rule.charged(1 - margins, problem.C)[0]
    ends = (rule.charged(short + way * problem.sign, problem.C) for way in (-move, move))  # convex between them
    return above(width + slack, bound, blur + max(map(sum, ends)) - slack)


def _spread(problem: ScatterMargin, w: Array) -> tuple[float, float]:
    return float(np.sqrt(problem.share @ w**2)), float(np.sqrt((1 - problem.share) @ w**2))


def _feasible(problem: ScatterMargin, plane: ScatterPlane) -> tuple[Array, float, float]:
    """Return w and b' scaled to the best feasible point, and C times its slacks."""
    (w, b), z, C = plane, problem.sign, problem.C
    margins = z * (problem.points @ w + b)
    if isinf(C):
        lowest = margins[z > 0].min(), margins[z < 0].min()
        half = sum(lowest) / 2
        return (w / half, (b + half - lowest[0]) / half, 0.0) if half > 0 else (w, b, inf)
    # Points that should lie on the margin miss it by the solver's tolerance, which C multiplies: scale w to the best.
    width = sum(_spread(problem, w))
    scales = np.append(1.0, 1 / margins[np.abs(margins - 1) < 1e-3])
    slacks = np.array([np.maximum(1 - scale * margins, 0).sum() for scale in scales])
    best = int(np.argmin(scales * width + C * slacks))
    # Where w = 0 is the best, a solver leaves a w that is too short for decision values to show its direction.
    nothing, found = C * (len(z) - abs(float(z.sum()))), float(scales[best] * width + C * slacks[best])
    if nothing <= (1 + len(z) * EPS) * found:
        return np.zeros_like(w), 1.0 if z.sum() >= 0 else -1.0, nothing
    return w * scales[best], b * float(scales[best]), C * float(slacks[best])


def _bound(problem: ScatterMargin, multipliers: ScatterMultipliers) -> float:
    """Return the value of the multipliers made feasible."""
    points, p, q = multipliers
    dual = balanced(np.clip(points, 0.0, problem.C), problem.sign)
    roots = np.sqrt(problem.share), np.sqrt(1 - problem.share)
    missing = (dual * problem.sign) @ problem.points - roots[0] * p - roots[1] * q
    norm = max(float(np.linalg.norm(u + root * missing)) for u, root in zip((p, q), roots, strict=True))
    return float(dual.sum()) / max(norm, 1.0)
