"""The widest margin to ellipsoids as one cone program (Pothin & Richard, (5) and (6)), exact for a linear kernel.

The inner maximum of (6) has a closed form, the worst case over an ellipsoid, so that (6) is

    min ½‖w‖² + C Σ_i ξ_i   s.t.   y_i(⟨w, x̄_i⟩ + b) − ‖Σ_i^{1/2} w‖ ≥ 1 − ξ_i,  ξ_i ≥ 0,

and (5) the same without ξ. Sets with the same owner share one ξ. An ellipsoid costs a second-order cone, but all
spheres share one: ‖Σ_i^{1/2} w‖ = r_i s with s ≥ ‖w‖.

The dual has one point of every set, and a weight for it. The multiplier of an ellipsoid's cone is (α_i, u_i) with ‖u_i‖ ≤ α_i, whence x_i = x̄_i + y_i Σ_i^{1/2} u_i / α_i; that
of the cone of all spheres is (μ, ν) with μ = Σ_i r_i α_i, whence x_i = x̄_i + y_i r_i ν / μ.
"""

from __future__ import annotations

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mmc.methods.numerics.clarabel_settings import settings
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.knowledge import (
    CriticalPoints,
    KnowledgeAnswer,
    KnowledgeProblem,
    PointRule,
    inseparable_sets,
)
from mmc.methods.problems.shapes import KnowledgeSets
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

CAN = Capabilities(kernels=False)

VERSION = f"clarabel {clarabel.__version__}"
_WORTH_JUDGING = ("Solved", "AlmostSolved", "InsufficientProgress")  # the certificate tells how good the point is
_ENOUGH = 1e-7  # what is accepted where rounding keeps the solver from its tolerance


def solve(problem: KnowledgeProblem, *, tol: float = 1e-10, max_iter: int = 200) -> KnowledgeAnswer:
    """Return the points and weights of the dual optimum; raise InfeasibleProblem, NotConverged."""
    if problem.kernel.kernel != "linear":
        raise ValueError("the worst case over an ellipsoid is a cone for a linear kernel only")
    return separate(problem.sets, np.arange(len(problem.sets.sign)), problem.C, tol=tol, max_iter=max_iter)


def separate(
    sets: KnowledgeSets, owner: NDArray[np.intp], C: float, *, tol: float = 1e-10, max_iter: int = 200
) -> KnowledgeAnswer:
    """Return the solution of (6), or of (5) for C = ∞, where the sets with one ``owner`` share their slack."""
    middle, unit = sets.centers.mean(axis=0), _extent(sets)
    sets = KnowledgeSets(
        (sets.centers - middle) / unit, sets.sign, sets.radii / unit, sets.which, sets.matrices / unit**2
    )
    program = _ConeProgram(sets, owner, np.isfinite(C))
    answer = program.run(1.0, C * unit**2, tol, max_iter)
    if np.isinf(C) and str(answer.status) in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
        slack = _ConeProgram(sets, owner, True).run(0.0, 1 / (owner.max() + 1), tol, max_iter).obj_val
        raise inseparable_sets(slack)
    if str(answer.status) not in _WORTH_JUDGING:
        raise NotConverged(
            f"the cone program ended as {answer.status} after {answer.iterations} iterations, "
            f"with a residual of {answer.r_prim:.3g}",
            answer.iterations,
            answer.r_prim,
        )
    points, alpha, w, b = program.read(np.array(answer.x), np.array(answer.z))
    points, alpha = middle + unit * points, alpha / unit**2
    return Answer(
        PointRule(points, alpha * sets.sign, b - float(w @ middle) / unit),
        CriticalPoints(points, owner, points @ points.T, alpha),
        answer.iterations,
        VERSION,
    )


def _extent(sets: KnowledgeSets) -> float:
    """Return how far the sets reach from the middle of their centres: the unit of length of a well-scaled program."""
    reach = np.linalg.norm(sets.centers - sets.centers.mean(axis=0), axis=1) + sets.radii
    return float(reach.max()) or 1.0


class _ConeProgram:
    """(6) in the variables (w, b, s, ξ): rows that are the margins less 1, then ξ ≥ 0, then the cones."""

    def __init__(self, sets: KnowledgeSets, owner: NDArray[np.intp], soft: bool):
        n, d = sets.centers.shape
        self.sets, self.n_slacks = sets, int(owner.max()) + 1 if soft else 0
        flat = np.ones(n, dtype=bool)
        flat[sets.which] = False
        self.flat = np.flatnonzero(flat)
        self.spheres = bool(sets.radii[self.flat].any())
        self.roots = [_root(matrix) for matrix in sets.matrices]
        slack = np.zeros((n, 0)) if not soft else np.eye(self.n_slacks)[owner]
        radii = np.where(flat, sets.radii, 0)[:, None] if self.spheres else np.zeros((n, 0))
        margins = sparse.csr_array(np.hstack([sets.sign[:, None] * sets.centers, sets.sign[:, None], -radii, slack]))
        unit = sparse.eye_array(margins.shape[1], format="csr")
        blocks, self.cones = [margins[self.flat]], [clarabel.NonnegativeConeT(len(self.flat))]
        if soft:
            blocks.append(unit[-self.n_slacks :])
            self.cones.append(clarabel.NonnegativeConeT(self.n_slacks))
        if self.spheres:
            blocks += [unit[[d + 1]], unit[:d]]
            self.cones.append(clarabel.SecondOrderConeT(d + 1))
        for i, root in zip(sets.which, self.roots, strict=True):
            blocks += [margins[[i]], sparse.csr_array(root) @ unit[:d]]
            self.cones.append(clarabel.SecondOrderConeT(len(root) + 1))
        self.A = sparse.csc_matrix(-sparse.vstack(blocks))
        starts = np.cumsum([0, *(block.shape[0] for block in blocks)])
        self.offset = np.zeros(self.A.shape[0])
        self.offset[: len(self.flat)] = -1
        self.heads = starts[len(blocks) - 2 * len(self.roots) : -1 : 2]
        self.offset[self.heads] = -1

    def run(self, norm: float, C: float, tol: float, max_iter: int) -> clarabel.DefaultSolution:
        """Minimise norm · ½‖w‖² + C Σ ξ."""
        d, width = self.sets.centers.shape[1], self.A.shape[1]
        P = sparse.csc_matrix(sparse.diags_array(np.where(np.arange(width) < d, norm, 0.0)))
        q = np.zeros(width)
        if self.n_slacks:
            q[-self.n_slacks :] = C
        reduced = dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), max(tol, _ENOUGH))
        chosen = settings(tol, max_iter=max_iter, **reduced)
        return clarabel.DefaultSolver(P, q, self.A, self.offset, self.cones, chosen).solve()

    def read(self, x: Array, z: Array) -> tuple[Array, Array, Array, float]:
        """Return the dual points and weights, w and b."""
        sets, (n, d) = self.sets, self.sets.centers.shape
        alpha, points = np.zeros(n), sets.centers.copy()
        alpha[self.flat] = z[: len(self.flat)]
        alpha[sets.which] = z[self.heads]
        alpha[alpha < 1e-9 * alpha.max()] = 0  # an interior point leaves no zeros
        if self.spheres:
            at = len(self.flat) + self.n_slacks
            direction = z[at + 1 : at + 1 + d] / z[at]
            points[self.flat] += np.outer(sets.sign[self.flat] * sets.radii[self.flat], direction)
        for i, head, root in zip(sets.which, self.heads, self.roots, strict=True):
            if alpha[i] > 0:
                points[i] += sets.sign[i] * root.T @ z[head + 1 : head + 1 + len(root)] / alpha[i]
        return points, alpha, x[:d], float(x[d])


def _root(matrix: Array) -> Array:
    """Return R with R'R = Σ and as many rows as Σ has rank."""
    values, vectors = np.linalg.eigh(matrix)
    keep = values > 1e-14 * values[-1]
    root: Array = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
    return root
