"""Fisher's discriminant in closed form (Gu & Guo, section 2.1): w = S⁻¹d."""

from __future__ import annotations

import numpy as np

from mmc.methods.numerics.kernels import Array
from mmc.methods.problems import Certificate, Judged
from mmc.methods.problems.discriminant import Discriminant, certify
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities

VERSION = f"numpy {np.__version__}"
CAN = Capabilities(kernels=False)


def solve(problem: Discriminant, *, gap: float = 1e-6) -> Judged[Array, Array, Certificate]:
    """Return S⁻¹d; directions in which nothing varies are left out. Raise NotConverged above ``gap``.

    Raises FitError if the means differ in a direction without scatter, where the ratio is infinite.
    """
    axes = problem.axes
    w = axes.vectors @ (axes.difference @ axes.vectors / axes.values) / axes.scale
    certificate = certify(problem, w, w)
    if not certificate.gap <= gap:
        reached = certificate.gap
        raise NotConverged(f"the discriminant is certified to {reached:.2g}, not to {gap:.2g}", 1, reached)
    return Judged(w, w, 1, VERSION, certificate=certificate)
