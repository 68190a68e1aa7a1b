"""The certificate of the minimax problem bounds the optimum, whatever the points."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from mmc.methods.problems import Answer
from mmc.methods.problems.minimax import Minimax, certify
from mmc.methods.solution import InfeasibleProblem
from mmc.methods.solvers import frontier

from ..moment_pairs import PROBLEMS, biased


@pytest.fixture(params=PROBLEMS, scope="module")
def pair(request):
    make, *arguments = PROBLEMS[request.param]
    return make(*arguments)


def points(a, b=None):
    return Answer(a, a if b is None else b, 1, "")


def test_the_certificate_bounds_the_optimum_from_any_directions(pair):
    """For any feasible a and dual b: primal value ≤ optimum ≤ primal value · (1 + gap); only the optimum closes the gap."""
    problem = biased(pair, 0.3)
    a = frontier.solve(problem).primal
    best = certify(problem, points(a))
    assert best.gap < 1e-9
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1):
        b = a + size * (pair.start - a) + size * np.abs(a) * rng.normal(size=len(a))
        b /= b @ pair.d
        for found in (certify(problem, points(b)), certify(problem, points(b, a)), certify(problem, points(a, b))):
            if found.objective > 0:
                assert found.objective <= best.objective * (1 + 1e-12)
                assert best.objective < found.objective * (1 + found.gap) * (1 + 1e-9)
                assert found.gap > best.gap
    first = certify(Minimax(pair), points(pair.start))
    balanced = certify(Minimax(pair), frontier.solve(Minimax(pair)))
    assert first.objective < balanced.objective < first.objective * (1 + first.gap)


@pytest.mark.parametrize("nu", [(0.0, 1.0), (1.0, 0.1), (1.0, 1.0)])
def test_uncertain_means_leave_an_mpm_up_to_where_their_ellipsoids_touch(pair, nu):
    """Just before that every level is kept a little; from there on nothing is, and the refusal says how far it is to the edge."""

    def beyond(scale):
        return scale * nu[1] - pair.largest_beside(scale * nu[0])

    edge = brentq(beyond, 0, 2 * pair.largest / max(nu))
    for short in (1e-3, 0.9):
        sizes = tuple((1 - short) * edge * size for size in nu)
        problem = Minimax.balanced(pair, sizes)
        assert certify(problem, frontier.solve(problem)).objective > 0
    for close in (1.0, 0.1):  # of the classes
        near = replace(pair, d=close * pair.d)
        sizes = tuple(1.01 * close * edge * size for size in nu)
        with pytest.raises(InfeasibleProblem, match="mean_uncertainty") as refused:
            Minimax.balanced(near, sizes)
        assert refused.value.distance > 0
