"""The curve of all trade-offs is monotone, its points are solutions, its ends are distances."""

import numpy as np
import pytest

from mmc.methods.problems.minimax import Minimax, certify
from mmc.methods.solvers import frontier

from ..moment_pairs import PROBLEMS


@pytest.fixture(params=PROBLEMS, scope="module")
def pair(request):
    make, *arguments = PROBLEMS[request.param]
    return make(*arguments)


def test_the_curve_is_monotone_and_its_roots_are_on_it(pair):
    curve = pair.spectrum[0]
    kappas = np.linspace(0.01, 0.99, 99) * curve.ends[1]
    r, _ = curve.at(kappas)
    pos, neg = curve.kappas(r)
    np.testing.assert_allclose(neg, kappas, rtol=1e-12)
    assert np.all(np.diff(pos) < 0)
    assert pos[0] < curve.ends[0]
    for i in (0, 50, 98):
        problem = Minimax(pair, kappas[i])
        assert certify(problem, frontier.solve(problem)).objective == pytest.approx(pos[i], rel=1e-7)
    np.testing.assert_allclose(*curve.kappas(curve.balanced()[0]), rtol=1e-12)


def test_the_ends_of_the_curve_are_the_mahalanobis_distances(pair):
    ends = [np.sqrt(pair.d @ np.linalg.solve(S, pair.d)) for S in (pair.Sx, pair.Sy)]
    np.testing.assert_allclose(pair.spectrum[0].ends, ends, rtol=1e-7)
