"""The normal equations (A'A + λI) w = A't, solved directly."""

from __future__ import annotations

import numpy as np

from mmc.methods.problems import Certificate, Judged
from mmc.methods.solvers import Capabilities
from mmc_example.problem import Array, RidgeRegression, certify

CAN = Capabilities(kernels=False)


def solve(problem: RidgeRegression) -> Judged[Array, Array, Certificate]:
    """Return w and a = t − Aw."""
    A, t = problem.matrix, problem.targets
    w = np.linalg.solve(A.T @ A + problem.ridge * np.eye(A.shape[1]), A.T @ t)
    a = t - A @ w
    return Judged(w, a, 1, f"numpy {np.__version__}", certificate=certify(problem, w, a))
