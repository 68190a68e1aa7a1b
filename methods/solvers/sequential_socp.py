"""The maxi-min margin machine as a cone program, direct to Clarabel (Gu & Guo, (12); Huang et al. 2008).

Huang et al. find ρ by a sequence of programs, each of which asks whether (12) is feasible at one ρ. What Theorem 3 does to
(18) also works here: with s_x(w)² = w'Σx w, s_y(w)² = w'Σy w and the scale of w fixed by ρ (s_x + s_y) = 2, the constraints of
(12) with slacks, w'x_i + b ≥ ρ s_x(w) - ξ_i, are w'x_i + b' ≥ 1 - ξ_i for b' = b - (s_x - s_y)/(s_x + s_y), and the largest ρ is
the smallest s_x + s_y = 2/ρ. The sequence shrinks to a single convex program, with a dual:

    primal   min  s_x(w) + s_y(w) + C 1'ξ   s.t.  z_i(w'x_i + b') ≥ 1 - ξ_i,  ξ ≥ 0
    dual     max  1'λ   s.t.  Σ_i λ_i z_i x_i = Σx^½ p + Σy^½ q,  ‖p‖ ≤ 1,  ‖q‖ ≤ 1,  z'λ = 0,  0 ≤ λ ≤ C

C = ∞ is the hard margin (12). The points come in coordinates in which Σx + Σy = I and Σx = diag(l): both cones are then
diagonal, and only the rows of the points are dense.

The certificate. (w, b') with the smallest slacks is primal feasible (for C = ∞, scaled until every margin is 1). λ is clipped, and
its heavier class scaled down until z'λ = 0. What is missing from the equation, e, is shared out as p + √l e, q + √(1-l) e, which
satisfies it exactly; λ, p and q are divided by the larger norm where it exceeds 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf

import clarabel
import numpy as np
from scipy.sparse import csc_array

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.ratio import RatioLP, inseparable
from mmc.methods.problems.ratio_matrices import dense_program
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import lp

VERSION = f"clarabel {clarabel.__version__}"


@dataclass(frozen=True)
class ScatterMargin:
    """The program above: ``points`` in the coordinates of ``share`` = l, ``sign`` = z."""

    points: Array
    sign: Array
    share: Array
    C: float


@dataclass(frozen=True)
class ScatterSolution:
    """A certified solution: ``spread`` is (s_x, s_y), ``b`` is b'."""

    w: Array
    b: float
    spread: tuple[float, float]
    objective: float
    gap: float
    iterations: int
    version: str = VERSION


def solve(problem: ScatterMargin, *, gap: float = 1e-6, tol: float = 1e-8) -> ScatterSolution:
    """Return the solution; ``tol`` is Clarabel's, ``gap`` what the certificate must reach.

    Raises InfeasibleProblem if C = ∞ and no hyperplane separates the points, NotConverged above ``gap``.
    """
    n, r = problem.points.shape
    hard = isinf(problem.C)
    unit = max(problem.C, 1.0)  # of 1/ξ: Clarabel's tolerances are relative to the largest cost
    slacks = 0 if hard else n
    points, axes, soft = np.arange(n), np.arange(r), np.arange(slacks)
    cones = [clarabel.NonnegativeConeT(n)] + ([] if hard else [clarabel.NonnegativeConeT(n)])
    entries = [  # rows, columns, values: the points, their ξ, ξ ≥ 0
        (np.repeat(points, r), np.tile(axes, n), (-problem.sign[:, None] * problem.points).ravel()),
        (points, np.full(n, r), -problem.sign),
        (soft, r + 3 + soft, np.full(slacks, -1 / unit)),
        (n + soft, r + 3 + soft, np.full(slacks, -1.0)),
    ]
    for k, share in enumerate((problem.share, 1 - problem.share)):
        top = n + slacks + k * (r + 1)
        head = np.array([top]), np.array([r + 1 + k]), np.array([-1.0])
        entries += [head, (top + 1 + axes, axes, -np.sqrt(share))]
        cones.append(clarabel.SecondOrderConeT(r + 1))
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    A = csc_array((values, (rows, columns)), (n + slacks + 2 * (r + 1), r + 3 + slacks))
    right = np.zeros(A.shape[0])
    right[:n] = -1.0
    cost = np.concatenate([np.zeros(r + 1), [1.0, 1.0], np.full(slacks, problem.C / unit)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_rel = tol
    settings.tol_gap_abs = 1e-300  # the objective can be far below 1
    answer = clarabel.DefaultSolver(csc_array((len(cost), len(cost))), cost, A, right, cones, settings).solve()
    if hard and answer.status == clarabel.SolverStatus.PrimalInfeasible:
        separation = _separation(problem)
        answer = lp.solve(separation)
        raise inseparable(separation.certify(answer.primal, answer.dual).objective)
    x, y = np.array(answer.x), np.array(answer.z)
    p, q = (-y[len(y) - k * (r + 1) + 1 :][:r] for k in (2, 1))
    solution = certify(problem, x[:r], float(x[r]), y[:n], p, q, answer.iterations)
    if not solution.gap <= gap:
        raise NotConverged(
            f"clarabel stopped with {answer.status}, certified to {solution.gap:.2g}, not to {gap:.2g}",
            answer.iterations,
            solution.gap,
        )
    return solution


def certify(problem: ScatterMargin, w: Array, b: float, dual: Array, p: Array, q: Array, steps: int) -> ScatterSolution:
    """Return the points made feasible, with their relative gap; it is inf where w separates nothing."""
    z, C, share = problem.sign, problem.C, problem.share
    margins = z * (problem.points @ w + b)
    if isinf(C):
        lowest = margins[z > 0].min(), margins[z < 0].min()
        half = sum(lowest) / 2
        w, b, slack = (w / half, (b + half - lowest[0]) / half, 0.0) if half > 0 else (w, b, inf)
    else:
        # Points that should lie on the margin miss it by Clarabel's tolerance, which C multiplies: scale w to the best.
        width = np.sqrt(share @ w**2) + np.sqrt((1 - share) @ w**2)
        scales = np.append(1.0, 1 / margins[np.abs(margins - 1) < 1e-3])
        slacks = np.array([np.maximum(1 - scale * margins, 0).sum() for scale in scales])
        best = int(np.argmin(scales * width + C * slacks))
        w, b, slack = w * scales[best], b * scales[best], C * float(slacks[best])
    spread = float(np.sqrt(share @ w**2)), float(np.sqrt((1 - share) @ w**2))
    objective = sum(spread) + slack

    dual = np.clip(dual, 0.0, C)
    totals = dual[z > 0].sum(), dual[z < 0].sum()
    dual = dual * np.where(z > 0, *(min(totals) / total if total else 1.0 for total in totals))
    roots = np.sqrt(share), np.sqrt(1 - share)
    missing = (dual * z) @ problem.points - roots[0] * p - roots[1] * q
    norm = max(float(np.linalg.norm(u + root * missing)) for u, root in zip((p, q), roots, strict=True))
    bound = float(dual.sum()) / max(norm, 1.0)
    gap = max(objective - bound, 0.0) / objective if objective < inf else inf
    return ScatterSolution(w, b, spread, objective, gap, steps)


def _separation(problem: ScatterMargin) -> RatioLP:
    """Return the program of the smallest total slack."""
    G = problem.sign[:, None] * problem.points
    return dense_program(G, problem.sign, np.zeros(len(G)), 1.0, False)
