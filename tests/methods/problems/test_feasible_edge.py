"""The edge of feasibility is a property of the ellipsoids, not of their coordinates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmc.methods.numerics.touching import touching_each

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
def test_factors_find_the_edge_that_eigenvalues_find(seed):
    """The bounds of every size, and multipliers for an r in the direction that separates best: κ_i τ_i = s_i(r)."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    geometry = coordinates(rng.normal(size=(3 * n + 5, n)) + rng.normal(size=n), rng.normal(size=(3 * n + 5, n)))
    sizes = np.concatenate([10.0 ** rng.uniform(-2, 2, (30, 2)), [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]]])
    bounds, tau = touching_each(geometry.d, geometry.covariances, sizes)
    for one, found, multipliers in zip(sizes, bounds, tau, strict=True):
        low, high, z = geometry.edge.demand(tuple(one))
        assert tuple(found) == pytest.approx((low, high), rel=1e-9)
        if min(one) > 0:
            w = geometry.edge.direction(z)
            spread = np.sqrt(((geometry.rows @ w) ** 2) @ geometry.member)
            length = (geometry.d @ w - one @ spread) / (w @ w)
            np.testing.assert_allclose(multipliers * one, length * spread, rtol=1e-6, atol=1e-9)
