"""The linear programs of the max-margin ratio machine by row and column generation on their dual (see `lp`).

A master program holds the rows I (the v_i that may be positive), the columns J (the λ_j that move by themselves) and one
aggregate column, λ_i = t u_i for every point outside J, which keeps it feasible: λ = u is t = 1.

    max  1'λ_J + t 1'u_out   s.t.  G[J, I]'λ_J + t G[out, I]'u_out ≤ (G'u)_I,  z'λ = 0,  0 ≤ λ_J ≤ C,  0 ≤ t ≤ C / max u_out

Its multipliers are v on I, and b. A point outside J with a margin (G v + b z)_j < 1 is a column that raises the value; a row
outside I with (G'λ)_i > (G'u)_i is one that λ violates. Both are added, the worst first, and HiGHS goes on from its basis,
until the certificate of `lp`, which is over all points, is small enough. For C = ∞ the master can be unbounded; then the
rows that its ray violates are added, and a ray that violates none proves that the classes are not separable.

Both sets start from the support vectors of an SVM, or are whole from the start if these are most of the points. The features of
a linear kernel are few: all their rows are in I.
"""

from __future__ import annotations

import warnings
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mmc.methods.kernels import Array
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import lp
from mmc.methods.solvers.lp import ALL, RatioLP, RatioSolution


def solve(
    problem: RatioLP,
    *,
    gap: float = 1e-6,
    batch: int = 100,
    max_rounds: int = 1000,
    session: dict[str, Any] | None = None,
) -> RatioSolution:
    """Return the solution to a certified relative ``gap``; ``iterations`` counts simplex steps.

    Up to ``batch`` rows and columns are added in a round. ``session`` carries the master to the next C of the same G. Raises
    InfeasibleProblem if C = ∞ and no v separates the points, NotConverged if the gap is not reached.
    """
    session = {} if session is None else session
    if "master" not in session:
        session["master"] = _Master(problem)
    master = session["master"]
    master.bound(problem.C)
    steps, tries, reached = 0, 0, inf
    for _ in range(max_rounds):
        point = master.program.run(polish=tries > 0)
        steps += point.steps
        if point.bounded:
            answer = lp.certify(problem, master.multipliers(point), point.b, master.spread(point), master.cost, steps)
            reached = answer.gap
            if reached <= gap:
                return answer
            rows = _worst(answer.excess, master.rows, batch)
            columns = _worst(1 - answer.margins, master.columns, batch)
        else:
            rows = _worst(problem.pull(master.spread(point)) - point.mu, master.rows, batch)
            columns = master.columns[:0]
            if not len(rows):
                session.clear()
                raise lp.inseparable(problem, solve)
        if len(rows) or len(columns):
            master.grow(rows, columns)
        elif tries == 2:
            break
        else:  # the sets are complete, the point is not exact: compute it anew from its basis, then from none
            tries += 1
            if tries == 2:
                master.program.forget()
    raise NotConverged(f"column generation is certified to {reached:.2g}, not to {gap:.2g}", steps, reached)


def _worst(violation: Array, inside: NDArray[np.intp], batch: int) -> NDArray[np.intp]:
    """Return the indices outside ``inside`` with the largest violations."""
    violation = violation.copy()
    violation[inside] = 0.0
    found = np.flatnonzero(violation > 1e-13)
    return found[np.argsort(-violation[found])[:batch]]


class _Master:
    """The restricted program: its first λ is t, the others are those of ``columns``."""

    def __init__(self, problem: RatioLP):
        self.problem, self.C = problem, problem.C
        self.cost = problem.pull(problem.weight)
        self.rows = self.columns = np.empty(0, dtype=np.intp)
        self.program = lp.DualProgram(problem)
        self.program.add_columns(np.zeros(1), np.empty((1, 0)))
        support = _support_vectors(problem)
        self.grow(support if problem.nonnegative else np.arange(problem.columns), support)

    def grow(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> None:
        """Add rows and columns, and take the new points out of the aggregate."""
        problem = self.problem
        self.program.add_columns(problem.sign[columns], problem.block(columns, self.rows))
        self.columns = np.concatenate([self.columns, columns])
        values = problem.block(self.columns, rows).T
        self.program.add_rows(self.cost[rows], np.hstack([np.zeros((len(rows), 1)), values]))
        self.rows = np.concatenate([self.rows, rows])
        u = problem.weight[self.columns]
        left = self.cost[self.rows] - u @ problem.block(self.columns, self.rows)
        self.program.change_column(0, problem.weight.sum() - u.sum(), -float(u @ problem.sign[self.columns]), left)
        self.bound(self.C)

    def bound(self, C: float) -> None:
        """Set the upper bounds for another C."""
        self.C = C
        outside = np.delete(self.problem.weight, self.columns).max(initial=0.0)
        self.program.bound(np.append(C / outside if outside > 0 else 0.0, np.full(len(self.columns), C)))

    def spread(self, point: lp.DualPoint) -> Array:
        """Return λ of all points."""
        dual = point.dual[0] * self.problem.weight
        dual[self.columns] = point.dual[1:]
        return dual

    def multipliers(self, point: lp.DualPoint) -> Array:
        """Return v of all rows."""
        v = np.zeros(self.problem.columns)
        v[self.rows] = point.v
        return v


def _support_vectors(problem: RatioLP) -> NDArray[np.intp]:
    G, z = problem.block(ALL, ALL), problem.sign
    if problem.nonnegative:
        K = G * np.outer(z, z)
        K -= K.mean(axis=0)  # G may come with centred columns: centre both ways, which is nothing to an SVM
        K -= K.mean(axis=1)[:, None]
        kernel, size = "precomputed", np.mean(np.diag(K))
    else:
        K = z[:, None] * G
        kernel, size = "linear", np.mean(np.einsum("ij,ij->i", G, G))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any start will do
        svm = SVC(kernel=kernel, C=10 / (size or 1.0), tol=1e-2, max_iter=100_000).fit(K, z)
    return svm.support_.astype(np.intp) if 2 * len(svm.support_) < len(z) else np.arange(len(z))
