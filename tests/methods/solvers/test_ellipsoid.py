"""The iteration of Lin & Han: many sizes together, its cap, and what it refuses."""

import numpy as np
import pytest

from mmc.methods import FitError, InfeasibleProblem, NotConverged
from mmc.methods.problems.ellipsoid_pair import EllipsoidPair
from mmc.methods.solvers import ellipsoid, secular

from ..ellipsoids import ETAS, coordinates, fold, kappa


def test_many_sizes_at_once_are_the_same_as_one_by_one():
    P, N = fold("two_norm")
    sizes = [kappa(eta, 0.3) for eta in ETAS]
    together = coordinates(P, N)
    ellipsoid.prepare([EllipsoidPair(together, size) for size in sizes])
    for size in sizes[:-1]:
        one = ellipsoid.solve(EllipsoidPair(coordinates(P, N), size))
        both = ellipsoid.solve(EllipsoidPair(together, size))
        assert one.iterations == both.iterations
        np.testing.assert_allclose(one.primal, both.primal, rtol=1e-9)
    with pytest.raises(InfeasibleProblem):
        ellipsoid.solve(EllipsoidPair(together, sizes[-1]))


def test_the_cap_of_the_iteration_is_a_status():
    problem = EllipsoidPair(coordinates(*fold("breast_cancer")), kappa(0.5, 0.3))
    with pytest.raises(NotConverged, match="after 50 steps") as caught:
        ellipsoid.solve(problem, max_iter=50)
    assert caught.value.iterations == 50
    assert caught.value.residual > 0.01
    kept = ellipsoid.solve(problem, max_iter=50, at_cap="keep")
    assert kept.status == "iteration-cap"
    assert kept.angle == caught.value.residual
    further = ellipsoid.solve(problem, max_iter=200, at_cap="keep")
    assert np.linalg.norm(further.primal) < np.linalg.norm(kept.primal)
    with pytest.raises(ValueError, match="at_cap is 'raise' or 'keep'"):
        ellipsoid.solve(problem, at_cap="stop")


def test_the_iteration_refuses_a_singular_covariance():
    rng = np.random.default_rng(0)
    P = rng.normal(size=(20, 3))
    P[:, 0] = 1.0
    with pytest.raises(FitError, match="set ridge > 0"):
        ellipsoid.solve(EllipsoidPair(coordinates(P, rng.normal(size=(20, 3)) - 5), (1.0, 1.0)))


def test_by_default_the_iteration_ends_at_the_optimum():
    """Its closest points are those of the secular equation to six digits: a looser default would show."""
    problem = EllipsoidPair(coordinates(*fold("two_norm")), kappa(0.5, 0.3))
    found, exact = ellipsoid.solve(problem), secular.solve(problem)
    assert found.angle <= 1e-6
    np.testing.assert_allclose(found.primal, exact.primal, rtol=1e-5, atol=1e-7)
