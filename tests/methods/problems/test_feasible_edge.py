"""The edge of feasibility is a property of the ellipsoids, not of their coordinates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..ellipsoids import coordinates


@settings(deadline=None, derandomize=True, max_examples=25)
@given(seed=st.integers(0, 1000))
def test_feasibility_does_not_depend_on_coordinates(seed):
    """An invertible linear map of feature space moves no edge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    P, N = rng.normal(size=(3 * n + 5, n)) + rng.normal(size=n), rng.normal(size=(3 * n + 5, n))
    M = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-2, 2, n)
    sizes = tuple(rng.uniform(0, 3, 2))
    lower, upper, _ = coordinates(P, N).edge.demand(sizes)
    assert lower == pytest.approx(upper, rel=1e-9)
    assert coordinates(P @ M, N @ M).edge.demand(sizes)[1] == pytest.approx(upper, rel=1e-6)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(seed=st.integers(0, 1000))
def test_all_demands_together_are_each_of_them_alone(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    edge = coordinates(rng.normal(size=(3 * n + 5, n)) + rng.normal(size=n), rng.normal(size=(3 * n + 5, n))).edge
    sizes = np.concatenate([10.0 ** rng.uniform(-2, 2, (30, 2)), [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]]])
    lower, upper, directions = edge.demands(sizes)
    for i, one in enumerate(sizes):
        low, high, z = edge.demand(tuple(one))
        assert (lower[i], upper[i]) == pytest.approx((low, high), rel=1e-9)
        if max(one) > 0:
            np.testing.assert_allclose(
                directions[i], edge.direction(z), rtol=1e-6, atol=1e-6 * np.abs(directions[i]).max()
            )
