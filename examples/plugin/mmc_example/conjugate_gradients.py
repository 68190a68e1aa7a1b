"""Conjugate gradients on the normal equations (A'A + λI) w = A't."""

from __future__ import annotations

import numpy as np

from mmc.methods.problems import Certificate, Judged
from mmc.methods.solution import NotConverged
from mmc.methods.solvers import Capabilities
from mmc_example.problem import Array, RidgeRegression, certify

CAN = Capabilities(kernels=False)


def solve(problem: RidgeRegression, *, gap: float = 1e-10, max_iter: int = 1000) -> Judged[Array, Array, Certificate]:
    """Return w and a = t − Aw once the gap that they prove is small; raise NotConverged after ``max_iter`` steps."""
    A, t = problem.matrix, problem.targets
    w = np.zeros(A.shape[1])
    residual = A.T @ t
    direction = residual.copy()
    for step in range(max_iter + 1):
        certificate = certify(problem, w, t - A @ w)
        if certificate.gap <= gap:
            return Judged(w, t - A @ w, step, f"numpy {np.__version__}", certificate=certificate)
        image = A.T @ (A @ direction) + problem.ridge * direction
        length = (residual @ residual) / (direction @ image)
        w = w + length * direction
        new = residual - length * image
        direction = new + (new @ new) / (residual @ residual) * direction
        residual = new
    raise NotConverged(
        f"the gap is {certificate.gap:.2g} after {max_iter} steps, not {gap:.2g}", max_iter, certificate.gap
    )
