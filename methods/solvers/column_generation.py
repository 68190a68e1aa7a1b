"""The linear programs of the max-margin ratio machine by row and column generation on their dual (see `lp`).

A master program holds the rows I (the v_i that may be positive), the columns J (the λ_j that move by themselves) and one
aggregate column, λ_i = t u_i for every point outside J, which keeps it feasible: λ = u is t = 1.

    max  1'λ_J + t 1'u_out   s.t.  G[J, I]'λ_J + t G[out, I]'u_out ≤ (G'u)_I,  z'λ = 0,  0 ≤ λ_J ≤ C,  0 ≤ t ≤ C / max u_out

Its multipliers are v on I, and b. A point outside J with a margin (G v + b z)_j < 1 is a column that raises the value; a row
outside I with (G'λ)_i > (G'u)_i is one that λ violates. Both are added, the worst first, until the certificate of `lp`,
which is over all points, is small enough. The master is dense and small, and is solved by an interior point method: loosely
in the first rounds, whose central points tell better than vertices what is missing.

Both sets start from the points near the margin of an SVM. The features of a linear kernel are few: all their rows are in I.
A hard margin (C = ∞) is the soft one whose C exceeds every λ; a slack that stays, however large C, is tested for what it is.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from math import inf, isinf
from typing import Any

import numpy as np
import scipy
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import interior_point, lp
from mmc.methods.solvers.interior_point import Point, Program
from mmc.methods.solvers.lp import Index, RatioLP, RatioSolution

VERSION = f"interior point, scipy {scipy.__version__}"
_NEAR = 0.05  # a point whose SVM margin is below 1 + this is in both sets from the start


def solve(
    problem: RatioLP,
    *,
    gap: float = 1e-6,
    batch: int = 400,
    max_rounds: int = 200,
    memory: float = 4e9,
    session: dict[str, Any] | None = None,
) -> RatioSolution:
    """Return the solution to a certified relative ``gap``; ``iterations`` counts those of the interior point method.

    Up to ``batch`` rows and columns are added in a round. ``memory`` bounds the bytes of kernel rows that are kept.
    ``session`` carries the sets to the next C of the same G. Raises InfeasibleProblem if C = ∞ and no v separates the
    points, NotConverged if the gap is not reached.
    """
    session = {} if session is None else session
    if max_rounds < 1:
        raise ValueError(f"max_rounds must be at least 1: got {max_rounds}")
    problem.matrix.limit(memory)
    if isinf(problem.C):
        answer = _hard(problem, gap, batch, max_rounds, session)
        if answer is None:
            session.clear()
            raise lp.inseparable(problem, partial(solve, memory=memory))
        return answer
    return _soft(problem, gap, batch, max_rounds, session)


def _soft(problem: RatioLP, gap: float, batch: int, max_rounds: int, session: dict[str, Any]) -> RatioSolution:
    if "sets" not in session:
        session["sets"] = _start(problem)
    rows, columns, v, b, dual = session["sets"]
    whole = len(columns) == len(problem.sign)
    tolerance, steps, best, version = 1e-4 if whole else 0.1, 0, inf, VERSION
    for _ in range(max_rounds):
        program = _master(problem, rows, columns)
        if version == VERSION:
            guess = np.append([0.0, 0.0], dual[columns])
            point = interior_point.solve(program, v[rows], b, guess, tol=tolerance)
        else:
            point = lp.vertex(program, problem)
        steps += point.steps
        answer = _certified(problem, point, rows, columns, steps)
        v, b, dual = np.zeros_like(v), point.b, point.dual[1] * problem.weight
        v[rows], dual[columns] = point.v, point.dual[2:]
        session["sets"] = rows, columns, v, b, dual
        more_rows = _worst(answer.excess, rows, batch)
        more_columns = _worst(1 - answer.margins, columns, batch)
        complete = len(more_rows) + len(more_columns) == 0
        if complete and answer.gap > gap and version == VERSION:
            other = _certified(problem, interior_point.face(program, point), rows, columns, steps)
            answer = min(answer, other, key=lambda a: a.gap)
        if answer.gap <= gap:
            return replace(answer, version=version)
        if complete and version != VERSION:
            break
        if complete and answer.gap > 0.5 * best:  # rounding ends what an interior point can do: G is nearly singular
            version = f"{VERSION}, {lp.VERSION}"
        best = answer.gap if complete else inf
        rows, columns = np.concatenate([rows, more_rows]), np.concatenate([columns, more_columns])
        tolerance = tolerance / 30 if complete else max(tolerance / 30, 0.3 * gap)
    raise NotConverged(f"column generation is certified to {answer.gap:.2g}, not to {gap:.2g}", steps, answer.gap)


def _certified(problem: RatioLP, point: Point, rows: Index, columns: Index, steps: int) -> RatioSolution:
    """Return a point of the master program as one of the whole, with its certificate."""

    def whole(of: Array) -> Array:
        dual = of[1] * problem.weight
        dual[columns] = of[2:]
        return dual

    central = None if point.central is None else whole(point.central)
    v = np.zeros(problem.matrix.shape[1])
    v[rows] = np.where(np.abs(point.v) > 1e-9 * np.abs(point.v).max(), point.v, 0.0)  # an interior point has no zeros
    return lp.certify(problem, v, point.b, whole(point.dual), steps, columns, central)


def _hard(problem: RatioLP, gap: float, batch: int, max_rounds: int, session: dict[str, Any]) -> RatioSolution | None:
    """Raise C until the slack is gone; None if it stays."""
    C = 1e3 * float(problem.weight.max())
    while C < 1e12:
        try:
            soft = _soft(replace(problem, C=C), gap, batch, max_rounds, session)
        except NotConverged:
            break
        answer = lp.certify(problem, soft.v, soft.b, soft.dual, soft.iterations, session["sets"][1])
        if answer.gap <= gap:
            return replace(answer, version=soft.version)
        C *= 1e3
    return None


def _master(problem: RatioLP, rows: Index, columns: Index) -> Program:
    """Return the restricted program: its first λ is the cap's, the second is t, the others are those of ``columns``."""
    u, z, cost = problem.weight, problem.sign, problem.cost[rows]
    G = problem.matrix.block(columns, rows)
    outside = np.ones(len(z), dtype=bool)
    outside[columns] = False
    largest = float(u[outside].max(initial=0.0))
    return lp.capped(
        problem,
        np.vstack([cost - u[columns] @ G, G]),
        np.append(u[outside] @ z[outside], z[columns]),
        np.append(u[outside].sum(), np.ones(len(columns))),
        cost,
        np.append(problem.C / largest if largest else 1.0, np.full(len(columns), problem.C)),
    )


def _worst(violation: Array, inside: Index, batch: int) -> Index:
    """Return the indices outside ``inside`` with the largest violations."""
    violation = violation.copy()
    violation[inside] = 0.0
    found = np.flatnonzero(violation > 1e-13)
    return found[np.argsort(-violation[found])[:batch]]


def _start(problem: RatioLP) -> tuple[Index, Index, Array, float, Array]:
    """Return the first rows and columns, and a guess of v and b, from a rough SVM; there is none of λ."""
    matrix, z = problem.matrix, problem.sign
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any start will do
        v, b = matrix.machine(SVC(C=10.0, tol=1e-2, max_iter=100_000, cache_size=500), z)
    if problem.nonnegative:
        v = np.maximum(v, 0.0)
    near = np.flatnonzero(matrix.times(v) + b * z < 1 + _NEAR)
    if 2 * len(near) > len(z):
        near = np.arange(len(z))
    return near if problem.nonnegative else np.arange(matrix.shape[1]), near, v, b, np.zeros(len(z))
