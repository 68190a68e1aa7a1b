"""Fisher's discriminant in closed form (Gu & Guo, section 2.1).

    max  (w'd)² / w'S w ,   d = x̄ - ȳ,  S = Σx + Σy        is reached by        w = S⁻¹ d

The certificate. For every w, (w'd)² ≤ (w'S w)(d'S⁻¹d): the ratio of w is a primal value and d'S⁻¹d the dual one, the smallest
t with t S ⪰ dd'. With r = d - S w, and μ > 0 the smallest eigenvalue of S, d'S⁻¹d ≤ 2 w'd - w'S w + ‖r‖²/μ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from mmc.methods.numerics.kernels import Array
from mmc.methods.solution import FitError, NotConverged

VERSION = f"numpy {np.__version__}"


@dataclass(frozen=True)
class Discriminant:
    """The difference of the means and the scatter within the classes."""

    difference: Array
    scatter: Array


@dataclass(frozen=True)
class Direction:
    """w, the ratio d_b/d_w squared, and its relative distance from the largest one."""

    w: Array
    objective: float
    gap: float
    iterations: int = 1
    version: str = VERSION


def solve(problem: Discriminant, *, gap: float = 1e-6) -> Direction:
    """Return S⁻¹d; directions in which nothing varies are left out. Raise NotConverged above ``gap``.

    Raises FitError if the means differ in a direction without scatter, where the ratio is infinite.
    """
    d, scale = problem.difference, np.sqrt(np.diag(problem.scatter))
    scale = np.where(scale > 1e-13 * np.abs(d), scale, np.abs(d))  # below is what rounding leaves of no scatter
    scale[scale == 0] = 1.0
    S, d = problem.scatter / np.outer(scale, scale), d / scale
    values, vectors = eigh(S)
    flat = values <= 10 * len(values) * np.finfo(float).eps
    if np.linalg.norm(d @ vectors[:, flat]) > 1e-6 * np.linalg.norm(d):
        raise FitError("the classes have no scatter in a direction that separates them: use a ridge > 0")
    values, vectors = values[~flat], vectors[:, ~flat]
    d = vectors @ (d @ vectors)
    w = vectors @ (d @ vectors / values)
    if not np.any(w):
        return Direction(w, 0.0, 0.0)
    Sw = vectors @ (values * (w @ vectors))
    along, within = float(w @ d), float(w @ Sw)
    objective = along**2 / within
    residual = d - Sw
    bound = 2 * along - within + float(residual @ residual) / values[0]
    reached = max(bound - objective, 0.0) / bound
    if not reached <= gap:
        raise NotConverged(f"the discriminant is certified to {reached:.2g}, not to {gap:.2g}", 1, reached)
    return Direction(w / scale, objective, reached)
