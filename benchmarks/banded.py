"""B-SVM by pairs of multipliers against generic QP solvers on the 2n-variable dual (3.14), and against libsvm's own C-SVM.

The data are the paper's toy: γ = 1, C1 = 10, C2 = 100, ρ = [1, 1.5]. All get the Gram matrix; what is timed is the
solver with the matrices that it makes of it, in seconds of the processor. A QP solver is stopped after some minutes, and then the ratio is a lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import clarabel
import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from benchmarks._shared import quickest, row
from mmc.methods.numerics.kernels import Array, KernelSpec
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.solvers import banded_smo

PATIENCE = 120.0


def run() -> Iterator[dict[str, Any]]:
    """Yield one row per comparison: seconds of ours and of the alternative, their ratio and the target."""
    for n in (500, 1000, 2000):
        X, y = _toy(n)
        problem = BandedProblem(KernelSpec("rbf", 1.0)(X, X), y, 10.0, 100.0, 1.0, 1.5)
        machine = SVC(C=10.0, kernel="precomputed")
        banded_smo.solve(problem)  # compiles on first use
        pairs = [
            (
                quickest(partial(banded_smo.solve, problem), 1, time.process_time)[0],
                quickest(partial(machine.fit, problem.K, problem.sign), 1, time.process_time)[0],
            )
            for _ in range(9)
        ]
        ours, svm = np.median(pairs, axis=0)
        answer = banded_smo.solve(problem)
        value = problem.certify(answer.primal, answer.dual).objective
        for name, peer in (("Clarabel", _clarabel), ("OSQP", _osqp)):
            theirs, objective = quickest(partial(peer, problem), 1, time.process_time)
            if objective is None:
                name += f", stopped after {PATIENCE:.0f} s"
            elif abs(objective - value) > 1e-3 * value:
                raise RuntimeError(f"{name} found {objective}, ours {value}")
            yield row(f"B-SVM, toy, n = {len(y)}", f"{name}, 2n variables", 20, ours, theirs)
        yield row(f"B-SVM, toy, n = {len(y)}", "C-SVM, libsvm", 1 / 3 if n == 1000 else None, ours, svm)


def _toy(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    r = np.sqrt(0.5)
    centres = [(0, 0), (r, r), (-r, r), (-r, -r), (r, -r), (1, 0), (0, 1), (-1, 0), (0, -1)]
    each = round(n / len(centres))
    X = np.concatenate([rng.normal(centre, 0.2, (each, 2)) for centre in centres])
    return X, np.repeat([1.0, -1.0], [5 * each, 4 * each])


def _dual(problem: BandedProblem) -> tuple[Any, Array, Any, Array]:
    """Return H, q, A and the upper bounds of (3.14): min ½ x'Hx + q'x, A x = 0 in the first row, 0 ≤ x ≤ upper."""
    y, n = problem.sign, len(problem.sign)
    z = np.concatenate([y, -y])
    H = sparse.csc_matrix(np.triu(z[:, None] * z * np.tile(np.asarray(problem.K), (2, 2))))
    A = sparse.vstack([sparse.csc_matrix(z), sparse.identity(2 * n)], format="csc")
    return H, np.repeat([-problem.rho1, problem.rho2], n), A, np.repeat([problem.C1, problem.C2], n)


def _clarabel(problem: BandedProblem) -> float | None:
    H, q, A, upper = _dual(problem)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = PATIENCE
    rows = sparse.vstack([A, -A[1:]], format="csc")
    limits = np.concatenate([[0.0], upper, np.zeros(len(q))])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * len(q))]
    found = clarabel.DefaultSolver(H, q, rows, limits, cones, settings).solve()
    return -found.obj_val if found.status == clarabel.SolverStatus.Solved else None


def _osqp(problem: BandedProblem) -> float | None:
    import osqp

    H, q, A, upper = _dual(problem)
    low, high = np.zeros(len(q) + 1), np.concatenate([[0.0], upper])
    solver = osqp.OSQP()
    options = {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iter": 100_000, "time_limit": PATIENCE}
    solver.setup(H, q, A, low, high, verbose=False, **options)
    found = solver.solve(raise_error=False)
    return -found.info.obj_val if found.info.status == "solved" else None
