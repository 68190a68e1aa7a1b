"""The certificate of the scatter margin bounds the optimum, whatever the points."""

from math import inf

import numpy as np
import pytest

from mmc.methods.problems.scatter_margin import ScatterMargin, ScatterMultipliers, ScatterPlane, certify
from mmc.methods.solvers import sequential_socp


@pytest.mark.parametrize("C", [0.1, 10.0, inf])
def test_the_certificate_bounds_the_optimum_from_any_points(C):
    rng = np.random.default_rng(0)
    sign = np.repeat([1.0, -1.0], [12, 20])
    points = rng.normal(size=(32, 3)) + sign[:, None] * [4.0 if inf == C else 1.0, 0, 0]
    problem = ScatterMargin(points, sign, np.array([0.2, 0.5, 0.9]), C)
    answer = sequential_socp.solve(problem)
    (w, b), (dual, p, q) = answer.primal, answer.dual
    best = answer.certificate
    assert best.gap < 1e-6
    for size in (1e-2, 1e-1, 1.0):
        plane = ScatterPlane(w * (1 + size * rng.normal(size=3)), b + size * rng.normal())
        multipliers = ScatterMultipliers(
            dual + size * rng.normal(size=32), p + size * rng.normal(size=3), q + size * rng.normal(size=3)
        )
        for found in (certify(problem, plane, multipliers), certify(problem, answer.primal, multipliers)):
            assert found.objective >= best.objective * (1 - best.gap)
            assert found.gap == inf or best.objective >= found.objective * (1 - found.gap) - 1e-12
            assert found.gap > best.gap


def test_the_feasible_plane_keeps_every_margin_of_a_hard_problem():
    rng = np.random.default_rng(1)
    sign = np.repeat([1.0, -1.0], 10)
    problem = ScatterMargin(rng.normal(size=(20, 2)) + 5 * sign[:, None], sign, np.array([0.5, 0.5]), inf)
    nothing = ScatterMultipliers(np.zeros(20), np.zeros(2), np.zeros(2))
    found = certify(problem, ScatterPlane(np.array([1.0, 1.0]), 0.3), nothing)
    assert (sign * (problem.points @ found.w + found.b)).min() == pytest.approx(1)
    assert found.gap == 1  # multipliers of 0 prove nothing
    assert certify(problem, ScatterPlane(np.array([-1.0, -1.0]), 0.3), nothing).gap == inf
