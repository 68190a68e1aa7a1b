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
clipped to its bounds and its heavier class is scaled down until z'λ = 0. What G'λ then exceeds G'u by, e, is mended by a mixture:
in (30) with a second λ that has room where e > 0, such as a point that an interior point method passed early, or 0; else with u
and a small step that takes G'λ back to G'u. With what is left of e, 1'λ - CAP e is a lower bound for all ‖v‖₁ ≤ CAP; only
what the rounding of the product itself can explain counts for no more than v ten times as long as the one that was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isinf
from typing import Any, Protocol

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from sklearn.svm import SVC

from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import InfeasibleProblem, NotConverged
from mmc.methods.solvers import interior_point
from mmc.methods.solvers.interior_point import Point, Program

VERSION = f"highspy {highspy.Highs().version()}"
Index = NDArray[np.intp]
CAP = 1e7
_TOLERANCE = 1e-9
_STALLED = (highspy.HighsModelStatus.kUnknown, highspy.HighsModelStatus.kSolveError, highspy.HighsModelStatus.kNotset)


class Matrix(Protocol):
    """What the solvers ask of G."""

    shape: tuple[int, int]

    def block(self, rows: Index, columns: Index) -> Array:
        """Return G[rows, columns]."""

    def whole(self) -> Array:
        """Return G."""

    def times(self, v: Array) -> Array:
        """Return G v."""

    def pull(self, dual: Array) -> Array:
        """Return G'λ."""

    def rounding(self, dual: Array) -> Array:
        """Return what rounding may have added to G'λ, which `pull` returns."""

    def machine(self, svc: SVC, sign: Array) -> tuple[Array, float]:
        """Return v and b of an SVM on the same points."""

    def limit(self, memory: float) -> None:
        """Keep no more than ``memory`` bytes of what can be made anew."""


class Dense:
    """A matrix that is held in memory."""

    def __init__(self, G: Array):
        self.G = G
        self.shape = G.shape[0], G.shape[1]

    def block(self, rows: Index, columns: Index) -> Array:
        return self.G[np.ix_(rows, columns)]

    def whole(self) -> Array:
        return self.G

    def times(self, v: Array) -> Array:
        return self.G @ v

    def pull(self, dual: Array) -> Array:
        return dual @ self.G

    def rounding(self, dual: Array) -> Array:
        return noise(len(dual)) * (dual @ np.abs(self.G))

    def machine(self, svc: SVC, sign: Array) -> tuple[Array, float]:
        svc.set_params(kernel="linear").fit(sign[:, None] * self.G, sign)
        return svc.coef_[0], float(svc.intercept_[0])

    def limit(self, memory: float) -> None:
        pass


@dataclass(frozen=True)
class RatioLP:
    """The program above; ``costs`` are G'u₊ and G'u₋, the parts of its cost G'u for either class."""

    matrix: Matrix
    sign: Array
    weight: Array
    costs: tuple[Array, Array]
    C: float
    nonnegative: bool

    @classmethod
    def of(cls, G: Array, sign: Array, weight: Array, C: float, nonnegative: bool) -> RatioLP:
        """Return the program of a matrix that is held in memory."""
        matrix = Dense(G)
        costs = tuple(matrix.pull(np.where(side, weight, 0.0)) for side in (sign > 0, sign < 0))
        return cls(matrix, sign, weight, costs, C, nonnegative)  # type: ignore[arg-type]

    @cached_property
    def cost(self) -> Array:
        return self.costs[0] + self.costs[1]

    def pull(self, dual: Array, inside: Index | None) -> Array:
        """Return G'λ. Outside the points ``inside``, λ is a multiple of u within each class (None: it may be anything)."""
        if inside is None:
            return self.matrix.pull(dual)
        rest, total = dual.copy(), np.zeros(self.matrix.shape[1])
        outside = np.ones(len(dual), dtype=bool)
        outside[inside] = False
        for side, cost in zip((self.sign > 0, self.sign < 0), self.costs, strict=True):
            for example in np.flatnonzero(outside & side)[:1]:
                multiple = dual[example] / self.weight[example] if dual[example] else 0.0
                rest[side] -= multiple * self.weight[side]
                total += multiple * cost
        rest[outside] = 0.0
        return total + self.matrix.pull(rest)


@dataclass(frozen=True)
class RatioSolution:
    """Feasible points and their gap: ``dual`` is λ, ``spread`` u'Gv = w'(x̄ - ȳ), ``slack`` 1'ξ.

    ``margins`` are Gv + bz of the point that was given; ``excess`` is what its G'λ exceeds G'u by.
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
        whole = capped(problem, problem.matrix.whole(), problem.sign, np.ones(len(problem.sign)), problem.cost, inf)
        session["program"] = whole, DualProgram(whole, float(problem.weight.max()), len(problem.sign))
    whole, program = session["program"]
    whole = replace(whole, U=np.append(inf, np.full(len(problem.sign), problem.C)))
    program.bound(whole.U)
    central = None
    for _ in range(2):
        point = program.run()
        if point is None:
            session.clear()
            raise inseparable(problem, solve)
        answer = certify(problem, point.v, point.b, point.dual[1:], point.steps, central=central)
        if answer.gap <= gap:
            return answer
        program.forget()  # the basis that the path led to can be a badly conditioned one of several
        if problem.nonnegative:
            central = interior_point.solve(whole, point.v, point.b, point.dual, tol=1e-4).central
            central = None if central is None else central[1:]
    raise NotConverged(
        f"the linear program is certified to {answer.gap:.2g}, not to {gap:.2g}", point.steps, answer.gap
    )


def vertex(program: Program, problem: RatioLP) -> Point:
    """Return a vertex of one restricted program of ``problem``."""
    point = DualProgram(program, float(problem.weight.max()), len(problem.sign)).run()
    if point is None:
        raise NotConverged("HiGHS calls a bounded program unbounded")
    return point


def capped(problem: RatioLP, A: Array, z: Array, e: Array, c: Array, U: float | Array) -> Program:
    """Return the program with its first row, 1'v ≤ CAP; for free v, which have no cap, that row is nothing."""
    cap = np.full(A.shape[1], -1.0 if problem.nonnegative else 0.0)
    return Program(
        np.vstack([cap, A]),
        np.append(0.0, z),
        np.append(-CAP, e),
        c,
        np.append(inf, np.broadcast_to(U, len(e))),
        free=not problem.nonnegative,
    )


def inseparable(problem: RatioLP, solver: Callable[..., RatioSolution]) -> InfeasibleProblem:
    """Return the error of a hard margin that does not exist; its distance is the smallest total slack, Σξ."""
    nothing = np.zeros(problem.matrix.shape[1])
    free = replace(problem, weight=np.zeros_like(problem.weight), costs=(nothing, nothing), C=1.0)
    distance = solver(free).objective
    if not distance > 1e-6:
        raise NotConverged("no bound was found for classes that seem separable", residual=distance)
    return InfeasibleProblem(
        f"no hard margin (C=inf): the classes are not separable, the smallest total slack is {distance:.3g}; "
        "use a finite C",
        distance,
    )


class DualProgram:
    """The dual of a `Program` in HiGHS, dense: row 0 is z'λ = 0.

    λ counts in units of the largest u, and rows are scaled until their activity is about 1e5: HiGHS may violate a row by its
    tolerance of 1e-9, which v multiplies, and rounding must stay below that.
    """

    def __init__(self, program: Program, unit: float, points: int):
        self.unit = unit or 1.0
        self.scale = 1e5 / points
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
        count, rows = program.A.shape
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
        self.highs.addCols(count, gain, np.zeros(count), upper, values.size, starts, index, values)

    def bound(self, U: Array) -> None:
        """Set the upper bounds of every λ."""
        n = len(U)
        self.highs.changeColsBounds(n, np.arange(n, dtype=np.int32), np.zeros(n), U / self.unit / self.units)

    def run(self) -> Point | None:
        """Solve from the last basis; None if the program is unbounded. Raise NotConverged if HiGHS cannot say.

        The point is computed once more from a fresh factorisation of its basis: the updated one has drifted.
        """
        highs = self.highs
        status, steps = self._attempt(_TOLERANCE)
        if status in _STALLED:  # more than this basis can give: start anew, and let the certificate judge
            self.forget()
            status, more = self._attempt(100 * _TOLERANCE)
            steps += more
        if status == highspy.HighsModelStatus.kOptimal:
            highs.setBasis(highs.getBasis())
            status, more = self._attempt(_TOLERANCE)
            steps += more
        if status in (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise NotConverged(f"HiGHS stopped with {highs.modelStatusToString(status)}", steps)
        solution = highs.getSolution()
        values, multipliers = np.array(solution.col_value), np.array(solution.row_dual)
        return Point(-self.scale * multipliers[1:], -multipliers[0], self.unit * self.units * values, steps)

    def forget(self) -> None:
        """Drop the basis."""
        self.highs.clearSolver()

    def _attempt(self, tolerance: float) -> tuple[Any, int]:
        self.highs.setOptionValue("primal_feasibility_tolerance", tolerance)
        self.highs.setOptionValue("dual_feasibility_tolerance", tolerance)
        self.highs.run()
        return self.highs.getModelStatus(), self.highs.getInfo().simplex_iteration_count


def certify(
    problem: RatioLP,
    v: Array,
    b: float,
    dual: Array,
    steps: int,
    inside: Index | None = None,
    central: Array | None = None,
) -> RatioSolution:
    """Return the points made feasible, with their gap, which is inf without margin.

    ``central`` is a λ with room, if one is known; for both, ``inside`` is as in `RatioLP.pull`.
    """
    z, C, cost = problem.sign, problem.C, problem.cost
    if problem.nonnegative:
        v = np.maximum(v, 0.0)
        v = v * min(1.0, CAP / max(float(v.sum()), 1.0))
    margins = problem.matrix.times(v) + b * z
    slack = float(np.maximum(1 - margins, 0).sum())
    if isinf(C):
        lowest = margins[z > 0].min(), margins[z < 0].min()
        half = sum(lowest) / 2
        if half > 0 and (not problem.nonnegative or float(v.sum()) <= CAP * half):  # the cap holds for the scaled v
            v, b, slack = v / half, (b + half - lowest[0]) / half, 0.0
    spread = float(cost @ v)
    objective = spread + (C * slack if slack else 0.0)

    dual = _balanced(problem, dual)
    excess = problem.pull(dual, inside) - cost
    rounding = problem.matrix.rounding(dual)
    found = [(dual, excess)]
    if not problem.nonnegative:
        found.append(_stepped(problem, dual, excess))
    elif excess.max() > 0:
        found.append(_mixed(dual, excess, np.zeros_like(dual), -cost))
        if central is not None:
            central = _balanced(problem, central)
            found.append(_mixed(dual, excess, central, problem.pull(central, inside) - cost))
    length = min(10 * (1 + float(np.abs(v).sum())), CAP)
    bounds = []
    for one, e in found:
        left = e if problem.nonnegative else np.abs(e)
        costs = CAP * np.maximum(left - rounding, 0.0) + length * np.minimum(left, rounding)
        bounds.append(float(one.sum() - costs.max(initial=0.0)))
    best = int(np.argmax(bounds))
    gap = max(objective - bounds[best], 0.0) / max(abs(objective), 1.0) if objective < inf else inf
    return RatioSolution(v, float(b), found[best][0], spread, slack, objective, gap, steps, margins, excess)


def noise(n: int) -> float:
    """Return the relative error of a sum of n products: rounding errors add up like a random walk."""
    return 2 * float(np.sqrt(n) * np.finfo(float).eps)


def _balanced(problem: RatioLP, dual: Array) -> Array:
    """Return λ within its bounds, its heavier class scaled down until z'λ = 0."""
    z = problem.sign
    dual = np.clip(dual, 0.0, problem.C)
    totals = dual[z > 0].sum(), dual[z < 0].sum()
    return dual * np.where(z > 0, *(min(totals) / total if total else 1.0 for total in totals))


def _mixed(dual: Array, excess: Array, other: Array, other_excess: Array) -> tuple[Array, Array]:
    """Return the mixture of λ with as much of another one as its room needs to take up what G'λ exceeds, and what is left."""
    mend = (excess > 0) & (other_excess < 0)
    share = float((excess[mend] / -other_excess[mend]).max(initial=0.0))
    return (dual + share * other) / (1 + share), (excess + share * other_excess) / (1 + share)


def _stepped(problem: RatioLP, dual: Array, excess: Array) -> tuple[Array, Array]:
    """Return the mixture of λ with u, whose room between 0 and C takes the step back to G'λ = G'u, and what is left."""
    u = problem.weight
    step = lstsq(
        np.column_stack([problem.matrix.whole(), problem.sign]).T, np.append(-excess, 0.0), lapack_driver="gelsy"
    )[0]
    room = np.minimum(u, problem.C - u)
    if np.any(room[step != 0] <= 0):
        return dual, excess
    share = float((np.abs(step) / np.where(step != 0, room, 1.0)).max())
    dual = (dual + share * u + step) / (1 + share)
    return dual, problem.matrix.pull(dual) - problem.cost


def _indices(count: int, width: int) -> tuple[Any, Any]:
    """Return starts and indices of dense vectors in HiGHS's sparse format."""
    return np.arange(count, dtype=np.int32) * width, np.tile(np.arange(width, dtype=np.int32), count)
