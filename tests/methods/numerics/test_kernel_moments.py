"""The moments of a kernel are the inner products of the centred points."""

import numpy as np
import pytest

from mmc.methods.numerics.kernel_moments import KernelMoments


@pytest.mark.parametrize("in_place", [False, True])
def test_the_inner_products_are_those_of_the_centred_points(in_place):
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(25, 40)), rng.random(25) < 0.4
    K = X @ X.T
    before = K.copy()
    found = KernelMoments.of(K, positive, in_place=in_place)
    assert np.array_equal(K, before) is not in_place
    means = np.array([X[positive].mean(axis=0), X[~positive].mean(axis=0)])
    sizes = np.where(positive, positive.sum(), (~positive).sum())
    B = ((X - np.where(positive[:, None], *means)) / np.sqrt(sizes)[:, None]).T
    d = means[0] - means[1]
    np.testing.assert_allclose(found.G, B.T @ B, atol=1e-12)
    np.testing.assert_allclose(found.g, B.T @ d, atol=1e-12)
    assert found.dd == pytest.approx(d @ d)
    np.testing.assert_allclose(found.means, X @ means.T, atol=1e-12)
    np.testing.assert_array_equal(found.member, np.column_stack([positive, ~positive]))
    c = rng.normal(size=25)
    np.testing.assert_allclose(found.on_points(0.7, c) @ X, 0.7 * d + B @ c, atol=1e-12)


@pytest.mark.parametrize("shrunk", [(0.0, 0.0), (0.3, 0.6)])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_shrinkage_asks_is_that_of_the_covariances_before_it(weighted, shrunk):
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(25, 40)), rng.random(25) < 0.4
    weight = rng.uniform(0.5, 2.0, 25) if weighted else np.ones(25)
    counts = weight[positive].sum(), weight[~positive].sum()
    found = KernelMoments.of(X @ X.T, positive, weight if weighted else None).shrunk(*shrunk)
    for side, n, spread in zip((positive, ~positive), counts, found.spreads(7, counts), strict=True):
        part = X[side] - np.average(X[side], axis=0, weights=weight[side])
        S = (part.T * weight[side]) @ part / n
        fourth = weight[side] @ np.einsum("ij,ij->i", part, part) ** 2
        assert (spread.n, spread.p) == (n, 7)
        assert (spread.trace, spread.trace2, spread.fourth) == pytest.approx((np.trace(S), (S * S).sum(), fourth))


def test_a_wide_kernel_does_not_cost_more_digits_than_its_values_have():
    """All values are nearly 1, and g is the small rest: it is taken from differences, not from large numbers."""
    rng = np.random.default_rng(2)
    X, positive = rng.normal(size=(400, 3)), np.arange(400) < 150
    K = np.exp(-1e-9 * ((X[:, None] - X) ** 2).sum(axis=2))
    found = KernelMoments.of(K, positive)
    for side in (positive, ~positive):  # the centred points of a class add up to 0
        assert abs((found.g / found.v)[side].mean()) < 1e-20
