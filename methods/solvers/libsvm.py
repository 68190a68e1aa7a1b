"""The soft-margin SVM by libsvm, finished in double precision.

libsvm keeps the kernel in single precision: whatever its tolerance, a large C leaves a relative duality gap of 1e-5
to 1e-3. So it is only asked for its usual 1e-3, enough to know nearly all points that are at a bound, and Newton steps
on the others (`active_set`), mostly one or two, do the rest. Where libsvm would hardly end (many points, few features, a
large C) it solves for C/10 instead, and ten times that solution is where the Newton steps start.
A solution in which no multiplier is at its bound solves every problem with larger bounds: a session hands it on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.libsvm_kernel import libsvm_kernel
from mmc.methods.problems.hinges import Hinges, MachineAnswer, SvmProblem
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities, Session, active_set

CAN = Capabilities(rows=True, session=True)
VERSION = f"libsvm of scikit-learn {sklearn.__version__}"
_TENTHS = 9  # how often C is divided by ten before libsvm is given up

Rough = tuple[Array | None, int]  # multipliers, None where the first solver stopped short, and its iterations


def solve(
    problem: SvmProblem,
    *,
    tol: float = 1e-6,
    max_iter: int | None = None,
    cache: float = 200.0,
    session: Session[Array] | None = None,
) -> MachineAnswer:
    """Return the soft-margin SVM to a relative duality gap of ``tol``, or raise NotConverged.

    ``max_iter`` bounds each run of libsvm (default: 50 per point and at least 20,000), ``cache`` is its megabytes.
    ``session`` carries multipliers that are all below their bounds to the next C of the same points and kernel.
    """
    session, hinges = Session() if session is None else session, problem.hinges
    if session.kept is not None and np.all(session.kept < problem.C):
        with suppress(NotConverged):  # rounding in it counts for more, the larger C
            a, iterations = active_set.solve(hinges, session.kept, tol=tol)
            return problem.answer(a, tol, iterations, VERSION)
    kernel, points = libsvm_kernel(problem.K)

    def svc(scale: float) -> Rough:
        machine = SVC(C=scale, **kernel, **libsvm_options(hinges, max_iter, cache))
        coef, iterations = run_libsvm(machine, points, problem.sign, problem.C)
        return None if coef is None else np.abs(coef), iterations

    a, iterations = solve_hinges(hinges, svc, tol)
    session.kept = a if np.all(a < problem.C) else None
    return problem.answer(a, tol, iterations, VERSION)


def libsvm_options(hinges: Hinges, max_iter: int | None, cache: float) -> dict[str, float]:
    """Return the settings that every run of libsvm has here."""
    limit = max(20_000, 50 * len(hinges.side)) if max_iter is None else max_iter
    return {"tol": 1e-3 * np.min(np.abs(hinges.target)), "max_iter": limit, "cache_size": cache}


def run_libsvm(machine: SVC | SVR, points: Array, y: Array, C: Array | None = None) -> Rough:
    """Return the coefficients of all points, None if libsvm stopped short, and its iterations."""
    with warnings.catch_warnings(), sklearn.config_context(skip_parameter_validation=True, assume_finite=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # told by fit_status_
        machine.fit(points, y, sample_weight=C)
    iterations = int(np.sum(machine.n_iter_))
    if machine.fit_status_:
        return None, iterations
    coef = np.zeros(len(y))
    coef[machine.support_] = machine.dual_coef_[0]
    return coef, iterations


def solve_hinges(
    hinges: Hinges, rough: Callable[[float], Rough], tol: float, name: str = "libsvm"
) -> tuple[Array, int]:
    """Return multipliers with a relative gap of at most ``tol``, and all iterations.

    ``rough(scale)`` solves the problem roughly with C times ``scale``; ``name`` is what an error calls it.
    """
    iterations = 0
    for tenths in range(_TENTHS):
        a, n = rough(10.0**-tenths)
        iterations += n
        if a is not None:
            break
    else:
        raise NotConverged(
            f"{name} did not converge, even with C/{10 ** (_TENTHS - 1):g}, within its limit: raise max_iter or scale the data",
            iterations,
        )
    for level in range(tenths, -1, -1):
        scaled = replace(hinges, C=hinges.C * 10.0**-level)
        # a tenth of C may round to another neighbour: what was at its bound stays there exactly
        a = np.where(a >= (1 - 1e-12) * scaled.C, scaled.C, np.minimum(a, scaled.C))
        a, n = active_set.solve(scaled, a, tol=tol)
        iterations += n
        if level:
            a = 10.0 * a
    return a, iterations
