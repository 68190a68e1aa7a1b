"""The moments are numpy's, whatever the order of the rows."""

import numpy as np
import pytest

from mmc.methods.numerics.moments import Moments
from mmc.methods.numerics.pair_moments import PairMoments


def test_the_moments_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(30, 4)) + 100, rng.random(30) < 0.4
    before = X.copy()
    m = PairMoments.of(X, positive)
    np.testing.assert_array_equal(X, before)
    for mean, cov, part in ((m.mean_pos, m.cov_pos, X[positive]), (m.mean_neg, m.cov_neg, X[~positive])):
        np.testing.assert_allclose(mean, part.mean(axis=0))
        np.testing.assert_allclose(cov, np.cov(part.T, bias=True), atol=1e-12)
    np.testing.assert_array_equal(m.member.sum(axis=0), [positive.sum(), (~positive).sum()])
    assert m.split == positive.sum()


@pytest.mark.parametrize("swapped", [False, True])
def test_given_moments_know_the_difference_of_the_means_beyond_the_digits_of_the_means(swapped):
    """Means of about 1e8 hold eight digits after the point; the difference that is exact needs more."""
    rng = np.random.default_rng(0)
    near, positive = np.round(rng.normal(size=(30, 4)) * 2**20) / 2**20, rng.random(30) < 0.4
    exact = near[positive].mean(axis=0) - near[~positive].mean(axis=0)
    pos, neg = (Moments.of(near[at] + 2.0**27) for at in (positive, ~positive))
    found = PairMoments.given_as(neg, pos).difference if swapped else PairMoments.given_as(pos, neg).difference
    np.testing.assert_allclose(found, -exact if swapped else exact, rtol=0, atol=1e-13)
    assert np.abs((pos.mean - neg.mean) - exact).max() > 1e-10
