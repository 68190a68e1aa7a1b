"""One class of ellipsoids by alternating optimisation (Pothin & Richard, Table 1, for the problem of `problems.one_class`).

From the centres on, each round solves the one-class SVM on the points so far, whose points of one set share a slack, and adds the
most critical point of every set, (11) or (17). The SVM on some points of the sets bounds the optimum from below, the critical
points bound it from above: it stops when the two are within ``tol``, relative. The paper asks how far a new point is from the others
instead; that needs an ε in units of the feature space, and proves nothing.
"""

from __future__ import annotations

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mmc.methods.numerics.clarabel_settings import settings
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.memory import require
from mmc.methods.problems import Answer
from mmc.methods.problems.one_class import OneClassAnswer, OneClassProblem, Weighted
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

CAN = Capabilities()
VERSION = f"clarabel {clarabel.__version__}"
_COPIES = 8  # of the first Gram matrix: rounds add points, and the program is a copy


def solve(problem: OneClassProblem, *, tol: float = 1e-6, max_iter: int = 200) -> OneClassAnswer:
    """Return points of the sets and their weights; raise InfeasibleProblem, or NotConverged with the gap that was reached."""
    sets, kernel = problem.sets, problem.kernel
    points, owner = sets.centers, np.arange(len(sets.centers))
    n = len(points)
    require(8 * _COPIES * n**2, f"the Gram matrix of {n:,} sets, which grows,", "take fewer rows")
    K = kernel(points, points)
    for iteration in range(1, max_iter + 1):
        alpha = _weights(K, owner, problem.most)
        norm2 = float(alpha @ K @ alpha)
        problem.check_apart(norm2, float(np.abs(K.diagonal()).max()))
        active = np.flatnonzero(alpha)
        critical, _ = sets.critical(kernel, points[active], alpha[active])
        across = kernel(critical, points)
        found = across @ alpha
        lowest = np.full(n, np.inf)
        np.minimum.at(lowest, owner, K @ alpha)
        bracket = problem.certify(norm2, np.minimum(lowest, found), norm2)
        if bracket.reached <= tol:
            here = Weighted(points, owner, alpha)
            return Answer(here, here, iteration, VERSION)
        new = np.flatnonzero(found < lowest)
        if not len(new):
            break
        K = np.block([[K, across[new].T], [across[new], kernel(critical[new], critical[new])]])
        points, owner = np.vstack([points, critical[new]]), np.append(owner, new)
    raise NotConverged(
        f"after {iteration} rounds and with {len(points)} points of {n} sets the relative gap is {bracket.reached:.1e}, wanted {tol:.1e}: "
        "scale the data, or raise max_iter",
        iteration,
        bracket.reached,
    )


def _weights(K: Array, owner: NDArray[np.intp], most: float) -> Array:
    """Return the α that minimise ½α'Kα, sum to 1, and to no more than ``most`` over the points of a set."""
    n, size = len(owner), float(np.abs(K.diagonal()).max()) or 1.0
    sets = sparse.csc_array((np.ones(n), (owner, np.arange(n))))
    A = sparse.csc_matrix(sparse.vstack([np.ones((1, n)), -sparse.eye_array(n), sets]))
    b = np.concatenate([[1.0], np.zeros(n), np.full(sets.shape[0], most)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n + sets.shape[0])]
    P = sparse.csc_matrix(np.triu(K / size))
    answer = clarabel.DefaultSolver(P, np.zeros(n), A, b, cones, settings(1e-10)).solve()
    if str(answer.status) not in ("Solved", "AlmostSolved"):
        raise NotConverged(f"the one-class SVM ended as {answer.status}", answer.iterations, answer.r_prim)
    alpha = np.maximum(np.array(answer.x), 0.0)
    alpha[alpha < 1e-9 * alpha.max()] = 0.0  # an interior point leaves no zeros
    fitting: Array = _feasible(alpha, sets, most)[owner] * alpha
    return fitting


def _feasible(alpha: Array, sets: sparse.csc_array, most: float) -> Array:
    """Return for each set what its weights must be multiplied by, so that all sum to 1 and those of no set to more than ``most``."""
    total = sets @ alpha
    kept = np.minimum(total / total.sum(), most)
    room = np.where(total > 0, most - kept, 0.0)
    kept += room * ((1 - kept.sum()) / room.sum()) if room.any() else 0.0
    factors: Array = np.divide(kept, total, out=np.ones_like(kept), where=total > 0)
    return factors
