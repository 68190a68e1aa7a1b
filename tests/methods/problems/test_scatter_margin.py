"""The certificate of the scatter margin bounds the optimum, whatever the points."""

from math import inf

import numpy as np
import pytest

from mmc.methods.problems.delivered import Delivered
from mmc.methods.problems.scatter_margin import ScatterMargin, ScatterMultipliers, ScatterPlane, certify, judge
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


@pytest.mark.parametrize("C", [0.1, inf])
@pytest.mark.parametrize(("spread", "known"), [(1.0, 1e-10), (1e-6, 1e-6), (1e-15, inf)])
def test_a_rule_is_worth_what_its_decision_values_show(C, spread, known):
    """The spreads of f divide the margin: beside the size of f, rounding takes small ones away."""
    sign = np.repeat([1.0, -1.0], [2, 4])
    x = 3 * sign + spread * np.array([0.3, 1.2, -0.4, -0.9, 0.1, 0.5])
    problem = ScatterMargin(x[:, None], sign, np.array([0.1]), C)
    nothing = ScatterMultipliers(np.zeros(6), np.zeros(1), np.zeros(1))
    average = np.column_stack([sign > 0, sign < 0]) / [2, 4]
    rule = Delivered(x, average, 0.0, lambda: np.abs(x), np.ones(1))
    # multipliers of 0 prove nothing: what the gap has above 1 is rounding
    rounding = judge(problem, rule, nothing, 0.0).gap - 1
    assert rounding < known if known < inf else rounding > 0.1
