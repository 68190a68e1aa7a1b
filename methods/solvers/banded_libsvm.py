"""The banded SVM by libsvm's ε-insensitive regression.

The penalty of (2.3) is zero on the band ρ1 ≤ y f ≤ ρ2 and grows linearly outside (Pendse). With C1 = C2 it is the
ε-insensitive loss with target y(ρ1 + ρ2)/2 and ε = (ρ2 − ρ1)/2. With C1 ≠ C2 every point is given twice, with one wide
ε = E: copy A has the target y(ρ1 + E) and the weight C1, copy B the target y(ρ2 − E) and the weight C2. Their inner edges
are those of the band. Their outer edges must never be reached: |f| < 2E − ρ2 is checked after every run, and where it
fails a wider E is taken. C2 = ∞ needs no limit process: no θ exceeds ρ1/ρ2 n C1 anyway. With C2 = 0 it is ρ1 times the
soft-margin SVM with C1/ρ1, which has half as many variables.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVR

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.libsvm_kernel import libsvm_kernel
from mmc.methods.problems.banded import BandedProblem
from mmc.methods.problems.hinges import MachineAnswer, SvmProblem
from mmc.methods.solvers import Capabilities, libsvm
from mmc.methods.solvers.libsvm import VERSION, Rough, libsvm_options, run_libsvm, solve_hinges

CAN = Capabilities(rows=True)


def solve(
    problem: BandedProblem, *, tol: float = 1e-6, max_iter: int | None = None, cache: float = 200.0
) -> MachineAnswer:
    """Return the banded SVM to a relative duality gap of ``tol``, or raise NotConverged.

    ``max_iter`` bounds each run of libsvm (default: 50 per hinge and at least 20,000), ``cache`` is its megabytes.
    """
    K, y, n = problem.K, problem.sign, len(problem.sign)
    rho1, rho2, C1 = problem.rho1, problem.rho2, problem.C1
    hinges = problem.hinges
    if problem.C2 == 0:
        svm = libsvm.solve(SvmProblem(K, y, problem.costs[0] / rho1), tol=tol, max_iter=max_iter, cache=cache)
        return problem.answer(np.append(rho1 * svm.dual.a, np.zeros(n)), tol, svm.iterations, VERSION)
    kernel, points = libsvm_kernel(K)
    same = np.array_equal(problem.costs[0], problem.largest_theta)
    if not same:
        twice = np.empty((2 * n, 2 * n if kernel["kernel"] == "precomputed" else points.shape[1]))
        twice.reshape(2, n, -1, points.shape[1])[:] = points[:, None]
    options = {**kernel, **libsvm_options(hinges, max_iter, cache)}

    def split(gamma: Array) -> Array:
        return np.concatenate([np.maximum(gamma, 0.0), np.maximum(-gamma, 0.0)])

    def symmetric(scale: float) -> Rough:
        machine = SVR(C=scale * C1, epsilon=(rho2 - rho1) / 2, **options)
        coef, iterations = run_libsvm(machine, points, y * (rho1 + rho2) / 2, problem.weight)
        return None if coef is None else split(coef * y), iterations

    def stacked(scale: float) -> Rough:
        E, total = 100 * rho2, 0
        while True:
            targets = np.concatenate([y * (rho1 + E), y * (rho2 - E)])
            machine = SVR(C=scale, epsilon=E, **options)
            both, iterations = run_libsvm(machine, twice, targets, hinges.C)
            total += iterations
            if both is None:
                return None, total
            coef = np.bincount(hinges.point, both, n)
            largest = np.max(np.abs(K @ coef + machine.intercept_[0]))
            if largest < 2 * E - rho2:
                return split(coef * y), total
            E = 10 * largest

    a, iterations = solve_hinges(hinges, symmetric if same else stacked, tol)
    return problem.answer(a, tol, iterations, VERSION)
