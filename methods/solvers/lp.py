"""The linear programs of the max-margin ratio machine, whole, by the simplex method of HiGHS on their dual.

The dual of `mmc.methods.problems.ratio` has no slack columns, and C is only a bound in it: the basis of one C stays dual
feasible for the next, so that a path over C starts every program from the last one's basis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import highspy
import numpy as np
from numpy.typing import NDArray

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.ratio import CAP, RatioAnswer, RatioLP, inseparable
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities, Session, interior_point
from mmc.methods.solvers.interior_point import LpPoint, SlackLP

CAN = Capabilities(session=True)
VERSION = f"highspy {highspy.Highs().version()}"
_TOLERANCE = 1e-9
_DUAL, _PRIMAL = 1, 4  # simplex_strategy of HiGHS
_STALLED = (
    highspy.HighsModelStatus.kUnknown,
    highspy.HighsModelStatus.kSolveError,
    highspy.HighsModelStatus.kNotset,
    highspy.HighsModelStatus.kIterationLimit,
)
_PIVOTS = 100  # for every row and column: a few are usual, and where rounding leads in a circle there is no end
_UNBOUNDED = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)


@dataclass(frozen=True)
class WholeProgram:
    """A ratio program without its C, and HiGHS with its last basis."""

    program: SlackLP
    highs: HighsDual


def solve(problem: RatioLP, *, gap: float = 1e-6, session: Session[WholeProgram] | None = None) -> RatioAnswer:
    """Return the solution; ``session`` carries the basis to the next C of the same G.

    Raises InfeasibleProblem if C = ∞ and no v separates the points, NotConverged if the certified gap exceeds ``gap``.
    """
    session = Session() if session is None else session
    if session.kept is None:
        whole = capped(problem, problem.matrix.whole(), problem.sign, np.ones(len(problem.sign)), problem.cost, inf)
        session.kept = WholeProgram(whole, HighsDual(whole, float(problem.weight.max()), len(problem.sign)))
    highs = session.kept.highs
    whole = replace(session.kept.program, U=np.append(inf, np.full(len(problem.sign), problem.C)))
    highs.bound(whole.U)
    central = None
    for _ in range(2):
        point = highs.run()
        if point is None:
            break
        primal, dual = problem.points(point.v, point.b, point.dual[1:], central=central)
        bracket = problem.certify(primal, dual)
        if bracket.reached <= gap:
            return Answer(primal, dual, point.steps, VERSION)
        highs.forget()  # the basis that the path led to can be a badly conditioned one of several
        if problem.nonnegative:
            central = interior_point.solve(whole, point.v, point.b, point.dual, tol=1e-4).central
            central = None if central is None else central[1:]
    if point is not None:
        raise bracket.not_converged(gap, VERSION, point.steps, "raise gap or scale the data")
    session.kept = None
    least = problem.least_slack()
    slackest = solve(least)
    raise inseparable(least.certify(slackest.primal, slackest.dual).objective)


def vertex(program: SlackLP, problem: RatioLP) -> LpPoint:
    """Return a vertex of one restricted program of ``problem``."""
    point = HighsDual(program, float(problem.weight.max()), len(problem.sign)).run()
    if point is None:
        raise NotConverged("HiGHS calls a bounded program unbounded")
    return point


def capped(problem: RatioLP, A: Array, z: Array, e: Array, c: Array, U: float | Array) -> SlackLP:
    """Return the program with its first row, 1'v ≤ CAP; for free v, which have no cap, that row is nothing."""
    cap = np.full(A.shape[1], -1.0 if problem.nonnegative else 0.0)
    return SlackLP(
        np.vstack([cap, A]),
        np.append(0.0, z),
        np.append(-CAP, e),
        c,
        np.append(inf, np.broadcast_to(U, len(e))),
        free=not problem.nonnegative,
    )


class HighsDual:
    """The dual of a `SlackLP` in HiGHS, dense: row 0 is z'λ = 0.

    λ counts in units of the largest u, and rows are scaled until their activity is about 1e5: HiGHS may violate a row by its
    tolerance of 1e-9, which v multiplies, and rounding must stay below that.
    """

    def __init__(self, program: SlackLP, unit: float, points: int):
        self.unit = unit or 1.0
        self.scale = 1e5 / points
        self.highs = highspy.Highs()
        self.highs.silent()
        options: dict[str, int | float | str] = {
            "threads": 1,
            "presolve": "off",  # finds nothing in a dense program, and would drop the basis of a warm start
            "solver": "simplex",
            "small_matrix_value": 1e-12,  # it drops what is below
        }
        for option, value in options.items():
            self.highs.setOptionValue(option, value)
        count, rows = program.A.shape
        self.highs.setOptionValue("simplex_iteration_limit", _PIVOTS * (count + rows))
        right = self.scale / self.unit * program.c
        lower = right if program.free else np.full(rows, -inf)
        nothing = np.zeros(rows + 1, dtype=np.int32)
        self.highs.addRows(rows + 1, np.append(0.0, lower), np.append(0.0, right), 0, nothing, nothing[:0], right[:0])
        # the cap's λ counts in units of its own, as large as its gain is small
        self.units = np.where(program.e == -CAP, 1 / self.scale, 1.0)
        values = np.hstack([program.z[:, None], self.scale * program.A]) * self.units[:, None]
        starts, index = _indices(*values.shape)
        upper = program.U / self.unit / self.units
        gain = -program.e * self.units
        added = self.highs.addCols(count, gain, np.zeros(count), upper, values.size, starts, index, values)
        if added == highspy.HighsStatus.kError:
            raise NotConverged(
                f"the coefficients of the program reach {np.abs(values).max():.2g}, more than HiGHS takes: for most pairs of points "
                "the kernel has the same value but for rounding; take other parameters of the kernel, or scale the data"
            )

    def bound(self, U: Array) -> None:
        """Set the upper bounds of every λ."""
        n = len(U)
        self.highs.changeColsBounds(n, np.arange(n, dtype=np.int32), np.zeros(n), U / self.unit / self.units)

    def run(self) -> LpPoint | None:
        """Solve from the last basis; None if the program is unbounded. Raise NotConverged if HiGHS cannot say.

        The point is computed once more from a fresh factorisation of its basis: the updated one has drifted.
        """
        highs = self.highs
        status, steps = self._attempt(_TOLERANCE)
        if status in _STALLED:  # more than this basis can give: start anew, and let the certificate judge
            self.forget()
            status, more = self._attempt(100 * _TOLERANCE)
            steps += more
        if status in _STALLED:  # a defeat of the dual simplex method: come from the other side
            self.forget()
            status, more = self._attempt(100 * _TOLERANCE, _PRIMAL)
            steps += more
        if status == highspy.HighsModelStatus.kOptimal:
            highs.setBasis(highs.getBasis())
            status, more = self._attempt(_TOLERANCE)
            steps += more
        if status in _UNBOUNDED:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise NotConverged(f"HiGHS stopped with {highs.modelStatusToString(status)}: scale the data", steps)
        solution = highs.getSolution()
        values, multipliers = np.array(solution.col_value), np.array(solution.row_dual)
        return LpPoint(-self.scale * multipliers[1:], -multipliers[0], self.unit * self.units * values, steps)

    def forget(self) -> None:
        """Drop the basis."""
        self.highs.clearSolver()

    def _attempt(self, tolerance: float, strategy: int = _DUAL) -> tuple[highspy.HighsModelStatus, int]:
        self.highs.setOptionValue("simplex_strategy", strategy)
        self.highs.setOptionValue("primal_feasibility_tolerance", tolerance)
        self.highs.setOptionValue("dual_feasibility_tolerance", tolerance)
        self.highs.run()
        return self.highs.getModelStatus(), max(self.highs.getInfo().simplex_iteration_count, 0)


def _indices(count: int, width: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return starts and indices of dense vectors in HiGHS's sparse format."""
    return np.arange(count, dtype=np.int32) * width, np.tile(np.arange(width, dtype=np.int32), count)
