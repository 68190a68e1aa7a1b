"""The iteration of Lin & Han, compiled, against the same steps in numpy: the two columns of breast cancer in Table 1.

One fold, the five rates of the table, the caps and ridges of `breast_cancer`. Both go from X and y to fitted rules, in seconds of
the processor, and must end in the same rules. All rates take a step together, so that a step in numpy is a few products.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks._shared import quickest, row
from benchmarks.error_rate import ETAS, SETS, fold
from mmc.methods import ErrorRateClassifier
from mmc.methods.numerics.kernels import Array

GAMMA, ETA_NEG = SETS["breast_cancer"]
GRID = [{"eta_pos": eta, "eta_neg": ETA_NEG} for eta in ETAS]
COLUMNS: dict[str, tuple[dict[str, Any], int]] = {
    "L-ITER": ({}, 5000),
    "NL-ITER": ({"kernel": "rbf", "gamma": GAMMA}, 2000),
}


def run() -> Iterator[dict[str, Any]]:
    """Yield both columns, and both together."""
    X, y = fold("breast_cancer")
    total = np.zeros(2)
    for name, (kernel, steps) in COLUMNS.items():
        options = {"max_iter": steps, "at_cap": "keep"}
        model = ErrorRateClassifier(ridge=1e-4, solver="ellipsoid", solver_options=options, **kernel)
        _decisions(model, X, y)  # loads and compiles what is needed on first use
        ours, one = quickest(partial(_decisions, model, X, y), 3, time.process_time)
        with patch("mmc.methods.solvers.ellipsoid.walk", _walk):
            theirs, other = quickest(partial(_decisions, model, X, y), 1, time.process_time)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
        total += ours, theirs
        yield row(f"{name}, breast_cancer, five rates, {steps} steps", "numpy, same steps", None, ours, theirs)
    yield row("L-ITER and NL-ITER, breast_cancer, five rates", "numpy, same steps", 3, *total)


def _decisions(model: ErrorRateClassifier, X: Array, y: Array) -> Array:
    steps = list(model.fit_path(X, y, GRID, X))
    return np.array([step.decision for step in steps if step.decision is not None])


def _walk(
    Q: Array,
    d1: Array,
    values: Array,
    kappa2: Array,
    c1: Array,
    c2: Array,
    distance: Array,
    z1: Array,
    z2: Array,
    apart: Array,
    gap: Array,
    angle: Array,
    tol: float,
    step: int,
    last: int,
) -> int:
    """Do what `walk` of `numerics/lin_han.py` does, for all rows at once."""
    least = values.min(axis=1)
    while True:
        step += 1
        e1 = c2 @ Q.T - c1 - d1
        there, first = _leave(c1, e1, values[0], kappa2[0], z1)
        here, second = _leave(c2, -(e1 @ Q), values[1], kappa2[1], z2)
        apart[:], angle[:] = 1 - here - there, np.maximum(first, second)
        gap[:] = apart * np.linalg.norm(e1, axis=1)
        if np.any((apart <= 0) | (angle <= tol) | (gap > distance * (1 + 1e-9))) or step >= last:
            return step
        distance[:] = gap
        c1[:], c2[:] = z1 * (1 - least[0] / values[0]), z2 * (1 - least[1] / values[1])


def _leave(c: Array, e: Array, values: Array, kappa2: Array, z: Array) -> tuple[Array, Array]:
    scaled = e / values
    a, b = np.einsum("ij,ij->i", e, scaled), np.einsum("ij,ij->i", c, scaled)
    inside = np.maximum(kappa2 - np.einsum("ij,ij->i", c, c / values), 0.0)
    t: Array = (np.sqrt(b * b + a * inside) - b) / a
    z[:] = c + t[:, None] * e
    normal = z / values
    off = e / np.linalg.norm(e, axis=1)[:, None] - normal / np.linalg.norm(normal, axis=1)[:, None]
    angle: Array = 2 * np.arcsin(np.minimum(np.linalg.norm(off, axis=1) / 2, 1.0))
    return t, angle
