"""The problem: min ½‖Aw − t‖² + ½λ‖w‖², whose dual is max a't − ½‖a‖² − ‖A'a‖² / 2λ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmc.methods.problems import Answer, Certificate, Problem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RidgeRegression(Problem[Answer[Array, Array]]):
    """A matrix, targets and λ > 0."""

    matrix: Array
    targets: Array
    ridge: float


def certify(problem: RidgeRegression, w: Array, a: Array) -> Certificate:
    """Return the value at w, and how far above the dual value at a it can be at most, relative to ½‖t‖²."""
    A, t = problem.matrix, problem.targets
    primal = 0.5 * float(np.sum((A @ w - t) ** 2)) + 0.5 * problem.ridge * float(w @ w)
    dual = float(a @ t) - 0.5 * float(a @ a) - float(np.sum((A.T @ a) ** 2)) / (2 * problem.ridge)
    return Certificate(primal, (primal - dual) / (0.5 * float(t @ t)))
