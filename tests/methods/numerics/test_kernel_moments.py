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
