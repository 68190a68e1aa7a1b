"""Rosen's gradient projection for the fractional program (12), on whitened coordinates (Huang et al., section 2).

The gradient of h(a) = (1 - κ(γ) √(a'Σy a)) / √(a'Σx a) is projected on the directions that keep a'd = 1, and h is
maximised exactly along it: on a line both variances are quadratics in one number, so the search costs nothing. h is
pseudoconcave where its numerator is positive: a point where the projected gradient vanishes is the global maximum.

Steepest ascent creeps on unscaled data. The coordinates are z = L'a with LL' = p Σx + q Σy, where p and q are the
weights of the two covariances in the stationarity condition at the current point; they are renewed now and then,
because the weights at a poor starting point can be far from those at the solution.
"""

from __future__ import annotations

from math import inf

import numpy as np
import scipy
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import brentq

from mmc.methods.numerics.clock import Clock
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Directions, Minimax
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

VERSION = f"scipy {scipy.__version__}"
CAN = Capabilities()
RENEW = 50  # steps between whitenings


def solve(problem: Minimax, *, tol: float = 1e-8, max_iter: int = 20_000, max_seconds: float = inf) -> Directions:
    """Return the optimal a; it stops when ‖projected gradient‖ ≤ tol ‖gradient‖ and fails after ``max_iter`` steps, or ``max_seconds``."""
    clock = Clock(max_seconds)
    pair, kappa = problem.pair, problem.level
    a = pair.start
    for step in range(max_iter + 1):
        if step % RENEW == 0:
            sx, sy = pair.spreads(a)
            L = cholesky(pair.ratio(a, kappa) / sx * pair.Sx + kappa / sy * pair.Sy, lower=True)
            Sx, Sy = (_whiten(L, S) for S in (pair.Sx, pair.Sy))
            d = solve_triangular(L, pair.d, lower=True)
            z = L.T @ a
        x, y = Sx @ z, Sy @ z
        gx, gy = z @ x, z @ y
        f = 1 - kappa * np.sqrt(gy)
        gradient = -kappa * y / np.sqrt(gx * gy) - f * x / gx**1.5
        p = gradient - (gradient @ d) / (d @ d) * d
        p -= (p @ d) / (d @ d) * d  # twice, or what is left along d outweighs a small p
        steepness = float(np.linalg.norm(p) / np.linalg.norm(gradient))
        if steepness <= tol:
            return Answer(a, a, step, VERSION)
        clock.check("gradient projection", step, steepness, "the projected gradient, relative,")
        length = _climb(kappa, (gx, x @ p, p @ Sx @ p), (gy, y @ p, p @ Sy @ p))
        if length == 0:
            break
        z = z + length * p
        a = solve_triangular(L, z, lower=True, trans=1)
        a /= a @ pair.d
        z /= z @ d
    raise NotConverged(
        f"gradient projection: the projected gradient is still {steepness:.1e} of the gradient after {step} steps",
        step,
        steepness,
    )


def _climb(kappa: float, x: tuple[float, float, float], y: tuple[float, float, float]) -> float:
    """Return the s > 0 that maximises h along a line where the variances are q0 + 2 q1 s + q2 s²; 0 if none does."""

    def rise(s: float) -> float:  # has the sign of dh/ds
        gx, gy = x[0] + s * (2 * x[1] + s * x[2]), y[0] + s * (2 * y[1] + s * y[2])
        dx, dy = x[1] + s * x[2], y[1] + s * y[2]
        return float(-kappa * dy / np.sqrt(gy) * gx - (1 - kappa * np.sqrt(gy)) * dx)

    end = (np.sqrt(y[1] ** 2 + y[2] * (1 / kappa**2 - y[0])) - y[1]) / y[2]  # there the numerator of h is 0
    if not rise(0.0) > 0 > rise(end):
        return 0.0  # rounding hides what is left to climb
    return float(brentq(rise, 0.0, end, xtol=1e-300, rtol=1e-12))


def _whiten(L: Array, S: Array) -> Array:
    half: Array = solve_triangular(L, S, lower=True)
    whole: Array = solve_triangular(L, half.T, lower=True)
    return whole
