"""Programs written in cvxpy, handed to any backend that cvxpy reaches on this machine."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import NotConverged
from mmc.words import nearest

# What each backend calls its tolerances; another backend keeps its own.
_TOLERANCES = {
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "ECOS": ("abstol", "reltol", "feastol"),
    "SCS": ("eps_abs", "eps_rel"),
    "OSQP": ("eps_abs", "eps_rel"),
}
_SETTINGS = {"CLARABEL": {"max_step_fraction": 0.8}}  # shorter steps than usual end closer to the optimum


@dataclass(frozen=True)
class Run:
    """How a backend ended: whether it found the program infeasible, its word for the end, its steps and versions."""

    infeasible: bool
    said: str
    steps: int
    version: str

    def stopped(self, reached: float = float("nan"), wanted: float = float("nan")) -> NotConverged:
        """Return the error of a run whose points do not prove enough."""
        proved = "" if np.isnan(reached) else f", certified to {reached:.2g}, not to {wanted:.2g}"
        return NotConverged(
            f"{self.version} ended with {self.said!r}{proved}: scale the data, or take another backend or solver",
            self.steps,
            reached,
        )


def run(program: cp.Problem, backend: str, tol: float) -> Run:
    """Solve the program with a backend to its tolerance ``tol``; raise NotConverged if it leaves no point.

    How good the point is, is not asked here: the problem's own certificate says so.
    """
    if backend not in cp.installed_solvers():
        raise ValueError(f"cvxpy does not reach {backend!r} here: {nearest(backend, cp.installed_solvers())}")
    version = f"cvxpy {cp.__version__} with {backend}"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the certificate judges that
            options = {**dict.fromkeys(_TOLERANCES.get(backend, ()), tol), **_SETTINGS.get(backend, {})}
            program.solve(solver=backend, **options)
    except cp.SolverError as error:
        raise Run(False, str(error).split(".")[0], 0, version).stopped() from None
    stats = program.solver_stats
    steps = int(stats.num_iters) if stats is not None and stats.num_iters else 0
    ended = Run("infeasible" in program.status, str(program.status), steps, version)
    if not ended.infeasible and any(variable.value is None for variable in program.variables()):
        raise ended.stopped()
    return ended


def value(expression: cp.Expression) -> Array:
    """Return the value of an expression after a run."""
    return np.asarray(expression.value, dtype=np.float64)


def multipliers(constraint: cp.Constraint) -> Array:
    """Return the multipliers of a linear constraint."""
    return np.asarray(constraint.dual_value, dtype=np.float64)


def cone_multipliers(constraint: cp.SOC) -> tuple[float, Array]:
    """Return the multipliers (λ, v) of the cone ‖x‖ ≤ t, ‖v‖ ≤ λ."""
    head, tail = constraint.dual_value
    return float(np.ravel(head)[0]), np.ravel(tail)


def root(K: Array) -> Array:
    """Return rows Z with ZZ' = K: points whose inner products are those of the kernel."""
    values, vectors = np.linalg.eigh(K)
    keep = values > len(K) * float(np.finfo(float).eps) * max(values[-1], 0.0)
    if not keep.any():
        return np.zeros((len(K), 1))  # cvxpy takes no variable without entries
    Z: Array = vectors[:, keep] * np.sqrt(values[keep])
    return Z
