"""The linear programs of the max-margin ratio machine by row and column generation on their dual (see `problems.ratio`).

A master program holds the rows I (the v_i that may be positive), the columns J (the λ_j that move by themselves) and one
aggregate column, λ_i = t u_i for every point outside J, which keeps it feasible: λ = u is t = 1.

    max  1'λ_J + t 1'u_out   s.t.  G[J, I]'λ_J + t G[out, I]'u_out ≤ (G'u)_I,  z'λ = 0,  0 ≤ λ_J ≤ C,  0 ≤ t ≤ C / max u_out

Its multipliers are v on I, and b. A point outside J with a margin (G v + b z)_j < 1 is a column that raises the value; a row
outside I with (G'λ)_i > (G'u)_i is one that λ violates. Both are added, the worst first, until the certificate,
which is over all points, is small enough. The master is dense and small. Where an SVM on the same points has few support
vectors, so has the answer, and the master is solved by a descent from vertex to vertex, which goes on from the last
round's vertex. Where it has many, a pivot costs too much, and an interior point method is better: loose while much is missing, for
central points tell better than vertices what it is. What seems idle after the first of them is taken out again.

Both sets start from the points near the margin of an SVM. The features of a linear kernel are few: all their rows are in I.
A hard margin (C = ∞) is the soft one whose C exceeds every λ; a slack that stays, however large C, is tested for what it is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import inf, isinf

import numpy as np
import scipy
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mmc.methods.numerics.clock import Clock
from mmc.methods.numerics.gram import Index
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.ratio import RatioAnswer, RatioDual, RatioLP, RatioPrimal, inseparable
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities, Session, interior_point, lp, vertex_descent
from mmc.methods.solvers.interior_point import LpPoint, SlackLP
from mmc.methods.solvers.vertex_descent import Vertex

CAN = Capabilities(rows=True, session=True)
VERSION = f"interior point with correctors, scipy {scipy.__version__}"
_NEAR = 0.05  # a point whose SVM margin is below 1 + this is in both sets from the start
_WIDE = 2.5  # times as many are among the columns: missing ones cost more rounds than missing rows
_IDLE = 0.01  # of the mean v: after a first round of interior points, rows with less are taken out
_FAR = 0.1  # and columns whose margin is above 1 + this: the later rounds are the dear ones
_LOOSE = 3e-3  # tolerance of later rounds while much is missing: more exact points tell no more of it
_LITTLE = 20  # so many rows and columns missing are not much
_ALL = 5  # if one point in so many is near the margin, interior points take all: they leave out what is idle
_MOST = 1000  # points of which they do so


@dataclass(frozen=True)
class WorkingSets:
    """The rows I and the columns J of a master program, and the last v, b and λ, and vertex (None: by interior points)."""

    rows: Index
    columns: Index
    v: Array
    b: float
    dual: Array
    vertex: Vertex | None


@dataclass(frozen=True)
class _Search:
    """How a program is solved: to which gap, with how many rows and columns a round, in how many rounds, by which method."""

    gap: float
    batch: int
    spare: int
    max_rounds: int
    few: int
    session: Session[WorkingSets]
    clock: Clock


def solve(
    problem: RatioLP,
    *,
    gap: float = 1e-6,
    batch: int = 400,
    spare: int = 50,
    max_rounds: int = 200,
    few: int = 400,
    memory: float = 4e9,
    max_seconds: float = inf,
    session: Session[WorkingSets] | None = None,
) -> RatioAnswer:
    """Return the solution to a certified relative ``gap``; ``iterations`` counts pivots, or steps of the interior point method.

    Up to ``batch`` rows and columns are added in a round, and ``spare`` where fewer are violated: a round costs much more
    than a row or a column. Up to ``few`` support vectors of an SVM there are pivots, which lead to a vertex, whatever the
    gap; with 0 there are none. ``memory`` bounds the bytes of kernel rows that are kept.
    ``session`` carries the sets to the next C of the same G. Raises InfeasibleProblem if C = ∞ and no v separates the
    points, NotConverged if the gap is not reached, also within ``max_seconds``.
    """
    session = Session() if session is None else session
    if max_rounds < 1:
        raise ValueError(f"max_rounds must be at least 1: got {max_rounds}")
    problem.matrix.limit(memory)
    search = _Search(gap, batch, spare, max_rounds, few, session, Clock(max_seconds))
    if not isinf(problem.C):
        return _soft(problem, search)
    hard = _hard(problem, search)
    if hard is not None:
        return hard
    session.kept = None
    least = problem.least_slack()
    answer = solve(least, memory=memory)
    raise inseparable(least.certify(answer.primal, answer.dual).objective)


def _soft(problem: RatioLP, search: _Search) -> RatioAnswer:
    gap, session = search.gap, search.session
    kept = _start(problem, search.few) if session.kept is None else session.kept
    rows, columns, v, b, dual, vertex = kept.rows, kept.columns, kept.v, kept.b, kept.dual, kept.vertex
    settled = session.kept is not None or len(columns) == len(problem.sign)  # little or nothing will be added
    tolerance, steps, best = 0.3 * gap if settled else 0.01, 0, inf
    used = [VERSION if vertex is None else vertex_descent.VERSION]
    for _ in range(search.max_rounds):
        program = _master(problem, rows, columns)
        if vertex is not None:
            try:
                point, vertex = vertex_descent.solve(program, vertex)
            except NotConverged:
                vertex = None
                used.append(VERSION)
        if used[-1] == VERSION:
            guess = np.concatenate([[0.0, 1.0], problem.weight[columns]])  # feasible: nearly all that a start can give
            alone = problem.nonnegative and settled and not steps  # it may leave out v: later rounds look at them again
            point = interior_point.solve(program, v[rows], b, guess, tol=tolerance, thin=alone)
            assert point.kept is not None
            rows, program = rows[point.kept], program.of(point.kept)
        elif vertex is None:
            point = lp.vertex(program, problem)
        steps += point.steps
        thin = not settled and problem.nonnegative and point.active is not None
        if thin:
            point, rows, columns = _thinned(program, point, rows, columns)
            settled = True
        found = _points(problem, point, rows, columns)
        bracket = problem.certify(*found)
        v, b, dual = np.zeros_like(v), point.b, point.dual[1] * problem.weight
        v[rows], dual[columns] = point.v, point.dual[2:]
        everyone = np.concatenate([rows, np.setdiff1d(kept.rows, rows)])
        session.kept = WorkingSets(everyone, columns, v, b, dual, vertex)
        more_rows, violated = _worst(found[1].violation, rows, search)
        more_columns, short = _worst(1 - found[0].margins, columns, search)
        complete = len(more_rows) + len(more_columns) == 0
        if complete and bracket.reached > gap and used[-1] == VERSION and not thin:
            others = (
                _points(problem, point, rows, columns, 0.0),
                _points(problem, interior_point.face(program, point), rows, columns),
            )
            found = min(found, *others, key=lambda each: problem.certify(*each).reached)
            bracket = problem.certify(*found)
        if bracket.reached <= gap:
            return Answer(*found, steps, ", ".join(used))
        search.clock.check("column generation", steps, bracket.reached, "the relative duality gap")
        if complete and used[-1] == lp.VERSION:
            break
        if complete and vertex is not None:  # rounding leaves more of the gap at a vertex than inside
            vertex = None
            used.append(VERSION)
        elif complete and bracket.reached > 0.5 * best:  # and ends what an interior point can do: G is nearly singular
            used.append(lp.VERSION)
        best = bracket.reached if complete and point.active is not None else inf
        rows, columns = np.concatenate([rows, more_rows]), np.concatenate([columns, more_columns])
        if point.active is not None:
            reduced = _LOOSE if violated + short > _LITTLE else 0.3 * gap
            tolerance = min(tolerance / 30, reduced) if complete else max(min(tolerance, reduced), 0.3 * gap)
    raise bracket.not_converged(gap, "column generation", steps, "raise gap or max_rounds, or scale the data")


def _points(
    problem: RatioLP, point: LpPoint, rows: Index, columns: Index, least: float = 1e-9
) -> tuple[RatioPrimal, RatioDual]:
    """Return a point of the master program as feasible points of the whole; v below ``least`` of the largest is 0."""

    def whole(of: Array) -> Array:
        dual = float(of[1]) * problem.weight
        dual[columns] = of[2:]
        return dual

    central = None if point.central is None else whole(point.central)
    v = np.zeros(problem.matrix.shape[1])
    v[rows] = np.where(np.abs(point.v) > least * np.abs(point.v).max(), point.v, 0.0)  # an interior point has no zeros
    return problem.points(v, point.b, whole(point.dual), columns, central)


def _thinned(program: SlackLP, point: LpPoint, rows: Index, columns: Index) -> tuple[LpPoint, Index, Index]:
    """Return the point and the sets of a first round without the rows and columns that seem idle."""
    used = point.v > _IDLE * point.v.mean()
    near = program.A @ point.v + point.b * program.z < 1 + _FAR
    near[:2] = True  # not those of points
    central = None if point.central is None else point.central[near]
    return replace(point, v=point.v[used], dual=point.dual[near], central=central), rows[used], columns[near[2:]]


def _hard(problem: RatioLP, search: _Search) -> RatioAnswer | None:
    """Raise C until the slack is gone; None if it stays."""
    C = 1e3 * float(problem.weight.max())
    while C < 1e12:
        try:
            soft = _soft(replace(problem, C=C), search)
        except NotConverged:
            break
        kept = search.session.kept
        assert kept is not None  # _soft has left its sets
        found = problem.points(soft.primal.v, soft.primal.b, soft.dual.weights, kept.columns)
        if problem.certify(*found).reached <= search.gap:
            return replace(soft, primal=found[0], dual=found[1])
        C *= 1e3
    return None


def _master(problem: RatioLP, rows: Index, columns: Index) -> SlackLP:
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


def _worst(violation: Array, inside: Index, search: _Search) -> tuple[Index, int]:
    """Return the indices outside ``inside`` with the largest violations, if any, with some that come next; and how many are violated."""
    violation = violation.copy()
    violation[inside] = -inf
    violated, left = int(np.sum(violation > 1e-13)), len(violation) - len(inside)
    count = min(search.batch, left, max(violated, search.spare)) if violated else 0
    return np.argsort(-violation)[:count], violated


def _start(problem: RatioLP, few: int) -> WorkingSets:
    """Return the first rows and columns, and a guess of v, b and the vertex, from a rough SVM; there is none of λ."""
    matrix, z = problem.matrix, problem.sign
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any start will do
        v, b = matrix.machine(SVC(C=1e3, tol=1e-2, max_iter=20 * len(z), cache_size=500), z)
    if problem.nonnegative:
        v = np.maximum(v, 0.0)
    margins = matrix.times(v) + b * z
    near, pivots = np.flatnonzero(margins < 1 + _NEAR), problem.nonnegative and np.sum(v > 0) <= few
    if (_ALL if len(z) <= _MOST and not pivots else 2) * len(near) > len(z):
        near = np.arange(len(z))
    rows = near if problem.nonnegative else np.arange(matrix.shape[1])
    wide = np.argsort(margins, kind="stable")[: int(_WIDE * len(near))]
    columns = np.concatenate([near, wide[len(near) :]])
    vertex = None
    if pivots:
        held = np.flatnonzero((v[near] > 0) & (margins[near] > 1 - _NEAR))
        held = held[np.argsort(v[near][held])] if len(held) else np.arange(1)
        vertex = Vertex(held[1:], held + 2)  # the first two λ of a master are not those of points
    return WorkingSets(rows, columns, v, b, np.zeros(len(z)), vertex)
