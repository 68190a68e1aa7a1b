"""The linear programs of the max-margin ratio machine (Gu & Guo, section 3), whole, by the simplex method of HiGHS.

(24), (28) and (30) are one program. With z_i = ±1 the class of point i, u_i = 1/n_x or 1/n_y, and row i of G the
point's features times z_i, or row i of zz'∘K,

    primal   min  u'G v + C 1'ξ   s.t.  G v + b z + ξ ≥ 1,  ξ ≥ 0,   in (30) also v ≥ 0 and 1'v ≤ CAP
    dual     max  1'λ - CAP μ     s.t.  G'λ = G'u  (in (30): G'λ ≤ G'u + μ, μ ≥ 0),  z'λ = 0,  0 ≤ λ ≤ C

and C = ∞ is the hard margin (24). λ = u is feasible for C ≥ max u, so that the optimum is at least 2. The dual has no slack
columns, and C is only a bound in it: the basis of one C stays dual feasible for the next. It is what is solved here.
The cap is not the paper's. It is beyond all v that mean anything in double precision, and it never binds but on data that
a kernel can hardly tell apart, whose G is singular for all that rounding leaves of it.

The certificate. (v, b) with the smallest slacks is primal feasible (for C = ∞, scaled until every margin is 1). λ is
clipped to its bounds and its heavier class is scaled down until z'λ = 0. What G'λ still exceeds G'u by, at most e, is rounding:
1'λ - M e is then a lower bound for every v with ‖v‖₁ ≤ M. M is ten times the length of the v that was found, or CAP.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isinf
from typing import Any

import highspy
import numpy as np

from mmc.methods.kernels import Array
from mmc.methods.solution import InfeasibleProblem, NotConverged

VERSION = f"highspy {highspy.Highs().version()}"
CAP = 1e8
ALL = slice(None)
_TOLERANCE = 1e-9
_STALLED = (highspy.HighsModelStatus.kUnknown, highspy.HighsModelStatus.kSolveError, highspy.HighsModelStatus.kNotset)


@dataclass(frozen=True)
class RatioLP:
    """The program above; ``block(I, J)`` returns G[I, J], the only way in which a solver sees G."""

    block: Callable[[Any, Any], Array]
    columns: int
    sign: Array
    weight: Array
    C: float
    nonnegative: bool

    def margins(self, v: Array, b: float) -> Array:
        """Return G v + b z."""
        used = np.flatnonzero(v)
        return self.block(ALL, used) @ v[used] + b * self.sign

    def pull(self, dual: Array) -> Array:
        """Return G'λ."""
        used = np.flatnonzero(dual)
        return dual[used] @ self.block(used, ALL)


def dense(G: Array) -> Callable[[Any, Any], Array]:
    """Return the ``block`` of a matrix that is held in memory; I and J are slices or index arrays."""
    return lambda i, j: G[i, j] if isinstance(i, slice) or isinstance(j, slice) else G[np.ix_(i, j)]


@dataclass(frozen=True)
class RatioSolution:
    """Feasible points and their gap: ``dual`` is λ, ``spread`` u'Gv = w'(x̄ - ȳ), ``slack`` 1'ξ.

    ``margins`` are Gv + bz of the point that was given; ``excess`` is what G'λ exceeds G'u by.
    """

    v: Array
    b: float
    dual: Array
    spread: float
    slack: float
    objective: float
    gap: float
    iterations: int
    margins: Array
    excess: Array
    version: str = VERSION


def solve(problem: RatioLP, *, gap: float = 1e-6, session: dict[str, Any] | None = None) -> RatioSolution:
    """Return the solution; ``session`` carries the basis to the next C of the same G.

    Raises InfeasibleProblem if C = ∞ and no v separates the points, NotConverged if the certified gap exceeds ``gap``.
    """
    session = {} if session is None else session
    if "program" not in session:
        G = problem.block(ALL, ALL)
        session["cost"] = problem.weight @ G
        session["program"] = program = DualProgram(problem)
        program.add_rows(session["cost"], np.empty((G.shape[1], 0)))
        program.add_columns(problem.sign, G)
    program, cost = session["program"], session["cost"]
    program.bound(np.full(len(problem.sign), problem.C))
    for _ in range(2):
        point = program.run()
        if not point.bounded:
            session.clear()
            raise inseparable(problem, solve)
        answer = certify(problem, point.v, point.b, point.dual, cost, point.steps)
        if answer.gap <= gap:
            return answer
        program.forget()  # the basis that the path led to can be a badly conditioned one of several
    raise NotConverged(
        f"the linear program is certified to {answer.gap:.2g}, not to {gap:.2g}", point.steps, answer.gap
    )


def inseparable(problem: RatioLP, solver: Callable[..., RatioSolution]) -> InfeasibleProblem:
    """Return the error of a hard margin that does not exist; its distance is the smallest total slack, Σξ."""
    distance = solver(replace(problem, weight=np.zeros_like(problem.weight), C=1.0)).objective
    if not distance > 1e-6:
        raise NotConverged("HiGHS found no bound for classes that seem separable", residual=distance)
    return InfeasibleProblem(
        f"no hard margin (C=inf): the classes are not separable, the smallest total slack is {distance:.3g}; "
        "use a finite C",
        distance,
    )


@dataclass(frozen=True)
class DualPoint:
    """λ of the program's columns with the multipliers v of its rows and b; of an unbounded program, a ray."""

    bounded: bool
    dual: Array
    v: Array
    b: float
    mu: float
    steps: int


class DualProgram:
    """The dual in HiGHS, dense, with any rows and columns: row 0 is z'λ = 0, column 0 is μ.

    λ counts in units of the largest u, and rows are scaled until their activity is about 1e5: HiGHS may violate a row by its
    tolerance of 1e-9, which v multiplies, and rounding must stay below that.
    """

    def __init__(self, problem: RatioLP):
        self.unit = float(problem.weight.max()) or 1.0
        self.scale = 1e5 / len(problem.sign)
        self.equal = not problem.nonnegative
        self.highs: Any = highspy.Highs()
        self.highs.silent()
        options: dict[str, Any] = {
            "threads": 1,
            "presolve": "off",  # finds nothing in a dense program, and would drop the basis of a warm start
            "solver": "simplex",
            "small_matrix_value": 1e-12,  # it drops what is below
        }
        for option, value in options.items():
            self.highs.setOptionValue(option, value)
        self.highs.addCol(CAP / self.scale, 0.0, 0.0 if self.equal else inf, 0, [], [])
        self.highs.addRow(0.0, 0.0, 0, [], [])

    def add_rows(self, right: Array, values: Array) -> None:
        """Add rows ≤ ``right`` (= for free v); ``values`` has a column for every λ of the program."""
        values = np.hstack([np.full((len(right), 1), -1.0), self.scale * values])
        right = self.scale / self.unit * right
        starts, index = _dense(values)
        self.highs.addRows(
            len(right), right if self.equal else np.full(len(right), -inf), right, values.size, starts, index, values
        )

    def add_columns(self, sign: Array, values: Array) -> None:
        """Add a λ for every row of ``values``, which has a column for every row of the program."""
        values = np.hstack([sign[:, None], self.scale * values])
        k = len(sign)
        starts, index = _dense(values)
        self.highs.addCols(k, np.full(k, -1.0), np.zeros(k), np.full(k, inf), values.size, starts, index, values)

    def change_column(self, position: int, gain: float, sign: float, values: Array) -> None:
        """Give the λ at ``position`` another column."""
        self.highs.changeColCost(position + 1, -gain)
        for row, value in enumerate(np.append(sign, self.scale * values)):
            self.highs.changeCoeff(row, position + 1, value)

    def bound(self, upper: Array) -> None:
        """Set the upper bounds of every λ."""
        k = len(upper)
        self.highs.changeColsBounds(k, np.arange(1, k + 1, dtype=np.int32), np.zeros(k), upper / self.unit)

    def run(self, polish: bool = True) -> DualPoint:
        """Solve from the last basis. Raise NotConverged unless HiGHS claims an optimum or an unbounded ray.

        ``polish`` computes the point once more from a fresh factorisation of its basis: the updated one has drifted.
        """
        highs = self.highs
        status, steps = self._attempt(_TOLERANCE)
        if status in _STALLED:  # more than this basis can give: start anew, and let the certificate judge
            self.forget()
            status, more = self._attempt(100 * _TOLERANCE)
            steps += more
        if polish and status == highspy.HighsModelStatus.kOptimal:
            highs.setBasis(highs.getBasis())
            status, more = self._attempt(_TOLERANCE)
            steps += more
        if status in (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            _, exists, ray = highs.getPrimalRay()
            if exists:
                ray = np.asarray(ray)
                return DualPoint(False, ray[1:], np.empty(0), 0.0, float(ray[0]) / self.scale, steps)
        if status != highspy.HighsModelStatus.kOptimal:
            raise NotConverged(f"HiGHS stopped with {highs.modelStatusToString(status)}", steps)
        solution = highs.getSolution()
        values, multipliers = np.array(solution.col_value), np.array(solution.row_dual)
        return DualPoint(True, self.unit * values[1:], -self.scale * multipliers[1:], -multipliers[0], 0.0, steps)

    def forget(self) -> None:
        """Drop the basis."""
        self.highs.clearSolver()

    def _attempt(self, tolerance: float) -> tuple[Any, int]:
        self.highs.setOptionValue("primal_feasibility_tolerance", tolerance)
        self.highs.setOptionValue("dual_feasibility_tolerance", tolerance)
        self.highs.run()
        return self.highs.getModelStatus(), self.highs.getInfo().simplex_iteration_count


def certify(problem: RatioLP, v: Array, b: float, dual: Array, cost: Array, steps: int) -> RatioSolution:
    """Return the points made feasible, with their gap; ``cost`` is G'u. The gap is inf where v separates nothing."""
    z, C = problem.sign, problem.C
    if problem.nonnegative:
        v = np.maximum(v, 0.0)
        v = v * min(1.0, CAP / max(float(v.sum()), 1.0))
    margins = problem.margins(v, b)
    slack = float(np.maximum(1 - margins, 0).sum())
    if isinf(C):
        lowest = margins[z > 0].min(), margins[z < 0].min()
        half = sum(lowest) / 2
        if half > 0:
            v, b, slack = v / half, (b + half - lowest[0]) / half, 0.0
    spread = float(cost @ v)
    objective = spread + (C * slack if slack else 0.0)

    dual = np.clip(dual, 0.0, C)
    totals = dual[z > 0].sum(), dual[z < 0].sum()
    dual = dual * np.where(z > 0, *(min(totals) / total if total else 1.0 for total in totals))
    excess = problem.pull(dual) - cost
    if not problem.nonnegative:
        excess = np.abs(excess)
    length = min(10 * (1 + float(np.abs(v).sum())), CAP if problem.nonnegative else inf)
    bound = float(dual.sum()) - length * float(excess.max(initial=0.0))
    gap = max(objective - bound, 0.0) / max(abs(objective), 1.0) if objective < inf else inf
    return RatioSolution(v, float(b), dual, spread, slack, objective, gap, steps, margins, excess)


def _dense(values: Array) -> tuple[Any, Any]:
    """Return starts and indices of dense vectors, the rows of ``values``, in HiGHS's sparse format."""
    k, width = values.shape
    return np.arange(k, dtype=np.int32) * width, np.tile(np.arange(width, dtype=np.int32), k)
