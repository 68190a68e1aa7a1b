"""The max-margin ratio machine written in cvxpy: (24), (28) and (30) of Gu & Guo.

    min  u'G v + C 1'ξ   s.t.  G v + b z ≥ 1 - ξ,  ξ ≥ 0,   in (30) also v ≥ 0

as ``problems/ratio.py`` states it: u'Gv = w'(x̄ - ȳ), row i of G is z_i x_i or row i of zz'∘K, and C = ∞ is the hard margin (24).
The cap on v is the one thing that the paper does not have. A linear program has vertices: the default backend is a simplex method,
whose tolerances are its own.
"""

from __future__ import annotations

from math import isinf

import cvxpy as cp

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.modelling import multipliers, run, value
from mmc.methods.problems import Answer
from mmc.methods.problems.ratio import CAP, RatioAnswer, RatioLP, inseparable
from mmc.methods.solvers import Capabilities

CAN = Capabilities()


def solve(problem: RatioLP, *, backend: str = "HIGHS", tol: float = 1e-10, gap: float = 1e-6) -> RatioAnswer:
    """Return the solution; ``tol`` is the backend's, ``gap`` what the certificate must reach.

    Raises InfeasibleProblem if C = ∞ and no v separates the points, NotConverged above ``gap``.
    """
    G, z, C = problem.matrix.whole(), problem.sign, problem.C

    v, b = cp.Variable(G.shape[1], nonneg=problem.nonnegative), cp.Variable()
    slack = cp.Variable(len(z), nonneg=True)
    margins = G @ v + b * z >= (1 if isinf(C) else 1 - slack)
    cost = problem.cost @ v + (0 if isinf(C) else C * cp.sum(slack))
    cap = [cp.sum(v) <= CAP] if problem.nonnegative else []
    ended = run(cp.Problem(cp.Minimize(cost), [margins, *cap]), backend, tol)

    if ended.infeasible and isinf(C):
        easier = problem.least_slack()
        least = solve(easier, backend="HIGHS", gap=gap)  # without u the certificate needs a vertex
        raise inseparable(easier.certify(least.primal, least.dual).objective)
    if ended.infeasible:
        raise ended.stopped()
    found = value(v), float(value(b)), multipliers(margins)
    primal, dual = problem.points(*found)
    if problem.nonnegative and not problem.certify(primal, dual).reached <= gap:
        primal, dual = problem.points(*found, central=_with_room(problem, G, backend, tol))
    bracket = problem.certify(primal, dual)
    if not bracket.reached <= gap:
        raise ended.stopped(bracket.reached, gap)
    return Answer(primal, dual, ended.steps, ended.version)


def _with_room(problem: RatioLP, G: Array, backend: str, tol: float) -> Array:
    """Return the λ whose G'λ stays farthest below G'u: it takes up what rounding leaves of another λ's excess."""
    weights, room = cp.Variable(len(problem.sign), nonneg=True), cp.Variable()
    below = [G.T @ weights + room <= problem.cost, problem.sign @ weights == 0]
    finite = [] if isinf(problem.C) else [weights <= problem.C]
    run(cp.Problem(cp.Maximize(room), [*below, *finite]), backend, tol)
    return value(weights)
