"""The certificate of the discriminant bounds the largest ratio, whatever the points."""

import numpy as np
import pytest

from mmc.methods.problems.discriminant import Discriminant, certify
from mmc.methods.solvers import lda


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_certificate_bounds_the_optimum_from_any_directions(unit):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(9, 6)) * [unit, 1, 1, 1, 1, 1]
    problem = Discriminant(rng.normal(size=6) * [unit, 1, 1, 1, 1, 1], root.T @ root)
    best = problem.difference @ np.linalg.solve(problem.scatter, problem.difference)
    w = lda.solve(problem).primal
    assert certify(problem, w, w).objective == pytest.approx(best)
    assert certify(problem, w, w).gap < 1e-10
    for size in (1e-3, 1e-1, 1.0):
        v = w * (1 + size * rng.normal(size=6))
        for found in (certify(problem, v, w), certify(problem, w, v), certify(problem, v, v)):
            assert found.objective <= best * (1 + 1e-10)
            assert best <= found.objective / (1 - found.gap) * (1 + 1e-10)
            assert found.gap > 1e-9
