"""M4 with a Gaussian kernel by Newton steps against one Clarabel solve of the same program, and a grid against its points.

Ionosphere, all 351 rows, as in Table 1 of Gu & Guo (standardised, divided by the root of the number of features). The first rows
time the solvers alone, in seconds of the processor, as medians of alternating runs. The last one goes from X and y to fitted rules.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._shared import quickest, row
from mmc.datasets import load
from mmc.methods import M4
from mmc.methods.numerics.kernels import Array
from mmc.methods.problems.scatter_margin import ScatterMargin
from mmc.methods.solvers import scatter_newton, sequential_socp

WIDTH, RIDGES, COSTS = 1.0, (0.01, 0.1), (0.03, 0.1, 0.3, 1.0)
TURNS = 5


def run() -> Iterator[dict[str, Any]]:
    """Yield one row per ridge and C, then the whole grid."""
    X, y = _data()
    for ridge, C in product(RIDGES, COSTS):
        problem = _problem(X, y, ridge, C)
        ours = scatter_newton.solve(problem)  # compiles on first use
        theirs = sequential_socp.solve(problem)
        if abs(ours.certificate.objective - theirs.certificate.objective) > 1e-6 * theirs.certificate.objective:
            raise AssertionError("the answers differ")
        pairs = [
            [
                quickest(partial(module.solve, problem), 1, time.process_time)[0]
                for module in (scatter_newton, sequential_socp)
            ]
            for _ in range(TURNS)
        ]
        name = f"M4, Ionosphere, n = {len(y)}, ridge = {ridge:g}, C = {C:g}"
        note = f"ridge = {ridge:g}, C = {C:g}: gaps {ours.certificate.gap:.1e} (ours), {theirs.certificate.gap:.1e}"
        quick, slow = np.median(pairs, axis=0)
        yield row(name, "Clarabel", 20, quick, slow, note)
    grid = [{"ridge": ridge, "C": C} for ridge, C in product(RIDGES, COSTS)]
    model = M4(kernel="rbf", gamma=WIDTH, solver="newton")
    pairs = [
        [
            quickest(lambda: list(model.fit_path(X, y, grid)), 1, time.process_time)[0],
            quickest(lambda: [M4(**{**model.get_params(), **point}).fit(X, y) for point in grid], 1, time.process_time)[
                0
            ],
        ]
        for _ in range(TURNS)
    ]
    quick, slow = np.median(pairs, axis=0)
    yield row(f"M4, Ionosphere, {len(grid)} points of C and ridge", "each point anew", 3, quick, slow)


def _data() -> tuple[Array, Array]:
    data = load("ionosphere")
    X = np.asarray(data.X, dtype=float)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0) / np.sqrt(X.shape[1])
    return X, np.where(data.y == data.positive, 1.0, -1.0)


def _problem(X: Array, y: Array, ridge: float, C: float) -> ScatterMargin:
    """Return the program as the estimator states it."""
    stated: list[ScatterMargin] = []

    class Stated(M4):
        def _solve(self, problem: Any, **options: object) -> Any:
            stated.append(problem)
            return super()._solve(problem, **options)

    Stated(C=C, kernel="rbf", gamma=WIDTH, ridge=ridge).fit(X, y)
    return stated[0]
